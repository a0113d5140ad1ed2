"""The operating point that a user chooses after fit."""

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import confusion_matrix, precision_score, recall_score

from skauto import ConstrainedAutoClassifier
from skauto.constraints import FalseNegativeRate, ModelSize
from tests.estimators.imbalanced import fitted, imbalanced_data
from tests.strategy_settings import quick_space


@pytest.fixture(scope="module")
def data():
    return imbalanced_data()


@pytest.fixture
def clf(data):
    return fitted(data[0][:1000], data[1][:1000])


def out_of_fold_labels(clf):
    return clf.classes_[clf._out_of_fold_labels]


@pytest.mark.parametrize("bounds", [{"recall": 0.9}, {"precision": 0.55}, {"flagged": 0.1}])
def test_bounds_hold_out_of_fold_and_about_so_on_new_rows(clf, data, bounds):
    before = clf.predict_proba(data[0])
    assert clf.choose_operating_point(**bounds, pos_label="yes") is clf
    ((name, bound),) = bounds.items()
    labels, y = out_of_fold_labels(clf), data[1][:1000]
    measured = {
        "recall": recall_score(y, labels, pos_label="yes"),
        "precision": precision_score(y, labels, pos_label="yes"),
        "flagged": np.mean(labels == "yes"),
    }
    point = clf.operating_point_
    assert {key: point[key] for key in measured} == pytest.approx(measured)
    assert measured[name] <= bound if name == "flagged" else measured[name] >= bound
    np.testing.assert_array_equal(clf.predict_proba(data[0]), before)
    predicted = clf.predict(data[0])
    np.testing.assert_array_equal(predicted == "yes", before[:, 1] > point["threshold"])
    new = {
        "recall": recall_score(data[1][1000:], predicted[1000:], pos_label="yes"),
        "precision": precision_score(data[1][1000:], predicted[1000:], pos_label="yes"),
        "flagged": np.mean(predicted[1000:] == "yes"),
    }
    assert abs(new[name] - bound) < 0.1
    assert clf.ensemble_score_ == pytest.approx(np.mean(labels == y))


def test_the_point_is_persisted_reset_and_forgotten(clf, data, tmp_path):
    X, y = data
    before, score = clf.predict(X), clf.ensemble_score_
    clf.choose_operating_point(recall=0.95, pos_label="yes")
    clf.choose_operating_point(precision=0.55, pos_label="yes")
    chosen = clf.predict(X)
    assert (chosen != before).any()
    joblib.dump(clf, tmp_path / "model.joblib")
    np.testing.assert_array_equal(joblib.load(tmp_path / "model.joblib").predict(X), chosen)
    clf.reset_operating_point()
    assert clf.operating_point_ is None and clf.ensemble_score_ == score
    np.testing.assert_array_equal(clf.predict(X), before)
    clf.choose_operating_point(recall=0.95, pos_label="yes")
    assert clone(clf).fit(X[:1000], y[:1000]).operating_point_ is None
    assert clf.fit(X[:1000], y[:1000]).operating_point_ is None
    np.testing.assert_array_equal(clf.predict(X), before)


def test_the_other_class_may_be_the_positive_one(clf, data):
    clf.choose_operating_point(recall=0.99, pos_label="no")
    labels = out_of_fold_labels(clf)
    assert recall_score(data[1][:1000], labels, pos_label="no") >= 0.99


def test_costs(clf, data):
    X, y = data
    costs = [[0.0, 1.0], [10.0, 0.0]]
    plain = clf.predict(X[1000:])
    clf.choose_operating_point(costs=costs)
    p = clf.predict_proba(X)
    np.testing.assert_array_equal(clf.predict(X) == "yes", 10 * p[:, 1] > p[:, 0])
    matrix = confusion_matrix(y[:1000], out_of_fold_labels(clf))
    assert clf.operating_point_["mean_cost"] == pytest.approx((matrix * costs).sum() / 1000)
    cost = [
        (confusion_matrix(y[1000:], labels) * costs).sum()
        for labels in (plain, clf.predict(X[1000:]))
    ]
    assert cost[1] < cost[0]


