"""Constraints: equal to fairlearn's definitions where it has them, and to plain counting."""

import pickle
import time
from dataclasses import replace

import fairlearn.metrics
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import get_scorer, roc_auc_score

from skauto.constraints import (
    CallableConstraint,
    EqualizedOdds,
    EqualOpportunity,
    Evidence,
    FalseNegativeRate,
    FalsePositiveRate,
    GroupDisparity,
    ModelSize,
    PredictionLatency,
    ScoreBound,
    StatisticalParity,
)
from skauto.constraints._evidence import cautious_mean
from skauto.exceptions import SmallGroupWarning
from skauto.model._groups import group_codes, group_names

CLASSES = np.array(["no", "yes"])


@pytest.fixture
def evidence(rng):
    p = rng.random(400)
    y = (p + 0.4 * rng.normal(size=400) > 0.5).astype(int)
    groups = {"sex": rng.integers(0, 2, 400), "age": rng.integers(0, 4, 400)}
    return Evidence(np.column_stack([1 - p, p]), y, CLASSES, groups=groups, X=rng.random((400, 2)))


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


def test_no_limit_allows_everything():
    for constraint in (ModelSize(), StatisticalParity("sex"), GroupDisparity("sex")):
        constraint.check(CLASSES)
        assert constraint.limit == np.inf
    with pytest.raises(ValueError, match="must be a number, or None"):
        ModelSize(np.nan).check(CLASSES)


def test_rates_are_fairlearns(evidence):
    y, predicted = binary(evidence)
    for constraint, metric in (
        (FalsePositiveRate(0.1), fairlearn.metrics.false_positive_rate),
        (FalseNegativeRate(0.1), fairlearn.metrics.false_negative_rate),
    ):
        assert constraint.measure(evidence) == pytest.approx(metric(y, predicted))


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


def test_small_groups_are_warned_about_for_each_rate():
    codes = np.repeat([0, 1, 2], [40, 40, 23])
    y = np.append(np.arange(80) % 2, np.arange(23) < 20).astype(int)
    rows = Evidence(np.empty((103, 0)), y, CLASSES, groups={"g": codes})
    names = {"g": ["a", "b", "c"]}
    with pytest.warns(SmallGroupWarning) as caught:
        EqualizedOdds("g", 0.1).check_groups(rows, names)
    assert len(caught) == 1
    assert "10 rows of the other classes" in str(caught[0].message)
    assert "do not count: 'c' (3)" in str(caught[0].message)
    p = np.where(codes == 2, 0.9, np.where(np.arange(103) % 4 < 2, 0.9, 0.1))
    measured = replace(rows, probabilities=np.column_stack([1 - p, p]))
    assert EqualizedOdds("g", 0.1).measure(measured) == 0.5
    with pytest.raises(ValueError, match=r"21 rows.* two.* Got 'a' \(20\), 'b' \(20\), 'c'"):
        EqualOpportunity("g", 0.1, min_group_size=21).check_groups(rows, names)


def test_rates_of_no_rows_are_not_defined():
    ones = Evidence(np.array([[0.2, 0.8]]), np.array([1]), CLASSES)
    assert np.isnan(FalsePositiveRate(0.1).measure(ones))
    assert FalseNegativeRate(0.1).measure(ones) == 0.0


def test_score_bounds(evidence):
    auc = roc_auc_score(evidence.y, evidence.probabilities[:, 1])
    bound = ScoreBound("roc_auc", lower=0.9)
    assert bound.reported(bound.measure(evidence)) == pytest.approx(auc)
    assert (bound.measure(evidence) <= bound.limit) == (auc >= 0.9)
    assert bound.reported(bound.limit) == pytest.approx(0.9)
    loss = ScoreBound("neg_log_loss", lower=-0.5)
    assert loss.limit == 0.5
    assert ScoreBound("roc_auc", upper=0.99).measure(evidence) == pytest.approx(auc)


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "balanced_accuracy"])
def test_scores_are_weighted_and_rates_are_not(evidence, rng, metric):
    y, predicted = binary(evidence)
    weight = rng.uniform(0.1, 10.0, len(y))
    weighted = replace(evidence, sample_weight=weight)
    function = get_scorer(metric)._score_func
    scores = evidence.probabilities[:, 1] if metric == "roc_auc" else predicted

    def score(rows):
        return function(y[rows], scores[rows], sample_weight=weight[rows])

    rows = rng.integers(len(y), size=300)
    bound = ScoreBound(metric, upper=0.9)
    assert bound.measure(weighted) == pytest.approx(score(np.arange(len(y))))
    assert bound.measure(weighted.take(rows)) == pytest.approx(score(rows))
    by_group = [score(evidence.groups["age"] == g) for g in range(4)]
    disparity = GroupDisparity("age", metric)
    assert disparity.measure(weighted) == pytest.approx(np.ptp(by_group))
    for rate in (FalseNegativeRate(), StatisticalParity("age")):
        assert rate.measure(weighted) == rate.measure(evidence)


