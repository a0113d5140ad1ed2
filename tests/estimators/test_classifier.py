"""AutoClassifier in the hands of its users."""

import subprocess
import sys
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    PredefinedSplit,
    TimeSeriesSplit,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skauto import AutoClassifier, SearchOptions
from skauto.exceptions import RowsOfFitWarning, TrialFailedWarning
from skauto.space import get_space
from skauto.strategies import ForestBO
from tests.estimators.quick import quick, tiny_space, whole


@pytest.fixture(scope="module")
def mixed():
    """A table with everything that a real one has: 240 rows, two informative columns."""
    rng = np.random.default_rng(0)
    n = 240
    signal = rng.normal(size=n)
    X = pd.DataFrame(
        {
            "amount": np.where(rng.random(n) < 0.1, np.nan, signal),
            "count": pd.array(rng.integers(0, 5, n), dtype="Int64"),
            "flag": rng.random(n) < 0.5,
            "color": rng.choice(["red", "green", "blue"], n),
            "size": pd.Categorical(np.where(signal > 0.3, "large", "small")),
            "when": pd.date_range("2020-01-01", periods=n, freq="17h"),
            "constant": 1.0,
            "empty": [None] * n,
        }
    )
    X.loc[::13, "color"] = None
    y = np.where(signal + 0.3 * rng.normal(size=n) > 0, "yes", "no")
    return X, y


def test_mixed_table(mixed):
    X, y = mixed
    clf = whole(ensemble_size=25).fit(X[:180], y[:180])
    assert clf.score(X[180:], y[180:]) > 0.75
    np.testing.assert_array_equal(clf.classes_, ["no", "yes"])
    np.testing.assert_array_equal(clf.feature_names_in_, X.columns)
    new = X[180:].copy()
    new["color"] = "violet"  # never seen
    new["count"] = pd.array([None] * len(new), dtype="Int64")  # never missing before
    assert np.isfinite(clf.predict_proba(new)).all()
    shuffled = X[180:].assign(size=X["size"][180:].cat.reorder_categories(["small", "large"]))
    np.testing.assert_array_equal(clf.predict_proba(shuffled), clf.predict_proba(X[180:]))


def test_best_estimator_is_a_plain_pipeline_that_predicts_from_the_raw_table(mixed):
    X, y = mixed
    clf = whole(ensemble_size=1).fit(X, y)
    assert isinstance(clf.best_estimator_, Pipeline)
    np.testing.assert_array_equal(clf.best_estimator_.predict(X), clf.predict(X))
    np.testing.assert_array_equal(clf.best_estimator_.classes_, clf.classes_)


@pytest.mark.parametrize(
    "labels", [["a", "b", "c"], [3, 7, 11], [0.0, 1.0, 2.0], np.array(["x", "y", "z"], object)]
)
def test_labels(iris, labels):
    X, y = iris
    labels = np.asarray(labels)
    clf = quick().fit(X, labels[y])
    np.testing.assert_array_equal(clf.classes_, labels)
    assert set(clf.predict(X)) <= set(labels.tolist())
    assert clf.score(X, labels[y]) > 0.9


def test_boolean_labels(iris):
    X, y = iris
    clf = quick().fit(X, y == 0)
    assert clf.predict(X).dtype == bool
    assert clf.score(X, y == 0) == 1.0


def test_same_model_again_and_for_any_number_of_jobs(iris):
    models = [whole(n_jobs=n_jobs).fit(*iris) for n_jobs in (None, 1, 2)]
    losses = [[trial.loss for trial in model.history_] for model in models]
    assert losses[0] == losses[1] == losses[2]
    for model in models[1:]:
        np.testing.assert_array_equal(
            model.predict_proba(iris[0]), models[0].predict_proba(iris[0])
        )


