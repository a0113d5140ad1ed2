"""The table of codes gives the output of a ColumnTransformer."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder

from skauto.space.catalog import CategoryColumns, CrossFittedTargetEncoder

COLUMNS = [0, 2, 3]
ENCODERS = {
    "all": OneHotEncoder(handle_unknown="infrequent_if_exist"),
    "few": OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=3),
    "frequent": OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=0.1),
    "dense": OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    "target": CrossFittedTargetEncoder(random_state=0),
}


def matrix(rng, n_samples, n_codes):
    """Codes in the columns 0, 2 and 3; missing codes in column 0, which lacks code 2."""
    X = rng.normal(size=(n_samples, 5))
    X[:, COLUMNS] = rng.integers(n_codes, size=(n_samples, 3)) ** 2 // n_codes
    X[X[:, 0] == 2, 0] = np.nan
    return X


def column_transformer(encoder, sparse_threshold=0.0):
    return ColumnTransformer(
        [("categories", encoder, COLUMNS)],
        remainder="passthrough",
        sparse_threshold=sparse_threshold,
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=list(ENCODERS))
def test_equal_to_a_column_transformer(rng, encoder, n_classes):
    X, y = matrix(rng, 300, 12), rng.integers(n_classes, size=300)
    ours, theirs = CategoryColumns(encoder, COLUMNS), column_transformer(encoder)
    assert_array_equal(ours.fit_transform(X, y), theirs.fit_transform(X, y))
    new = matrix(rng, 1000, 20)  # with codes that `fit` has not seen
    new[:3, COLUMNS] = [[2.0, np.nan, np.nan], [np.nan] * 3, [1e6] * 3]
    for rows in (new, new[2:3], X):
        Z, expected = ours.transform(rows), theirs.transform(rows)
        assert_array_equal(Z, expected)
        assert Z.strides == expected.strides  # sums of the next steps depend on the layout
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


def test_sparse_output(rng):
    X = matrix(rng, 100, 40)
    ours = CategoryColumns(ENCODERS["all"], COLUMNS, sparse_threshold=0.3).fit(X)
    Z = ours.transform(X)
    assert sparse.issparse(Z)
    assert_array_equal(Z.toarray(), CategoryColumns(ENCODERS["all"], COLUMNS).fit_transform(X))
    rest = CategoryColumns(ENCODERS["all"]).fit(X)  # no column of codes
    assert_array_equal(rest.transform(X), X)


def test_other_columns_than_in_fit(rng):
    X = matrix(rng, 100, 5)
    encoder = CategoryColumns(ENCODERS["all"], COLUMNS).fit(X)
    with pytest.raises(ValueError, match="6 features"):
        encoder.transform(np.column_stack([X, X[:, 0]]))


def test_another_fit_forgets_the_table_and_pickles_leave_it_out(rng):
    X = matrix(rng, 100, 5)
    encoder = CategoryColumns(clone(ENCODERS["all"]), COLUMNS).fit(X)
    n_bytes = len(pickle.dumps(encoder))
    expected = encoder.transform(X)
    assert len(pickle.dumps(encoder)) == n_bytes
    assert_array_equal(pickle.loads(pickle.dumps(encoder)).transform(X), expected)
    more = matrix(rng, 100, 9)
    theirs = column_transformer(ENCODERS["all"]).fit(more)
    assert_array_equal(encoder.fit(more).transform(more), theirs.transform(more))
