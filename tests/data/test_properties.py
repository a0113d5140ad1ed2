"""Property-based tests: any table is read, or raises a documented error before the search."""

import datetime
import warnings

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from skauto import AutoClassifier
from skauto.data import TableReader
from skauto.space import SearchSpace

WORDS = st.text(max_size=8)
MISSING = st.sampled_from([None, np.nan, pd.NA, pd.NaT])
CELLS = {
    "float": st.floats(width=64),
    "huge": st.sampled_from([1e300, -1e300, 5e-324, 2.0**53]),
    "integer": st.integers(-(2**40), 2**40),
    "boolean": st.booleans(),
    "any text": WORDS,
    "bytes": st.binary(max_size=3),
    "price": st.builds("{}{:,.2f}".format, st.sampled_from(["$", "€ ", ""]), st.floats(-1e6, 1e6)),
    "word": st.sampled_from(["yes", "no", "n/a", "?", "", "-", "none"]),
    "date": st.dates().map(str),
    "python date": st.dates(),
    "timestamp": st.datetimes(timezones=st.none() | st.just(datetime.UTC)),
    "sentence": st.lists(WORDS, min_size=4, max_size=7).map(" ".join),
    "tags": st.lists(st.sampled_from("abcd"), max_size=4).map(";".join),
    "constant": st.just("same"),
}
DTYPES = st.sampled_from([object, "str", "category", "string", "Float64", "Int8", "float32", None])
# The beginnings of all error messages of the reader, see docs/errors.rst.
DOCUMENTED = ("Column ", "Input X contains infinity", "Every value of the 'X' argument")


@st.composite
def columns(draw, n_rows):
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=2))
    weights = [CELLS[kind] for kind in kinds[: 1 + draw(st.integers(0, 9)) // 9]]
    cell = st.one_of(*weights, MISSING) if draw(st.booleans()) else st.one_of(*weights)
    few = draw(st.lists(cell, min_size=1, max_size=n_rows))
    picks = draw(st.lists(st.integers(0, len(few) - 1), min_size=n_rows, max_size=n_rows))
    series = pd.Series([few[i] for i in picks], dtype=object)
    dtype = draw(DTYPES)
    try:
        return series.infer_objects() if dtype is None else series.astype(dtype)
    except (TypeError, ValueError, OverflowError):
        return series


@st.composite
def tables(draw, min_rows=1):
    n_rows = draw(st.integers(min_rows, 30))
    found = draw(st.lists(columns(n_rows), min_size=1, max_size=4))
    return pd.DataFrame({f"c{j}": column for j, column in enumerate(found)})


def read_or_refused(action):
    """Return the result, or None after a documented error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return action()
    except (TypeError, ValueError) as error:
        assert str(error).startswith(DOCUMENTED), error
        return None


def check_reader(X):
    reader = TableReader()
    Z = read_or_refused(lambda: reader.fit_transform(X))
    if Z is None:
        return
    assert Z.shape == (len(X), len(reader.get_feature_names_out()))
    assert Z.dtype == np.float64
    assert not np.isinf(Z).any()
    np.testing.assert_array_equal(reader.transform(X), Z)
    np.testing.assert_allclose(reader.transform(X.iloc[::-1]), Z[::-1], rtol=1e-9, atol=1e-9)
    assert len(reader.table_report()) == X.shape[1]
    for index, n_levels in zip(reader.categorical_indices_, reader.n_levels_, strict=True):
        assert set(Z[:, index][~np.isnan(Z[:, index])]) == set(range(n_levels))
    reader.transform(X.iloc[:1])


def check_estimator(X, seed):
    y = np.random.default_rng(seed).integers(3, size=len(X))
    y[:2] = [0, 1]  # a class may have a single row
    space = SearchSpace(["classifier"]).add("classifier", "tree", DecisionTreeClassifier())
    model = AutoClassifier(space=space, max_evals=1, cv=2, random_state=0)
    if read_or_refused(lambda: model.fit(X, y)) is not None:
        assert set(model.predict(X)) <= set(y)


SETTINGS = settings(
    deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


@settings(SETTINGS, max_examples=80)
@given(X=tables())
def test_any_table_is_read_or_refused(X):
    check_reader(X)


@settings(SETTINGS, max_examples=12)
@given(X=tables(min_rows=2), seed=st.integers(0, 99))
def test_any_table_is_learnt_or_refused(X, seed):
    check_estimator(X, seed)