def test_survives_joblib_in_a_fresh_process(mixed, tmp_path):
    X, y = mixed
    clf = whole(max_evals=2).fit(X, y)
    joblib.dump((clf, X, clf.predict_proba(X)), tmp_path / "model.joblib")
    code = (
        "import joblib, numpy as np\n"
        "clf, X, expected = joblib.load('model.joblib')\n"
        "np.testing.assert_array_equal(clf.predict_proba(X), expected)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    assert str(tmp_path.parent).encode() not in (tmp_path / "model.joblib").read_bytes()


def test_inside_grid_search_over_strategies(iris):
    search = GridSearchCV(
        quick(),
        [
            {"strategy": ["random", "forest_bo"]},
            {"strategy": [ForestBO()], "strategy__n_initial": [2, 3]},
        ],
        cv=2,
    ).fit(*iris)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_score_ > 0.9


def test_inside_parallel_cross_validation(iris):
    scores = cross_val_score(quick(), *iris, cv=3, n_jobs=2, scoring="neg_log_loss")
    assert (scores > -0.5).all()
    assert cross_val_score(make_pipeline(StandardScaler(), quick()), *iris, cv=2).mean() > 0.9


def test_clone_and_nested_parameters():
    clf = quick(strategy=ForestBO(n_initial=7))
    assert clone(clf).get_params()["strategy__n_initial"] == 7
    assert clone(clf).set_params(strategy__n_initial=3).strategy.n_initial == 3
    assert clf.strategy.n_initial == 7


@pytest.mark.parametrize("values", [(False, True), (3, 7)])
def test_labels_of_dtype_object(iris, values):
    """A column of dtype object remains where missing labels were dropped."""
    X, y = iris
    labels = np.array(values)[(y > 0).astype(int)]
    plain, objects = (quick().fit(X, target) for target in (labels, labels.astype(object)))
    assert objects.classes_.dtype == plain.classes_.dtype
    np.testing.assert_array_equal(objects.predict_proba(X), plain.predict_proba(X))
    assert objects.score(X, labels.astype(object)) == plain.score(X, labels)


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="needs NumPy 2")
def test_labels_of_variable_width(iris):
    X, y = iris
    labels = np.array(["x", "long", "z"], dtype=np.dtypes.StringDType(na_object=None))[y]
    clf = quick().fit(X, labels)
    assert clf.classes_.tolist() == ["long", "x", "z"]
    assert clf.score(X, labels) > 0.9
    labels[0] = None
    with pytest.raises(ValueError, match="y contains 1 missing values"):
        quick().fit(X, labels)


@pytest.mark.parametrize("cv", [2, 0.3, GroupKFold(3), TimeSeriesSplit(3)])
def test_splitters(iris, cv):
    X, y = iris
    order = np.random.default_rng(0).permutation(len(y))
    groups = np.arange(len(y)) % 7
    clf = quick(cv=cv).fit(X[order], y[order], groups=groups)
    assert clf.score(X, y) > 0.85


def test_a_fold_with_a_single_class_has_no_boosting_rounds():
    X = np.random.default_rng(0).normal(size=(90, 2))
    y = np.arange(90) >= 30  # the first training set has 24 rows
    space = get_space("default").subspace({"classifier": "lightgbm"})
    options = SearchOptions(refit=False)
    clf = whole(space=space, cv=TimeSeriesSplit(3), max_evals=1, options=options).fit(X, y)
    assert len(clf.best_trial_.rounds) == 2
    assert len(clf.ensemble_) == 3


def test_rows_of_weight_zero_do_not_count(iris):
    X, y = iris
    weight = np.ones(len(y))
    weight[::3] = 0
    kept = weight > 0
    cv = 4
    weighted = quick(cv=cv).fit(X, y, sample_weight=weight)
    reduced = quick(cv=cv).fit(X[kept], y[kept], sample_weight=weight[kept])
    np.testing.assert_array_equal(weighted.predict_proba(X), reduced.predict_proba(X))


def test_only_ratios_of_weights_count(iris):
    X, y = iris
    weight = np.random.default_rng(0).integers(1, 4, size=len(y)) / 8
    kept = np.arange(len(y)) % 5 > 0
    fits = [
        [whole().fit(X, y, sample_weight=scale * weight) for scale in (1.0, 2.0**-40)],
        [whole().fit(X, y, sample_weight=7.0 * kept), whole().fit(X[kept], y[kept])],
    ]
    for one, other in fits:
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_cv_of_row_numbers_refers_to_all_rows(iris):
    X, y = iris
    weight = np.ones(len(y))
    weight[::3] = 0
    kept = weight > 0
    folds = np.random.default_rng(0).integers(3, size=len(y))
    weighted = quick(cv=PredefinedSplit(folds)).fit(X, y, sample_weight=weight)
    reduced = quick(cv=PredefinedSplit(folds[kept])).fit(
        X[kept], y[kept], sample_weight=weight[kept]
    )
    np.testing.assert_array_equal(weighted.predict_proba(X), reduced.predict_proba(X))


def test_sample_weight_moves_the_decision():
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = (X[:, 0] + np.random.default_rng(1).normal(size=300) > 0).astype(int)
    share = quick().fit(X, y).predict_proba(X)[:, 1].mean()
    heavy = quick().fit(X, y, sample_weight=np.where(y == 1, 5.0, 1.0))
    assert heavy.predict_proba(X)[:, 1].mean() > share + 0.15


