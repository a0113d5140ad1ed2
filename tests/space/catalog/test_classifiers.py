"""Classifiers of the default space."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from skauto.data import DataFacts
from skauto.space import get_space
from skauto.space.catalog._classifiers import node_bytes


@pytest.mark.parametrize("n_classes", [2, 20])
def test_size_of_a_node(rng, n_classes):
    tree = DecisionTreeClassifier().fit(rng.random((2000, 3)), rng.integers(0, n_classes, 2000))
    size = tree.tree_.node_count * node_bytes(n_classes)
    assert size < len(pickle.dumps(tree)) < 1.02 * size


def test_hyper_parameters_of_categories_rest_without_categories():
    numbers = DataFacts(n_samples=500, n_features=10)
    names = {"cat_smooth", "cat_l2", "max_cat_to_onehot", "min_data_per_group"}
    for facts in (numbers, replace(numbers, has_categories=True)):
        lightgbm = get_space("default").for_data(facts).component("classifier", "lightgbm")
        assert (names <= set(lightgbm.parameters)) == facts.has_categories
        assert lightgbm.make(lightgbm.default_values()).get_params()["cat_smooth"] == 10.0


@pytest.mark.parametrize("space, name", [("default", "svm"), ("mosaic", "libsvm_svc")])
def test_kernel_machines_come_to_an_end(rng, space, name):
    X = rng.normal(size=(300, 5)) * 10.0 ** np.arange(5)
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    component = get_space(space).component("classifier", name)
    machine = component.make({"C": 1000.0, "kernel": "poly", "degree": 4, "coef0": 0.0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = machine.fit(X, y)
    svc = fitted.calibrated_classifiers_[0].estimator if name == "svm" else fitted
    assert svc.n_iter_.max() == 100_000
