"""Ensembles within limits on rates: the decision keeps them, not a poorer pipeline."""

import io
import pickle
import runpy
import sys

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, recall_score
from sklearn.model_selection import cross_val_score

from skauto import ConstrainedAutoClassifier
from skauto.constraints import (
    CallableConstraint,
    EqualizedOdds,
    EqualOpportunity,
    Evidence,
    FalseNegativeRate,
    FalsePositiveRate,
    GroupDisparity,
    ScoreBound,
    StatisticalParity,
)
from skauto.constraints._checker import ConstraintChecker
from skauto.data import TrainingData
from skauto.display._predictions import LabeledPredictions
from skauto.ensemble._decide import DecisionChooser
from skauto.exceptions import SmallGroupWarning
from skauto.export import export_code, trusted_types
from skauto.history import Trial
from skauto.model import Decision
from skauto.selection import BalancedErrorLoss, ErrorLoss
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


def test_a_margin_does_not_give_constant_labels():
    """Three fifths and two thirds of the positive rows of two groups, the second one small."""
    n_positive, n_found = np.array([200, 12]), np.array([120, 8])
    group = np.repeat([0, 1], [1000, 60])
    y, positive = np.zeros(1060, dtype=int), np.full(1060, 0.1)
    for g, start in enumerate([0, 1000]):
        y[start : start + n_positive[g]] = 1
        positive[start : start + n_found[g]] = 0.9
    rows = np.random.default_rng(0).permutation(1060)
    data = TrainingData(
        Z=np.zeros((1060, 1)),  # tells nothing of the group
        y=y[rows],
        classes=np.array([0, 1]),
        splits=[(rows[:530], rows[530:]), (rows[530:], rows[:530])],
        sensitive={"g": group[rows]},
    )
    predictions = np.column_stack([1 - positive, positive])[rows]
    space = SearchSpace(["classifier"]).add("classifier", "logistic", LogisticRegression())
    trial = Trial(number=0, configuration=space.default(), losses=(0.1,), predictions=predictions)
    checker = ConstraintChecker([EqualOpportunity("g", 0.1)], data)
    chooser = DecisionChooser(data, checker, "auto")
    decision = chooser.choose([trial], np.ones(1), np.arange(1060), ErrorLoss()).out_of_fold
    check = checker.check([trial], [1.0], decision=decision)
    assert check.passes
    np.testing.assert_array_equal(decision.labels(predictions), positive[rows] > 0.5)


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy", "f1_macro", "neg_log_loss"])
@pytest.mark.parametrize(
    "limit",
    [
        StatisticalParity("group", 0.9, positive_label=2),
        EqualizedOdds("group", positive_label=1),
        FalseNegativeRate(0.9, positive_label=0),
    ],
)
def test_limits_of_three_classes_are_judged_on_the_labels_of_the_decision(limit, scoring):
    X, _, sensitive = people(400, 0)
    y = np.digitize(X["skill"] + 0.3 * np.random.default_rng(0).normal(size=400), [-0.5, 0.5])
    space = SearchSpace(["classifier"]).add("classifier", "logistic", LogisticRegression())
    clf = ConstrainedAutoClassifier(
        [limit], "random", space=space, max_evals=1, cv=2, scoring=scoring, random_state=0
    )
    clf.fit(X, y, sensitive_features=sensitive if limit.sensitive_names else None)
    assert clf.feasible_
    known = LabeledPredictions.out_of_fold(clf)
    groups = {"group": (sensitive["group"] == "b").to_numpy().astype(int)}
    evidence = Evidence(np.eye(3)[known.labels], y, known.classes, groups)
    value = clf.constraint_values_.set_index("model").loc["ensemble", "value"]
    assert limit.measure(evidence) == pytest.approx(value, abs=0.01)  # or the mean of two folds


def test_the_gate_measured_what_is_deployed():
    limit = StatisticalParity("group", 0.1)
    clf = search([limit])
    X, y, sensitive = people(1500, 0)
    groups = {"group": (sensitive["group"] == "b").to_numpy().astype(int)}
    on_training = limit.measure(Evidence(np.eye(2)[clf.predict(X)], y, np.array([0, 1]), groups))
    gated = clf.constraint_values_.set_index("model").loc["ensemble", "bound"]
    assert on_training == pytest.approx(gated, abs=0.06)


