"""Conversion of a fitted ensemble to ONNX, for numeric tables."""

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from skauto.data._encoders import NumericEncoder
from skauto.export._fitted import fitted_ensemble
from skauto.export._onnx_graph import OPSETS, Graph
from skauto.export._onnx_steps import add_step
from skauto.model import Decision, PipelineEnsemble, WeightedClassifier
from skauto.model._decision import CostDecision
from skauto.utils import check_installed

if TYPE_CHECKING:
    import onnx

# Smallest probability of which a logarithm is taken.
_SMALLEST = 1e-7
# Larger values are clipped, as by the reader.
_LARGEST = float(np.finfo(np.float32).max)


def to_onnx(estimator: Any) -> "onnx.ModelProto":
    """Convert a fitted model to ONNX (needs skl2onnx).

    The input is ``X``, doubles of shape (n_samples, n_features) with NaN for missing entries.
    Numbers beyond 3.4e38 are replaced by it, as in ``predict``; so are infinite ones, which
    ``predict`` refuses. The outputs are ``label`` of shape (n_samples,) and ``probabilities``,
    doubles of shape (n_samples, n_classes).

    Parameters
    ----------
    estimator : AutoClassifier or PipelineEnsemble
        An estimator that was fitted on a dense table of numbers and booleans.

    Returns
    -------
    model : onnx.ModelProto
        The graph; ``model.SerializeToString()`` gives the content of an ONNX file.

    Raises
    ------
    ImportError
        If onnx or skl2onnx is not installed.
    ValueError
        If a column is not read as a number, or a step of a pipeline has no converter. The message
        names the column or the step.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauto import AutoClassifier
    >>> from skauto.export import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> automl = AutoClassifier(max_evals=2, cv=3, random_state=0).fit(X, y)
    >>> model = to_onnx(automl)  # doctest: +SKIP
    >>> [output.name for output in model.graph.output]  # doctest: +SKIP
    ['label', 'probabilities']
    """
    check_installed("to_onnx", "onnx", "onnx", "skl2onnx")
    import onnx

    ensemble = fitted_ensemble(estimator)
    graph = Graph()
    columns, fill, fillers = _columns_read(ensemble)
    chosen = graph.add("Gather", "X", columns, axis=1)
    for codes in fillers:
        chosen = graph.add("Where", graph.add("Equal", chosen, codes), np.nan, chosen)
    read = _clipped(graph, graph.add("Where", graph.add("IsNaN", chosen), fill, chosen))
    members = [
        _add_member(graph, read, i, member, ensemble.classes)
        for i, member in enumerate(ensemble.members)
    ]
    weighted = [
        graph.add("Mul", p, float(w)) for p, w in zip(members, ensemble.weights, strict=True)
    ]
    total = graph.add("Sum", *weighted)
    mean = graph.add("Div", total, graph.sum_of_rows(total))
    _add_decision(graph, mean, ensemble.decision_, ensemble.classes)
    label = onnx.helper.np_dtype_to_tensor_dtype(_labels(ensemble.classes).dtype)
    values = onnx.helper.make_tensor_value_info
    double, n_classes = onnx.TensorProto.DOUBLE, len(ensemble.classes)
    n_features = ensemble.reader.n_features_in_
    made = onnx.helper.make_graph(
        graph.nodes,
        "ensemble",
        [values("X", double, [None, n_features])],
        [values("label", label, [None]), values("probabilities", double, [None, n_classes])],
        graph.initializers,
    )
    opsets = [onnx.helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
    model = onnx.helper.make_model(made, opset_imports=opsets, ir_version=8)
    onnx.checker.check_model(model)
    return model


def _add_member(
    graph: Graph, value: str, i: int, pipeline: Pipeline, classes: NDArray[Any]
) -> str:
    if not np.array_equal(pipeline.classes_, classes):
        raise ValueError(
            f"Member {i} of the ensemble has not seen all classes {classes[:10]}: it knows "
            f"{pipeline.classes_[:10]}. Fit with refit=True, so that members see all rows."
        )
    for name, step in pipeline.steps:
        if hasattr(step, "fit_resample"):
            continue
        if isinstance(step, WeightedClassifier):
            step = step.classifier_
        try:
            value = add_step(graph, value, step)
        except Exception as exc:
            lines = [line for line in str(exc).splitlines() if line.strip()] or [repr(exc)]
            raise ValueError(
                f"The step {name!r} of member {i}, a {type(step).__name__}, cannot be converted "
                f"to ONNX: {lines[0]} See the list in the user guide, page Deployment, or use "
                "export_code."
            ) from exc
    return value


def _add_decision(graph: Graph, mean: str, decision: Decision, classes: NDArray[Any]) -> None:
    """Add the calibration and the class offsets; define the outputs."""
    if type(decision) not in (Decision, CostDecision):
        raise ValueError(
            f"to_onnx cannot convert a decision of the type {type(decision).__name__}, which "
            "depends on the group of a row. Fit with decision='argmax'."
        )
    if not decision.calibrates:
        graph.add("Identity", mean, output="probabilities")
    else:
        scaled = graph.add("Div", _log(graph, mean), float(decision.temperature))
        shift = np.zeros(len(classes)) if decision.shift is None else decision.shift
        graph.add("Softmax", graph.add("Add", scaled, shift), output="probabilities", axis=1)
    judged = "probabilities"
    if isinstance(decision, CostDecision):
        judged = graph.add("MatMul", judged, -decision.costs.astype(np.float64))
    elif decision.offsets.any():
        judged = graph.add("Add", _log(graph, judged), decision.offsets.astype(np.float64))
    code = graph.add("ArgMax", judged, axis=1, keepdims=0)
    graph.add("Gather", _labels(classes), code, output="label")


def _labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Class labels in a type of ONNX: 64-bit integers, doubles or strings."""
    if classes.dtype.kind in "iub":
        return classes.astype(np.int64)
    if classes.dtype.kind == "f":
        return classes.astype(np.float64)
    return classes.astype(str).astype(object)


def _log(graph: Graph, probabilities: str) -> str:
    return graph.add("Log", graph.add("Max", probabilities, _SMALLEST))


def _clipped(graph: Graph, values: str) -> str:
    """Add the clipping of the reader, which keeps NaN."""
    for bound, beyond in ((-_LARGEST, "Less"), (_LARGEST, "Greater")):
        values = graph.add("Where", graph.add(beyond, values, bound), bound, values)
    return values


def _columns_read(ensemble: PipelineEnsemble) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Find the table column and the fill value of each column of the reader's matrix.

    The rows of the third array are numbers that are missing values in each column, or NaN.
    """
    reader = ensemble.reader
    used = {j: c for j, c in enumerate(reader.columns_ or []) if c.keep.any()}
    others = [c.name for c in used.values() if not _is_numeric(c.encoder)]
    if others or not used:
        raise ValueError(
            "to_onnx needs a dense table of numbers and booleans. "
            + (f"Other columns of this model: {others[:10]}. " if others else "")
            + "Fit on the numeric columns, or use export_code."
        )
    codes = itertools.zip_longest(*(c.encoder.fillers for c in used.values()), fillvalue=np.nan)
    fillers = np.array(list(codes), dtype=np.float64)
    return np.array(list(used), dtype=np.int64), reader.fill_, fillers


def _is_numeric(encoder: Any) -> bool:
    """Whether the output of an encoder is the number or boolean in the cell."""
    return isinstance(encoder, NumericEncoder) and (
        encoder.keeps_numbers or encoder.form == "booleans"
    )
