"""Where rows come from: arrays, blocks of arrays, Parquet files, Dask collections.

Every source has one primitive, `Source.total`: the sum over all rows of a function of a block. A
fit needs nothing else, so that the solution does not depend on where the data are.
"""

from renyi_lib.sources._base import Rows, Source, add_up
from renyi_lib.sources.blocks import ArrayBlocks
from renyi_lib.sources.dask import DaskSource
from renyi_lib.sources.parquet import ParquetRows

__all__ = ["ArrayBlocks", "DaskSource", "ParquetRows", "Rows", "Source", "add_up"]
