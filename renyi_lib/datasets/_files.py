"""Original data files, with their locations and checksums."""

import gzip
import hashlib
import lzma
import os
import zlib
from pathlib import Path

DATA_FOLDER = Path(__file__).parent / "data"
LICENSE = "CC BY 4.0"

# SHA-256 of the files as published by the UCI Machine Learning Repository, before compression.
SHA256 = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    "bank-full.csv": "d1513ec63b385506f7cfce9f2c5caa9fe99e7ba4e8c3fa264b3aaf0f849ed32d",
    "german.data": "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
}

# SHA-256 of files that are too large for the package.
LARGE_SHA256 = {
    "census-income.data": "3676a81db7d3528f3f8b9f3c699d0f0aa28db45e6e994fa0b8ed38327539ee86",
    "census-income.test": "98402b1ab879573d0a7f38a699a40258080e25e33d3401e7bf9c96d3fa0fab8c",
}
# In a checkout of the repository, these files are next to the package.
REPOSITORY_DATA = Path(__file__).parents[2] / "data"
DATA_VARIABLE = "RENYI_LIB_DATA"

_READERS = {".xz": lzma.decompress, ".gz": gzip.decompress, "": bytes}

_CURE = (
    "Reinstall renyi-lib or, in a checkout of the book's repository, rebuild the file with "
    "`python -m renyi_book.rebuild SOURCE_FOLDER` "
    "(renyi_lib/datasets/README.md says what SOURCE_FOLDER must contain)."
)


class DataFileError(RuntimeError):
    """Error raised if a data file is missing, cannot be read or differs from the original."""


def is_genuine(name, content):
    """Return whether `content` equals the UCI original called `name`, byte for byte.

    Parameters
    ----------
    name : str
        One of the keys of `SHA256` or `LARGE_SHA256`.
    content : bytes
        Content of the file, decompressed.

    Returns
    -------
    bool
        Whether the checksums agree.

    Examples
    --------
    >>> is_genuine("german.data", b"not the file")
    False
    """
    return hashlib.sha256(content).hexdigest() == (SHA256 | LARGE_SHA256)[name]


def read_original(name):
    """Read one UCI original, decompress it and verify its checksum.

    Parameters
    ----------
    name : str
        One of the keys of `SHA256`.

    Returns
    -------
    bytes
        Content of the file.

    Raises
    ------
    DataFileError
        If the file is missing, cannot be decompressed, or differs from the original.

    Examples
    --------
    >>> read_original("german.data")[:16]
    b'A11 6 A34 A43 11'
    """
    path = DATA_FOLDER / f"{name}.gz"
    try:
        content = gzip.decompress(path.read_bytes())
    except FileNotFoundError as error:
        raise DataFileError(f"the data file {path} is missing. {_CURE}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise DataFileError(f"the data file {path} cannot be read ({error}). {_CURE}") from error
    if not is_genuine(name, content):
        raise DataFileError(
            f"the data file {path} is damaged: its SHA-256 is not that of UCI's {name}. {_CURE}"
        )
    return content


def read_large(name, doi, data_home=None):
    """Read a UCI original that is not part of the package, decompress it and verify its checksum.

    Parameters
    ----------
    name : str
        One of the keys of `LARGE_SHA256`.
    doi : str
        DOI of the data set, for the error message.
    data_home : path-like, optional
        The only folder to search. The default is the folder given by the environment variable
        ``RENYI_LIB_DATA`` or, if it is not set, the repository's ``data`` and then
        ``~/renyi_lib_data``.

    Returns
    -------
    bytes
        Content of the file.

    Raises
    ------
    DataFileError
        If the file is missing, cannot be decompressed, or differs from the original.
    """
    folders = _large_folders(data_home)
    candidates = [folder / f"{name}{ending}" for folder in folders for ending in _READERS]
    path = next((path for path in candidates if path.is_file()), None)
    cure = (
        f"Download the data set from https://doi.org/{doi} and put {name}, plain or as .xz or "
        f".gz, into {folders[-1]}, or pass its folder as data_home or in the environment variable "
        f"{DATA_VARIABLE}. The SHA-256 of the original is {LARGE_SHA256[name]}."
    )
    if path is None:
        places = " or ".join(map(str, folders))
        raise DataFileError(f"the data file {name} is not in {places}. {cure}")
    try:
        content = _READERS[path.suffix if path.suffix in _READERS else ""](path.read_bytes())
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise DataFileError(f"the data file {path} cannot be read ({error}). {cure}") from error
    if not is_genuine(name, content):
        raise DataFileError(f"the data file {path} differs from UCI's {name}. {cure}")
    return content


def _large_folders(data_home):
    chosen = data_home if data_home is not None else os.environ.get(DATA_VARIABLE)
    if chosen:
        return [Path(chosen).expanduser()]
    return [REPOSITORY_DATA, Path("~/renyi_lib_data").expanduser()]