def test_reports_show_the_labels_that_were_judged(table, fair):
    known = LabeledPredictions.out_of_fold(fair)
    codes = {"sex": np.unique(table[0]["sex"], return_inverse=True)[1]}
    evidence = Evidence(np.eye(2)[known.labels], table[1], known.classes, codes)
    value = fair.constraint_values_.set_index("model").loc["ensemble", "value"]
    assert StatisticalParity("sex").measure(evidence) == pytest.approx(value)


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


def grouped(n, seed, n_groups=2):
    """A table with the group as a column; the class depends on a skill that differs by group."""
    rng = np.random.default_rng(seed)
    group = rng.integers(n_groups, size=n)
    X = pd.DataFrame({"skill": rng.normal(1.5 * group), "sex": np.array(list("abcdefgh"))[group]})
    y = (rng.random(n) < expit(2.0 * X["skill"] - 1.5)).astype(int)
    return X, y


def by_groups(constraints, X, y, **settings):
    settings = {"decision": "group_thresholds", "max_evals": 1, "cv": 3, **settings}
    space = SearchSpace(["classifier"]).add("classifier", "logistic", LogisticRegression())
    clf = ConstrainedAutoClassifier(constraints, "random", space=space, random_state=0, **settings)
    return clf.fit(X, y)


def value_on(clf, limit, X, y):
    codes = {"sex": np.unique(X["sex"], return_inverse=True)[1]}
    evidence = Evidence(np.eye(2)[clf.predict(X)], y, np.array([0, 1]), codes)
    return limit.measure(evidence), np.mean(evidence.labels == y)


def best_thresholds(clf, X, y, upper):
    """Highest accuracy within the limit over a grid of pairs of thresholds, by brute force."""
    positive, first = clf.predict_proba(X)[:, 1], (X["sex"] == "a").to_numpy()
    labels = positive > np.linspace(0.02, 0.98, 97)[:, None]
    rates = [labels[:, rows].mean(axis=1) for rows in (first, ~first)]
    n_right = [(labels == np.asarray(y))[:, rows].sum(axis=1) for rows in (first, ~first)]
    allowed = np.abs(np.subtract.outer(*rates)) <= upper
    return np.add.outer(*n_right)[allowed].max() / len(y)


@pytest.fixture(scope="module")
def table():
    return grouped(1500, 0)


@pytest.fixture(scope="module")
def fair(table):
    return by_groups([StatisticalParity("sex", 0.05)], *table)


def test_thresholds_of_groups_are_nearly_the_best_pair(table, fair):
    assert fair.feasible_
    X, y = grouped(6000, 1)
    value, accuracy = value_on(fair, StatisticalParity("sex"), X, y)
    assert value < 0.05 + 0.04
    assert accuracy > best_thresholds(fair, X, y, 0.05) - 0.02


def test_a_label_depends_on_probability_and_group_alone(fair):
    X, _ = grouped(500, 2)
    positive, labels = fair.predict_proba(X)[:, 1], fair.predict(X)
    for name in "ab":
        rows = (X["sex"] == name).to_numpy()
        assert positive[rows & (labels == 1)].min() > positive[rows & (labels == 0)].max()
    other = X.assign(sex=X["sex"].map({"a": "b", "b": "a"}))
    assert (fair.predict(other) != labels).any()


@pytest.mark.parametrize("limit", [EqualOpportunity, EqualizedOdds])
def test_other_differences_are_kept_by_thresholds_of_groups(limit, table):
    clf = by_groups([limit("sex", 0.1)], *table)
    assert clf.feasible_
    assert value_on(clf, limit("sex"), *grouped(6000, 1))[0] < 0.1 + 0.05


def test_a_hidden_group_gives_labels_but_no_features(table):
    clf = by_groups([StatisticalParity("sex", 0.05)], *table, column_kinds={"sex": "drop"})
    X, _ = grouped(100, 1)
    np.testing.assert_array_equal(clf.predict_proba(X), clf.predict_proba(X.assign(sex="a")))
    assert (clf.predict(X) != clf.predict(X.assign(sex="a"))).any()


def test_thresholds_of_groups_in_cross_validation_and_pickles(table, fair):
    X, _ = table
    loaded = pickle.loads(pickle.dumps(fair))
    np.testing.assert_array_equal(loaded.predict(X), fair.predict(X))
    scores = cross_val_score(fair, *table, cv=2, error_score="raise")
    assert scores.min() > 0.5


