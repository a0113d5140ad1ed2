"""An AutoClassifier inside of scikit-learn's own tools, one test each."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.ensemble import StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import PartialDependenceDisplay, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, brier_score_loss
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GroupKFold,
    StratifiedGroupKFold,
    TimeSeriesSplit,
    TunedThresholdClassifierCV,
    cross_validate,
    learning_curve,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skauto import AutoClassifier
from skauto.space import SearchSpace

SPACE = (
    SearchSpace(["classifier"])
    .add("classifier", "gaussian_nb", GaussianNB())
    .add("classifier", "decision_tree", DecisionTreeClassifier(max_depth=3))
)
# A space with steps whose output scikit-learn could turn into DataFrames.
PCA_SPACE = (
    SearchSpace(["transformer", "classifier"])
    .add("transformer", "pca", PCA(2))
    .add("classifier", "gaussian_nb", GaussianNB())
)


def make(**settings):
    defaults = {"space": SPACE, "max_evals": 2, "cv": 2, "random_state": 0}
    return AutoClassifier(**defaults | settings)


@pytest.fixture(scope="module")
def data():
    """Two classes, one of them in a quarter of the rows; `noise` says nothing about them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(160, 2)), columns=["signal", "noise"])
    X["kind"] = rng.choice(["a", "b"], 160)
    rare = X["signal"] + (X["kind"] == "b") + 0.5 * rng.normal(size=160) > 1.2
    return X, np.where(rare, "rare", "usual")


@pytest.fixture(scope="module")
def fitted(data):
    return make().fit(*data)


def test_tuned_threshold_classifier_cv(data):
    X, y = data
    tuned = TunedThresholdClassifierCV(make(decision="argmax"), cv=2).fit(X, y)
    plain = FixedThresholdClassifier(tuned.estimator_, threshold=0.5, pos_label="rare").fit(X, y)
    assert balanced_accuracy_score(y, tuned.predict(X)) >= balanced_accuracy_score(
        y, plain.predict(X)
    )


def test_calibrated_classifier_cv(data):
    X, y = data
    calibrated = CalibratedClassifierCV(make(), cv=2, ensemble=False).fit(X, y)
    assert calibrated.predict_proba(X).shape == (160, 2)
    share = np.full(160, (y == "usual").mean())
    assert brier_score_loss(y == "usual", calibrated.predict_proba(X)[:, 1]) < brier_score_loss(
        y == "usual", share
    )


def test_frozen_estimator(data, fitted):
    X, y = data
    calibrated = CalibratedClassifierCV(FrozenEstimator(fitted)).fit(X, y)
    for inner in calibrated.calibrated_classifiers_:
        assert inner.estimator.estimator is fitted


def test_permutation_importance(data, fitted):
    X, y = data
    result = permutation_importance(fitted, X, y, n_repeats=3, random_state=0)
    assert X.columns[result.importances_mean.argmax()] == "signal"


def test_partial_dependence_display(data, fitted):
    X, _ = data
    display = PartialDependenceDisplay.from_estimator(
        fitted, X, ["signal", "kind"], categorical_features=["kind"], grid_resolution=5
    )
    (curve,), (bars,) = (result["average"] for result in display.pd_results)
    assert curve.shape == (5,)
    assert curve[0] > curve[-1]  # the probability of the second class, "usual", falls
    assert bars.shape == (2,)
    assert bars[0] > bars[1]
    plt.close("all")


def test_stacking_classifier(data):
    X, y = data
    stack = StackingClassifier(
        [("first", make()), ("second", make(random_state=1))], LogisticRegression(), cv=2
    ).fit(X, y)
    assert stack.transform(X).shape == (160, 2)
    assert stack.score(X, y) > 0.8


def test_learning_curve(data):
    X, y = data
    sizes, train, test = learning_curve(make(), X, y, train_sizes=[0.5, 1.0], cv=2)
    assert sizes.tolist() == [40, 80]
    assert np.isfinite(train).all()
    assert np.isfinite(test).all()


def test_pandas_output_inside_of_a_pipeline(data):
    X, y = data
    numbers = X[["signal", "noise"]]
    pipeline = make_pipeline(StandardScaler(), make()).set_output(transform="pandas")
    pipeline.fit(numbers, y)
    assert pipeline[-1].feature_names_in_.tolist() == ["signal", "noise"]
    assert pipeline.score(numbers, y) > 0.8


def test_pandas_output_everywhere(data, fitted):
    X, y = data
    with sklearn.config_context(transform_output="pandas"):
        again = make().fit(X, y)
        probabilities = again.predict_proba(X)
        scaled = make(space=PCA_SPACE, max_evals=1).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(probabilities, fitted.predict_proba(X))
    plainly = make(space=PCA_SPACE, max_evals=1).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(scaled, plainly)


def test_metadata_routing(data, rng):
    X, y = data
    groups = np.arange(160) // 8
    weights = rng.random(160)
    with sklearn.config_context(enable_metadata_routing=True):
        automl = make(cv=GroupKFold(2)).set_fit_request(groups=True, sample_weight=True)
        automl.set_score_request(sample_weight=True)
        result = cross_validate(
            automl,
            X,
            y,
            cv=GroupKFold(2),
            params={"groups": groups, "sample_weight": weights},
            return_estimator=True,
        )
    assert np.isfinite(result["test_score"]).all()
    with pytest.raises(ValueError, match="groups"):
        make(cv=GroupKFold(2)).fit(X, y)


def test_time_series_split(data):
    X, y = data
    automl = make(cv=TimeSeriesSplit(3)).fit(X, y)
    assert automl.n_splits_ == 3
    predicted = ~np.isnan(automl.best_trial_.predictions[:, 0])
    assert not predicted[:40].any()  # the first rows are never validated
    assert predicted[40:].all()


def test_stratified_group_k_fold(data):
    X, y = data
    groups = np.arange(160) // 4
    automl = make(cv=StratifiedGroupKFold(2)).fit(X, y, groups=groups)
    assert automl.n_splits_ == 2
    assert automl.score(X, y) > 0.8