def test_positive_label(evidence):
    swapped = FalsePositiveRate(0.1, positive_label="no").measure(evidence)
    assert swapped == pytest.approx(FalseNegativeRate(0.1).measure(evidence))


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


class Sleeper:
    def __init__(self, seconds):
        self.seconds = seconds
        self.n_rows = []

    def predict(self, X):
        self.n_rows.append(len(X))
        time.sleep(self.seconds)


@pytest.mark.parametrize("seconds, n_calls", [(0.0, 26), (0.03, 6)])
def test_latency_is_seconds_per_row_of_a_batch(evidence, seconds, n_calls):
    model = Sleeper(seconds)
    value = PredictionLatency(1.0, batch_size=50).measure(
        Evidence(evidence.probabilities, evidence.y, CLASSES, X=evidence.X, model=model)
    )
    assert model.n_rows == [50] * n_calls
    assert value >= seconds / 50


def test_latency_ignores_the_first_calls(evidence):
    class Cold(Sleeper):
        def predict(self, X):
            self.n_rows.append(len(X))
            time.sleep(0.01 if len(self.n_rows) <= 5 else 0.0)

    value = PredictionLatency(1.0, batch_size=10).measure(
        Evidence(evidence.probabilities, evidence.y, CLASSES, X=evidence.X, model=Cold(0))
    )
    assert value < 0.001


def test_latency_ignores_a_single_slow_call(evidence):
    class Hiccup(Sleeper):
        def predict(self, X):
            self.n_rows.append(len(X))
            time.sleep(0.05 if len(self.n_rows) == 8 else 0.0)

    value = PredictionLatency(1.0, batch_size=10).measure(
        Evidence(evidence.probabilities, evidence.y, CLASSES, X=evidence.X, model=Hiccup(0))
    )
    assert value < 0.005


def test_small_batches_repeat_the_rows(evidence):
    model = Sleeper(0)
    few = Evidence(
        evidence.probabilities[:3], evidence.y[:3], CLASSES, X=evidence.X[:3], model=model
    )
    PredictionLatency(1.0, batch_size=100).measure(few)
    assert set(model.n_rows) == {100}


def test_model_size_is_that_of_the_pickle():
    model = {"weights": np.zeros(1000)}
    value = ModelSize(1).measure(Evidence(None, None, CLASSES, model=model))
    assert value == len(pickle.dumps(model, protocol=pickle.HIGHEST_PROTOCOL))


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
        (FalsePositiveRate(-0.1), "must not be negative.*Got -0.1"),
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


@pytest.mark.parametrize("sensitive", [0, [0, 1], ["sex", 1], np.arange(2)])
def test_sensitive_features_are_names(sensitive):
    for make in (StatisticalParity, GroupDisparity):
        with pytest.raises(TypeError, match="must be the name of a column.*pass a dataframe as X"):
            make(sensitive).check(CLASSES)
        for names in ("sex", ("sex", "age"), np.array(["sex", "age"])):
            make(names).check(CLASSES)


def test_groups():
    np.testing.assert_array_equal(group_codes([1, 2, None, np.nan, 1], "g"), [1, 2, 0, 0, 1])
    np.testing.assert_array_equal(group_codes(["b", "b"], "g", ["a", "b"]), [1, 1])
    np.testing.assert_array_equal(group_codes([1.0, 2.0], "g", ["", "1", "2"]), [1, 2])
    with pytest.raises(ValueError, match=r"'g' must hold groups of fit, \['a', 'b'\]. Got 'c'"):
        group_codes(["a", "c"], "g", ["a", "b"])
    with pytest.raises(ValueError, match="'age' must have 2 to 50 groups. Got 100"):
        group_codes(np.arange(100), "age")
    with pytest.raises(ValueError, match="Got 1 instead"):
        group_codes(["a", "a"], "g")


def test_cautious_mean_adds_standard_errors():
    values = [0.1, 0.2, 0.4, np.nan]
    defined = np.array(values[:3])
    expected = defined.mean() + 1.5 * defined.std(ddof=1) / np.sqrt(3)
    assert cautious_mean(values, 1.5) == pytest.approx(expected)
    assert cautious_mean([0.3], 1.5) == 0.3
    assert np.isnan(cautious_mean([np.nan], 1.5))


def test_groups_with_the_same_text_are_refused():
    with pytest.raises(ValueError, match=r"'sex' holds 1 and '1'.*astype"):
        group_names([1, "1", 2], "sex")
    assert group_names([1, 1.0, 2, None], "sex") == ["", "1", "2"]
