"""Arrays in memory, read as a whole if they are small and in blocks of rows if they are large."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from renyi_lib.sources._base import Block, Source

__all__ = ["LARGE", "ArraySource", "rows_of_block", "slices"]

# A dense X with this many numbers or more is read in blocks. It takes 32 MB, about the size of a
# processor's last-level cache. For a smaller X, a single block needs fewer calls.
LARGE = 4_000_000

# Maximum number of entries in a block, unless 256 rows have more. In double precision, they take
# 4 MB, which stay in the cache between products and make the overhead of the calls negligible.
_BLOCK = 2**19


class ArraySource(Source):
    """Source that reads arrays in memory, without ever copying a dense X as a whole.

    Parameters
    ----------
    X : ndarray or scipy CSR array of shape (n, p)
        Features.
    cell : ndarray of int, shape (n,)
        Code of each row's cell, which is a combination of label and group.
    weight : ndarray of shape (n,), optional
        Weight of each row.
    block_size : int, optional
        Number of rows in a block. By default, all rows if X is small or sparse; otherwise as many
        as fit into the cache, but at most a fortieth of X, so that temporary arrays are small, too
        (and at least 256).

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.sources import ArraySource
    >>> source = ArraySource(np.ones((1000, 3)), np.zeros(1000, dtype=np.uint8))
    >>> source.total(lambda block: block.X.sum()), source.total(lambda block: len(block.X))
    (np.float64(3000.0), 1000)
    >>> source.n_passes
    2
    """

    def __init__(
        self,
        X: Any,
        cell: np.ndarray,
        weight: np.ndarray | None = None,
        block_size: int | None = None,
    ):
        super().__init__(self._blocks)
        self.X, self.cell, self.weight = X, cell, weight
        self.block_size = rows_of_block(X) if block_size is None else block_size

    @property
    def in_blocks(self) -> bool:
        """Whether there is more than one block."""
        return self.block_size < self.X.shape[0]

    def every(self, step: int) -> "ArraySource":
        """Return a source of every `step`-th row."""
        weight = None if self.weight is None else self.weight[::step]
        size = max(256, self.block_size // step)
        return ArraySource(self.X[::step], self.cell[::step], weight, size)

    def _blocks(self) -> Iterator[Block]:
        for part in slices(self.X.shape[0], self.block_size):
            weight = None if self.weight is None else self.weight[part]
            # SciPy copies the rows of a slice, even if these are all rows.
            X = self.X[part] if self.in_blocks else self.X
            yield Block(X, self.cell[part], weight, part)


def rows_of_block(X: Any) -> int:
    """Return the number of rows of X that are read at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.sources.memory import rows_of_block
    >>> rows_of_block(np.zeros((10, 2)))
    10
    """
    n, p = X.shape
    if sparse.issparse(X) or X.size < LARGE:
        return max(1, n)
    return max(256, min(_BLOCK, X.size // 40) // p)


def slices(n: int, size: int) -> Iterator[slice]:
    """Iterate over rows 0 … n-1 in blocks of the given size.

    Examples
    --------
    >>> from renyi_lib.sources.memory import slices
    >>> list(slices(5, 3))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    for start in range(0, n, size):
        yield slice(start, min(n, start + size))
