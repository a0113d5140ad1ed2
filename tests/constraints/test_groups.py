"""Constraints on groups: equal to fairlearn's definitions, and to plain counting."""

import warnings
from dataclasses import replace
from itertools import combinations

import fairlearn.metrics
import numpy as np
import pytest
from scipy.stats import beta
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import (
    brier_score_loss,
    fbeta_score,
    get_scorer,
    get_scorer_names,
    make_scorer,
)

from skauto.constraints import (
    EqualizedOdds,
    EqualOpportunity,
    Evidence,
    FalseNegativeRate,
    GroupDisparity,
    StatisticalParity,
)
from skauto.exceptions import SmallGroupWarning
from skauto.selection._scores import score_probabilities
from tests.constraints.drawn import GROUPS, covered, draw

CLASSES = np.array(["no", "yes"])


def binary(evidence):
    return evidence.y, (evidence.probabilities[:, 1] > 0.5).astype(int)


@pytest.mark.parametrize("feature", ["sex", "age"])
@pytest.mark.parametrize(
    "constraint, metric",
    [
        (StatisticalParity, fairlearn.metrics.demographic_parity_difference),
        (EqualOpportunity, fairlearn.metrics.equal_opportunity_difference),
        (EqualizedOdds, fairlearn.metrics.equalized_odds_difference),
    ],
)
def test_differences_of_rates_are_fairlearns(evidence, feature, constraint, metric):
    y, predicted = binary(evidence)
    expected = metric(y, predicted, sensitive_features=evidence.groups[feature])
    assert constraint(feature, 0.1).measure(evidence) == pytest.approx(expected)


@pytest.mark.parametrize(
    "constraint, metric",
    [
        (StatisticalParity, fairlearn.metrics.demographic_parity_difference),
        (EqualizedOdds, fairlearn.metrics.equalized_odds_difference),
    ],
)
def test_intersections_are_groups_of_their_own(evidence, constraint, metric):
    y, predicted = binary(evidence)
    crossed = np.column_stack([evidence.groups["sex"], evidence.groups["age"]])
    expected = metric(y, predicted, sensitive_features=crossed)
    both = constraint(["sex", "age"], 0.1, intersections=True)
    assert both.measure(evidence) == pytest.approx(expected)
    assert both.measure(evidence) > constraint(["sex", "age"], 0.1).measure(evidence)
    assert both.key.endswith("(sex x age)")


@pytest.mark.parametrize("n_features", [5, 7, 15])
def test_intersections_of_many_features(evidence, rng, n_features):
    """Encoded by the largest number of groups, seven features would need a terabyte."""
    columns = {f"c{j}": (rng.random(400) < 0.05).astype(int) for j in range(n_features)}
    columns["c0"] = rng.integers(0, 2, 400) + 48
    many = replace(evidence, groups=columns)
    _, crossed, sizes = np.unique(
        np.column_stack([*columns.values()]), axis=0, return_inverse=True, return_counts=True
    )
    parity = StatisticalParity([*columns], 0.1, intersections=True, min_group_size=5)
    rates = [many.labels[crossed == g].mean() for g in np.flatnonzero(sizes >= 5)]
    assert len(rates) > 3
    assert parity.measure(many) == pytest.approx(np.ptp(rates))
    half = replace(many.take(np.arange(0, 400, 2)), judged=many)
    rates = [half.labels[crossed[::2] == g].mean() for g in np.flatnonzero(sizes >= 5)]
    assert parity.measure(half) == pytest.approx(np.ptp(rates))
    names = {name: [f"{name}={code}" for code in range(50)] for name in columns}
    with pytest.warns(SmallGroupWarning) as caught:
        parity.check_groups(many, names)
    smallest = np.flatnonzero(crossed == np.argmin(sizes))[0]
    label = " x ".join(f"{name}={codes[smallest]}" for name, codes in columns.items())
    assert f"{label!r} ({sizes.min()})" in str(caught[0].message)


