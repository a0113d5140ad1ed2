"""Several objectives in ConstrainedAutoClassifier: the front, its pipelines, what they cost."""

import time

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from skauto import ConstrainedAutoClassifier, SearchOptions
from skauto.constraints import CallableConstraint, ModelSize, ScoreBound, StatisticalParity
from skauto.estimators._pareto import distances_to_ideal
from skauto.exceptions import CheckpointError, InfeasibleError, TrialFailedWarning
from skauto.space import Real, SearchSpace
from tests.ensemble.ballast import two_classifiers
from tests.estimators.fronts import ShyClassifier, fit, small_space

KEY = "statistical_parity(group)"


class SlowOnAllRows(GaussianNB):
    """Fits the rows of a fold at once, and all rows never."""

    def fit(self, X, y, sample_weight=None):
        if len(X) == 200:
            time.sleep(600)
        return super().fit(X, y, sample_weight)


@pytest.fixture(scope="module", params=["fang_hpo", "parego"])
def fitted(request, biased, fang):
    if request.param == "fang_hpo":
        return fang
    return fit(biased, [StatisticalParity("group")], request.param)


def test_constraints_are_objectives(fitted):
    assert fitted.history_.goal.objectives == ("loss", KEY)
    complete = [trial for trial in fitted.history_ if trial.ok]
    assert len(complete) > len(fitted.history_) // 2  # one classifier refuses some settings
    for trial in complete:
        assert trial.losses == (trial.loss, trial.constraints[KEY])


def test_front_is_what_no_trial_beats(fitted):
    trials = [t for t in fitted.history_ if t.fidelity == 1.0]
    front = fitted.pareto_front_
    rows = list(zip(front["loss"], front[KEY], strict=True))
    assert len(set(rows)) == len(rows) > 1
    assert rows == sorted(rows)
    assert set(front["fidelity"]) == {1.0}
    for trial in trials:
        at_least_as_good = [row for row in rows if np.all(np.array(row) <= trial.losses)]
        assert at_least_as_good
        if trial.number in front["trial"].to_list():
            assert at_least_as_good == [trial.losses]


def test_without_a_limit_the_knee_predicts(biased, fitted):
    X, _ = biased
    points = fitted.pareto_front_[["loss", KEY]].to_numpy()
    scaled = (points - points.min(axis=0)) / np.ptp(points, axis=0)
    assert fitted.selected_ == np.argmin((scaled**2).sum(axis=1))
    chosen = fitted.select(fitted.selected_)
    calibrated = fitted.ensemble_.decision_.scale(chosen.predict_proba(X))
    np.testing.assert_allclose(fitted.predict_proba(X), calibrated, rtol=1e-6)
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[calibrated.argmax(axis=1)])
    assert fitted.best_trial_.number == fitted.pareto_front_["trial"][fitted.selected_]
    assert fitted.best_score_ == pytest.approx(1 - points[fitted.selected_, 0])
    assert fitted.feasible_


def test_the_knee_is_the_middle_also_of_a_concave_front():
    assert distances_to_ideal([[0.0, 10.0], [0.7, 7.0], [1.0, 0.0]]).argmin() == 1
    assert distances_to_ideal([[0.1, 2.0], [0.1, 2.0]]).tolist() == [0.0, 0.0]
    assert distances_to_ideal([[0.0, 1.0], [0.5, 0.0]]).argmin() == 0  # a tie: the more accurate


