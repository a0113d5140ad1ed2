"""row_hashes: rows are equal if and only if their hashes are."""

import numpy as np
from scipy import sparse

from skauto.utils import row_hashes


def test_rows_have_equal_hashes_in_any_form(rng):
    Z = rng.integers(0, 3, (200, 5)) * rng.normal(size=5).round(1)
    Z[0, 0], Z[1, 1] = -0.0, np.nan
    hashes = row_hashes(Z)
    np.testing.assert_array_equal(row_hashes(sparse.csr_matrix(Z)), hashes)
    np.testing.assert_array_equal(row_hashes(np.asfortranarray(Z)[50:]), hashes[50:])
    same = (Z[:, None] == Z) | (np.isnan(Z[:, None]) & np.isnan(Z))
    np.testing.assert_array_equal(hashes[:, None] == hashes, same.all(axis=2))


def test_different_rows_of_small_integers_have_different_hashes(rng):
    Z = np.unique(rng.integers(0, 4, (20_000, 12)), axis=0).astype(float)
    hashes = row_hashes(Z)
    assert len(np.unique(hashes)) > len(Z) - 3
    np.testing.assert_array_equal(
        row_hashes(Z[:7]), hashes[:7]
    )  # of few rows, all columns at once
