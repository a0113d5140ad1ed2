"""Steps of an ONNX graph give what the steps of the pipeline give."""

import numpy as np
import pytest
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.linear_model import LogisticRegression

from skauto.export._onnx_graph import Graph
from skauto.export._onnx_steps import add_step
from tests.export.graphs import evaluate


@pytest.mark.parametrize("kept", [[0], [2], [0, 2]], ids=str)
@pytest.mark.parametrize("selector", [SelectKBest, SelectFromModel])
def test_selectors_keep_their_columns(selector, kept, rng):
    X = rng.normal(size=(100, 4))
    y = (X[:, kept].sum(axis=1) > 0).astype(int)
    if selector is SelectKBest:
        step = SelectKBest(k=len(kept)).fit(X, y)
    else:
        step = SelectFromModel(LogisticRegression(), max_features=len(kept), threshold=-np.inf)
        step.fit(X, y)
    assert step.get_support(indices=True).tolist() == kept
    graph = Graph()
    add_step(graph, "X", step)
    np.testing.assert_array_equal(evaluate(graph, X), step.transform(X))
