"""The best pipeline as the user gets it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skauto import AutoClassifier, ConstrainedAutoClassifier
from skauto.constraints import StatisticalParity
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


@pytest.mark.parametrize("container", ["dataframe", "array"])
def test_weights_of_groups_are_computed_again(container, rng):
    y = rng.integers(2, size=400)
    X = pd.DataFrame({"x0": rng.normal(size=400) + y, "x1": rng.random(400) < 0.2 + 0.6 * y})
    X = X if container == "dataframe" else X.to_numpy(dtype=float)
    part = {"balancer": ["group_weights"], "classifier": ["logistic_regression"]}
    space = get_space("default", ("x1",)).subspace(part | {"transformer": ["none"]})
    search = ConstrainedAutoClassifier(
        [StatisticalParity("x1", 0.9)], space=space, max_evals=1, cv=2, random_state=0
    )
    best = search.fit(X, y).best_estimator_
    again = clone(best).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(again, best.predict_proba(X), atol=1e-9)
    groups = pd.DataFrame({"x1": np.asarray(X)[:, 1]})
    given = clone(best).fit(X, y, sensitive_features=groups).predict_proba(X)
    np.testing.assert_allclose(given, again)
    with pytest.raises(ValueError, match="the sensitive feature 'x1'"):
        clone(best).fit(np.asarray(X)[:, :1], y, sensitive_features=groups["x1"].tolist())
