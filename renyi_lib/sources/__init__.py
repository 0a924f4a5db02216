"""Where rows come from: arrays, whole or in blocks, Parquet files, Dask collections.

Every source has one primitive, `Source.total`: the sum over all rows of a function of a block. A
fit needs nothing else, so that the solution does not depend on where the data are.
"""

from renyi_lib.sources._base import Block, Rows, Source, add_up
from renyi_lib.sources.dask import DaskSource
from renyi_lib.sources.memory import ArraySource
from renyi_lib.sources.parquet import ParquetRows

__all__ = ["ArraySource", "Block", "DaskSource", "ParquetRows", "Rows", "Source", "add_up"]
