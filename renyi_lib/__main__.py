"""Command-line interface, for people who do not write Python.

The command writes the one-page fairness report to an HTML file::

    python -m renyi_lib report data.csv --prediction score --truth y --group sex
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from renyi_lib._optional import missing
from renyi_lib._report_html import report_page
from renyi_lib._version import __version__
from renyi_lib.report import fairness_report

_READERS = {".csv": "CSV", ".tsv": "tab-separated", ".parquet": "Parquet", ".pq": "Parquet"}


class InputError(Exception):
    """Error in the command or in the file that the user can correct."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command-line interface, and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command-line arguments; by default, the arguments of the process.

    Returns
    -------
    int
        0 for success, 2 for an error that the user can correct.
    """
    options = _parser().parse_args(arguments)
    try:
        report, page = _page(options)
        output = Path(options.output)
        try:
            output.write_text(page, encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot write {output}: {error.strerror}") from error
    except (InputError, ImportError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{report.verdict}\n\nThe report is in {output}")
    return 0


def _parser():
    parser = argparse.ArgumentParser(
        prog="python -m renyi_lib",
        description="Measure the fairness of predictions from the command line.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    report = commands.add_parser(
        "report",
        help="write a one-page HTML report about a file with predictions",
        description="Write a one-page HTML report with selection rates by group, measures of "
        "fairness with intervals, and the ratio of rates at other thresholds.",
    )
    report.add_argument("file", help="a CSV (.csv, .tsv, also .gz) or Parquet file")
    report.add_argument(
        "--prediction",
        required=True,
        metavar="COLUMN",
        help="scores, or decisions (0 and 1, or two labels with --pos-label)",
    )
    report.add_argument(
        "--truth",
        required=True,
        metavar="COLUMN",
        help="true labels (0 and 1, or two labels with --pos-label)",
    )
    report.add_argument(
        "--group",
        required=True,
        nargs="+",
        metavar="COLUMN",
        help="the sensitive attribute; several columns define joint groups",
    )
    report.add_argument(
        "--threshold",
        type=float,
        default=0.5,
        help="rows with a score above the threshold are selected (default 0.5)",
    )
    report.add_argument(
        "--pos-label", metavar="LABEL", help="the favorable label, if the labels are not 0 and 1"
    )
    report.add_argument("--weight", metavar="COLUMN", help="weights of the rows")
    report.add_argument(
        "--min-group-size",
        type=int,
        default=30,
        metavar="N",
        help="if some groups are smaller, the measures are repeated without them (default 30)",
    )
    report.add_argument(
        "--drop-missing",
        action="store_true",
        help="drop rows with missing values in the columns that are used",
    )
    report.add_argument("--title", default="Fairness report", help="the title of the page")
    report.add_argument(
        "--output",
        default="fairness_report.html",
        metavar="FILE",
        help="the HTML file (default fairness_report.html)",
    )
    return parser


def _page(options):
    """Compute the report; return it and its HTML page."""
    columns = {"--prediction": options.prediction, "--truth": options.truth}
    columns |= {f"--group {name}": name for name in options.group}
    if options.weight is not None:
        columns["--weight"] = options.weight
    frame = _read(Path(options.file))
    for option, name in columns.items():
        if name not in frame:
            known = ", ".join(map(str, frame.columns[:30]))
            raise InputError(
                f"{options.file} has no column {name!r} (for {option.split()[0]}); its columns "
                f"are {known}"
            )
    rows = len(frame)
    if not rows:
        raise InputError(f"{options.file} has no rows: pass a file with at least one row")
    frame = _without_missing(frame, list(dict.fromkeys(columns.values())), options)
    truth = _as_binary(frame[options.truth], options.truth, options.pos_label)
    score = _scores(frame[options.prediction], options.prediction, options.pos_label)
    groups = frame[options.group[0]] if len(options.group) == 1 else frame[options.group]
    more = {} if options.weight is None else {"sample_weight": frame[options.weight]}
    report = fairness_report(
        truth,
        score,
        groups,
        threshold=options.threshold,
        min_group_size=options.min_group_size,
        **more,
    )
    about: dict[str, Any] = {
        "File": Path(options.file).name,
        "Prediction": options.prediction,
        "Truth": options.truth,
        "Group": ", ".join(options.group),
    }
    if options.weight is not None:
        about["Weight"] = options.weight
    if len(frame) < rows:
        about["Left out for missing values"] = f"{rows - len(frame):,}"
    return report, report_page(report, title=options.title, about=about)


def _read(path):
    """Read the file into a data frame."""
    suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if suffix.lower() not in _READERS:
        known = ", ".join(_READERS)
        raise InputError(f"{path} has an unknown file type: its name must end in one of {known}")
    if not path.is_file():
        raise InputError(f"{path} does not exist or is not a file: check the path")
    kind = _READERS[suffix.lower()]
    try:
        if kind == "Parquet":
            return pd.read_parquet(path)
        return pd.read_csv(path, sep="\t" if suffix.lower() == ".tsv" else ",")
    except ImportError as error:
        raise missing("pyarrow", "a Parquet file", "parquet") from error
    except (ValueError, OSError) as error:
        raise InputError(f"{path} cannot be read as a {kind} file: {error}") from error


def _without_missing(frame, names, options):
    """Drop rows with missing values in these columns; raise an error unless that is allowed."""
    absent = frame[names].isna()
    if not absent.to_numpy().any():
        return frame
    if not options.drop_missing:
        counts = [f"{name} ({n:,})" for name, n in absent.sum().items() if n]
        raise InputError(
            f"{options.file} has missing values in {', '.join(counts)}: correct the file, or use "
            "--drop-missing to drop those rows"
        )
    kept = frame[~absent.any(axis=1)]
    if kept.empty:
        raise InputError(
            f"every row of {options.file} has a missing value in {' or '.join(names)}: correct "
            "the file"
        )
    return kept


def _as_binary(column, name, pos_label):
    """Convert a column to 0 and 1."""
    values = column.unique().tolist()
    if pos_label is None:
        if set(values) <= {0, 1}:
            return column.astype(int)
        shown = ", ".join(map(str, values[:5])) + (", …" if len(values) > 5 else "")
        if len(values) == 2:
            raise InputError(
                f"column {name!r} contains the labels {shown}: pass the favorable one with "
                f"--pos-label, for example --pos-label {sorted(map(str, values))[-1]}"
            )
        raise InputError(
            f"column {name!r} must contain two labels, 0 and 1 or others with --pos-label, but it "
            f"contains {len(values)}: {shown}"
        )
    if len(values) > 2:
        shown = ", ".join(map(str, values[:5]))
        raise InputError(
            f"column {name!r} must contain two labels, but it contains {len(values)} (such as "
            f"{shown}): merge labels"
        )
    return _equals(column, name, pos_label)


def _equals(column, name, pos_label):
    """Return 1 where the column equals the label, which is given as text, and 0 elsewhere."""
    labels = {value: str(value) for value in column.unique().tolist()}
    if pd.api.types.is_numeric_dtype(column):
        labels = {value: f"{value:g}" for value in map(float, labels)}
    if pos_label not in labels.values():
        shown = ", ".join(list(labels.values())[:5])
        raise InputError(
            f"column {name!r} has no label {pos_label!r}: pass one of its labels with "
            f"--pos-label, such as {shown}"
        )
    return (column.map(labels) == pos_label).astype(int)


def _scores(column, name, pos_label):
    """Return the column as scores or, if it contains two labels, as decisions 0 and 1."""
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(float)
    if pos_label is None or column.nunique() > 2:
        raise InputError(
            f"column {name!r} must contain numbers, or two labels with --pos-label; its first "
            f"value is {column.iloc[0]!r}"
        )
    return _equals(column, name, pos_label)


if __name__ == "__main__":
    sys.exit(main())
