"""Scorers by name, as functions and with weights."""

import re
import warnings

import numpy as np
import pytest
import sklearn.metrics
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    LeaveOneOut,
)

from skauto.exceptions import NoBetterThanGuessingWarning
from tests.estimators.quick import quick


def test_several_scorers(iris):
    clf = quick(scoring=["neg_log_loss", "accuracy"]).fit(*iris)
    results = clf.cv_results_
    assert clf.best_score_ == pytest.approx(results["mean_test_neg_log_loss"].max())
    assert results["mean_test_accuracy"].max() > 0.9
    own = quick(scoring={"own": make_scorer(accuracy_score)}).fit(*iris)
    assert "mean_test_score" in own.cv_results_
    assert own.score(*iris) == accuracy_score(iris[1], own.predict(iris[0]))


def test_a_callable_scorer_sees_the_rows(iris):
    X, y = iris
    seen = []

    def scorer(estimator, rows, truth):
        seen.append(rows.shape)
        return float((estimator.predict(rows) == truth)[rows[:, 0] > 5].mean())

    quick(scoring=scorer).fit(X, y)
    assert {shape[1] for shape in seen} == {4}


def test_a_metric_in_place_of_a_scorer_is_refused_with_advice(iris):
    with pytest.raises(ValueError, match=r"Use scorer\(estimator, X, y\), or make_scorer\(metric"):
        quick(scoring=lambda y, predicted: 1.0).fit(*iris)


@pytest.mark.parametrize("scoring", [[3], {"auc": ["roc_auc"]}])
def test_what_is_no_name_of_a_scorer_is_refused_in_short(iris, scoring):
    with pytest.raises(ValueError, match="must be the name of a scikit-learn scorer, a callable"):
        quick(scoring=scoring).fit(*iris)


def test_a_scorer_may_call_the_score_of_what_it_gets(iris):
    clf = quick(scoring=lambda estimator, X, y: estimator.score(X, y)).fit(*iris)
    assert clf.score(*iris) == accuracy_score(iris[1], clf.predict(iris[0]))


def test_roc_auc_of_several_classes_is_one_vs_rest(iris):
    clf = quick(scoring="roc_auc").fit(*iris)
    assert clf.best_score_ > 0.95
    assert clf.score(*iris) > 0.95


@pytest.mark.parametrize(
    "scoring", ["roc_auc_ovo", "average_precision", "neg_brier_score", "d2_log_loss_score"]
)
@pytest.mark.parametrize("cv", [4, 0.1])
def test_validation_rows_may_lack_a_class(iris, scoring, cv):
    X, y = iris
    rows = np.r_[0:50, 50:100, 100:102]
    names = np.array(["setosa", "versicolor", "virginica"])
    # a class of two rows is in at most two folds
    clf = quick(scoring=scoring, cv=cv).fit(X[rows], names[y[rows]])
    assert np.isfinite(clf.best_score_)
    assert clf.member_weights_


@pytest.mark.parametrize("scoring", ["precision", "precision_macro", "top_k_accuracy"])
def test_undefined_scores_of_the_majority_class_are_silent(scoring):
    X, y = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UndefinedMetricWarning)
        warnings.simplefilter("ignore", NoBetterThanGuessingWarning)
        clf = quick(scoring=scoring).fit(X, y)
        assert 0 <= clf.score_report(X, 1 - y).loc["majority class", "held_out"] <= 1


@pytest.mark.parametrize("scoring", ["f1", "average_precision", "neg_brier_score"])
def test_the_advice_for_the_positive_class_can_be_followed(scoring):
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["no", "yes"])
    with pytest.raises(ValueError, match="Name the positive class") as error:
        quick(scoring=scoring).fit(X, names[y])
    advice = re.search(r"make_scorer\(.*?\)", str(error.value)).group()
    scorer = eval(advice, vars(sklearn.metrics))
    expected = quick(scoring=scoring).fit(X, y).ensemble_score_
    assert quick(scoring=scorer).fit(X, names[y]).ensemble_score_ == pytest.approx(
        expected, abs=0.02
    )
    if scoring == "f1":
        with pytest.raises(ValueError, match="Use one of 'f1_macro', 'f1_micro'"):
            quick(scoring=scoring).fit(X, np.arange(len(y)) % 3)


def test_scores_that_are_negated_losses_are_called_so(iris):
    shown = quick(scoring="neg_log_loss").fit(*iris)._repr_html_()
    assert "Negative log loss of the ensemble -0." in shown


def test_a_function_is_called_a_score(iris):
    clf = quick(scoring=lambda estimator, X, y: float((estimator.predict(X) == y).mean()))
    assert "score" in clf.fit(*iris).report_dict()["verdict"]["score_name"]


def test_weights_are_ignored_by_metrics_without_them(iris):
    X, y = iris
    weight = np.random.default_rng(0).random(len(y))

    def hits(y_true, y_pred):
        return np.mean(y_true == y_pred)

    own = quick(scoring=make_scorer(hits)).fit(X, y, sample_weight=weight)
    assert own.best_score_ > 0.9
    both = quick(scoring={"first": "accuracy", "own": make_scorer(hits)})
    results = both.fit(X, y, sample_weight=weight).cv_results_
    assert np.nanmax(results["mean_test_own"]) > 0.9


def test_leave_one_out_falls_back_to_pooled_scores(iris):
    X, y = iris
    rows = np.r_[0:8, 50:58]
    clf = quick(scoring="roc_auc", cv=LeaveOneOut(), max_evals=2).fit(X[rows], y[rows])
    assert np.isfinite(clf.best_trial_.loss)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # means of no score
        assert clf.best_score_ == pytest.approx(1.0 - clf.best_trial_.loss)
        assert np.isnan(clf.cv_results_["mean_test_score"]).all()


def test_score_ignores_weights_that_the_metric_does_not_take(iris):
    X, y = iris
    clf = quick(scoring=make_scorer(lambda y, predicted: np.mean(y == predicted))).fit(X, y)
    assert clf.score(X, y, sample_weight=np.arange(len(y))) == clf.score(X, y)
