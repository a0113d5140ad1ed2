"""ConstrainedAutoClassifier: the limits hold for what it returns."""

import time
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_array
from scipy.stats import norm
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB

from skauto import AutoClassifier, ConstrainedAutoClassifier, SearchOptions
from skauto.constraints import (
    CallableConstraint,
    Constraint,
    EqualOpportunity,
    FalseNegativeRate,
    GroupDisparity,
    ModelSize,
    PredictionLatency,
    ScoreBound,
    StatisticalParity,
)
from skauto.exceptions import (
    AllTrialsFailedError,
    BudgetWarning,
    InfeasibleError,
    InfeasibleWarning,
    SmallGroupWarning,
    TrialFailedWarning,
    UncertainLimitWarning,
)
from skauto.space import SearchSpace


def small_space():
    space = SearchSpace(["classifier"])
    space.add("classifier", "gaussian_nb", GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 0.1, 1.0]})
    space.add("classifier", "logistic", LogisticRegression(), {"C": [1e-3, 1e-2, 0.1, 1.0, 10.0]})
    space.add("classifier", "forest", RandomForestClassifier(5), {"max_depth": [2, 5, None]})
    return space


@pytest.fixture(scope="module")
def biased():
    """A table in which the group tells of the label, through a proxy."""
    X, y = make_classification(600, 6, n_informative=4, random_state=0)
    rng = np.random.default_rng(0)
    group = np.where(rng.random(600) < 0.3 + 0.4 * y, "a", "b")
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(6)])
    frame["proxy"] = (group == "a") + 0.3 * rng.normal(size=600)
    return frame.assign(group=group), y


def fitted(biased, constraints, **kwargs):
    settings = {"max_evals": 8, "random_state": 0, "cv": 3, "space": small_space()}
    settings |= {"scoring": "roc_auc", "strategy": "random", "ensemble_size": 10, **kwargs}
    return ConstrainedAutoClassifier(constraints, **settings).fit(*biased)


@pytest.fixture(scope="module")
def unlimited(biased):
    """A search with a limit that everything keeps."""
    return fitted(biased, [StatisticalParity("group", 1)])


def test_every_constraint_is_reported(biased):
    constraints = [
        PredictionLatency(1.0),
        ModelSize(1e9),
        FalseNegativeRate(0.99),
        StatisticalParity("group", 0.99),
        GroupDisparity("group", "roc_auc", upper=0.99),
        CallableConstraint(lambda estimator, X, y: X["x0"].mean(), upper=9, name="mean_x0"),
    ]
    clf = fitted(biased, constraints, max_evals=4)
    frame = clf.constraint_values_
    assert frame["constraint"].tolist() == [c.key for c in constraints] * 2
    assert frame["model"].unique().tolist() == ["best", "ensemble"]
    assert frame["met"].all()
    assert clf.feasible_
    assert frame["value"].notna().all()
    assert frame.loc[frame["constraint"] == "model_size", "fitted"].notna().all()
    assert set(clf.leaderboard()) >= {c.key for c in constraints}


def test_size_of_the_ensemble_is_kept(biased):
    free = fitted(biased, [ModelSize(1e9)])
    size = free.constraint_values_.set_index("model").loc["ensemble", "fitted"]
    limit = size / 3
    bound = fitted(biased, [ModelSize(limit)])
    frame = bound.constraint_values_.set_index("model")
    assert bound.feasible_
    assert frame.loc["ensemble", "fitted"] <= limit
    assert frame.loc["ensemble", "value"] <= limit


def test_disparity_of_the_averaged_predictions_is_kept(biased, unlimited):
    X, _ = biased
    values = [t.constraints["statistical_parity(group)"] for t in unlimited.history_]
    limit = float(np.quantile(values, 0.4))
    # by hand: the weights' out-of-fold predictions, fold by fold
    options = SearchOptions(warm_start=True)  # keeps all predictions
    limits = [StatisticalParity("group", limit)]
    clf = fitted(biased, limits, options=options, decision="argmax")
    assert clf.feasible_
    share = clf.member_weights_
    mean = sum(w * clf.history_[n].predictions for n, w in share.items())
    positive = mean[:, 1] > mean[:, 0]
    overall = abs(positive[X["group"] == "a"].mean() - positive[X["group"] == "b"].mean())
    value = clf.constraint_values_.set_index("model").loc["ensemble", "value"]
    assert value <= limit
    assert overall == pytest.approx(value, abs=0.06)  # folds against all rows at once


def slow_to_measure(estimator, X, y):
    time.sleep(0.1)
    return 0.0


