"""Two archives of the course, one for students and one for instructors.

`make course-release` writes them to `dist/`. The first contains the released notebooks and a
README, and nothing that reveals a solution or a hidden test.
"""

import sys
import zipfile
from pathlib import Path

from . import COURSE, RELEASE, assignments

STUDENTS = """The assignments that go with the book "Rényi Fair Inference, executed".

Set up the book's environment as its page "How to run" says, then open a notebook in JupyterLab.
The page "For students: the assignments" says how to work on it and how to hand it in.
"""
LEFT_OUT = ("__pycache__", ".ipynb_checkpoints")


def pack(path, files):
    """Write a ZIP archive of {name: bytes}, reproducibly."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            info = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, data)
    return path


def students():
    """Return the files for students."""
    files = {"renyi-course/README.txt": STUDENTS.encode()}
    for name in assignments():
        notebook = RELEASE / name / f"{name}.ipynb"
        files[f"renyi-course/{notebook.name}"] = notebook.read_bytes()
    return files


def instructors():
    """Return the files for instructors, which are the whole folder of the course."""
    return {
        f"renyi-course-instructors/course/{path.relative_to(COURSE).as_posix()}": path.read_bytes()
        for path in sorted(COURSE.rglob("*"))
        if path.is_file() and not set(LEFT_OUT) & set(path.parts) and path.suffix != ".pyc"
    }


def write(out):
    """Write both archives into the folder `out`; return their paths."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    return (
        pack(out / "renyi-course-students.zip", students()),
        pack(out / "renyi-course-instructors.zip", instructors()),
    )


def main():
    """Write the archives to dist/, or to the given folder."""
    for path in write(sys.argv[1] if len(sys.argv) > 1 else COURSE.parent / "dist"):
        print(path)


if __name__ == "__main__":
    main()
