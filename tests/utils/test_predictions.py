"""Stored predictions answer for the rows that were predicted, and refuse others."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from skauto.utils import Predictions

P = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]])
FRAME = pd.DataFrame({"a": [1.0, 2.0, np.nan, 4.0], "b": ["x", "y", None, "x"]})
NUMBERS = np.array([[1.0, 0.0], [2.0, np.nan], [0.0, 0.0], [4.0, 1.0]])


def stored(X):
    return Predictions(P, np.array([0, 1]), X=X)


@pytest.mark.parametrize(
    ("X", "some"),
    [
        (FRAME, lambda X, rows: X.iloc[rows]),
        (FRAME, lambda X, rows: X.iloc[rows].reset_index(drop=True)),
        (FRAME, lambda X, rows: X.iloc[rows].to_numpy()),
        (FRAME, lambda X, rows: X[["b", "a"]].iloc[rows]),
        (pl.from_pandas(FRAME), lambda X, rows: X[rows]),
        (NUMBERS, lambda X, rows: X[rows]),
        (NUMBERS, lambda X, rows: X[rows].tolist()),
        (sparse.csr_array(np.nan_to_num(NUMBERS)), lambda X, rows: X[rows]),
    ],
)
@pytest.mark.parametrize("rows", [[0, 1, 2, 3], [3, 2, 1, 0], [2], [1, 1, 3]])
def test_rows_of_the_table_get_their_predictions(X, some, rows):
    asked = some(X, rows)
    np.testing.assert_array_equal(stored(X).predict_proba(asked), P[rows])
    np.testing.assert_array_equal(stored(X).predict(asked), P[rows].argmax(axis=1))


@pytest.mark.parametrize(
    "other",
    [FRAME.assign(a=0.0), FRAME.assign(c=1), FRAME[["a"]], FRAME.head(0)],
)
def test_other_rows_are_refused(other):
    with pytest.raises(ValueError, match="called predict or predict_proba"):
        stored(FRAME).predict(other)


def test_equal_rows_with_two_predictions_are_refused_unless_an_index_tells_them_apart():
    twice = np.array([[1.0], [1.0], [2.0], [3.0]])
    with pytest.raises(ValueError, match="twice, with two predictions"):
        stored(twice).predict(twice[::-1])
    np.testing.assert_array_equal(stored(twice).predict_proba(twice[2:]), P[2:])
    frame = pd.DataFrame(twice)
    np.testing.assert_array_equal(stored(frame).predict_proba(frame[::-1]), P[::-1])
    same = Predictions(P[[0, 0, 1, 2]], np.array([0, 1]), X=twice)
    np.testing.assert_array_equal(same.predict_proba(twice[1:]), P[[0, 1, 2]])


def test_without_rows_any_input_gets_all_predictions():
    assert Predictions(P, np.array([0, 1])).predict_proba(None) is not None
