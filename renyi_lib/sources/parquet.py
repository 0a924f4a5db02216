"""Parquet files as a source of rows, read in blocks."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from renyi_lib._optional import missing
from renyi_lib._parameters import whole
from renyi_lib._validation import read_arrow
from renyi_lib.sources._base import Rows, Source

__all__ = ["ParquetRows"]


class ParquetRows:
    """Rows of Parquet files, read in chunks so that a fit never loads all features into memory.

    If X is a `ParquetRows`, the other arguments of `fit` are column names::

        people = ParquetRows("people.parquet")
        RenyiClassifier(lam=3).fit(people, "income", sensitive_features="sex")

    Parameters
    ----------
    source : path, list of paths, or pyarrow Dataset
        File, folder of files, or anything else that `pyarrow.dataset.dataset` accepts. Requires
        pyarrow.
    features : list of str, optional
        Columns of X; by default, all columns that no other argument of the fit names.
    chunk_size : int, default=65536
        Maximum number of rows to read at a time. Files are read one row group at a time, so a
        file with small row groups (`row_group_size`) needs less memory.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from renyi_lib.sources import ParquetRows
    >>> frame = pd.DataFrame({"age": [20.0, 40.0, 60.0], "hired": [0, 1, 1], "sex": list("fmm")})
    >>> with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
    ...     frame.to_parquet(file.name)
    ...     chunks = ParquetRows(file.name, chunk_size=2).chunks("hired", "sex")
    ...     chunks.total(lambda rows: len(rows.y)), chunks.total(lambda rows: rows.X.sum())
    (3, np.float64(120.0))
    """

    is_source = True

    def __init__(self, source: Any, features: list[str] | None = None, *, chunk_size: int = 65536):
        try:
            from pyarrow import dataset
        except ModuleNotFoundError as error:
            raise missing("pyarrow", "ParquetRows", "parquet") from error
        whole(1)("chunk_size", chunk_size)
        if not isinstance(source, dataset.Dataset):
            source = dataset.dataset(source, format="parquet")
        self.source, self.features, self.chunk_size = source, features, chunk_size

    def chunks(
        self, y: str, sensitive_features: Any = None, sample_weight: str | None = None
    ) -> Source:
        """Return a source that reads the given columns in chunks.

        Parameters
        ----------
        y : str
            Name of the target column.
        sensitive_features : str or list of str, optional
            Names of the columns that contain the groups.
        sample_weight : str, optional
            Name of the column of sample weights.

        Returns
        -------
        Source
            Source of the chunks.
        """
        for name in (y, sensitive_features, sample_weight):
            if not isinstance(name, str | list | tuple | None):
                raise ValueError(
                    "if X is ParquetRows, y, sensitive_features and sample_weight must be column "
                    f"names, not a {type(name).__name__}"
                )
        single = isinstance(sensitive_features, str)
        groups = [sensitive_features] if single else list(sensitive_features or [])
        others = [y, *groups, *([] if sample_weight is None else [sample_weight])]
        features = self.features
        if features is None:
            features = [name for name in self.source.schema.names if name not in others]
        self._check([*features, *others])
        columns = list(dict.fromkeys([*features, *others]))

        def read():
            for batch in self._batches(columns):
                yield Rows(
                    _matrix(batch, features),
                    read_arrow(batch.column(y)),
                    _labels(batch, groups, single) if groups else None,
                    None
                    if sample_weight is None
                    else batch.column(sample_weight).to_numpy(zero_copy_only=False),
                )

        chunks = Source(read)
        chunks.feature_names = np.array(features, dtype=object)
        return chunks

    def chunks_of(self, features: Iterable[str]) -> Iterator[pd.DataFrame]:
        """Iterate over chunks of the named features, each as a data frame."""
        names = [str(name) for name in features]
        self._check(names)
        for batch in self._batches(names):
            yield pd.DataFrame(_matrix(batch, names), columns=names)

    def labels(self, *names: Any) -> list:
        """Read whole columns; None stays None, and a list of names gives a data frame.

        Examples
        --------
        >>> import tempfile
        >>> import pandas as pd
        >>> from renyi_lib.sources import ParquetRows
        >>> frame = pd.DataFrame({"age": [20.0, 40.0], "hired": [0, 1]})
        >>> with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        ...     frame.to_parquet(file.name)
        ...     hired, nothing = ParquetRows(file.name).labels("hired", None)
        >>> list(hired), nothing
        ([0, 1], None)
        """
        found: list = []
        for name in names:
            several = name is not None and not isinstance(name, str)
            columns = list(name) if several else [name]
            if name is None:
                found.append(None)
                continue
            self._check(columns)
            table = self.source.to_table(columns=columns)
            read = [read_arrow(table.column(column)) for column in columns]
            frame = pd.DataFrame(dict(zip(columns, read)))
            found.append(frame if several else frame[name])
        return found

    def _check(self, names):
        known = self.source.schema.names
        for name in names:
            if not isinstance(name, str) or known.count(name) != 1:
                raise ValueError(
                    f"the files have no column {name!r}, or several of that name: if X is "
                    "ParquetRows, its features, y, sensitive_features and sample_weight must be "
                    f"column names, among {known}"
                )

    def _batches(self, columns) -> Iterator:
        from pyarrow import dataset

        # Disable read-ahead, which would keep many row groups in memory.
        options = dataset.ParquetFragmentScanOptions(pre_buffer=False, use_buffered_stream=True)
        return self.source.to_batches(
            columns=columns,
            batch_size=self.chunk_size,
            batch_readahead=0,
            fragment_readahead=0,
            use_threads=False,
            fragment_scan_options=options,
        )


def _matrix(batch, features):
    """Convert numeric columns to a matrix; missing values become NaN and raise an error later."""
    X = np.empty((batch.num_rows, len(features)))
    for j, name in enumerate(features):
        try:
            X[:, j] = batch.column(name).to_numpy(zero_copy_only=False)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"column {name!r} is not numeric ({error}): list only numeric columns in the "
                "features argument of ParquetRows, or encode this column first"
            ) from error
    return X


def _labels(batch, names, single):
    """Return the groups, given by one column or by several columns together."""
    return read_arrow(batch.column(names[0]) if single else batch.select(names))