def test_of_several_sensitive_features_the_worst_counts(evidence):
    for make in (StatisticalParity, lambda name: GroupDisparity(name, "roc_auc")):
        both = make(["sex", "age"])
        alone = [make(name).measure(evidence) for name in ("sex", "age")]
        assert both.measure(evidence) == max(alone) != min(alone)
        assert both.key.endswith("(sex, age)")


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy", "roc_auc"])
def test_group_disparity_is_fairlearns(evidence, metric):
    y, predicted = binary(evidence)
    function = get_scorer(metric)._score_func
    scores = evidence.probabilities[:, 1] if metric == "roc_auc" else predicted
    frame = fairlearn.metrics.MetricFrame(
        metrics=function, y_true=y, y_pred=scores, sensitive_features=evidence.groups["age"]
    )
    value = GroupDisparity("age", metric, upper=0.1).measure(evidence)
    assert value == pytest.approx(frame.difference("between_groups"))


def test_groups_without_both_classes_do_not_count():
    p = np.array([0.1, 0.9, 0.4, 0.6, 0.7, 0.2])
    y = np.array([0, 1, 1, 0, 1, 1])
    groups = {"g": np.array([0, 0, 1, 1, 2, 2])}
    evidence = Evidence(np.column_stack([1 - p, p]), y, CLASSES, groups=groups)
    assert GroupDisparity("g", "roc_auc", upper=0.1, min_group_size=1).measure(evidence) == 1.0


def test_fewer_than_two_groups_say_nothing(evidence):
    rows = np.flatnonzero(evidence.groups["sex"] == 0)
    alone = evidence.take(rows)
    both = evidence.take(np.append(rows, np.flatnonzero(evidence.groups["sex"] == 1)[:9]))
    for make in (StatisticalParity, EqualOpportunity, EqualizedOdds, GroupDisparity):
        assert np.isnan(make("sex").measure(alone))
        assert np.isnan(make("sex").measure(both))  # nine rows are fewer than ten
        assert make("sex", min_group_size=1).measure(both) >= 0
        assert np.isnan(make("sex").bound(alone, 0.95))


def with_small_group(n_small):
    """Rows of two groups with a rate of 1/2, and a third one with a rate of 1."""
    codes = np.repeat([0, 1, 2], [20, 20, n_small])
    p = np.append(np.tile([0.1, 0.9], 20), np.full(n_small, 0.9))
    y = np.arange(len(p)) // 2 % 2
    return Evidence(np.column_stack([1 - p, p]), y, CLASSES, groups={"g": codes})


@pytest.mark.parametrize(("n_small", "value"), [(9, 0.0), (11, 0.5)])
def test_the_groups_that_count_are_those_of_the_judged_rows(n_small, value):
    everything = with_small_group(n_small)
    part = replace(everything.take(np.arange(1, len(everything.y), 3)), judged=everything)
    parity = StatisticalParity("g", 0.1)
    assert parity.measure(everything) == value
    rates = [part.labels[part.groups["g"] == g].mean() for g in range(3)]
    assert parity.measure(part) == np.ptp(rates if n_small >= 10 else rates[:2])
    (limit,) = parity.rate_limits(part)
    groups = range(3 if n_small >= 10 else 2)
    np.testing.assert_array_equal(limit.sets, [part.groups["g"] == g for g in groups])
    assert np.isnan(parity.measure(replace(everything, judged=everything.take(np.arange(29)))))


@pytest.mark.parametrize("n_small", [9, 11])
def test_samples_of_the_bootstrap_compare_the_same_groups(n_small):
    everything = with_small_group(n_small)
    disparity = GroupDisparity("g", "accuracy")
    rng = np.random.default_rng(0)
    values = []
    for _ in range(200):
        rows = rng.integers(len(everything.y), size=len(everything.y))
        sample = everything.take(rows)
        groups = range(3 if n_small >= 10 else 2)
        masks = [sample.groups["g"] == g for g in groups]
        values.append(np.ptp([np.mean((sample.labels == sample.y)[mask]) for mask in masks]))
    expected = np.quantile(values, 0.9, method="higher")
    assert disparity.bound(everything, 0.9) == pytest.approx(expected)


def test_groups_whose_rate_is_less_sure_than_the_limit_are_named():
    codes = np.repeat([0, 1, 2], [300, 120, 30])
    rows = Evidence(np.empty((450, 0)), np.arange(450) % 2, CLASSES, groups={"g": codes})
    names = {"g": ["a", "b", "c"]}
    with pytest.warns(SmallGroupWarning, match=r": 'c' \(0\.091, 30\)\. ") as caught:
        StatisticalParity("g", 0.05).check_groups(rows, names)
    assert len(caught) == 1
    with warnings.catch_warnings(action="error"):
        StatisticalParity("g", 0.1).check_groups(rows, names)
        StatisticalParity("g").check_groups(rows, names)


