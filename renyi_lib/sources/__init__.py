"""Sources of rows, which are arrays (whole or in blocks), Parquet files and Dask collections.

Every source has one primitive, `Source.total`, which sums a function of a block over all rows. A
fit needs nothing else, so the solution does not depend on where the data are stored.
"""

from renyi_lib.sources._base import Block, Rows, Source, add_up
from renyi_lib.sources.dask import DaskSource
from renyi_lib.sources.memory import ArraySource
from renyi_lib.sources.parquet import ParquetRows

__all__ = ["ArraySource", "Block", "DaskSource", "ParquetRows", "Rows", "Source", "add_up"]
