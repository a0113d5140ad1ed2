"""Tree ensembles as ONNX operators that compare in double precision."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skauto.export._onnx_graph import Graph


class TreeNodes:
    """Nodes of binary trees, whose leaves add weights to `n_targets` output columns."""

    def __init__(self, n_targets: int) -> None:
        self.n_targets = n_targets
        self.n_trees = 0
        self._parts: dict[str, list[NDArray[Any]]] = defaultdict(list)

    def add_tree(
        self,
        feature: ArrayLike,
        threshold: ArrayLike,
        left: ArrayLike,
        right: ArrayLike,
        missing_left: ArrayLike,
    ) -> NDArray[np.bool_]:
        """Add a tree that sends values <= threshold to the left; return the mask of its leaves."""
        left = np.asarray(left)
        leaves = left < 0
        parts = {
            "nodes_treeids": np.full(len(left), self.n_trees),
            "nodes_nodeids": np.arange(len(left)),
            "nodes_featureids": np.where(leaves, 0, feature),
            "nodes_values": np.where(leaves, 0.0, threshold),
            "nodes_modes": np.where(leaves, "LEAF", "BRANCH_LEQ"),
            "nodes_truenodeids": np.where(leaves, 0, left),
            "nodes_falsenodeids": np.where(leaves, 0, right),
            "nodes_missing_value_tracks_true": np.where(leaves, 0, missing_left),
        }
        for name, values in parts.items():
            self._parts[name].append(values)
        self.n_trees += 1
        return leaves

    def add_weights(self, nodes: ArrayLike, targets: ArrayLike, weights: ArrayLike) -> None:
        """Add weights of leaves of the last tree to output columns."""
        nodes = np.asarray(nodes)
        self._parts["target_treeids"].append(np.full(len(nodes), self.n_trees - 1))
        self._parts["target_nodeids"].append(nodes)
        self._parts["target_ids"].append(np.asarray(targets))
        self._parts["target_weights"].append(np.asarray(weights, dtype=np.float64))

    def add_to(self, graph: Graph, value: str) -> str:
        """Add the operator to a graph; its output has the shape (n_samples, n_targets)."""
        import onnx

        found = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        tensors = {
            f"{name}_as_tensor": onnx.numpy_helper.from_array(found.pop(name), name)
            for name in ("nodes_values", "target_weights")
        }
        lists = {name: values.tolist() for name, values in found.items()}
        sums = graph.add(
            "TreeEnsembleRegressor",
            value,
            domain="ai.onnx.ml",
            n_targets=self.n_targets,
            **lists,
            **tensors,
        )
        return graph.cast(sums, "DOUBLE")


def add_forest(graph: Graph, value: str, step: Any) -> str:
    """Add the mean of the class frequencies in the leaves of scikit-learn's trees."""
    trees = [tree.tree_ for tree in getattr(step, "estimators_", [step])]
    n_classes = len(step.classes_)
    nodes = TreeNodes(n_classes)
    for tree in trees:
        leaves = np.flatnonzero(_add_tree(nodes, tree))
        shares = tree.value[leaves, 0, :] / len(trees)
        nodes.add_weights(
            np.repeat(leaves, n_classes),
            np.tile(np.arange(n_classes), len(leaves)),
            shares.ravel(),
        )
    return nodes.add_to(graph, _single(graph, value))


def add_embedding(graph: Graph, value: str, step: Any) -> str:
    """Add indicators of the leaves of `RandomTreesEmbedding`."""
    categories: Sequence[NDArray[Any]] = step.one_hot_encoder_.categories_
    nodes = TreeNodes(sum(map(len, categories)))
    first = 0
    for tree, leaves in zip(step.estimators_, categories, strict=True):
        _add_tree(nodes, tree.tree_)
        columns = np.arange(first, first + len(leaves))
        nodes.add_weights(leaves.astype(np.int64), columns, np.ones(len(leaves)))
        first += len(leaves)
    return nodes.add_to(graph, _single(graph, value))


def _add_tree(nodes: TreeNodes, tree: Any) -> NDArray[np.bool_]:
    return nodes.add_tree(
        tree.feature,
        tree.threshold,
        tree.children_left,
        tree.children_right,
        tree.missing_go_to_left,
    )


def _single(graph: Graph, value: str) -> str:
    """Round to single precision, as scikit-learn's trees do before they compare in double."""
    return graph.cast(graph.cast(value, "FLOAT"), "DOUBLE")


def add_lightgbm(graph: Graph, value: str, step: Any) -> str:
    """Add boosted trees of LightGBM, the mean over models with different seeds."""
    boosters = [step.booster_, *(other.booster_ for other in getattr(step, "others_", ()))]
    found = [_add_booster(graph, value, booster.dump_model()) for booster in boosters]
    if len(found) == 1:
        return found[0]
    return graph.add("Mul", graph.add("Sum", *found), 1.0 / len(found))


def _add_booster(graph: Graph, value: str, dump: dict[str, Any]) -> str:
    objective, *settings = dump["objective"].split()
    n_scores = dump["num_tree_per_iteration"]
    if objective not in ("binary", "multiclass") or dump["average_output"]:
        raise ValueError(f"The objective {dump['objective']!r} is not supported.")
    nodes = TreeNodes(n_scores)
    for i, info in enumerate(dump["tree_info"]):
        _add_boosted_tree(nodes, info["tree_structure"], target=i % n_scores)
    scores = nodes.add_to(graph, value)
    if objective == "multiclass":
        return graph.add("Softmax", scores, axis=1)
    options = dict(setting.split(":") for setting in settings)
    scaled = graph.add("Mul", scores, float(options["sigmoid"]))
    return two_classes(graph, graph.add("Sigmoid", scaled))


def _add_boosted_tree(nodes: TreeNodes, root: dict[str, Any], target: int) -> None:
    """Number the nodes of a dumped tree by breadth-first search, and add them."""
    found = [root]
    rows = []
    for node in found:  # grows
        if "left_child" not in node:
            rows.append((0, 0.0, -1, -1, False))
            continue
        if node["decision_type"] != "<=" or node["missing_type"] == "Zero":
            raise ValueError("Categorical splits and zeros as missing values are not supported.")
        threshold = float(node["threshold"])
        as_zero = node["missing_type"] == "None"  # then LightGBM reads NaN as 0
        missing_left = threshold >= 0.0 if as_zero else node["default_left"]
        rows.append((node["split_feature"], threshold, len(found), len(found) + 1, missing_left))
        found += [node["left_child"], node["right_child"]]
    leaves = np.flatnonzero(nodes.add_tree(*zip(*rows, strict=True)))
    weights = [found[leaf]["leaf_value"] for leaf in leaves]
    nodes.add_weights(leaves, np.full(len(leaves), target), weights)


def two_classes(graph: Graph, second: str) -> str:
    """Concatenate the probabilities of two classes, given that of the second."""
    return graph.add("Concat", graph.add("Sub", 1.0, second), second, axis=1)