def test_a_limit_that_is_slow_to_measure_leaves_time_to_refit(biased):
    """25 weights of three folds would take 7.5 seconds to measure."""
    limit = CallableConstraint(slow_to_measure, upper=1.0)
    space = small_space().subspace({"classifier": ["gaussian_nb", "logistic"]})
    with warnings.catch_warnings():
        warnings.simplefilter("error", BudgetWarning)
        clf = fitted(biased, [limit], space=space, max_evals=4, time_limit=4, ensemble_size=25)
    assert clf.feasible_
    assert 1 <= len(clf.member_weights_) <= 4


def test_best_is_the_best_feasible_trial(biased, unlimited):
    key = "statistical_parity(group)"
    limit = float(np.median([trial.constraints[key] for trial in unlimited.history_]))
    clf = fitted(biased, [StatisticalParity("group", limit)], ensemble_size=1)
    feasible = [trial for trial in clf.history_ if trial.constraints[key] <= limit]
    assert 0 < len(feasible) < len(clf.history_)
    assert clf.best_trial_.number == min(feasible, key=lambda t: t.loss).number
    assert clf.feasible_


def test_best_trial_is_a_member_if_only_thresholds_keep_a_limit(biased):
    clf = fitted(biased, [FalseNegativeRate(0.02)], max_evals=6)
    assert clf.feasible_
    assert clf.history_.incumbent is None
    board = clf.leaderboard().set_index("model")
    assert board.pop("feasible").drop("ensemble").eq(False).all()
    best = clf.best_trial_
    assert best.constraints["false_negative_rate"] == min(
        clf.history_[number].constraints["false_negative_rate"] for number in clf.member_weights_
    )
    assert clf.best_params_ == best.configuration.to_dict()
    assert clf.best_score_ == pytest.approx(1 - best.loss, abs=0.01)
    algorithm = small_space().component("classifier", best.configuration["classifier"])
    assert type(clf.best_estimator_.steps[-1][1]) is type(algorithm.estimator)


def test_nothing_feasible_warns_and_returns_the_least_violating(biased):
    with pytest.warns(InfeasibleWarning, match="'model_size' has the limit 10; the best value"):
        clf = fitted(biased, [ModelSize(10)], max_evals=5)
    assert not clf.feasible_
    assert not clf.constraint_values_["met"].any()
    [number] = clf.member_weights_
    assert clf.best_trial_.number == number
    lightest = min(trial.constraints["model_size"] for trial in clf.history_)
    assert clf.history_[number].constraints["model_size"] == pytest.approx(lightest, rel=0.01)
    with pytest.raises(InfeasibleError, match="'model_size'"):
        fitted(biased, [ModelSize(10)], on_infeasible="raise", max_evals=5)


def test_safety_margin_keeps_its_distance(biased, unlimited):
    careful = fitted(biased, [StatisticalParity("group", 1)], safety_margin=2)
    for a, b in zip(unlimited.history_, careful.history_, strict=True):
        values = np.array(a.fold_constraints["statistical_parity(group)"])
        margin = 2 * values.std(ddof=1) / np.sqrt(3)
        key = "statistical_parity(group)"
        assert b.constraints[key] == pytest.approx(a.constraints[key] + margin)


def test_sensitive_features_need_not_be_features(biased):
    X, y = biased
    group = X["group"]
    for passed in (group.to_numpy(), group, pd.DataFrame({"group": group})):
        clf = ConstrainedAutoClassifier(
            [StatisticalParity("group", 0.9)],
            "random",
            max_evals=3,
            cv=3,
            random_state=0,
            space=small_space(),
        ).fit(X.drop(columns="group"), y, sensitive_features=passed)
        assert clf.feasible_
    with pytest.raises(ValueError, match="'group' of a constraint must be a column of X or"):
        ConstrainedAutoClassifier([StatisticalParity("group", 0.9)]).fit(
            X.drop(columns="group"), y
        )


@pytest.mark.parametrize("decision", ["auto", "group_thresholds"])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_columns_of_arrays_have_names(biased, form, decision):
    """x0, x1, ..., as in error messages."""
    X, y = biased
    X = np.column_stack([pd.factorize(X["group"])[0], X.drop(columns="group")]).astype(float)
    parity = StatisticalParity("x0", 0.3)
    clf = few_trials([parity], decision=decision).fit(form(X), y)
    passed = few_trials([parity]).fit(form(X[:, 1:]), y, sensitive_features=X)
    for model in (clf, passed):
        assert model.constraint_values_["constraint"].unique().tolist() == [parity.key]
    np.testing.assert_array_equal(clf.predict(form(X)), clf.predict(X))


