"""Sources of rows, which are arrays (whole or in blocks), Parquet files and Dask collections.

Every source has a method `Source.total`, which applies a function to each block and adds up the
results. A classifier needs nothing else. A regression also uses `Source.total_by_block`, which
passes the function an additional argument for each block. Fits need only such sums over rows, so
the solution does not depend on where the data are stored.
"""

from renyi_lib.sources._base import Block, Rows, Source, add_up
from renyi_lib.sources.dask import DaskSource
from renyi_lib.sources.memory import ArraySource
from renyi_lib.sources.parquet import ParquetRows

__all__ = ["ArraySource", "Block", "DaskSource", "ParquetRows", "Rows", "Source", "add_up"]
