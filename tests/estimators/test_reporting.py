"""Results of a fitted estimator as tables."""

import pytest

from skauto import AutoClassifier
from tests.estimators.fronts import small_space


def test_cost_report(biased, fang):
    report = fang.cost_report(watts_per_core=36.0)
    assert report.index.tolist() == [1.0, 0.5, "total"]
    for share in (1.0, 0.5):
        trials = [t for t in fang.history_ if t.fidelity == share]
        row = report.loc[share]
        assert row["n_trials"] == len(trials) > 0
        assert row["cpu_seconds"] == pytest.approx(sum(t.cpu_time for t in trials))
        assert all(t.cpu_time > 0 for t in trials)
        assert row["full_cpu_seconds"] == pytest.approx(row["cpu_seconds"] / share)
    total = report.loc["total"]
    assert total["cpu_seconds"] < total["full_cpu_seconds"]
    assert total["watt_hours"] == pytest.approx(total["cpu_seconds"] * 36.0 / 3600)
    assert total["full_watt_hours"] == pytest.approx(total["full_cpu_seconds"] * 36.0 / 3600)
    with pytest.raises(ValueError, match="watts_per_core"):
        fang.cost_report(-1)


def test_cost_report_of_one_source(biased):
    X, y = biased
    clf = AutoClassifier("random", max_evals=2, cv=2, space=small_space(), random_state=0)
    clf.fit(X, y)
    report = clf.cost_report()
    assert report.index.tolist() == [1.0, "total"]
    assert report.loc["total", "n_trials"] == 2
