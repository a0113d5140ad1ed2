"""Rows that share their class because they belong together are told, others are not."""

import warnings

import numpy as np
import pandas as pd
import pytest

from skauto import AutoClassifier
from skauto.data import TableReader, TimeSplit
from skauto.data._dependence import warn_of_dependent_rows
from skauto.data._training import read_training_data
from skauto.exceptions import DependentRowsWarning


def told(X, y):
    """Texts of the warnings of a table."""
    table = read_training_data(X, y, {}, TableReader())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_dependent_rows(table)
    return [str(warning.message) for warning in caught]


@pytest.fixture
def runs(rng):
    """Classes of 400 rows in runs of about five, and a column without signal."""
    return np.cumsum(rng.random(400) < 0.2) % 2, rng.normal(size=400)


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", None])
def test_a_column_of_dates_in_whose_order_the_classes_come_in_runs(runs, rng, form):
    y, x = runs
    days = pd.Series(pd.date_range("2024-01-01", periods=400))
    X = pd.DataFrame({"x": x, "day": days if form is None else days.dt.strftime(form)})
    X.loc[[3, 77], "day"] = None
    shuffled = rng.permutation(400)
    [text] = told(X.iloc[shuffled], y[shuffled])
    assert "follow each other by 'day'" in text
    assert "pass cv=TimeSplit('day')" in text
    assert told(X, rng.permutation(y)) == []


@pytest.mark.parametrize("name", ["patient_id", "CustomerID", "customer"])
@pytest.mark.parametrize("kind", [int, "K{:05}".format])
def test_an_identifier_that_repeats_and_whose_rows_share_a_class(rng, name, kind):
    entity = rng.permutation(np.repeat(np.arange(60), 5))
    X = pd.DataFrame({name: list(map(kind, entity)), "x": rng.normal(size=300)})
    [text] = told(X, rng.integers(0, 2, 60)[entity])
    assert f"Rows of the same {name!r} have the same class in 100% of the pairs" in text
    assert f"pass groups={name!r} to fit" in text
    assert told(X, rng.integers(0, 2, 300)) == []
    assert told(X.rename(columns={name: "color"}), rng.integers(0, 2, 60)[entity]) == []
    X[name] = entity + 0.5  # a measurement
    assert told(X, rng.integers(0, 2, 60)[entity]) == []


def test_the_order_of_the_rows_but_not_a_table_sorted_by_its_class(runs):
    y, x = runs
    [text] = told(x[:, None], y)
    assert "follow each other in the table" in text
    assert "TimeSeriesSplit" in text
    assert told(x[:, None], np.sort(y)) == []
    assert told(x[:60, None], y[:60]) == []


def test_fit_warns_unless_the_splits_are_chosen(runs):
    y, x = runs
    X = pd.DataFrame({"x": x, "day": np.arange(400)})
    clf = AutoClassifier(max_evals=1, random_state=0)
    with pytest.warns(DependentRowsWarning):
        clf.fit(X, y)
    with warnings.catch_warnings(action="error", category=DependentRowsWarning):
        clf.fit(X, y, groups=np.arange(400) // 10)
        clf.set_params(cv=TimeSplit("day")).fit(X, y)
