"""The original files: where they lie in the package, and the proof that they are genuine."""

import gzip
import hashlib
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
        One of the keys of `SHA256`.
    content : bytes

    Returns
    -------
    bool

    Examples
    --------
    >>> is_genuine("german.data", b"not the file")
    False
    """
    return hashlib.sha256(content).hexdigest() == SHA256[name]


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
