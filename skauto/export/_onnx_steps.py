"""Conversion of the steps of a pipeline to ONNX operators in double precision."""

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import combinations
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomTreesEmbedding,
)
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skauto.export._onnx_graph import Graph
from skauto.export._onnx_trees import add_embedding, add_forest, add_lightgbm, two_classes
from skauto.space.catalog import (
    ArrayImputer,
    ArrayScaler,
    CategoryColumns,
    LightGBMClassifier,
    NetworkClassifier,
    PairFeatures,
    RobustSmoothScaler,
    ScaledGammaSVC,
)
from skauto.space.catalog._keys import FACTORS, MISSING
from skauto.space.catalog._network import SELU_ALPHA, SELU_SCALE


def add_step(graph: Graph, value: str, step: Any) -> str:
    """Add a fitted step to a graph; skl2onnx converts the types that `_CONVERTERS` lacks."""
    if type(step) in _DIFFERENT:
        raise ValueError("The conversion of skl2onnx gives other probabilities.")
    if getattr(type(step), "transform", None) is SelectorMixin.transform:
        # skl2onnx drops the indices if the only one is 0.
        return graph.add("Gather", value, step.get_support(indices=True), axis=1)
    convert = _CONVERTERS.get(type(step))
    return graph.converted(value, step) if convert is None else convert(graph, value, step)


def _category_columns(graph: Graph, value: str, step: Any) -> str:
    return graph.converted(value, step.transformer_)


def _imputer(graph: Graph, value: str, step: Any) -> str:
    missing = graph.add("IsNaN", value)
    filled = graph.add("Where", missing, step.statistics_.astype(np.float64), value)
    if step.indicator_ is None:
        return filled
    flags = graph.cast(missing, "DOUBLE")
    shown = graph.add("Gather", flags, step.indicator_.features_.astype(np.int64), axis=1)
    return graph.add("Concat", filled, shown, axis=1)


def _scaler(graph: Graph, value: str, step: Any) -> str:
    centered = graph.add("Sub", value, step.mean_) if step.with_mean else value
    return graph.add("Div", centered, step.scale_) if step.with_std else centered


def _robust_smooth(graph: Graph, value: str, step: Any) -> str:
    """Add ``z / sqrt(1 + (z / 3) ** 2)`` with ``z = (x - center) * scale``."""
    z = graph.add("Mul", graph.add("Sub", value, step.center_), step.scale_)
    ratio = graph.add("Div", z, 3.0)
    root = graph.add("Sqrt", graph.add("Add", graph.add("Mul", ratio, ratio), 1.0))
    return graph.add("Div", z, root)


def _polynomial(graph: Graph, value: str, step: Any) -> str:
    """Add the product of the columns of each term; skl2onnx adds several nodes for each term."""
    column = graph.add("Gather", value, np.array([0]), axis=1)
    ones = graph.add("Add", graph.add("Sub", column, column), 1.0)
    extended = graph.add("Concat", value, ones, axis=1)
    degrees = step.powers_.sum(axis=1)
    factors = np.full((len(degrees), max(1, degrees.max())), step.n_features_in_)  # ones
    for term, powers in enumerate(step.powers_):
        factors[term, : degrees[term]] = np.repeat(np.arange(len(powers)), powers)
    product = graph.add("Gather", extended, factors[:, 0], axis=1)
    for columns in factors.T[1:]:
        product = graph.add("Mul", product, graph.add("Gather", extended, columns, axis=1))
    return product


def _pair_features(graph: Graph, value: str, step: Any) -> str:
    """Add ratios, differences and products, NaN where they are not finite; then crosses."""
    blocks = [value]
    if len(step.pairs_):
        a, b = (graph.add("Gather", value, columns.copy(), axis=1) for columns in step.pairs_.T)
        signs = ("Div", "Sub", "Mul")
        new = graph.add("Concat", *(graph.add(sign, a, b) for sign in signs), axis=1)
        finite = graph.add("Less", graph.add("Abs", new), np.inf)
        blocks.append(graph.add("Where", finite, new, np.nan))
    if step.crosses_:
        filled = graph.add("Where", graph.add("IsNaN", value), MISSING, value)
        joined = [_joined(graph, filled, columns) for columns in step.crosses_]
        blocks += _target_means(graph, joined, step.encoder_.encoder_)
    return graph.add("Concat", *blocks, axis=1)


