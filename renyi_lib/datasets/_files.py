"""The original files: where they are, and the proof that they are genuine."""

import gzip
import hashlib
import lzma
import os
import zlib
from pathlib import Path

DATA_FOLDER = Path(__file__).parent / "data"
LICENSE = "CC BY 4.0"

# SHA-256 of the files as the UCI Machine Learning Repository publishes them (not of the .gz).
SHA256 = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    "bank-full.csv": "d1513ec63b385506f7cfce9f2c5caa9fe99e7ba4e8c3fa264b3aaf0f849ed32d",
    "german.data": "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
}

# The same of files that are too large for the package.
LARGE_SHA256 = {
    "census-income.data": "3676a81db7d3528f3f8b9f3c699d0f0aa28db45e6e994fa0b8ed38327539ee86",
    "census-income.test": "98402b1ab879573d0a7f38a699a40258080e25e33d3401e7bf9c96d3fa0fab8c",
}
# In a checkout of the repository they are beside the package.
REPOSITORY_DATA = Path(__file__).parents[2] / "data"
DATA_VARIABLE = "RENYI_LIB_DATA"

_READERS = {".xz": lzma.decompress, ".gz": gzip.decompress, "": bytes}

_CURE = (
    "Reinstall renyi-lib or, with the book's repository at hand, rebuild the file with "
    "`python -m renyi_book.rebuild SOURCE_FOLDER` "
    "(renyi_lib/datasets/README.md says what SOURCE_FOLDER must hold)."
)


class DataFileError(RuntimeError):
    """A data file of the package is missing or is not the genuine original."""


def is_genuine(name, content):
    """Whether `content` is byte for byte the UCI original called `name`.

    Parameters
    ----------
    name : str
        One of the keys of `SHA256` or `LARGE_SHA256`.
    content : bytes

    Returns
    -------
    bool

    Examples
    --------
    >>> is_genuine("german.data", b"not the file")
    False
    """
    return hashlib.sha256(content).hexdigest() == (SHA256 | LARGE_SHA256)[name]


def read_original(name):
    """The bytes of one UCI original, decompressed and checked.

    Parameters
    ----------
    name : str
        One of the keys of `SHA256`.

    Returns
    -------
    bytes

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
            f"the data file {path} is damaged: its content has not the SHA-256 of UCI's {name}. "
            f"{_CURE}"
        )
    return content


def read_large(name, doi, data_home=None):
    """The bytes of a UCI original that is not part of the package, decompressed and checked.

    Parameters
    ----------
    name : str
        One of the keys of `LARGE_SHA256`.
    doi : str
        Where the file comes from, for the error message.
    data_home : path-like, optional
        The only folder to look in. By default the folder named by the environment variable
        ``RENYI_LIB_DATA`` or, if that is not set, the repository's ``data`` and then
        ``~/renyi_lib_data``.

    Returns
    -------
    bytes

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
        f".gz, into {folders[-1]}, or name its folder with data_home= or the environment variable "
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
        raise DataFileError(f"the data file {path} is not UCI's {name}. {cure}")
    return content


def _large_folders(data_home):
    chosen = data_home if data_home is not None else os.environ.get(DATA_VARIABLE)
    if chosen:
        return [Path(chosen).expanduser()]
    return [REPOSITORY_DATA, Path("~/renyi_lib_data").expanduser()]
