"""Differences between the rows given and those of the fit."""

import numpy as np

from tests.display.report.customers import held_out, hints


def test_drift_of_the_rows_given_is_told(fitted, customers):
    rows = held_out(customers)
    X = rows["X"].assign(age=rows["X"]["age"] + 40, city="Rom")
    X.loc[:99, "noise"] = np.nan
    told = hints(fitted.report_dict(X=X, y=rows["y"]))
    assert "'age' (100% above" in told
    assert "never seen, and that count as unknown: 'city' (100%)" in told
    assert "'noise' (0% then, 50% now)" in told
    assert "is below what fit estimated" in told


def test_another_mix_of_classes_is_told(fitted, customers):
    rows = held_out(customers)
    kept = np.flatnonzero(rows["y"] == "no")[:60]
    told = hints(fitted.report_dict(X=rows["X"].iloc[kept], y=rows["y"].iloc[kept]))
    assert "Class 'no' is 100% of the rows given" in told
