"""Check that all files state the same version and release date: versions.py [ARCHIVE ...].

The library, the book, the citation files and the changelog are compared. The metadata of archives
must state the same version and the license, and an archive must not be larger than 5 MB.
"""

import json
import re
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def stated_versions(root=ROOT):
    """Return the version and the release date that each file states, as two dictionaries."""

    def find(name, pattern):
        text = (root / name).read_text(encoding="utf8")
        found = re.search(pattern, text, re.MULTILINE)
        if found is None:
            raise SystemExit(f"{name} has no line that matches {pattern!r}")
        return found.group(1)

    zenodo = json.loads((root / ".zenodo.json").read_text(encoding="utf8"))
    versions = {
        "renyi_lib/_version.py": find("renyi_lib/_version.py", r'__version__ = "(.+)"'),
        "book/pyproject.toml": find("book/pyproject.toml", r'^version = "(.+)"'),
        "CITATION.cff": find("CITATION.cff", r"^version: (.+)"),
        "CHANGELOG.md": find("CHANGELOG.md", r"^## \[(\d.*)\]"),
        ".zenodo.json": zenodo["version"],
    }
    dates = {
        "CITATION.cff": find("CITATION.cff", r"^date-released: (.+)"),
        "CHANGELOG.md": find("CHANGELOG.md", r"^## \[\d.*\] - (.+)"),
        ".zenodo.json": zenodo["publication_date"],
    }
    return versions, dates


def metadata(archive):
    """Return the METADATA of a wheel, or the PKG-INFO of an sdist, and the names of its files."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as files:
            names = files.namelist()
            (name,) = (name for name in names if name.endswith(".dist-info/METADATA"))
            return files.read(name).decode(), names
    with tarfile.open(archive) as files:
        names = files.getnames()
        (name,) = (name for name in names if re.fullmatch(r"[^/]+/PKG-INFO", name))
        return files.extractfile(name).read().decode(), names


def main(arguments):
    versions, dates = stated_versions()
    for kind, stated in (("version", versions), ("release date", dates)):
        if len(set(stated.values())) > 1:
            raise SystemExit(f"The {kind} differs between files: {stated}")
    version = versions["renyi_lib/_version.py"]
    print(f"version {version} of {dates['CITATION.cff']} in {len(versions)} files")
    for archive in map(Path, arguments):
        text, names = metadata(archive)
        wanted = (f"\nVersion: {version}\n", "\nLicense-Expression: ", "\nLicense-File: LICENSE\n")
        missing = [line.strip() for line in wanted if line not in text]
        if missing:
            raise SystemExit(f"{archive.name} lacks {missing} in its metadata")
        size = archive.stat().st_size / 1e6
        if size > 5:
            raise SystemExit(f"{archive.name} has {size:.1f} MB; the limit is 5 MB")
        print(f"{archive.name}: {len(names)} files, {size:.1f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