def test_small_groups_are_warned_about_for_each_rate():
    codes = np.repeat([0, 1, 2], [40, 40, 23])
    y = np.append(np.arange(80) % 2, np.arange(23) < 20).astype(int)
    rows = Evidence(np.empty((103, 0)), y, CLASSES, groups={"g": codes})
    names = {"g": ["a", "b", "c"]}
    with pytest.warns(SmallGroupWarning) as caught:
        EqualizedOdds("g", 0.2).check_groups(rows, names)
    assert len(caught) == 1
    assert "10 rows of the other classes" in str(caught[0].message)
    assert "do not count: 'c' (3)" in str(caught[0].message)
    p = np.where(codes == 2, 0.9, np.where(np.arange(103) % 4 < 2, 0.9, 0.1))
    measured = replace(rows, probabilities=np.column_stack([1 - p, p]))
    assert EqualizedOdds("g", 0.1).measure(measured) == 0.5
    with pytest.raises(ValueError, match=r"21 rows.* two.* Got 'a' \(20\), 'b' \(20\), 'c'"):
        EqualOpportunity("g", 0.1, min_group_size=21).check_groups(rows, names)


@pytest.mark.parametrize("sensitive", [0, [0, 1], ["sex", 1], np.arange(2)])
def test_sensitive_features_are_names(sensitive):
    for make in (StatisticalParity, GroupDisparity):
        with pytest.raises(TypeError, match="must be the name of a column.*are named 'x0'"):
            make(sensitive).check(CLASSES)
        for names in ("sex", ("sex", "age"), np.array(["sex", "age"])):
            make(names).check(CLASSES)


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


@pytest.mark.parametrize("n_rows", [150, 1000])
@pytest.mark.parametrize(
    "constraint, truth",
    [
        (StatisticalParity("g"), 0.5 * 0.8 + 0.5 * 0.2 - 0.4 * 0.7 - 0.6 * 0.15),
        (EqualOpportunity("g"), 0.8 - 0.7),
        (EqualizedOdds("g"), 0.8 - 0.7),
        (FalseNegativeRate(), (0.35 * 0.2 + 0.12 * 0.3) / (0.35 + 0.12)),
    ],
    ids=lambda value: getattr(value, "key", ""),
)
def test_rates_are_covered(constraint, truth, n_rows):
    share = covered(constraint, truth, n_rows, n_simulations=200)
    assert share >= 0.92  # 0.95 less two standard errors of 200 simulations


def test_a_rate_of_zero_is_bounded_by_more():
    """Where all rows of both groups are negative, resamples of rows would say 0."""
    rare = {**GROUPS, "tpr": (0.02, 0.0), "fpr": (0.02, 0.0)}
    assert covered(StatisticalParity("g"), 0.02, 200, 200, groups=rare) >= 0.92
    none = draw(np.random.default_rng(0), 100, groups={**GROUPS, "tpr": (1, 1), "fpr": (0, 0)})
    n_positive = int(none.y.sum())
    expected = beta.ppf(0.95, 1, n_positive)
    assert FalseNegativeRate().bound(none, 0.95) == pytest.approx(expected)


def test_resamples_on_which_nothing_is_defined_do_not_count():
    evidence = draw(np.random.default_rng(0), 12)
    assert np.isnan(GroupDisparity("g", "roc_auc").bound(evidence, 0.9))


@pytest.mark.parametrize("metric", ["accuracy", "f1_macro", "neg_log_loss", "neg_brier_score"])
def test_a_group_that_lacks_a_class_has_the_score_of_the_metric(rng, metric):
    probabilities, group = rng.dirichlet(np.ones(3), 60), np.arange(60) % 2
    y = np.where(group, rng.integers(0, 3, 60), rng.integers(0, 2, 60))
    evidence = Evidence(probabilities, y, np.arange(3), groups={"g": group})
    parts = [(probabilities[group == g], y[group == g]) for g in (0, 1)]
    scores = [score_probabilities(get_scorer(metric), *part, np.arange(3)) for part in parts]
    assert GroupDisparity("g", metric).measure(evidence) == pytest.approx(np.ptp(scores))
