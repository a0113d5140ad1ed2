"""The space of DivBO."""

import pytest
from numpy.testing import assert_array_equal

from skauto.space import get_space
from skauto.space.catalog.papers._divbo import CrossFeatures


def test_divbo_algorithms():
    divbo = get_space("divbo")
    assert len(divbo.components("classifier")) == 11
    operators = [
        component
        for step in ("scaler", "transformer")
        for component in divbo.components(step)
        if not component.passthrough
    ]
    assert len(operators) == 20


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"penalty": "l2", "loss": "hinge"}, ("l2", "hinge", True)),
        (
            {"penalty": "l2", "loss": "squared_hinge", "dual": False},
            ("l2", "squared_hinge", False),
        ),
        ({"penalty": "l1"}, ("l1", "squared_hinge", False)),
    ],
)
def test_linear_svm_of_divbo_is_legal(values, expected):
    component = get_space("divbo").component("classifier", "liblinear_svc")
    complete = {"C": 1.0, "tol": 1e-3, **values}
    assert set(component.active({**complete})) == set(complete)
    estimator = component.make(complete)
    assert (estimator.penalty, estimator.loss, estimator.dual) == expected


def test_cross_features_limit_their_pairs(rng):
    X = (rng.random((50, 30)) < 0.5).astype(float)
    crossed = CrossFeatures(max_columns=5, seed=2).fit(X)
    assert len(crossed.pairs_) == 10
    assert crossed.transform(X).shape == (50, 40)
    i, j = crossed.pairs_[3]
    assert_array_equal(crossed.transform(X)[:, 33], X[:, i] * X[:, j])
    assert CrossFeatures().fit(rng.normal(size=(50, 3))).pairs_.shape == (0, 2)
    assert crossed.get_feature_names_out()[30] == "x{} x{}".format(*crossed.pairs_[0])