def _joined(graph: Graph, value: str, columns: Sequence[int]) -> str:
    """Add the number of a combination of values, see `join`."""
    parts = [
        graph.add("Mul", graph.add("Gather", value, np.array([j]), axis=1), factor)
        for j, factor in zip(columns, FACTORS, strict=False)
    ]
    return reduce(lambda a, b: graph.add("Add", a, b), parts)


def _target_means(graph: Graph, columns: Sequence[str], encoder: Any) -> list[str]:
    """Add the means of each column's values, in one column per class; those of all if unknown."""
    n_outputs = len(encoder.encodings_) // len(columns)
    means = np.atleast_1d(encoder.target_mean_)
    found = []
    for i, column in enumerate(columns):
        levels = encoder.categories_[i][None, :]
        known = np.stack(encoder.encodings_[i * n_outputs : (i + 1) * n_outputs], axis=1)
        same = graph.cast(graph.add("Equal", column, levels), "DOUBLE")
        is_known = graph.add("Greater", graph.sum_of_rows(same), 0.5)
        found.append(graph.add("Where", is_known, graph.add("MatMul", same, known), means))
    return found


def _nystroem(graph: Graph, value: str, step: Any) -> str:
    if step.kernel != "rbf":
        return graph.converted(value, step)
    kernel = _gaussian_kernel(graph, value, step.components_, step.gamma)
    return graph.add("MatMul", kernel, step.normalization_.T)


def _gaussian_kernel(graph: Graph, value: str, rows: NDArray[np.float64], gamma: float) -> str:
    """Add ``exp(-gamma * squared distance)`` to each of some rows."""
    norms = graph.sum_of_rows(graph.add("Mul", value, value))
    products = graph.add("MatMul", value, -2.0 * rows.T)
    squares = graph.add("Sum", products, norms, np.square(rows).sum(axis=1))
    return graph.add("Exp", graph.add("Mul", graph.add("Max", squares, 0.0), -float(gamma)))


def _linear(graph: Graph, value: str, step: Any) -> str:
    """Add probabilities of a linear model: sigmoid for two classes, softmax for more."""
    product = graph.add("MatMul", value, step.coef_.T.astype(np.float64))
    scores = graph.add("Add", product, step.intercept_.astype(np.float64))
    if len(step.classes_) > 2:
        return graph.add("Softmax", scores, axis=1)
    return two_classes(graph, graph.add("Sigmoid", scores))


def _calibrated(graph: Graph, value: str, step: Any) -> str:
    found = []
    for part in step.calibrated_classifiers_:
        if part.method != "sigmoid" or type(part.estimator) not in (SVC, ScaledGammaSVC):
            raise ValueError(
                "Only support vector machines with sigmoid calibration are supported."
            )
        scores = _margins(graph, value, part.estimator)
        slopes = np.array([-calibrator.a_ for calibrator in part.calibrators])
        offsets = np.array([-calibrator.b_ for calibrator in part.calibrators])
        scaled = graph.add("Add", graph.add("Mul", scores, slopes), offsets)
        shares = graph.add("Sigmoid", scaled)
        if len(step.classes_) == 2:
            found.append(two_classes(graph, shares))
        else:
            found.append(graph.add("Div", shares, graph.sum_of_rows(shares)))
    return graph.add("Div", graph.add("Sum", *found), float(len(found)))


