"""Columns that drive the answers, and their directions."""

import numpy as np
import pandas as pd
import pytest

from skauto.display._report._drivers import _relations, direction_of
from skauto.display._report._evidence import Evidence
from tests.display.report.customers import held_out, search


def test_drivers_are_the_columns_that_decide_with_their_directions(fitted, customers):
    drivers = fitted.report_dict(**held_out(customers))["drivers"]
    assert {row["column"] for row in drivers["columns"][:2]} == {"age", "plan"}
    assert (drivers["n_rows"], drivers["measured_on"]) == (200, "held-out rows")
    by_name = {row["column"]: row for row in drivers["columns"]}
    assert by_name["age"]["direction"]["trend"] == "falling"
    assert by_name["age"]["direction"]["class"] == "yes"
    plan = by_name["plan"]["direction"]
    assert (plan["low_value"], plan["high_value"], plan["trend"]) == ("basic", "full", "rising")
    assert by_name["city"]["direction"] is None
    # An identifier is not read, so it drives nothing.
    assert "customer_id" not in by_name and drivers["n_columns"] == len(by_name)


def test_rows_without_classes_show_what_moves_the_probabilities(fitted, customers):
    X = customers[0]
    report = fitted.report_dict(X=X)
    assert report["verdict"] == fitted.report_dict()["verdict"]
    drivers = report["drivers"]
    assert (drivers["n_rows"], drivers["measured_on"]) == (600, "rows without classes")
    by_name = {row["column"]: row for row in drivers["columns"]}
    assert {row["column"] for row in drivers["columns"][:2]} == {"age", "plan"}
    assert by_name["plan"]["direction"]["trend"] == "rising"
    assert "customer_id" not in by_name
    # A column that is shuffled moves the probabilities by as much as new rows differ in it.
    moved = X.assign(age=np.random.default_rng(1).permutation(X["age"]))
    change = np.abs(fitted.predict_proba(moved) - fitted.predict_proba(X)).sum(axis=1).mean() / 2
    assert by_name["age"]["importance"] == pytest.approx(change, rel=0.15)


def test_the_importance_of_many_columns_is_that_of_the_most_related(rng):
    X = rng.normal(size=(400, 130))
    y = (X[:, 77] + 0.3 * rng.normal(size=400) > 0).astype(int)
    clf = search(X[:200], y[:200])
    drivers = clf.report_dict(X=X[200:], y=y[200:])["drivers"]
    assert drivers["n_columns"] == 130
    assert len(drivers["columns"]) <= 100
    assert drivers["columns"][0]["column"] == "x77"


def test_the_days_between_two_dates_relate_both_columns(rng):
    start = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 300), "D")
    days = rng.integers(1, 60, 300)
    X = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    X.insert(1, "ordered", start)
    X["shipped"] = start + pd.to_timedelta(days, "D")
    clf = search(X, (days > 30).astype(int))
    evidence = Evidence.of(clf, X, None)
    a, ordered, *others, shipped = _relations(evidence, evidence.given)
    assert ordered == shipped > 3 * max(a, *others)


def test_a_direction_is_a_change_in_one_way_only():
    rising = np.column_stack([[0.9, 0.6, 0.2], [0.1, 0.4, 0.8]])
    found = direction_of(rising, ["1", "2", "3"], np.array(["no", "yes"]))
    assert (found["class"], found["trend"]) == ("yes", "rising")
    assert (found["share_at_low"], found["share_at_high"]) == (0.1, 0.8)
    bent = np.column_stack([[0.9, 0.2, 0.6], [0.1, 0.8, 0.4]])
    assert direction_of(bent, ["1", "2", "3"], np.array(["no", "yes"])) is None
    flat = np.full((3, 2), 0.5)
    assert direction_of(flat, ["1", "2", "3"], np.array(["no", "yes"])) is None
