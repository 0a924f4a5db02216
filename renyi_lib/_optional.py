"""Error for missing optional packages, which are imported only where they are used."""


def missing(package: str, feature: str, extra: str) -> ImportError:
    """Return the error for an optional package that is not installed, with the remedy.

    Parameters
    ----------
    package : str
        Name of the package.
    feature : str
        Feature that requires the package.
    extra : str
        Extra of renyi-lib that installs the package.

    Returns
    -------
    ImportError
        Error to raise.

    Examples
    --------
    >>> missing("tqdm", "progress=True", "progress")
    ImportError('progress=True needs tqdm: pip install "renyi-lib[progress]"')
    """
    return ImportError(f'{feature} needs {package}: pip install "renyi-lib[{extra}]"')
