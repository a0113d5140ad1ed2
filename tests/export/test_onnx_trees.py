"""Trees of an ONNX graph compare as those of the classifier."""

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from skauto import AutoClassifier
from skauto.export import to_onnx
from skauto.export._onnx_graph import Graph
from skauto.export._onnx_steps import add_step
from skauto.space import SearchSpace
from skauto.space.catalog import LightGBMClassifier
from tests.export.graphs import evaluate, run


@pytest.mark.parametrize(
    "classifier",
    [
        DecisionTreeClassifier(max_depth=5, random_state=0),
        RandomForestClassifier(5, random_state=0),
        LGBMClassifier(n_estimators=5, min_child_samples=2, n_jobs=1, verbose=-1),
        LightGBMClassifier(n_estimators=5, n_seeds=3, extra_trees=True, verbose=-1),
    ],
    ids=lambda classifier: type(classifier).__name__,
)
def test_trees_compare_in_the_precision_of_the_classifier(classifier, rng):
    X = np.round(rng.normal(size=(200, 2)), 1)
    y = (X[:, 0] + 0.3 * rng.normal(size=200) > 0).astype(int)
    space = SearchSpace(["classifier"]).add("classifier", "trees", classifier)
    automl = AutoClassifier(space=space, max_evals=1, cv=2, random_state=0).fit(X, y)
    middles = np.arange(-3, 3, 0.05)  # thresholds are means of neighbors
    X = np.array([(a, b) for middle in middles for a in around(middle) for b in around(middle)])
    probabilities = run(to_onnx(automl), X)[1]
    np.testing.assert_allclose(probabilities, automl.predict_proba(X), rtol=0, atol=1e-6)


def around(value):
    """The value and its neighbors in single and double precision."""
    single = np.float32(value)
    return [
        *(float(np.nextafter(single, np.float32(side))) for side in (-9, 9)),
        *(np.nextafter(value, side) for side in (-9, 9)),
        float(single),
        value,
    ]


def test_missing_entries_that_lightgbm_has_not_seen_are_zeros():
    X = np.array([[-1.0, 1.0], [1.0, -1.0]] * 50)
    booster = LGBMClassifier(n_estimators=3, min_child_samples=2, n_jobs=1, verbose=-1).fit(
        X, X[:, 0] > 0
    )
    graph = Graph()
    add_step(graph, "X", booster)
    gaps = np.array([[np.nan, 1.0], [1.0, np.nan], [np.nan, np.nan]])
    expected = booster.predict_proba(gaps)
    np.testing.assert_allclose(evaluate(graph, gaps), expected, rtol=0, atol=1e-6)