def test_metadata_routing(iris):
    X, y = iris
    with sklearn.config_context(enable_metadata_routing=True):
        clf = quick().set_fit_request(sample_weight=True, groups=True)
        clf.set_score_request(sample_weight=True)
        result = cross_validate(
            clf,
            X,
            y,
            cv=3,
            params={"sample_weight": np.ones(len(y)), "groups": np.arange(len(y)) // 2},
            error_score="raise",
        )
    assert result["test_score"].min() > 0.8


def test_weights_reach_classifiers_inside_of_others(iris):
    X, y = iris
    space = get_space("default").subspace({"classifier": "svm"})
    weights = np.where(np.arange(len(y)) % 2, 1.0, 2.0)

    def fitted():
        clf = AutoClassifier(space=space, max_evals=3, cv=3, random_state=0)
        return clf.fit(X, y, sample_weight=weights)

    plain = fitted()
    with sklearn.config_context(enable_metadata_routing=True):
        routed = fitted()
    assert not plain.history_.counts().get("failed")
    np.testing.assert_array_equal(routed.predict_proba(X), plain.predict_proba(X))


def test_sparse(iris):
    X = sparse.random_array((200, 30), density=0.2, rng=np.random.default_rng(0), format="csr")
    y = (X[:, [0]].toarray().ravel() + X[:, [1]].toarray().ravel() > 0.2).astype(int)
    for container in (sparse.csr_array, sparse.csc_matrix):
        clf = whole().fit(container(X), y)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)  # no step warns in every prediction
            assert clf.score(container(X), y) > 0.7
    assert not clf.history_.counts().get("failed")


def test_imbalance_and_a_class_with_one_row(iris):
    X, y = iris
    rows = np.r_[0:50, 50:60, 100:101]
    clf = whole(scoring="balanced_accuracy").fit(X[rows], y[rows])
    assert clf.predict_proba(X).shape == (150, 3)
    assert clf.score(X[:100], y[:100]) > 0.9


@pytest.mark.parametrize("n_classes", [2, 3])
def test_as_few_rows_as_classes(n_classes):
    X = np.arange(n_classes)[:, None] * 1.0
    with warnings.catch_warnings(), pytest.warns(RowsOfFitWarning):
        warnings.simplefilter("ignore", TrialFailedWarning)
        clf = quick().fit(X, np.arange(n_classes))
    assert clf.predict_proba(X).shape == (n_classes, n_classes)


def test_one_column_and_many_columns():
    X, y = make_classification(100, 4, random_state=0)
    informative = X[:, [np.abs(np.corrcoef(X.T, y)[-1, :-1]).argmax()]]
    assert whole().fit(informative, y).score(informative, y) > 0.8
    wide = np.random.default_rng(0).normal(size=(60, 3_000))
    wide[:, 0] += 3 * y[:60]
    assert whole(max_evals=2).fit(wide, y[:60]).score(wide, y[:60]) > 0.8


def test_time_limit_gives_a_model():
    X, y = load_breast_cancer(return_X_y=True)
    clf = AutoClassifier(time_limit=4, random_state=0, scoring="roc_auc").fit(X, y)
    assert len(clf.history_) >= 2
    assert clf.score(X, y) > 0.9
    assert clf.history_[-1].ended <= 4


def test_own_component_in_three_lines(iris):
    space = tiny_space()
    space.add(
        "classifier", "own", DecisionTreeClassifier(criterion="entropy"), {"ccp_alpha": [0.0]}
    )
    assert "own" in [
        t.configuration["classifier"] for t in quick(space=space, max_evals=9).fit(*iris).history_
    ]


def test_constructor_only_stores():
    clf = AutoClassifier("nonsense", scoring=3, time_limit=-1)
    assert clf.strategy == "nonsense"
    assert vars(clf).keys() == clf.get_params(deep=False).keys()


def test_unseen_categories_are_predicted_behind_steps_that_refuse_missing_values():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.choice(["p", "q"], 60), "b": rng.normal(size=60)})
    y = (X["a"] == "p").to_numpy()
    space = get_space("default").subspace(
        {"encoder": ["ordinal"], "selector": ["select_percentile"], "classifier": ["extra_trees"]}
    )
    clf = AutoClassifier("random", space=space, initial=None, max_evals=1, cv=2, random_state=0)
    clf.fit(X, y)
    assert "selector" in clf.best_estimator_.named_steps
    new = pd.DataFrame({"a": ["r", None, "p"], "b": [0.0, 0.1, 0.2]})
    assert np.isfinite(clf.predict_proba(new)).all()
    assert clf.predict(new)[2]


@pytest.mark.parametrize("kinds", [None, {"a": "categorical"}, ["a"], [0], [True, False, False]])
def test_a_column_of_groups_is_no_feature(kinds):
    X = pd.DataFrame({"a": [1, 2] * 30, "b": np.arange(60) % 7, "group": np.arange(60) // 6})
    clf = quick(max_evals=1, column_kinds=kinds).fit(X, np.arange(60) % 2, groups="group")
    report = clf.table_report().set_index("column")
    assert report.loc["group", "n_outputs"] == 0
    assert report.loc["a", "kind"] == ("numeric" if kinds is None else "categorical")
    with pytest.raises(ValueError, match="A mask in the 'column_kinds'.*each of the 3 columns"):
        quick(column_kinds=[True]).fit(X, np.arange(60) % 2, groups="group")
