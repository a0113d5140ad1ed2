"""Rows that belong together and columns that follow from the class are told, others are not."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest

from skauto import AutoClassifier
from skauto.data import TableReader, TimeSplit
from skauto.data._training import read_training_data
from skauto.estimators._doubts import check_target, warn_of_dependent_rows
from skauto.exceptions import DependentRowsWarning, TargetWarning


def told(X, y, warn=warn_of_dependent_rows):
    """Texts of the warnings of a table."""
    table = read_training_data(X, y, {}, TableReader())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn(table)
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


def test_dates_of_one_class_only_share_it_by_chance(rng):
    y, days = rng.integers(0, 2, 400), pd.Series(pd.date_range("2024-01-01", periods=400))
    assert told(pd.DataFrame({"x": rng.normal(size=400), "closed": days.where(y == 1)}), y) == []


def test_copies_of_rows_but_not_rows_that_are_equal_by_chance(rng):
    y, x = rng.integers(0, 2, 300), rng.normal(size=(300, 2))
    rows = rng.permutation(np.append(np.arange(300), rng.integers(0, 300, 60)))
    [text] = told(x[rows], y[rows])
    assert "Rows with the same cells have the same class in 100% of the pairs" in text
    assert "number of copies as sample_weight" in text
    few = np.rint(x)
    assert told(few[rows], rng.permutation((few[:, 0] > 0).astype(int))[rows]) == []


def leaks(rng, y):
    """Columns of 500 rows that follow from the class, with one wrong cell."""
    numbers, days = rng.exponential(9, 500), pd.Series(pd.date_range("2024-01-01", periods=500))
    right = np.where(np.arange(500) == 7, 1 - y, y) == 1
    return {
        "copy": np.where(right, "bad", "good"),
        "reason": np.where(right, rng.choice(["price", "moved"], 500), None),
        "refund": np.where(right, numbers, 0.0),
        "closed": days.where(right),
        "note": np.where(right, [f"said {x:.5f} and left us" for x in numbers], ""),
    }


@pytest.mark.parametrize("name", ["copy", "reason", "refund", "closed", "note"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_column_that_follows_from_the_class(rng, name, n_classes):
    y, x = rng.integers(0, 2, 500), rng.normal(size=500)
    X = pd.DataFrame({"x": x, name: leaks(rng, y)[name]})
    y = np.where((y == 0) & (x > 0), n_classes - 1, y) if n_classes > 2 else y
    [text] = told(X, y, check_target)
    assert f"column {name!r} tells a class alone" in text
    assert f"column_kinds={{{name!r}: 'drop'}}" in text
    assert told(X, rng.permutation(y), check_target) == []
    assert told(X[:90], y[:90], check_target) == []
    with pytest.warns(TargetWarning):
        AutoClassifier(max_evals=1, cv=2, random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("labels", "doubt"),
    [
        (["no", "no ", "yes"], "the labels 'no' and 'no ' differ only by case or spaces"),
        (["No", "no", "yes"], "the labels 'No' and 'no' differ"),
        (["nan", "no", "yes"], "the label 'nan' means a missing class"),
        (["", "no", "yes"], "the label '' means a missing class"),
    ],
)
def test_labels_that_are_one_class_or_none(rng, labels, doubt):
    y = np.array(labels, dtype=object)[rng.integers(0, 3, 90)]
    [text] = told(rng.normal(size=(90, 2)), y, check_target)
    assert doubt in text


@pytest.mark.parametrize("labels", [["+", "-", "?"], ["a", "a b", "ab"], [0, 1, 2]])
def test_different_labels_need_no_warning(rng, labels):
    X, y = rng.normal(size=(90, 2)), np.array(labels)[rng.integers(0, 3, 90)]
    assert told(X, y, check_target) == []


def test_a_column_from_which_the_class_was_made(rng):
    X = pd.DataFrame({"price": rng.exponential(9, 200), "x": rng.normal(size=200)})
    with pytest.warns(
        TargetWarning, match="column 'price' tells a class alone or has the name of y"
    ):
        AutoClassifier(max_evals=1, cv=2, random_state=0).fit(X, X["price"] > 5)
    assert told(X.to_numpy(), X["price"] > 5, partial(check_target, target="x0")) == []


def test_fit_warns_unless_the_splits_are_chosen(runs):
    y, x = runs
    X = pd.DataFrame({"x": x, "day": np.arange(400)})
    clf = AutoClassifier(max_evals=1, random_state=0)
    with pytest.warns(DependentRowsWarning):
        clf.fit(X, y)
    with warnings.catch_warnings(action="error", category=DependentRowsWarning):
        clf.fit(X, y, groups=np.arange(400) // 10)
        clf.set_params(cv=TimeSplit("day")).fit(X, y)
