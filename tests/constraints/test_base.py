"""What all constraints have in common."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from skauto.constraints import (
    CallableConstraint,
    EqualizedOdds,
    EqualOpportunity,
    FalseNegativeRate,
    FalsePositiveRate,
    GroupDisparity,
    ModelSize,
    PredictionLatency,
    ScoreBound,
    StatisticalParity,
)
from tests.constraints.drawn import covered

CLASSES = np.array(["no", "yes"])


def test_no_limit_allows_everything():
    for constraint in (ModelSize(), StatisticalParity("sex"), GroupDisparity("sex")):
        constraint.check(CLASSES)
        assert constraint.limit == np.inf
    with pytest.raises(ValueError, match="must be a number, or None"):
        ModelSize(np.nan).check(CLASSES)


def test_keys_tell_constraints_of_one_class_apart():
    keys = {
        c.key
        for label in (None, "no", "yes")
        for c in (
            EqualOpportunity("sex", positive_label=label),
            EqualOpportunity(["sex", "age"], positive_label=label),
            EqualOpportunity(["sex", "age"], positive_label=label, intersections=True),
            FalseNegativeRate(positive_label=label),
        )
    }
    assert len(keys) == 12
    assert {"equal_opportunity(sex)", "false_negative_rate"} < keys
    assert "equal_opportunity(sex x age, positive_label=no)" in keys
    assert "false_negative_rate(positive_label=yes)" in keys
    assert ScoreBound("roc_auc", lower=0.7).key == "roc_auc"
    assert ScoreBound("roc_auc", upper=0.99).key == "roc_auc(upper)"
    assert PredictionLatency(0.1, batch_size=1).key == "prediction_latency(batch_size=1)"


def test_a_callable_sees_a_classifier_and_the_raw_rows(evidence):
    def doubtful(estimator, X, y):
        assert X is evidence.X
        assert set(y) == {"no", "yes"}
        assert set(estimator.predict(X)) <= {"no", "yes"}
        return (estimator.predict_proba(X).max(axis=1) < 0.6).mean()

    constraint = CallableConstraint(doubtful, upper=0.2)
    assert constraint.key == "doubtful"
    expected = (evidence.probabilities.max(axis=1) < 0.6).mean()
    assert constraint.measure(evidence) == pytest.approx(expected)


@pytest.mark.parametrize(
    "constraint",
    [
        PredictionLatency(1e-5, batch_size=10),
        ModelSize(1e6),
        FalsePositiveRate(0.1, positive_label="yes"),
        StatisticalParity("sex", 0.1),
        EqualOpportunity("sex", 0.1, min_group_size=5),
        EqualizedOdds(["sex", "age"], 0.1, intersections=True),
        GroupDisparity("sex", "roc_auc", upper=0.1),
        ScoreBound("recall", lower=0.9),
        CallableConstraint(max, 0.5, name="largest"),
    ],
    ids=lambda c: type(c).__name__,
)
def test_constraints_are_settings(constraint):
    assert clone(constraint).get_params() == constraint.get_params()
    assert clone(constraint).set_params(upper=0.3).get_params()["upper"] == 0.3
    assert pickle.loads(pickle.dumps(constraint)).key == constraint.key


@pytest.mark.parametrize(
    "constraint, message",
    [
        (
            ModelSize("big"),
            "limit.*'model_size' must be a number, or None for no limit. Got 'big'",
        ),
        (FalsePositiveRate(0.1, positive_label="maybe"), "'positive_label'.*Got 'maybe'"),
        (GroupDisparity("sex", "roc_au", upper=0.1), "'roc_au'.*Did you mean 'roc_auc'"),
        (ModelSize(0), "'model_size' must be positive.*Got 0"),
        (PredictionLatency(-1.0), "'prediction_latency' must be positive.*Got -1.0"),
        (PredictionLatency(1.0, batch_size=0), "'batch_size'.*at least 1. Got 0"),
        (StatisticalParity("sex", -0.1), "must not be negative.*Got -0.1"),
        (StatisticalParity("sex", 10), "must be from 0 to 1, since it bounds a diff.*Got 10"),
        (FalsePositiveRate(-0.1), "must be from 0 to 1.*Got -0.1"),
        (FalsePositiveRate(5), "must be from 0 to 1, since it bounds a rate. Got 5"),
        (EqualOpportunity("sex", 0.1, min_group_size=0), "'min_group_size'.*Got 0"),
        (StatisticalParity([], 0.1), "must name at least one feature"),
        (ScoreBound("recall"), "either 'lower' or 'upper'"),
        (ScoreBound("recall", lower=0.1, upper=0.2), "either 'lower' or 'upper'"),
        (ScoreBound("r2", lower=0.1), "scorer of the constraint 'r2' cannot score the classes"),
        (GroupDisparity("sex", "r2"), "scorer of the constraint 'r2_disparity.* cannot score"),
    ],
)
def test_bad_settings(constraint, message):
    with pytest.raises(ValueError, match=message):
        constraint.check(CLASSES)


def error_rate(estimator, X, y):
    return (estimator.predict(X) != y).mean()


def test_the_bootstrap_covers():
    truth = 1 - 0.7 * 0.8 - 0.3 * (0.4 * 0.7 + 0.6 * 0.85)
    share = covered(CallableConstraint(error_rate), truth, 300, n_simulations=100, confidence=0.9)
    assert share >= 0.84  # 0.9 less two standard errors of 100 simulations


@pytest.mark.parametrize("arguments", [(0.1,), ("sex", 0.1)])
def test_the_name_of_scikit_learn_for_the_positive_class_has_advice(arguments):
    kind = FalsePositiveRate if len(arguments) == 1 else StatisticalParity
    with pytest.raises(TypeError, match=f"^{kind.__name__}.. got an unexp.*Use positive_label="):
        kind(*arguments, pos_label="yes")
