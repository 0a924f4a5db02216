"""Packages that only some features need, imported where they are used."""

from importlib import import_module


def needed(module, feature, extra):
    """An optional package, or an error that says how to install it.

    Parameters
    ----------
    module : str
    feature : str
        What cannot be done without it.
    extra : str
        The extra of renyi-lib that brings it.

    Examples
    --------
    >>> needed("no_such_package", "progress=True", "progress")
    Traceback (most recent call last):
    ...
    ImportError: progress=True needs no_such_package: pip install "renyi-lib[progress]"
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f'{feature} needs {package}: pip install "renyi-lib[{extra}]"'
        ) from error
