"""Votes within limits on rates: the decision keeps them, not a poorer pipeline."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, recall_score

from skauto import ConstrainedAutoClassifier
from skauto.constraints import (
    CallableConstraint,
    EqualOpportunity,
    Evidence,
    FalseNegativeRate,
    FalsePositiveRate,
    GroupDisparity,
    ScoreBound,
    StatisticalParity,
)
from skauto.selection import Decision
from skauto.space import SearchSpace


def people(n, seed):
    """A table that tells of the group, the class, and the group beside the table."""
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n)
    X = pd.DataFrame({"clue": rng.normal(2.0 * group), "skill": rng.normal(size=n)})
    positive = expit(1.2 * X["clue"] - 1.2 + 1.5 * X["skill"])
    y = (rng.random(n) < positive).astype(int)
    return X, y, pd.DataFrame({"group": np.array(["a", "b"])[group]})


def search(constraints, **settings):
    X, y, sensitive = people(1500, 0)
    space = SearchSpace(["classifier"]).add("classifier", "logistic", LogisticRegression())
    clf = ConstrainedAutoClassifier(
        constraints, "random", space=space, max_evals=1, cv=3, random_state=0, **settings
    )
    compared = any(constraint.sensitive_names for constraint in constraints)
    return clf.fit(X, y, **({"sensitive_features": sensitive} if compared else {}))


def measured(clf, constraint):
    X, y, sensitive = people(4000, 1)
    groups = {"group": (sensitive["group"] == "b").to_numpy().astype(int)}
    labels = np.eye(2)[clf.predict(X)]
    value = constraint.measure(Evidence(labels, y, np.array([0, 1]), groups))
    return value, np.mean(clf.predict(X) == y)


@pytest.mark.filterwarnings("ignore::skauto.exceptions.InfeasibleWarning")
def test_statistical_parity_is_kept_by_labels_where_no_pipeline_keeps_it():
    limit = StatisticalParity("group", 0.1)
    kept, missed = search([limit]), search([limit], decision="argmax")
    assert kept.feasible_
    assert not missed.feasible_
    value, accuracy = measured(kept, limit)
    before, _ = measured(missed, limit)
    assert value < 0.15 < 0.3 < before
    assert accuracy > 0.65
    X = people(100, 2)[0]
    np.testing.assert_array_equal(kept.predict_proba(X), missed.predict_proba(X))


@pytest.mark.parametrize(
    "limit", [FalsePositiveRate(0.1), FalseNegativeRate(0.1), EqualOpportunity("group", 0.1)]
)
def test_other_limits_on_rates_are_kept_on_new_rows(limit):
    clf = search([limit])
    assert clf.feasible_
    assert measured(clf, limit)[0] < limit.upper + 0.04


def test_the_gate_measured_what_is_deployed():
    limit = StatisticalParity("group", 0.1)
    clf = search([limit])
    X, y, sensitive = people(1500, 0)
    groups = {"group": (sensitive["group"] == "b").to_numpy().astype(int)}
    on_training = limit.measure(Evidence(np.eye(2)[clf.predict(X)], y, np.array([0, 1]), groups))
    gated = clf.constraint_values_.set_index("model").loc["ensemble", "bound"]
    assert on_training == pytest.approx(gated, abs=0.06)


@pytest.mark.parametrize("positive_label", [0, 1])
@pytest.mark.parametrize("kind", [FalsePositiveRate, FalseNegativeRate])
def test_rates_of_labels_equal_the_measured_rates(kind, positive_label):
    rng = np.random.default_rng(0)
    y, labels = rng.integers(2, size=(2, 200))
    constraint = kind(0.1, positive_label=positive_label)
    evidence = Evidence(np.eye(2)[labels], y, np.array([0, 1]))
    (limit,) = constraint.rate_limits(evidence)
    shares = np.array([[labels[rows].mean() for rows in limit.sets]])
    assert limit.measure(shares)[0] == pytest.approx(constraint.measure(evidence))


def test_constraints_judge_the_labels_of_the_decision():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(2, size=100), rng.random(100)
    probabilities = np.column_stack([1 - scores, scores])
    decision = Decision(np.log([1.0, 4.0]))
    evidence = Evidence(
        probabilities, y, np.array([0, 1]), {"half": np.arange(100) % 2}, decision=decision
    )
    labels = decision.labels(probabilities)
    recall = recall_score(y, labels)
    assert ScoreBound("recall", lower=0.5).measure(evidence) == pytest.approx(1 - recall)
    by_half = [accuracy_score(y[k::2], labels[k::2]) for k in (0, 1)]
    assert GroupDisparity("half").measure(evidence) == pytest.approx(np.ptp(by_half))
    share = CallableConstraint(lambda model, X, y: model.predict(X).mean(), name="share")
    assert share.measure(evidence) == labels.mean()