def _margins(graph: Graph, value: str, svm: Any) -> str:
    """Add the decision function of a support vector machine, "ovr" for more than two classes."""
    support = svm.support_vectors_
    if svm.kernel == "rbf":
        kernel = _gaussian_kernel(graph, value, support, svm._gamma)
    elif svm.kernel == "poly":
        products = graph.add("MatMul", value, svm._gamma * support.T)
        kernel = graph.add("Pow", graph.add("Add", products, float(svm.coef0)), float(svm.degree))
    else:
        raise ValueError(f"The kernel {svm.kernel!r} is not supported.")
    if len(svm.classes_) == 2:
        product = graph.add("MatMul", kernel, svm.dual_coef_.T)
        return graph.add("Add", product, svm.intercept_)
    pairs = list(combinations(range(len(svm.classes_)), 2))
    product = graph.add("MatMul", kernel, _pairwise_coefficients(svm, pairs))
    margins = graph.add("Add", product, svm.intercept_)
    first, second = (np.eye(len(svm.classes_))[list(one)] for one in zip(*pairs, strict=True))
    lost = graph.cast(graph.add("Less", margins, 0.0), "DOUBLE")
    won = graph.add("MatMul", graph.add("Sub", 1.0, lost), first)
    wins = graph.add("Add", won, graph.add("MatMul", lost, second))
    total = graph.add("MatMul", margins, first - second)
    bound = graph.add("Mul", graph.add("Add", graph.add("Abs", total), 1.0), 3.0)
    return graph.add("Add", wins, graph.add("Div", total, bound))


def _pairwise_coefficients(svm: Any, pairs: list[tuple[int, int]]) -> NDArray[np.float64]:
    """Return the coefficients of the support vectors for each pair of classes, as columns."""
    class_of = np.repeat(np.arange(len(svm.classes_)), svm.n_support_)
    columns = []
    for i, j in pairs:
        column = np.where(class_of == i, svm.dual_coef_[j - 1], 0.0)
        columns.append(np.where(class_of == j, svm.dual_coef_[i], column))
    return np.column_stack(columns)


def _network(graph: Graph, value: str, step: Any) -> str:
    """Add the layers of a network and the mean probabilities of its members."""
    for k, (weights, bias) in enumerate(step.layers()):
        inputs = _selu(graph, value) if k else value
        value = graph.add("Add", graph.add("MatMul", inputs, weights), bias)
    each = graph.add("Softmax", value, axis=2)
    mean = graph.add("ReduceMean", each, axes=[0], keepdims=0)
    smoothing = step.label_smoothing
    if not smoothing:
        return mean
    share = smoothing / len(step.classes_)  # undo label smoothing as `predict_proba` does
    given = graph.add("Div", graph.add("Sub", mean, share), 1.0 - smoothing)
    bounded = graph.add("Max", given, 0.1 * share)
    return graph.add("Div", bounded, graph.sum_of_rows(bounded))


def _selu(graph: Graph, value: str) -> str:
    """Add the SELU activation; that of ONNX Runtime has single precision."""
    exponential = graph.add("Exp", graph.add("Min", value, 0.0))
    low = graph.add("Mul", graph.add("Sub", exponential, 1.0), SELU_ALPHA * SELU_SCALE)
    high = graph.add("Mul", graph.add("Max", value, 0.0), SELU_SCALE)
    return graph.add("Add", low, high)


_CONVERTERS: dict[type, Callable[[Graph, str, Any], str]] = {
    ArrayImputer: _imputer,
    ArrayScaler: _scaler,
    CalibratedClassifierCV: _calibrated,
    CategoryColumns: _category_columns,
    DecisionTreeClassifier: add_forest,
    ExtraTreesClassifier: add_forest,
    LGBMClassifier: add_lightgbm,
    LightGBMClassifier: add_lightgbm,
    LinearDiscriminantAnalysis: _linear,
    LogisticRegression: _linear,
    NetworkClassifier: _network,
    Nystroem: _nystroem,
    PairFeatures: _pair_features,
    PolynomialFeatures: _polynomial,
    RandomForestClassifier: add_forest,
    RandomTreesEmbedding: add_embedding,
    RobustSmoothScaler: _robust_smooth,
    SimpleImputer: _imputer,
}
# Types that skl2onnx converts to a graph with other probabilities.
_DIFFERENT = (HistGradientBoostingClassifier, KNeighborsClassifier)