def test_sensitive_features_are_routed(biased):
    X, y = biased
    clf = ConstrainedAutoClassifier(
        [StatisticalParity("group", 0.9)], "random", max_evals=2, cv=2, space=small_space()
    )
    with sklearn.config_context(enable_metadata_routing=True):
        clf.set_fit_request(sensitive_features=True)
        result = cross_validate(
            clf,
            X.drop(columns="group"),
            y,
            params={"sensitive_features": X["group"]},
            cv=2,
            error_score="raise",
        )
    assert len(result["test_score"]) == 2


def test_pareto_front(unlimited):
    front = unlimited.pareto_front_
    key = "statistical_parity(group)"
    for trial in unlimited.history_:
        beaten = (front["loss"] <= trial.loss) & (front[key] <= trial.constraints[key])
        assert beaten.any()
    assert front["loss"].is_monotonic_increasing
    assert front[key].is_monotonic_decreasing


@pytest.mark.parametrize(
    ("constraint", "decision", "strategy"),
    [
        (StatisticalParity("group", 0.2), "auto", "AlternatingBO"),
        (StatisticalParity("group", 0.2), "argmax", "ADMM"),
        (ModelSize(100_000), "auto", "ADMM"),
    ],
    ids=["kept by thresholds", "argmax", "size"],
)
def test_the_search_keeps_only_the_limits_that_thresholds_do_not(
    biased, constraint, decision, strategy
):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InfeasibleWarning)
        clf = fitted(biased, [constraint], strategy="auto", decision=decision, max_evals=4)
    assert type(clf.strategy_).__name__ == strategy
    assert list(clf.history_.goal.limits) == [constraint.key]
    assert list(clf.history_.goal.search_limits) == [constraint.key] * (strategy == "ADMM")


def test_an_unknown_strategy_is_told_of_auto(biased):
    with pytest.raises(ValueError, match="'auto'.*Did you mean 'auto'"):
        fitted(biased, [ModelSize(100_000)], strategy="autos")


def test_admm_searches_within_the_limits(biased):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InfeasibleWarning)
        clf = fitted(biased, [StatisticalParity("group", 0.3)], strategy="admm", max_evals=12)
    assert len(clf.history_) == 12


@pytest.mark.parametrize(
    "constraints, error, message",
    [
        ([len], TypeError, "CallableConstraint"),
        ([ModelSize(1), ModelSize(2)], ValueError, "'model_size' twice"),
        ("latency", ValueError, "'constraints'"),
        ([StatisticalParity("sex", 0.1)], ValueError, "'sex'.*column of X"),
    ],
)
def test_bad_constraints(biased, constraints, error, message):
    with pytest.raises(error, match=message):
        ConstrainedAutoClassifier(constraints, max_evals=2).fit(*biased)


def few_trials(constraints, **kwargs):
    settings = {"max_evals": 2, "cv": 3, "space": small_space(), "random_state": 0, **kwargs}
    return ConstrainedAutoClassifier(constraints, "random", **settings)


def test_missing_values_of_a_sensitive_feature_are_a_group(biased):
    X, y = biased

    def values(marker):
        group = X["group"].astype(object).where(np.arange(600) % 3 > 0, marker)
        clf = few_trials([StatisticalParity("group", 0.99)])
        clf.fit(X.drop(columns="group"), y, sensitive_features=group)
        return clf.constraint_values_

    named = values("missing")
    for missing in (np.nan, None, pd.NA, pd.NaT):
        pd.testing.assert_frame_equal(values(missing), named, rtol=0.02)  # the bound is drawn


def test_a_group_of_one_row_does_not_count_and_is_named(biased):
    X, y = biased
    group = X["group"].copy()
    group.iloc[0] = "c"
    clf = few_trials([StatisticalParity("group", 0.5)])
    message = (
        r"'statistical_parity\(group\)'.*min_group_size=10 rows.*all folds together. Groups that "
        r"are too small to judge do not count: 'c' \(1\)\. Merge"
    )
    with pytest.warns(SmallGroupWarning, match=message):
        clf.fit(X.drop(columns="group"), y, sensitive_features=group)
    assert clf.constraint_values_["value"].notna().all()
    alone = np.where(np.arange(600) == 0, "c", "a")
    message = r"needs two of them. Got 'a' \(300\), 'c' \(0\). Merge groups, or lower min_group_"
    with pytest.raises(ValueError, match=message):
        few_trials([EqualOpportunity("group", 0.5)]).fit(
            X.drop(columns="group"), y, sensitive_features=alone
        )


