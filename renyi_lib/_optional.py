"""Packages that only some features need, imported where they are used."""


def missing(package: str, feature: str, extra: str) -> ImportError:
    """The error where an optional package is not installed: what needs it, and what to do.

    Parameters
    ----------
    package : str
    feature : str
        What cannot be done without it.
    extra : str
        The extra of renyi-lib that brings it.

    Examples
    --------
    >>> missing("tqdm", "progress=True", "progress")
    ImportError('progress=True needs tqdm: pip install "renyi-lib[progress]"')
    """
    return ImportError(f'{feature} needs {package}: pip install "renyi-lib[{extra}]"')
