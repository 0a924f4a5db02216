"""Arrays in memory, read where they are, a block of rows at a time."""

from typing import NamedTuple

import numpy as np

from renyi_lib.sources._base import Source

__all__ = ["ArrayBlocks", "Block", "rows_of_block"]

# Numbers in a block, at most: 4 MB in double precision, which stays in the cache between the
# products, and is long enough for the calls in between not to be felt.
_BLOCK = 2**19


class Block(NamedTuple):
    """Some of the people.

    Attributes
    ----------
    X : ndarray of shape (n, p)
    cell : ndarray of int, shape (n,)
    weight : ndarray of shape (n,), or None
    """

    X: np.ndarray
    cell: np.ndarray
    weight: np.ndarray | None


class ArrayBlocks(Source):
    """Rows of arrays in memory, a block at a time.

    Parameters
    ----------
    X : ndarray of shape (n, p)
    cell : ndarray of int, shape (n,)
        The cell of each person, see `coded_cells`.
    weight : ndarray of shape (n,), optional
        Who has weight 0 is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from renyi_lib.sources import ArrayBlocks
    >>> blocks = ArrayBlocks(np.ones((1000, 3)), np.zeros(1000, dtype=np.uint8))
    >>> blocks.total(lambda block: block.X.sum()), blocks.total(lambda block: len(block.X))
    (np.float64(3000.0), 1000)
    >>> blocks.n_passes
    2
    """

    def __init__(self, X: np.ndarray, cell: np.ndarray, weight: np.ndarray | None = None):
        super().__init__(self._blocks)
        self.X, self.cell, self.weight = X, cell, weight

    def every(self, step: int) -> "ArrayBlocks":
        """Each `step`-th row."""
        weight = None if self.weight is None else self.weight[::step]
        return ArrayBlocks(self.X[::step], self.cell[::step], weight)

    def _blocks(self):
        size = rows_of_block(self.X)
        for start in range(0, len(self.X), size):
            part = slice(start, start + size)
            X, cell = self.X[part], self.cell[part]
            if self.weight is None:
                yield Block(X, cell, None)
                continue
            weight = self.weight[part]
            kept = weight > 0
            if kept.all():
                yield Block(X, cell, weight)
            elif kept.any():
                yield Block(X[kept], cell[kept], weight[kept])


def rows_of_block(X):
    """How many rows: a fortieth of X at most, so that what is made of them stays small too."""
    return max(256, min(_BLOCK, X.size // 40) // max(1, X.shape[1]))
