"""An array with amortised constant time to append a row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class GrowingArray:
    """Rows of one shape and dtype, appended one by one; the buffer doubles when it is full.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.utils import GrowingArray
    >>> rows = GrowingArray()
    >>> rows.append(np.array([1.0, 2.0]))
    >>> rows.append(np.array([3.0, 4.0]))
    >>> rows.values
    array([[1., 2.],
           [3., 4.]])
    """

    def __init__(self) -> None:
        self._buffer: NDArray[Any] = np.empty((0, 0))
        self._n = 0

    def __len__(self) -> int:
        return self._n

    @property
    def values(self) -> NDArray[Any]:
        """All rows, as a view; the next `append` may invalidate it."""
        return self._buffer[: self._n]

    def append(self, row: NDArray[Any]) -> None:
        """Add a row with the shape and dtype of the first row."""
        if self._n == 0:
            self._buffer = np.empty((4, *row.shape), dtype=row.dtype)
        elif self._n == len(self._buffer):
            grown = np.empty((2 * self._n, *row.shape), dtype=self._buffer.dtype)
            grown[: self._n] = self._buffer
            self._buffer = grown
        self._buffer[self._n] = row
        self._n += 1