def test_with_a_limit_the_most_accurate_within_it_predicts(biased, fang):
    values = fang.pareto_front_[KEY]
    limit = float(values.iloc[len(values) // 2])
    clf = fit(biased, [StatisticalParity("group", limit)])
    front = clf.pareto_front_
    complete = [t for t in clf.history_ if t.ok and t.fidelity == 1.0]
    within = [t for t in complete if t.constraints[KEY] <= limit]
    assert clf.feasible_
    assert front["loss"][clf.selected_] == min(t.loss for t in within)
    assert not front["feasible"][0]  # the front goes on beyond the limit
    assert clf.member_weights_ == {front["trial"][clf.selected_]: 1.0}


def test_every_row_of_the_front_can_be_taken_out(biased, fang):
    X, y = biased
    front = fang.pareto_front_
    for row, configuration in enumerate(front["classifier"]):
        pipeline = fang.select(row)
        assert configuration in ("shy", "logistic")
        expected = {"shy": ShyClassifier, "logistic": LogisticRegression}[configuration]
        assert isinstance(pipeline[-1], expected)
        assert abs(pipeline.score(X, y) - (1 - front["loss"][row])) < 0.15


def test_select_within_a_limit(fang):
    front = fang.pareto_front_
    for row, value in enumerate(front[KEY]):
        assert fang.select(StatisticalParity("group", value))[-1] is fang.select(row)[-1]
    with pytest.raises(InfeasibleError, match=r"'statistical_parity\(group\)' within -1; the"):
        fang.select(StatisticalParity("group", -1.0))
    with pytest.raises(ValueError, match=r"one of the constraints of fit.*Got 'model_size'"):
        fang.select(ModelSize(1))
    for bad in (len(front), -1, 0.5, "knee"):
        with pytest.raises(ValueError, match=r"constraint or a row of pareto_front_, 0 to \d+"):
            fang.select(bad)


def test_select_needs_a_fitted_front(biased):
    one_objective = fit(biased, [StatisticalParity("group")], "random", max_evals=3)
    assert not hasattr(one_objective, "selected_")
    assert len(one_objective.pareto_front_) >= 1
    not_refitted = fit(
        biased, [StatisticalParity("group")], max_evals=4, options=SearchOptions(refit=False)
    )
    assert not_refitted.predict(biased[0]).shape == (200,)
    for clf in (one_objective, not_refitted):
        with pytest.raises(ValueError, match=r"strategy='fang_hpo'.*refit=True"):
            clf.select(0)


def test_the_front_survives_the_disk(biased, fang, tmp_path):
    X, _ = biased
    joblib.dump(fang, tmp_path / "front.joblib")
    loaded = joblib.load(tmp_path / "front.joblib")
    for row in range(len(fang.pareto_front_)):
        expected = fang.select(row).predict_proba(X)
        np.testing.assert_array_equal(loaded.select(row).predict_proba(X), expected)
    pd.testing.assert_frame_equal(loaded.pareto_front_, fang.pareto_front_)


def test_two_workers_find_the_same(biased, fang):
    clf = fit(biased, [StatisticalParity("group")], n_jobs=2)
    assert [t.losses for t in clf.history_] == [t.losses for t in fang.history_]
    assert clf.selected_ == fang.selected_
    assert len(clf.pareto_front_) == len(clf._front)


def test_a_checkpoint_goes_on_with_both_objectives(biased, fang, tmp_path):
    path = tmp_path / "search.jsonl"
    first = fit(
        biased, [StatisticalParity("group")], max_evals=6, options=SearchOptions(checkpoint=path)
    )
    second = fit(
        biased, [StatisticalParity("group")], max_evals=9, options=SearchOptions(checkpoint=path)
    )
    assert [t.losses for t in second.history_[:6]] == [t.losses for t in first.history_]
    assert len(second.history_) == 9
    assert second.cost_report().loc["total", "cpu_seconds"] == pytest.approx(
        sum(t.cpu_time for t in second.history_)
    )
    with pytest.raises(CheckpointError, match="objectives differ"):
        fit(
            biased,
            [StatisticalParity("group")],
            "random",
            max_evals=9,
            options=SearchOptions(checkpoint=path),
        )


def test_a_warm_start_keeps_its_objectives(biased):
    clf = fit(
        biased, [StatisticalParity("group")], max_evals=3, options=SearchOptions(warm_start=True)
    )
    clf.set_params(max_evals=2).fit(*biased)
    assert len(clf.history_) == 5
    with pytest.raises(ValueError, match=r"objectives \('loss', 'stat.*Got \('loss',\) instead"):
        clf.set_params(strategy="random").fit(*biased)


def test_failures_and_values_that_are_not_defined_are_survived(biased):
    space = small_space()
    space.add("classifier", "broken", ShyClassifier(var_smoothing=1.0))

    def spread(estimator, X, y):
        top = estimator.predict_proba(X)[:, 1]
        return np.nan if top.max() < 0.75 else top.std()

    with pytest.warns(TrialFailedWarning, match=r"'spread' is not a finite number on any fold"):
        clf = fit(biased, [CallableConstraint(spread)], space=space)
    statuses = clf.history_.counts()
    assert statuses["ok"] > 3
    errors = [t.error for t in clf.history_ if t.status == "failed"]
    assert any("too smooth" in error for error in errors)
    assert clf.pareto_front_["status"].unique().tolist() == ["ok"]


def certainty(estimator, X, y):
    return estimator.predict_proba(X).max(axis=1).mean()


def test_a_row_that_was_not_fitted_in_time_says_so(biased):
    space = SearchSpace(["classifier"])
    space.add("classifier", "slow", SlowOnAllRows(), {"var_smoothing": Real(1e-9, 1e-3, log=True)})
    space.add("classifier", "doubtful", LogisticRegression(), {"C": Real(1e-7, 1e-6, log=True)})
    limit = CallableConstraint(certainty, upper=0.6)
    clf = fit(biased, [limit], space=space, max_evals=8, time_limit=4)
    front = clf.pareto_front_
    slow = [row for row, name in enumerate(front["classifier"]) if name == "slow"]
    fast = [row for row, name in enumerate(front["classifier"]) if name == "doubtful"]
    assert slow and fast
    with pytest.raises(ValueError, match=rf"Row {slow[0]} of pareto_front_ .* rows \[{fast[0]}"):
        clf.select(slow[0])
    assert isinstance(clf.select(fast[0])[-1], LogisticRegression)
    assert clf.select(limit)[-1] is clf.select(clf.selected_)[-1]
    assert clf.feasible_


@pytest.mark.filterwarnings("ignore::skauto.exceptions.TrialFailedWarning")
def test_three_objectives_and_a_lower_bound(biased):
    constraints = [StatisticalParity("group"), ScoreBound("recall", lower=0.6)]
    clf = fit(biased, constraints, "parego", max_evals=10)
    assert clf.history_.goal.objectives == ("loss", KEY, "recall")
    rows = clf.pareto_front_[["loss", KEY, "recall"]].to_numpy()
    for row in rows:
        assert not ((rows <= row).all(axis=1) & (rows < row).any(axis=1)).any()
    assert clf.pareto_front_["recall"][clf.selected_] <= 0.4  # what it lacks
    with pytest.raises(InfeasibleError, match="'recall' within 2"):
        clf.select(ScoreBound("recall", lower=2.0))


def test_one_objective_is_left_without_constraints(biased):
    clf = fit(biased, [], max_evals=5)
    assert clf.history_.goal.objectives == ("loss",)
    assert len(clf.pareto_front_) == 1


@pytest.mark.filterwarnings("ignore::skauto.exceptions.TrialFailedWarning")
def test_patience_waits_for_the_front(biased):
    clf = fit(
        biased,
        [StatisticalParity("group")],
        "parego",
        max_evals=40,
        options=SearchOptions(patience=3),
    )
    losses = clf.history_.losses
    assert 4 <= len(losses) < 40
    widened = [
        not (losses[:number] <= losses[number]).all(axis=1).any() for number in range(len(losses))
    ]
    assert widened[-4:] == [True, False, False, False]


def test_the_score_is_that_of_the_selected_pipeline(biased):
    clf = fit(biased, [StatisticalParity("group")], options=SearchOptions(warm_start=True))
    labels = clf.ensemble_.decision_.scale(clf.best_trial_.predictions).argmax(axis=1)
    assert clf.ensemble_score_ == pytest.approx(np.mean(clf.classes_[labels] == biased[1]))


@pytest.fixture(scope="module")
def table():
    return make_classification(900, 6, random_state=0)


def test_the_front_is_judged_as_it_is_refitted(table):
    clf = ConstrainedAutoClassifier(
        [ModelSize(50_000)],
        "parego",
        space=two_classifiers(),
        max_evals=2,
        cv=3,
        random_state=0,
    ).fit(*table)
    assert clf.feasible_
    assert isinstance(clf.select(clf.selected_)[-1], GaussianNB)
    assert isinstance(clf.select(ModelSize(50_000))[-1], GaussianNB)
    assert isinstance(clf.select(ModelSize(70_000))[-1], KNeighborsClassifier)
    with pytest.raises(InfeasibleError, match=r"within 1000; the nearest has \d{4}\."):
        clf.select(ModelSize(1_000))
