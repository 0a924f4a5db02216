"""Find submissions in folders and archives as organized by courses, Moodle and Canvas."""

import hashlib
import os
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from . import SOURCE, assignments

# Moodle: "Ada Lovelace_12345_assignsubmission_file_"; Canvas: "lovelaceada_LATE_12_345_a1.ipynb"
CANVAS = re.compile(r"(?P<student>[^_]+)_(?:LATE_)?(?P<id>\d+)_\d+_(?P<file>.+)", re.IGNORECASE)
JOINERS = "\u200c\u200d"  # which spell Persian names and join emoji
SKIP = (".ipynb_checkpoints", ".git", "__MACOSX")
DEPTH = 3  # folders below a student's own
MOST = 50  # notebooks of one student that are looked at


@dataclass(frozen=True)
class Handin:
    """Notebook that was or should have been submitted."""

    student: str
    assignment: str
    path: Path
    note: str = ""
    problem: str = ""
    absent: bool = False  # nothing was handed in


def shown(name):
    """Return a file's name as printable text, unique for each name."""
    text = os.fsencode(name).replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    return "".join(map(visible, text))


def visible(letter):
    """Return a character of a name, or its code point if the character is not visible.

    Invisible characters control a terminal, end a line, reverse the direction of text, or make two
    names look alike.
    """
    hidden = unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp") and letter not in JOINERS
    if not hidden:
        return letter
    return f"\\x{ord(letter):02x}" if ord(letter) < 256 else f"\\u{ord(letter):04x}"


def file_name(student):
    """Return a short, safe and unique name for the files about a student."""
    safe = re.sub(r"[^\w .@+-]", "_", student).strip(" .-")[:60]
    # A name that looks like that of another student's file is made unique, too.
    if safe == student and not re.search(r"-[0-9a-f]{8}$", safe):
        return safe
    return f"{safe}-{hashlib.sha256(student.encode('utf-8', 'backslashreplace')).hexdigest()[:8]}"


def assignment_of(name, ids):
    """Return (id, whether the name is exactly the released one) for a notebook's file name.

    Browsers, Canvas and people add "(1)", "-2" or "copy", change case, or replace underscores with
    spaces. A name that matches none of these patterns is returned unchanged.
    """
    stem = name[: -len(".ipynb")]
    if stem in ids:
        return stem, True
    for each in ids:
        loose = re.escape(each).replace("_", "[ _-]")
        more = r"(?:[ _-]*(?:\(\d+\)|copy\d*|final)|-\d+)*"
        if re.fullmatch(rf"(?:copy of )?{loose}{more}", stem.strip(), re.IGNORECASE):
            return each, False
    return shown(stem), False


def notebooks(folder, depth=DEPTH):
    """Return (notebooks, links to folders) below a student's folder, without following links."""
    found, links = [], []
    for entry in sorted(os.scandir(folder), key=lambda e: e.name):
        if entry.name in SKIP or len(found) >= MOST:
            continue
        if entry.is_dir(follow_symlinks=False):
            if entry.name.lower().endswith(".ipynb"):
                # A folder named like a notebook is listed, and raises an error when it is opened.
                found.append(Path(entry.path))
            elif depth:
                more, linked = notebooks(entry.path, depth - 1)
                found += more[: MOST - len(found)]
                links += linked
        elif entry.name.lower().endswith(".ipynb"):
            found.append(Path(entry.path))
        elif entry.is_symlink() and os.path.isdir(entry.path):  # no error where it leads nowhere
            links.append(entry.name)
    return found, links


def handins(student, paths, ids):
    """Return {assignment: Handin} of one student."""
    groups = {}
    for path in paths:
        assignment, exact = assignment_of(path.name, ids)
        groups.setdefault(assignment, []).append((not exact, len(path.parts), path))
    found = {}
    for assignment, candidates in groups.items():
        path, *others = [path for *_, path in sorted(candidates)]
        notes = []
        if assignment in ids and path.stem != assignment:
            notes.append(f"handed in as {shown(path.name)!r}")
        if others:
            names = ", ".join(repr(shown(other.name)) for other in others)
            notes.append(f"{shown(path.name)!r} was graded, and not {names}")
        found[assignment] = Handin(student, assignment, path, "; ".join(notes))
    return found


def collect(folder, source=SOURCE, only=None):
    """Return a `Handin` for each submitted and each missing notebook.

    A student's folder contains notebooks, directly or in subfolders. An assignment counts as due
    if any student has submitted it.

    Parameters
    ----------
    folder : Path
        Folder with the submissions.
    source : Path
        Folder with the assignments.
    only : str or None
        Name of a single student.
    """
    ids = assignments(source)
    # Submissions of each student (or why they are skipped), and links that were not followed.
    students, flat, linked = {}, {}, {}
    for entry in sorted(os.scandir(folder), key=lambda e: os.fsencode(e.name)):
        name = shown(entry.name)
        if entry.is_symlink() and not entry.name.lower().endswith(".ipynb"):
            students[name] = "the folder is a link: put the work itself there"
        elif entry.is_dir(follow_symlinks=False):
            if entry.name in SKIP:
                continue
            try:
                paths, links = notebooks(entry.path)
            except OSError as problem:
                students[name] = f"the folder cannot be read ({problem.strerror})"
                continue
            if paths or links or not entry.name.startswith("."):
                students[name] = handins(name, paths, ids)
            if links:
                names = ", ".join(map(shown, links))
                linked[name] = f"not followed, because they are links: {names}"
        elif entry.name.lower().endswith(".ipynb"):
            parts = CANVAS.fullmatch(entry.name)
            whom = shown(f"{parts['student']}_{parts['id']}") if parts else name[: -len(".ipynb")]
            flat.setdefault(whom, []).append((parts["file"] if parts else "", Path(entry.path)))
    for whom, files in flat.items():
        groups = {}
        for name, path in files:
            assignment, _ = assignment_of(name, ids) if name else ("(no folder)", False)
            groups[assignment] = Handin(whom, assignment, path)
        students.setdefault(whom, {})
        if isinstance(students[whom], dict):
            students[whom] |= groups
    known = [found for found in students.values() if isinstance(found, dict)]
    due = sorted({assignment for found in known for assignment in found} & set(ids))
    jobs = []
    for student, found in sorted(students.items()):
        if only is not None and student != only:
            continue
        if isinstance(found, str):
            found = {each: Handin(student, each, Path(folder), problem=found) for each in due}
        for each in due:
            path = Path(folder) / student / f"{each}.ipynb"
            found.setdefault(
                each, Handin(student, each, path, linked.get(student, ""), absent=True)
            )
        jobs += [found[each] for each in sorted(found)]
    return jobs
