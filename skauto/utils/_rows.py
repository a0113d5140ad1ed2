"""Hashes of the rows of a matrix, which tell rows again without keeping them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skauto.utils._types import FloatArray

_MULTIPLIER, _MASK = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_HALF = np.uint64(32)
_CELLS = 100_000  # that are hashed at once


def row_hashes(Z: Any) -> NDArray[np.uint32]:
    """Return a hash of each row; equal rows, dense or sparse, have equal hashes.

    A column adds the bits of its values times an odd number of its own. Zeros add nothing.
    """
    numbers = np.arange(1, Z.shape[1] + 1, dtype=np.uint64)
    factors = numbers * _MULTIPLIER ^ _MASK | np.uint64(1)
    is_sparse = sparse.issparse(Z)  # no type narrowing
    if is_sparse:
        rows = Z.tocsr()
        sums = np.cumsum(_bits(rows.data) * factors[rows.indices])
        hashes = np.diff(np.append(np.zeros(1, dtype=np.uint64), sums)[rows.indptr])
    else:
        hashes = np.zeros(len(Z), dtype=np.uint64)
        width = max(1, _CELLS // max(1, len(Z)))
        for start in range(0, len(factors), width):
            chunk = slice(start, start + width)
            hashes += (_bits(np.asarray(Z)[:, chunk]) * factors[chunk]).sum(axis=1)
    return (hashes >> _HALF).astype(np.uint32)


def _bits(values: FloatArray) -> NDArray[np.uint64]:
    """Bits of numbers, of which the upper ones are also in the lower half."""
    one = np.where(np.isnan(values), np.nan, values).astype(np.float64) + 0.0  # no -0.0
    bits = one.view(np.uint64)
    return bits ^ bits >> _HALF
