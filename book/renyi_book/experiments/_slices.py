"""Check whether stored tables are up to date, by recomputing a slice of each."""

import io
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pandas as pd

from renyi_book.experiments._store import compute, csv_text, file_problem, manifest, parameters
from renyi_book.experiments._tables import STORED

# Columns that are measured by a clock and therefore differ between runs.
CLOCK = ("cpu_seconds", "seconds")


def outdated(folder, *, report=print):
    """Return the names of the tables that must be recomputed.

    These are the tables that are missing or were edited, whose parameters have changed, or whose
    recomputed slice differs from the stored rows by more than the table's tolerances.

    Parameters
    ----------
    folder : path
        Folder in which `run_all` stored the results.
    report : callable, default=print
        Function that is called with one line for each difference.

    Returns
    -------
    list of str
        Names of the tables.
    """
    found = []
    for name in STORED:
        problems = differences(name, folder)
        for problem in problems:
            report(f"{name}: {problem}")
        found += [name] if problems else []
    return found


def differences(name, folder):
    """Describe how a stored table differs from the table that the code computes now.

    Parameters
    ----------
    name : str
        Name of the table.
    folder : path
        Folder in which `run_all` stored the results.

    Returns
    -------
    list of str
        One line for each difference; empty if the table is up to date.
    """
    problem = file_problem(name, folder)
    if problem:
        return [problem]
    if manifest(folder)[name]["parameters"] != parameters(name):
        return ["its parameters have changed"]
    table = compute(name, **STORED[name].slice)
    return compare(name, table, pd.read_csv(Path(folder) / f"{name}.csv"))


def compare(name, table, stored):
    """Describe how the rows of a computed table differ from the stored ones.

    Parameters
    ----------
    name : str
        Name of the stored table, whose keys and tolerances are used.
    table, stored : DataFrame
        Computed and stored table.

    Returns
    -------
    list of str
        One line for each difference.
    """
    about, keys = STORED[name], STORED[name].keys.split()
    # Round the numbers as in the stored file.
    table = pd.read_csv(io.StringIO(csv_text(table)))
    if not set(table) <= set(stored):
        return [f"columns that are not stored: {sorted(set(table) - set(stored))}"]
    table = table.astype(stored[keys].dtypes.to_dict())
    both = table.merge(
        stored, "left", keys, suffixes=("", "_stored"), validate="one_to_one", indicator=True
    )
    missing = both[both["_merge"] != "both"]
    if len(missing):
        return [f"{len(missing)} rows are not stored, such as {missing[keys].iloc[0].to_dict()}"]
    found = []
    for column in table.columns.difference([*keys, *CLOCK]):
        now, then = both[column], both[f"{column}_stored"]
        if pd.api.types.is_numeric_dtype(now) and now.dtype != bool:
            atol = max([about.atol, *(a for p, a in about.loose.items() if fnmatch(column, p))])
            same = np.isclose(now, then, rtol=about.rtol, atol=atol, equal_nan=True)
        else:
            same = (now == then) | (now.isna() & then.isna())
        if not np.all(same):
            k = int(np.flatnonzero(~np.asarray(same))[0])
            found.append(
                f"{column} differs in {int(np.sum(~same))} of {len(both)} rows: stored {then[k]}, "
                f"now {now[k]}, in the row {both.loc[k, keys].to_dict()}"
            )
    return found
