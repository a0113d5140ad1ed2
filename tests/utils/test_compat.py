"""The private functions of scikit-learn, joblib and LightGBM behave as skauto expects."""

import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.metrics import get_scorer, make_scorer, matthews_corrcoef
from sklearn.preprocessing import StandardScaler

from skauto.utils import (
    OwnParameters,
    backend_of,
    check_sample_weight,
    input_feature_names,
    n_rows,
    scorer_function,
    scorer_is_loss,
    scorer_needs_labels_only,
    take_rows,
)


def some_scorer(estimator, X, y):
    return 0.5


@pytest.mark.parametrize(
    "make",
    [
        lambda values: values,
        lambda values: values.tolist(),
        lambda values: pd.DataFrame(values, index=[7, 7, 9, 1]),
        lambda values: sparse.csr_array(values),
    ],
    ids=["array", "list", "frame", "sparse"],
)
def test_rows_are_taken_by_position(make):
    values = np.arange(8.0).reshape(4, 2)
    table = make(values)
    assert n_rows(table) == 4
    for rows in (np.array([2, 0, 0]), np.array([True, False, False, True])):
        taken = take_rows(table, rows)
        assert type(taken) is type(table)
        dense = taken.toarray() if sparse.issparse(taken) else np.asarray(taken)
        assert_array_equal(dense, values[rows])


def test_a_scalar_has_no_rows():
    with pytest.raises(TypeError):
        n_rows(3)


@pytest.mark.parametrize("weights", [[1.0, -1.0, 1.0], [1.0, np.nan, 1.0], [1.0, 2.0]])
def test_bad_weights_are_refused(weights):
    assert check_sample_weight([1, 0, 2], 3).dtype == np.float64
    with pytest.raises(ValueError):
        check_sample_weight(weights, 3)


def test_feature_names_are_those_of_fit():
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 3.0]})
    scaler = StandardScaler().fit(frame)
    assert list(input_feature_names(scaler)) == ["a", "b"]
    with pytest.raises(ValueError, match="feature"):
        input_feature_names(scaler, ["a", "c"])
    assert list(input_feature_names(StandardScaler().fit(frame.to_numpy()))) == ["x0", "x1"]


@pytest.mark.parametrize(
    ("scorer", "metric", "is_loss", "labels_only"),
    [
        (get_scorer("accuracy"), "accuracy_score", False, True),
        (get_scorer("neg_log_loss"), "log_loss", True, False),
        (get_scorer("neg_brier_score"), "brier_score_loss", True, False),
        (get_scorer("roc_auc"), "roc_auc_score", False, False),
        (get_scorer("roc_auc_ovr"), "roc_auc_score", False, False),
        (make_scorer(matthews_corrcoef), "matthews_corrcoef", False, True),
        (some_scorer, None, False, True),
    ],
)
def test_scorers_tell_what_they_are_made_of(scorer, metric, is_loss, labels_only):
    function = scorer_function(scorer)
    assert (function and function.__name__) == metric
    assert scorer_is_loss(scorer) == is_loss
    assert scorer_needs_labels_only(scorer) == labels_only


def test_backend_is_the_one_that_was_chosen():
    with joblib.parallel_config("threading"), joblib.Parallel(n_jobs=2) as parallel:
        backend = backend_of(parallel)
        assert backend.supports_sharedmem
        assert backend.effective_n_jobs(parallel.n_jobs) == 2


class Named(OwnParameters, LGBMClassifier):
    _own_parameters = ("label",)

    def __init__(self, *, label=None, **kwargs):
        super().__init__(**kwargs)
        self.label = label


def test_own_parameters_do_not_reach_lightgbm(capfd):
    X, y = np.arange(40.0)[:, None], np.repeat([0, 1], 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = Named(label="mine", n_estimators=3, min_child_samples=2, num_leaves=3).fit(X, y)
    assert ours.get_params()["label"] == "mine"
    assert "label" not in ours.booster_.params
    assert "Unknown parameter" not in "".join(capfd.readouterr())
    theirs = LGBMClassifier(n_estimators=3, min_child_samples=2, num_leaves=3).fit(X, y)
    assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
