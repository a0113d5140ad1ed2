"""Hashes of the rows of a matrix, which tell rows again without keeping them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_FACTORS = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9


def row_hashes(Z: Any) -> NDArray[np.uint32]:
    """Return a hash of each row; equal rows, dense or sparse, have equal hashes.

    A column adds the bits of its values times an odd number of its own. Zeros add nothing.
    """
    is_sparse = sparse.issparse(Z)
    Z = Z.tocsc() if is_sparse else np.asarray(Z)
    hashes = np.zeros(Z.shape[0], dtype=np.uint64)
    for column in range(Z.shape[1]):
        part: Any = slice(*Z.indptr[column : column + 2]) if is_sparse else slice(None)
        rows = Z.indices[part] if is_sparse else part
        values = Z.data[part] if is_sparse else Z[:, column]
        values = np.where(np.isnan(values), np.nan, values).astype(np.float64) + 0.0  # no -0.0
        bits = values.view(np.uint64)
        factor = np.uint64(((column + 1) * _FACTORS[0] ^ _FACTORS[1]) % 2**64 | 1)
        hashes[rows] += (bits ^ bits >> np.uint64(32)) * factor
    return (hashes >> np.uint64(32)).astype(np.uint32)
