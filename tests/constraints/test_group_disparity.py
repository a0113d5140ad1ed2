"""Differences of scores between three groups, by brute force, for every scorer that is allowed."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import (
    brier_score_loss,
    fbeta_score,
    get_scorer,
    get_scorer_names,
    make_scorer,
)

from skauto.constraints import Evidence, GroupDisparity


class Told(ClassifierMixin, BaseEstimator):
    """A classifier whose rows are the probabilities that it predicts."""

    def __init__(self, classes):
        self.classes = classes

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True

    @property
    def classes_(self):
        return self.classes

    def predict_proba(self, X):
        return X

    def predict(self, X):
        return self.classes[np.argmax(X, axis=1)]


def share_of_the_last_class(estimator, X, y):
    """A scorer of one's own, of the labels."""
    return float(np.mean(estimator.predict(X) == estimator.classes_[-1]))


def allowed(classes):
    """Names of the scorers that the constraint accepts for these classes."""
    names = []
    for name in get_scorer_names():
        try:
            GroupDisparity("group", name).check(classes)
        except ValueError:
            continue
        names.append(name)
    return names


CODES, WORDS, LETTERS = np.array([0, 1]), np.array(["no", "yes"]), np.array(["a", "b", "c"])
CALLABLES = {
    "f2": make_scorer(fbeta_score, beta=2, average="macro", pos_label=None),
    "own": share_of_the_last_class,
}
# Equal in all groups for two classes.
CONSTANT = {"neg_max_error", "neg_median_absolute_error", "top_k_accuracy"}
OPTIONS = [
    (classes, metric)
    for classes in (CODES, WORDS, LETTERS)
    for metric in (*allowed(classes), *CALLABLES)
]


def evidence_of(classes, seed=0):
    """Predictions of three groups of different sizes, each with an error rate of its own."""
    rng = np.random.default_rng(seed)
    groups = np.repeat([2, 0, 1], [60, 90, 120])
    y = rng.integers(0, len(classes), len(groups))
    certainty = np.array([1.2, 0.3, 2.5])[groups]
    logits = rng.normal(size=(len(y), len(classes)))
    logits[np.arange(len(y)), y] += certainty
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    order = rng.permutation(len(y))
    return Evidence(probabilities[order], y[order], classes, groups={"group": groups[order]})


def score_of(metric, classes, evidence, group):
    """What scikit-learn's scorer says of the rows of a group."""
    name = "roc_auc_ovr" if metric == "roc_auc" and len(classes) > 2 else metric
    scorer = CALLABLES.get(name) or get_scorer(name)
    rows = evidence.groups["group"] == group
    return scorer(Told(classes), evidence.probabilities[rows], classes[evidence.y[rows]])


def test_the_scorers_of_classes_are_allowed():
    assert {"accuracy", "f1", "neg_brier_score", "roc_auc"} <= set(allowed(CODES))
    assert {"accuracy", "f1_macro", "neg_log_loss", "roc_auc"} <= set(allowed(LETTERS))


@pytest.mark.parametrize(
    ("classes", "metric"), OPTIONS, ids=lambda value: value if isinstance(value, str) else ""
)
@pytest.mark.filterwarnings("ignore")  # of metrics of regression and of clusters
def test_it_is_the_largest_difference_of_the_scores_of_two_of_three_groups(classes, metric):
    evidence = evidence_of(classes)
    scores = [score_of(metric, classes, evidence, group) for group in range(3)]
    largest = max(abs(one - other) for one, other in combinations(scores, 2))
    constraint = GroupDisparity("group", CALLABLES.get(metric, metric))
    assert largest > 0 or metric in CONSTANT
    assert constraint.measure(evidence) == pytest.approx(largest)


def test_a_scorer_of_probabilities_of_ones_own():
    scorer = make_scorer(
        brier_score_loss, greater_is_better=False, response_method="predict_proba"
    )
    evidence = evidence_of(CODES)
    scores = [
        -np.mean((evidence.probabilities[rows, 1] - evidence.y[rows]) ** 2)
        for rows in (evidence.groups["group"] == group for group in range(3))
    ]
    assert GroupDisparity("group", scorer).measure(evidence) == pytest.approx(np.ptp(scores))


def test_the_group_in_the_middle_and_small_groups_do_not_count():
    evidence = evidence_of(CODES)
    accuracy = [score_of("accuracy", CODES, evidence, group) for group in range(3)]
    middle, small = int(np.argsort(accuracy)[1]), 2  # 60 rows
    without = evidence.take(np.flatnonzero(evidence.groups["group"] != middle))
    constraint = GroupDisparity("group")
    assert constraint.measure(without) == constraint.measure(evidence) == np.ptp(accuracy)
    assert middle != small
    others = np.ptp([accuracy[group] for group in range(3) if group != small])
    assert (
        GroupDisparity("group", min_group_size=61).measure(evidence) == others < np.ptp(accuracy)
    )
