"""The best pipeline as the user gets it."""

import numpy as np
import pytest
from sklearn.base import clone

from skauto import AutoClassifier
from skauto.space import get_space


@pytest.mark.parametrize("classifier", ["gaussian_nb", "mlp", "logistic_regression"])
def test_the_best_pipeline_is_the_whole_recipe(table, classifier):
    X, y = table
    choices = {"balancer": ["weights"], "classifier": [classifier]}
    space = get_space("default").subspace(
        choices | {"transformer": ["none"], "selector": ["none"]}
    )
    clf = AutoClassifier(space=space, initial="defaults", max_evals=1, cv=2, random_state=0)
    best = clf.fit(X, y).best_estimator_
    again = clone(best).fit(X, y)
    np.testing.assert_allclose(again.predict_proba(X), best.predict_proba(X), atol=1e-6)
