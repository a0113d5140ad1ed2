"""SearchTreeDisplay: the tree of MOSAIC."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from skauto.plotting import SearchTreeDisplay
from tests.display.conftest import assert_no_overlap, fit


@pytest.fixture(scope="module")
def mosaic():
    return fit("mosaic", max_evals=20, cv=0.3)


@pytest.mark.parametrize("max_nodes", [1, 8, 1000])
def test_the_most_visited_nodes_are_shown_with_their_parents(mosaic, max_nodes):
    tree = pd.DataFrame(mosaic.strategy_.tree_)
    shown = SearchTreeDisplay.from_estimator(mosaic, max_nodes=max_nodes).shown_
    assert len(shown) == min(max_nodes, len(tree))
    left_out = tree.loc[~tree["node"].isin(shown["node"]), "visits"]
    assert left_out.max() <= shown["visits"].min() if len(left_out) else max_nodes >= len(tree)
    for node in shown["node"][1:]:
        assert node.rpartition(" > ")[0] in set(shown["node"])


def test_nodes_are_coloured_by_median_and_sized_by_visits(mosaic):
    display = SearchTreeDisplay.from_estimator(mosaic)
    known = display.shown_[display.shown_["median"].notna()]
    np.testing.assert_array_equal(display.nodes_.get_array(), known["median"])
    np.testing.assert_array_equal(display.nodes_.get_offsets(), known[["x", "y"]])
    sizes = display.nodes_.get_sizes()
    assert (np.argsort(sizes, kind="stable") == np.argsort(known["visits"], kind="stable")).all()
    assert [t.get_text() for t in display.ax_.get_xticklabels()][:2] == ["", "classifier"]


def test_lines_lead_from_parent_to_child_as_thick_as_the_policy(mosaic):
    display = SearchTreeDisplay.from_estimator(mosaic)
    rows = {row.node: row for row in display.shown_.itertuples()}
    below = display.shown_[display.shown_["depth"] > 0]
    for line, row in zip(display.lines_, below.itertuples(), strict=True):
        parent = rows[row.node.rpartition(" > ")[0]]
        assert (line.get_xdata()[0], line.get_ydata()[0]) == (parent.x, parent.y)
        assert (line.get_xdata()[-1], line.get_ydata()[-1]) == (row.x, row.y)
    widths = np.array([line.get_linewidth() for line in display.lines_])
    policy = np.nan_to_num(below["policy"].to_numpy())
    assert (np.diff(widths[np.argsort(policy, kind="stable")]) >= 0).all()


def bushy_tree():
    """A tree with 5, then 4, then 2 branches at each node, and a number of visits at each leaf."""
    steps = {
        "classifier": ["k_nearest_neighbors", "logistic_regression", "lightgbm", "svm", "lda"],
        "scaler": ["none", "standard", "robust_smooth", "quantile"],
        "transformer": ["none", "random_trees_embedding"],
    }
    visits = {}
    for n, path in enumerate(product(*steps.values()), start=1):
        for depth in range(4):
            visits[path[:depth]] = visits.get(path[:depth], 0) + n
    rows = [
        {
            "node": " > ".join(path),
            "depth": len(path),
            "step": ["", *steps][len(path)],
            "algorithm": path[-1] if path else "",
            "visits": n,
            "median": 1.0 / n,
            "policy": n / visits[path[:-1]],
        }
        for path, n in visits.items()
    ]
    return pd.DataFrame(rows)


def test_forty_labels_do_not_overlap():
    display = SearchTreeDisplay(bushy_tree()).plot(max_nodes=40)
    assert len(display.labels_) == 40
    for _, column in display.shown_.groupby("depth"):
        assert (np.diff(np.sort(column["y"])) >= 1.0).all()
    assert_no_overlap(display.figure_, display.labels_)


def test_nodes_without_evaluations_are_hollow():
    frame = pd.DataFrame(
        {
            "node": ["", "a", "b"],
            "depth": [0, 1, 1],
            "step": ["", "classifier", "classifier"],
            "algorithm": ["", "a", "b"],
            "visits": [3, 3, 0],
            "median": [0.2, 0.2, np.nan],
            "policy": [np.nan, np.nan, np.nan],
        }
    )
    display = SearchTreeDisplay(frame).plot()
    assert len(display.nodes_.get_offsets()) == 2
    assert [label.get_text() for label in display.labels_] == ["all (3)", "a (3)", "b (0)"]


def test_another_strategy_has_no_tree(random_search):
    with pytest.raises(ValueError, match='"mosaic".*RandomSearch, has recorded nothing'):
        SearchTreeDisplay.from_estimator(random_search)
