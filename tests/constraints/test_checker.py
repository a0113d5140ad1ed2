"""The checker of constraints: estimates before the refit and check results on ensembles."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from skauto import SearchOptions
from skauto.constraints import (
    Constraint,
    Evidence,
    FalseNegativeRate,
    ModelSize,
    PredictionLatency,
    ScoreBound,
    StatisticalParity,
)
from skauto.constraints._checker import ConstraintChecker
from skauto.constraints._evidence import Margin
from skauto.data import TrainingData
from skauto.history import Trial
from skauto.model import PipelineEnsemble
from skauto.space import Configuration, SearchSpace
from tests.constraints.drawn import draw
from tests.ensemble.ballast import builder_of, fit


def test_fold_models_are_scaled_to_all_rows_before_selection():
    checker = builder_of([ModelSize(5_000)]).checker
    without_reader = replace(checker.data, reader=None)  # no part that all members share
    checker = replace(checker, data=without_reader)
    assert checker.estimates({"model_size": (1000.0, 1200.0)}, None) == {"model_size": 2200.0}
    at_half = checker.estimates({"model_size": (1000.0, 1200.0)}, None, fidelity=0.5)
    assert at_half == {"model_size": 4400.0}
    kept = replace(checker, refit=False)
    assert kept.estimates({"model_size": (1000.0, 1200.0)}, None) == {"model_size": 2200.0}


class Doubtful(Constraint):
    """An additive constraint that reads probabilities: shares of rows near 0.5, summed up."""

    additive = True

    def measure(self, evidence):
        assert evidence.probabilities.shape == (len(evidence.y), len(evidence.classes))
        return float((evidence.probabilities.max(axis=1) < 0.6).mean())


@pytest.fixture(scope="module")
def table():
    return make_classification(900, 6, random_state=0)


def test_an_additive_constraint_may_read_probabilities(table):
    clf = fit(table, [Doubtful(2.0)])
    assert clf.feasible_
    row = clf.constraint_values_.set_index("model").loc["ensemble"]
    weights = clf.member_weights_.items()
    mean = sum(weight * clf.history_[n].predictions for n, weight in weights)
    assert row["fitted"] == pytest.approx((mean.max(axis=1) < 0.6).mean())


def test_seconds_are_measured_on_the_fitted_ensemble(table):
    clf = fit(table, [PredictionLatency(1.0)])
    frame = clf.constraint_values_
    assert (frame["bound"] == frame["fitted"]).all()
    assert (frame["fitted"] > 0).all()


def test_pandas_rows_reach_an_additive_constraint():
    X, y = make_classification(60, 4, random_state=0)
    clf = fit((pd.DataFrame(X, columns=list("abcd")), y), [Doubtful(2.0)])
    assert clf.feasible_


def test_the_shared_reader_counts_once_and_does_not_grow(table):
    """The reader of a column of 40 names is larger than a naive Bayes classifier."""
    X, y = table
    frame = pd.DataFrame(X).assign(name=[f"level {i % 40}" for i in range(len(y))])
    frame.columns = frame.columns.astype(str)
    space = SearchSpace(["classifier"])
    space.add("classifier", "gaussian_nb", GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 0.1]})
    options = SearchOptions(warm_start=True)
    clf = fit((frame, y), [ModelSize()], space=space, max_evals=3, options=options)
    n_rows = len(y)
    empty = PipelineEnsemble(clf.reader_, [], [], clf.classes_)
    size = len(pickle.dumps(empty, protocol=5))
    splits = [(np.arange(2 * n_rows // 3), np.arange(2 * n_rows // 3, n_rows))] * 3
    data = TrainingData(
        Z=clf.reader_.transform(frame),
        y=y,
        classes=clf.classes_,
        splits=splits,
        X=frame,
        reader=clf.reader_,
    )
    checker = ConstraintChecker([ModelSize()], data)
    one, three = (checker.check(clf.history_[:n], np.ones(n))["model_size"].value for n in (1, 3))
    own = [trial.fold_constraints["model_size"][0] - size for trial in clf.history_]
    assert one == pytest.approx(size + 1.5 * own[0], rel=0.05)
    assert three == pytest.approx(size + 1.5 * sum(own), rel=0.05)


CLASSES = np.array([0, 1])


def test_the_gate_holds_the_bound_of_all_rows_against_the_limit():
    evidence = draw(np.random.default_rng(0), 400)
    rows = np.arange(400)
    data = TrainingData(
        Z=np.zeros((400, 1)),
        y=evidence.y,
        classes=CLASSES,
        splits=[(rows[200:], rows[:200]), (rows[:200], rows[200:])],
        sensitive=evidence.groups,
    )
    constraint = StatisticalParity("g", 0.1)
    folds = {
        constraint.key: tuple(constraint.measure(evidence.take(test)) for _, test in data.splits)
    }
    plain = ConstraintChecker([constraint], data).estimates(folds, evidence.probabilities)
    assert plain == {constraint.key: constraint.measure(evidence)}
    sure = ConstraintChecker([constraint], data, margin=Margin.of("95%"))
    expected = constraint.bound(evidence, 0.95)
    assert sure.estimates(folds, evidence.probabilities) == {constraint.key: expected}


@pytest.mark.parametrize("n_validated", [9, 10])
def test_decisions_and_the_gate_compare_the_same_groups(n_validated):
    """With a single split, a group may be large in all rows and small in the validation rows."""
    rows = np.arange(300)
    codes = np.where(rows < 30, 2, rows % 2)
    test = rows[30 - n_validated : 150]
    labels = np.where(codes == 2, 1, rows // 2 % 2)
    data = TrainingData(
        Z=np.zeros((300, 1)),
        y=rows % 2,
        classes=CLASSES,
        splits=[(np.setdiff1d(rows, test), test)],
        sensitive={"g": codes},
    )
    parity = StatisticalParity("g", 0.1)
    (limit,) = parity.rate_limits(Evidence.of(data, np.empty((300, 0)), rows))
    np.testing.assert_array_equal(limit.sets, [codes == g for g in range(n_validated - 7)])
    predictions = np.full((300, 2), np.nan)
    predictions[test] = np.eye(2)[labels[test]]
    trial = Trial(
        number=0, configuration=Configuration({}), losses=(0.0,), predictions=predictions
    )
    (found,) = ConstraintChecker([parity], data).check([trial], [1.0]).measurements
    rates = np.array([[labels[test][members[test]].mean() for members in limit.sets]])
    assert found.value == pytest.approx(limit.measure(rates)[0])


def test_differences_between_groups_are_measured_on_all_rows_together():
    rng = np.random.default_rng(0)
    n_rows, n_folds = 400, 10
    groups = np.arange(n_rows) % 2
    positive = np.tile([0, 0, 1, 1], n_rows // 4)  # half of each group: no difference
    order = rng.permutation(n_rows)
    data = TrainingData(
        Z=np.zeros((n_rows, 1)),
        y=positive,
        classes=CLASSES,
        splits=[(np.setdiff1d(order, test), test) for test in np.split(order, n_folds)],
        sensitive={"g": groups},
    )
    trial = Trial(
        number=0, configuration=Configuration({}), losses=(0.0,), predictions=np.eye(2)[positive]
    )
    (found,) = (
        ConstraintChecker([StatisticalParity("g", 0.05)], data).check([trial], [1.0]).measurements
    )
    assert found.value == found.estimate == 0.0
    assert np.mean(found.folds) > 0.05  # by chance: 20 rows of a group in each fold
    cautious = ConstraintChecker([StatisticalParity("g", 0.05)], data, margin=Margin(n_errors=1.0))
    (measured,) = cautious.check([trial], [1.0]).measurements
    assert measured.value == pytest.approx(measured.error)


@pytest.mark.parametrize(
    ("constraint", "n_errors"),
    [(FalseNegativeRate(0.3), 3.0), (ScoreBound("roc_auc", lower=0.5), 1)],
)
@pytest.mark.parametrize("n_folds", [1, 2])
def test_a_number_of_errors_is_a_confidence_without_two_folds(constraint, n_errors, n_folds):
    """With a single split, and where a second fold has no row of the positive class."""
    evidence = draw(np.random.default_rng(0), 300)
    rows = np.arange(300)
    data = TrainingData(
        Z=np.zeros((300, 1)),
        y=evidence.y,
        classes=CLASSES,
        splits=[(rows, rows), (rows, np.flatnonzero(evidence.y == 0))][:n_folds],
    )
    checker = ConstraintChecker([constraint], data, margin=Margin(n_errors=n_errors))
    trial = Trial(
        number=0,
        configuration=Configuration({}),
        losses=(0.0,),
        predictions=evidence.probabilities,
    )
    expected = constraint.bound(evidence, norm.cdf(n_errors))
    assert expected > constraint.measure(evidence)
    (found,) = checker.check([trial], [1.0]).measurements
    assert found.value == pytest.approx(expected)
    folds = {constraint.key: (constraint.measure(evidence), np.nan)[:n_folds]}
    estimates = checker.estimates(folds, evidence.probabilities)
    assert estimates[constraint.key] == pytest.approx(expected)