def test_thresholds_of_groups_are_stored_and_exported(fair, tmp_path, monkeypatch, capsys):
    X, _ = grouped(200, 1)
    stored = skops.io.loads(skops.io.dumps(fair), trusted=trusted_types())
    np.testing.assert_array_equal(stored.predict(X), fair.predict(X))
    X.to_csv(tmp_path / "X.csv", index=False)
    folder = export_code(fair, tmp_path / "fair")
    monkeypatch.setattr(sys, "argv", ["predict.py", str(tmp_path / "X.csv")])
    monkeypatch.setattr(sys, "path", sys.path.copy())  # the script adds its folder
    runpy.run_path(str(folder / "predict.py"), run_name="__main__")
    labels = pd.read_csv(io.StringIO(capsys.readouterr().out))["predicted"]
    np.testing.assert_array_equal(labels, fair.predict(X))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_groups_are_read_by_position_from_arrays(fair):
    X, _ = grouped(50, 1)
    np.testing.assert_array_equal(fair.predict(X.to_numpy()), fair.predict(X))


def test_predict_refuses_missing_and_unknown_groups(fair):
    X, _ = grouped(50, 1)
    with pytest.raises(ValueError, match="missing:\n- sex"):
        fair.predict(X[["skill"]])
    message = r"'sex' must hold groups of fit, \['a', 'b'\]. Got 'x' instead"
    with pytest.raises(ValueError, match=message):
        fair.predict(X.assign(sex="x"))
    with pytest.raises(ValueError, match="Got '' instead. Missing values are the group ''"):
        fair.predict(X.assign(sex=None))


def test_small_groups_have_the_common_threshold():
    X, y = grouped(1200, 3)
    X.loc[:4, "sex"] = "c"
    with pytest.warns(SmallGroupWarning, match=r"'c' \(5\)"):
        clf = by_groups([StatisticalParity("sex", 0.05)], X, y)
    (model,) = clf.ensemble_.decision_.models
    assert len(model.own) == 1  # of two large groups and a small one
    clf.predict(X.iloc[:10])


@pytest.mark.parametrize(
    ("limits", "settings", "message"),
    [
        ([FalseNegativeRate(0.2)], {}, "needs two classes, and a limit of StatisticalParity"),
        ([StatisticalParity("sex")], {}, "needs two classes, and a limit"),
        ([], {}, "needs two classes"),
    ],
)
def test_thresholds_of_groups_need_a_limit_between_groups(table, limits, settings, message):
    with pytest.raises(ValueError, match=message):
        by_groups(limits, *table, **settings)


def test_thresholds_of_groups_are_for_few_groups_that_predict_can_read(table):
    with pytest.raises(ValueError, match="allows 6 groups.*Got 8 of 'sex'"):
        by_groups([StatisticalParity("sex", 0.05)], *grouped(800, 0, n_groups=8))
    X, y = table
    clf = ConstrainedAutoClassifier(
        [StatisticalParity("sex", 0.05)], decision="group_thresholds", max_evals=1
    )
    with pytest.raises(ValueError, match="reads the groups from columns of X. Got 'sensitive"):
        clf.fit(X[["skill"]], y, sensitive_features=X["sex"])


def test_a_part_of_the_rows_has_the_threshold_of_the_others():
    """Other classes in a part change the thresholds of the other parts only."""
    rng = np.random.default_rng(0)
    n_rows = 300
    group, skill = rng.integers(2, size=n_rows), rng.normal(size=n_rows)
    positive = expit(skill + 1.5 * group)
    y = (rng.random(n_rows) < positive).astype(int)
    predictions = np.column_stack([1 - positive, positive])
    part = np.random.default_rng(0).permutation(n_rows) % 3
    rows = np.arange(n_rows)

    def offsets(y):
        data = TrainingData(
            Z=group[:, None].astype(float),
            y=y,
            classes=np.array([0, 1]),
            splits=[(rows[:150], rows[150:]), (rows[150:], rows[:150])],
            sensitive={"g": group},
        )
        chooser = DecisionChooser(
            data, ConstraintChecker([StatisticalParity("g", 0.1)], data), "auto"
        )
        plain = Decision(np.zeros(2))
        pairs = chooser._within_limits(plain, predictions, rows, BalancedErrorLoss(), [1.0])
        return next(pairs).out_of_fold.offsets

    flipped = np.where((part == 1) & (rng.random(n_rows) < 0.5), 1 - y, y)
    before, after = offsets(y), offsets(flipped)
    np.testing.assert_array_equal(before[part == 1], after[part == 1])
    assert not np.array_equal(before[part != 1], after[part != 1])