@pytest.mark.parametrize("n_small", [9, 12])
def test_a_group_counts_by_its_rows_in_all_folds_together(biased, n_small):
    """A group with few positive labels decides the value only if no warning names it."""
    X, y = biased
    group = X["group"].to_numpy(dtype=object)
    group[np.flatnonzero(y == 0)[:n_small]] = "c"
    clf = few_trials([StatisticalParity("group", 0.99)], decision="argmax", ensemble_size=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.fit(X.drop(columns="group"), y, sensitive_features=group)
    named = [w for w in caught if issubclass(w.category, SmallGroupWarning)]
    assert len(named) == (n_small < 10)
    labels = clf.best_trial_.predictions.argmax(axis=1)
    rates = {name: labels[group == name].mean() for name in "abc"}
    counted = [rates[name] for name in ("ab" if named else "abc")]
    assert rates["c"] < min(rates["a"], rates["b"])
    assert clf.constraint_values_["value"].iloc[0] == pytest.approx(np.ptp(counted))


def test_small_intersections_are_named(biased):
    X, y = biased
    size = np.where(np.arange(600) % 60 == 0, "tall", "small")
    features = pd.DataFrame({"group": X["group"], "size": size})
    parity = StatisticalParity(["group", "size"], 0.99, intersections=True)
    with pytest.warns(SmallGroupWarning, match=r"'a x tall' \(\d\), 'b x tall' \(\d\)\. Merge"):
        clf = few_trials([parity]).fit(X.drop(columns="group"), y, sensitive_features=features)
    assert clf.constraint_values_["constraint"].iloc[0] == "statistical_parity(group x size)"


def test_sensitive_features_without_a_constraint_that_names_them(biased):
    X, y = biased
    with pytest.raises(ValueError, match="'sensitive_features'.*no constraint that names a group"):
        few_trials([ModelSize(10**9)]).fit(X, y, sensitive_features=X["group"])


@pytest.mark.parametrize(
    "columns, message",
    [
        (["sex", "age"], r"'group' of a constraint must be a column of X or.*Got neither"),
        (["groups", "age"], r"Did you mean 'groups'"),
    ],
)
def test_unknown_sensitive_columns(biased, columns, message):
    X, y = biased
    features = pd.DataFrame(np.zeros((600, 2)), columns=columns)
    with pytest.raises(ValueError, match=message):
        few_trials([StatisticalParity("group", 0.1)]).fit(
            X.drop(columns="group"), y, sensitive_features=features
        )


def test_a_sensitive_number_has_to_be_cut(biased):
    with pytest.raises(ValueError, match="'x0' must have 2 to 50 groups. Got 600"):
        few_trials([StatisticalParity("x0", 0.1)]).fit(*biased)


def test_sensitive_features_are_for_constraints(biased):
    X, y = biased
    message = "'sensitive_features'. Only Constrained.*Allowed are X, y, sample_weight, groups"
    with pytest.raises(TypeError, match=message):
        AutoClassifier(max_evals=1).fit(X, y, sensitive_features=X["group"])
    assert not hasattr(AutoClassifier().get_metadata_routing().fit, "sensitive_features")


@pytest.mark.parametrize(
    "limit, message",
    [
        (ModelSize(0), "'model_size' must be positive"),
        (PredictionLatency(0.0), "'prediction_latency' must be positive"),
        (FalseNegativeRate(-0.1), "must be from 0 to 1"),
    ],
)
def test_limits_that_nothing_can_reach(biased, limit, message):
    with pytest.raises(ValueError, match=message):
        few_trials([limit]).fit(*biased)


@pytest.mark.parametrize(
    "given, advice", [(ModelSize, r"write ModelSize\(...\)"), (len, "wrap a function as Callable")]
)
def test_what_is_no_constraint_is_refused(biased, given, advice):
    with pytest.raises(TypeError, match=f"must hold constraints.*Got.*{advice}"):
        few_trials([given]).fit(*biased)


def breaks_on_one_fold(estimator, X, y):
    if 17 in X.index:
        raise RuntimeError("row 17 is not mine")
    return 0.0


def test_a_callable_that_raises_on_one_fold_fails_its_trials(biased):
    limit = CallableConstraint(breaks_on_one_fold, upper=0.5)
    with pytest.raises(AllTrialsFailedError, match="RuntimeError: row 17 is not mine"):
        few_trials([limit]).fit(*biased)


class OfModels(Constraint):
    """A constraint that is not additive, and yet asks for a fitted model."""

    def measure(self, evidence):
        if evidence.model is None:
            raise RuntimeError("no model, no value")
        return 0.0


def test_a_constraint_that_raises_on_ensembles_is_reported(biased):
    with (
        pytest.warns(TrialFailedWarning, match="'of_models'.*RuntimeError: no model, no value"),
        pytest.warns(InfeasibleWarning, match="'of_models'.*best value that was reached is 0"),
    ):
        clf = few_trials([OfModels(0.5)]).fit(*biased)
    assert not clf.feasible_


def test_constraints_of_one_class_are_reported_apart(biased):
    constraints = [
        EqualOpportunity("group", 0.9, positive_label=0),
        EqualOpportunity("group", 0.9, positive_label=1),
        ScoreBound("roc_auc", lower=0.1),
        ScoreBound("roc_auc", upper=1.0),
    ]
    frame = few_trials(constraints).fit(*biased).constraint_values_
    values = frame[frame["model"] == "best"].set_index("constraint")["value"]
    assert values.index.tolist() == [c.key for c in constraints]
    of_0, of_1, lower, upper = values
    assert of_0 != of_1
    assert lower == pytest.approx(upper)


def test_a_score_bound_is_weighted_as_the_score(biased):
    X, y = biased
    weight = np.where(np.arange(600) % 2, 10.0, 0.1)
    flipped = np.where(np.arange(600) % 4, y, 1 - y)  # half of the rows of small weight
    clf = few_trials([ScoreBound("accuracy", lower=0.1)], decision="argmax")
    clf.fit(X, flipped, sample_weight=weight)
    for trial in clf.history_:
        (values,) = trial.fold_constraints.values()
        assert np.mean(values) == pytest.approx(trial.loss)
    value = clf.constraint_values_.set_index("model").loc["best", "value"]
    assert value == pytest.approx(1 - clf.best_trial_.loss)


def test_a_number_of_errors_is_kept_with_a_single_split(biased):
    limit = FalseNegativeRate(0.99)
    number, same = (
        few_trials([limit], safety_margin=margin, cv=0.3).fit(*biased).constraint_values_
        for margin in (2.0, f"{100 * norm.cdf(2.0)}%")
    )
    assert (number["bound"] > number["value"]).all()
    pd.testing.assert_frame_equal(number, same)


def test_a_confidence_moves_the_value_that_is_held_against_the_limit(biased):
    parity = StatisticalParity("group", 0.99)
    plain, sure = (
        few_trials([parity], safety_margin=margin).fit(*biased).constraint_values_
        for margin in (0.0, "95%")
    )
    assert (plain["bound"] == plain["value"]).all()
    assert (sure["bound"] > sure["value"]).all()
    with pytest.raises(ValueError, match="or a confidence.*Got '95 percent'"):
        few_trials([parity], safety_margin="95 percent").fit(*biased)


def test_patience_waits_for_what_thresholds_will_keep(biased):
    """No trial keeps the limit alone, and the loss decides when the search ends."""
    settings = {"max_evals": 40, "scoring": "neg_log_loss", "initial": None}
    clf = fitted(biased, [FalseNegativeRate(0.001)], options=SearchOptions(patience=2), **settings)
    losses = clf.history_.losses[:, 0]
    assert not any(map(clf.history_.feasible, clf.history_))
    best = losses.argmin()
    assert best > 1
    assert len(losses) in (best + 3, 13)  # 12 configurations in the space


@pytest.mark.parametrize("n_rows, is_sure", [(600, False), (20_000, True)])
def test_limits_of_few_rows_are_uncertain(n_rows, is_sure):
    rng = np.random.default_rng(0)
    group = rng.integers(2, size=n_rows)
    x = rng.normal(size=n_rows) + 0.8 * group
    X = pd.DataFrame({"x": x, "group": group.astype(str)})
    y = (x + rng.normal(size=n_rows) > 0.4).astype(int)
    clf = ConstrainedAutoClassifier(
        [StatisticalParity("group", 0.05)], max_evals=2, cv=3, space=small_space(), random_state=0
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.fit(X, y)
    told = [w for w in caught if issubclass(w.category, UncertainLimitWarning)]
    row = clf.constraint_values_.set_index("model").loc["ensemble"]
    assert row["met"] and row["upper"] > row["value"]
    assert (row["upper"] <= 0.05) == is_sure == (not told)
    if told:
        assert f"bound {row['upper']:.4g}" in str(told[0].message)