def test_costs_of_a_frame_are_read_by_its_labels(clf, data):
    costs = pd.DataFrame([[0.0, 1.0], [10.0, 0.0]], clf.classes_, clf.classes_)
    labels = clf.choose_operating_point(costs=costs).predict(data[0])
    clf.choose_operating_point(costs=costs.loc[["yes", "no"], ["yes", "no"]])
    np.testing.assert_array_equal(clf.predict(data[0]), labels)


def test_three_classes():
    X, y = load_iris(return_X_y=True)
    clf = fitted(X, y)
    with pytest.raises(ValueError, match="'pos_label' must be one of the classes"):
        clf.choose_operating_point(recall=1.0)
    clf.choose_operating_point(recall=1.0, pos_label=2)
    assert recall_score(y == 2, out_of_fold_labels(clf) == 2) == 1.0
    assert "threshold" not in clf.operating_point_
    costs = np.array([[0, 1, 1], [1, 0, 50], [1, 1, 0]])
    expected = clf.choose_operating_point(costs=costs).predict_proba(X) @ costs
    np.testing.assert_array_equal(clf.predict(X), np.argmin(expected, axis=1))


def test_the_table_has_the_points(clf):
    table = clf.operating_points("yes")
    assert list(table.columns) == ["threshold", "flagged", "precision", "recall"]
    assert len(table) <= 200 and table["flagged"].is_monotonic_increasing
    assert table["recall"].iloc[-1] == 1.0 and table["flagged"].iloc[-1] == 1.0
    row = table.iloc[70]
    p = clf.out_of_fold_proba_[:, 1]
    assert np.mean(p > row["threshold"]) == pytest.approx(row["flagged"])


def test_what_cannot_be_met_has_the_nearest_point(clf):
    with pytest.raises(
        ValueError,
        match=r"No threshold for 'yes' has recall=0.99 and precision=1.0.*nearest has recall 0",
    ):
        clf.choose_operating_point(recall=0.99, precision=1.0, pos_label="yes")
    assert clf.operating_point_ is None


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({}, "needs bounds"),
        ({"recall": 0.9, "costs": np.eye(2)}, "not both"),
        ({"costs": np.eye(3)}, r"shape \(2, 2\).*Got the shape \(3, 3\)"),
        ({"costs": [["0", "a"], ["b", "0"]]}, "must be finite numbers.*the type <U1"),
        ({"recall": 1.5}, "recall"),
        ({"recall": 0.5}, r"one of the classes \['no', 'yes'\]. Got None"),
        ({"recall": 0.5, "pos_label": 7}, "one of the classes"),
    ],
)
def test_errors(clf, arguments, message):
    with pytest.raises(ValueError, match=message):
        clf.choose_operating_point(**arguments)


def test_limits_on_labels_exclude_another_point(data):
    X, y = data
    for constraint, refused in ((ModelSize(1e9), False), (FalseNegativeRate(0.5), True)):
        clf = ConstrainedAutoClassifier(
            [constraint], max_evals=3, cv=3, space=quick_space(), random_state=0
        ).fit(X, (y == "yes").astype(int))
        if refused:
            with pytest.raises(ValueError, match="keeps the limits on"):
                clf.choose_operating_point(recall=0.9)
        else:
            assert clf.choose_operating_point(recall=0.9).operating_point_["recall"] >= 0.9


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_prediction_sets(load):
    X, y = load(return_X_y=True)
    clf = fitted(X, y)
    small, large = clf.predict_set(X, 0.8), clf.predict_set(X, 0.99)
    assert small.shape == large.shape == (len(y), len(clf.classes_))
    assert (small <= large).all() and large.sum() > small.sum()
    assert large[np.arange(len(y)), y].mean() >= 0.97
    with pytest.raises(ValueError, match="coverage"):
        clf.predict_set(X, 1.0)


def test_the_exported_code_has_the_point(clf, data, tmp_path):
    import subprocess
    import sys

    clf.choose_operating_point(costs=[[0.0, 1.0], [10.0, 0.0]])
    clf.export_code(tmp_path / "out")
    pd.DataFrame(data[0][1000:1100]).to_csv(tmp_path / "X.csv", index=False)
    script = (
        "import pandas as pd, predict; "
        f"X = pd.read_csv({str(tmp_path / 'X.csv')!r}).to_numpy(); "
        "print(','.join(predict.predict(X)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path / "out",
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip().split(",") == clf.predict(data[0][1000:1100]).tolist()
