"""Conversion of a fitted ensemble to ONNX, for numeric tables."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from lightgbm import LGBMClassifier
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from skauto.ensemble import PipelineEnsemble
from skauto.export._vote import vote_of
from skauto.selection import Decision
from skauto.space.catalog import (
    LightGBMClassifier,
    NetworkClassifier,
    RobustSmoothScaler,
    ScaledGammaSVC,
)

if TYPE_CHECKING:
    import onnx

_OPSETS = {"": 15, "ai.onnx.ml": 3}
# Smallest probability of which a logarithm is taken.
_SMALLEST = 1e-7
# Klambauer et al., "Self-normalizing neural networks", NeurIPS 2017.
_SELU_SCALE, _SELU_ALPHA = 1.0507009873554805, 1.6732632423543772
# Tree ensembles, which ONNX Runtime evaluates in single precision.
_SINGLE_PRECISION = (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    LGBMClassifier,
    RandomForestClassifier,
)


def to_onnx(estimator: Any) -> "onnx.ModelProto":
    """Convert a fitted model to ONNX (needs skl2onnx and onnxmltools).

    The input is ``X``, doubles of shape (n_samples, n_features) with NaN for missing entries. The
    outputs are ``label`` of shape (n_samples,) and ``probabilities``, doubles of shape
    (n_samples, n_classes).

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
    ValueError
        If a column is not read as a number, or a step of a pipeline has no converter. The message
        names the column or the step.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauto import AutoClassifier
    >>> from skauto.export import to_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> automl = AutoClassifier(max_evals=2, random_state=0).fit(X, y)
    >>> model = to_onnx(automl)  # doctest: +SKIP
    >>> [output.name for output in model.graph.output]  # doctest: +SKIP
    ['label', 'probabilities']
    """
    import onnx

    vote = vote_of(estimator)
    graph = _Graph()
    columns, fill = _columns_read(vote)
    graph.read(columns, fill)
    for i, (weight, pipeline) in enumerate(zip(vote.weights, vote.pipelines, strict=True)):
        if not np.array_equal(pipeline.classes_, vote.classes):
            raise ValueError(
                f"Member {i} of the vote has not seen all classes {vote.classes[:10]}: it knows "
                f"{pipeline.classes_[:10]}. Fit with refit=True, so that members see all rows."
            )
        graph.add_member(i, float(weight), pipeline)
    graph.decide(vote.decision_, vote.classes, len(vote))
    label = onnx.TensorProto.INT64 if vote.classes.dtype.kind in "iub" else onnx.TensorProto.STRING
    values = onnx.helper.make_tensor_value_info
    double, n_classes = onnx.TensorProto.DOUBLE, len(vote.classes)
    n_features = vote.pipelines[0].steps[0][1].n_features_in_
    made = onnx.helper.make_graph(
        graph.nodes,
        "vote",
        [values("X", double, [None, n_features])],
        [values("label", label, [None]), values("probabilities", double, [None, n_classes])],
        graph.initializers,
    )
    opsets = [onnx.helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()]
    model = onnx.helper.make_model(made, opset_imports=opsets, ir_version=8)
    onnx.checker.check_model(model)
    return model


class _Graph:
    """Nodes and constants of a graph under construction."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.has_missing = False

    def node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        import onnx

        self.nodes.append(onnx.helper.make_node(operator, inputs, [output], **attributes))
        return output

    def constant(self, name: str, value: Any) -> str:
        import onnx

        self.initializers.append(onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def read(self, columns: NDArray[np.int64], fill: NDArray[np.float64]) -> None:
        """Add the reader: select columns, and fill entries that are missing only now."""
        self.has_missing = bool(np.isnan(fill).any())
        chosen = self.node("Gather", ["X", self.constant("columns", columns)], "chosen", axis=1)
        missing = self.node("IsNaN", [chosen], "missing")
        self.node("Where", [missing, self.constant("fill", fill), chosen], "Z")

    def add_member(self, i: int, weight: float, pipeline: Pipeline) -> None:
        """Add the weighted probabilities of a pipeline as ``vote_<i>``."""
        value = "Z"
        has_missing = self.has_missing
        for name, step in pipeline.steps[1:]:
            prefix = f"member_{i}_{name}_"
            if isinstance(step, RobustSmoothScaler):
                value = self._smooth(prefix, value, step)
            elif isinstance(step, SimpleImputer):
                value = self._impute(prefix, value, step)
                has_missing = False
            elif isinstance(step, NetworkClassifier):
                value = self._network(prefix, value, step)
            elif not hasattr(step, "fit_resample"):
                place = f"{name!r} of member {i}"
                value = self._converted(prefix, value, step, place, has_missing)
        self.node("Mul", [value, self.constant(f"weight_{i}", weight)], f"vote_{i}")

    def _converted(self, prefix: str, value: str, step: Any, place: str, has_missing: bool) -> str:
        """Add a step converted by skl2onnx, in double precision except for trees."""
        import onnx
        from skl2onnx import convert_sklearn
        from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

        refusal = _refusal(step, has_missing)
        if refusal:
            raise ValueError(
                f"The step {place}, a {type(step).__name__}, cannot be converted to ONNX: "
                + refusal
            )
        _register()
        has_double = not isinstance(step, _SINGLE_PRECISION)
        kind = DoubleTensorType if has_double else FloatTensorType
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # skl2onnx reads SVC.probA_
                part = convert_sklearn(
                    step,
                    initial_types=[("Z", kind([None, step.n_features_in_]))],
                    options={"zipmap": False} if hasattr(step, "predict_proba") else None,
                    target_opset=dict(_OPSETS),
                )
        except Exception as exc:
            lines = [line for line in str(exc).splitlines() if line.strip()] or [repr(exc)]
            raise ValueError(
                f"The step {place}, a {type(step).__name__}, cannot be converted to ONNX: "
                f"{lines[0]} See the list in the user guide, page Deployment, or use export_code."
            ) from exc
        part = onnx.compose.add_prefix(part, prefix)
        types = onnx.TensorProto
        taken = part.graph.input[0].name
        self.node("Cast", [value], taken, to=types.DOUBLE if has_double else types.FLOAT)
        self.nodes.extend(part.graph.node)
        self.initializers.extend(part.graph.initializer)
        return self.node("Cast", [part.graph.output[-1].name], f"{prefix}out", to=types.DOUBLE)

    def _impute(self, prefix: str, value: str, step: SimpleImputer) -> str:
        """Add an imputer in double precision; that of skl2onnx has single precision."""
        import onnx

        fill = self.constant(f"{prefix}fill", step.statistics_.astype(np.float64))
        missing = self.node("IsNaN", [value], f"{prefix}missing")
        filled = self.node("Where", [missing, fill, value], f"{prefix}filled")
        if step.indicator_ is None:
            return filled
        flags = self.node("Cast", [missing], f"{prefix}flags", to=onnx.TensorProto.DOUBLE)
        columns = self.constant(f"{prefix}columns", step.indicator_.features_.astype(np.int64))
        shown = self.node("Gather", [flags, columns], f"{prefix}shown", axis=1)
        return self.node("Concat", [filled, shown], f"{prefix}out", axis=1)

    def _smooth(self, prefix: str, value: str, step: RobustSmoothScaler) -> str:
        """Add ``z / sqrt(1 + (z / 3) ** 2)`` with ``z = (x - center) * scale``."""
        center = self.constant(f"{prefix}center", step.center_)
        scale = self.constant(f"{prefix}scale", step.scale_)
        one, bound = self.constant(f"{prefix}one", 1.0), self.constant(f"{prefix}bound", 3.0)
        z = self.node("Sub", [value, center], f"{prefix}centered")
        z = self.node("Mul", [z, scale], f"{prefix}z")
        ratio = self.node("Div", [z, bound], f"{prefix}ratio")
        square = self.node("Mul", [ratio, ratio], f"{prefix}square")
        root = self.node(
            "Sqrt", [self.node("Add", [one, square], f"{prefix}sum")], f"{prefix}root"
        )
        return self.node("Div", [z, root], f"{prefix}out")

    def _network(self, prefix: str, value: str, step: NetworkClassifier) -> str:
        """Add the layers of a network and the mean probabilities of its members."""
        for k, (weights, bias) in enumerate(step.layers()):
            if k:
                value = self._selu(f"{prefix}{k}_", value)
            factor = self.constant(f"{prefix}{k}_weights", weights)
            product = self.node("MatMul", [value, factor], f"{prefix}{k}_product")
            addend = self.constant(f"{prefix}{k}_bias", bias)
            value = self.node("Add", [product, addend], f"{prefix}{k}_layer")
        each = self.node("Softmax", [value], f"{prefix}each", axis=2)
        if not step.label_smoothing:
            return self.node("ReduceMean", [each], f"{prefix}out", axes=[0], keepdims=0)
        mean = self.node("ReduceMean", [each], f"{prefix}mean", axes=[0], keepdims=0)
        return self._without_smoothing(prefix, mean, step.label_smoothing, len(step.classes_))

    def _without_smoothing(self, prefix: str, value: str, smoothing: float, n_classes: int) -> str:
        """Undo label smoothing as in `NetworkClassifier.predict_proba`."""
        share = self.constant(f"{prefix}share", smoothing / n_classes)
        rest = self.constant(f"{prefix}rest", 1.0 - smoothing)
        least = self.constant(f"{prefix}least", 0.1 * smoothing / n_classes)
        value = self.node("Sub", [value, share], f"{prefix}less_share")
        value = self.node("Div", [value, rest], f"{prefix}given")
        value = self.node("Max", [value, least], f"{prefix}bounded")
        axes = self.constant(f"{prefix}axes", np.array([1]))
        whole = self.node("ReduceSum", [value, axes], f"{prefix}sum", keepdims=1)
        return self.node("Div", [value, whole], f"{prefix}out")

    def _selu(self, prefix: str, value: str) -> str:
        """Add the SELU activation; that of ONNX Runtime has single precision."""
        zero, one = self.constant(f"{prefix}zero", 0.0), self.constant(f"{prefix}one", 1.0)
        alpha = self.constant(f"{prefix}alpha", _SELU_ALPHA * _SELU_SCALE)
        scale = self.constant(f"{prefix}scale", _SELU_SCALE)
        low = self.node("Exp", [self.node("Min", [value, zero], f"{prefix}low")], f"{prefix}exp")
        low = self.node(
            "Mul", [self.node("Sub", [low, one], f"{prefix}less"), alpha], f"{prefix}n"
        )
        high = self.node("Max", [value, zero], f"{prefix}high")
        high = self.node("Mul", [high, scale], f"{prefix}p")
        return self.node("Add", [low, high], f"{prefix}selu")

    def decide(self, decision: Decision, classes: NDArray[Any], n_members: int) -> None:
        """Add the weighted mean of the members, the temperature and the class offsets."""
        if type(decision) is not Decision:
            raise ValueError(
                f"to_onnx cannot convert a decision of the type {type(decision).__name__}, which "
                "depends on the group of a row. Fit with decision='argmax'."
            )
        total = self.node("Sum", [f"vote_{i}" for i in range(n_members)], "total")
        axes = self.constant("axes", np.array([1]))
        whole = self.node("ReduceSum", [total, axes], "whole", keepdims=1)
        mean = self.node("Div", [total, whole], "mean")
        if decision.temperature == 1.0:
            self.node("Identity", [mean], "probabilities")
        else:
            smallest = self.constant("smallest_mean", _SMALLEST)
            logs = self.node("Log", [self.node("Max", [mean, smallest], "clipped")], "cold")
            temperature = self.constant("temperature", float(decision.temperature))
            scaled = self.node("Div", [logs, temperature], "scaled")
            self.node("Softmax", [scaled], "probabilities", axis=1)
        judged = "probabilities"
        if decision.offsets.any():
            smallest = self.constant("smallest", _SMALLEST)
            logs = self.node("Log", [self.node("Max", [judged, smallest], "positive")], "logs")
            offsets = self.constant("offsets", np.asarray(decision.offsets, dtype=np.float64))
            judged = self.node("Add", [logs, offsets], "judged")
        code = self.node("ArgMax", [judged], "code", axis=1, keepdims=0)
        whole_numbers = classes.dtype.kind in "iub"
        labels = classes.astype(np.int64) if whole_numbers else classes.astype(str).astype(object)
        self.node("Gather", [self.constant("classes", labels), code], "label")


def _refusal(step: Any, has_missing: bool) -> str:
    """Reason why skl2onnx would convert a step wrongly; empty if it would not."""
    if isinstance(step, KNeighborsClassifier):
        return "skl2onnx weights nearest neighbours differently."
    if has_missing and isinstance(step, ExtraTreesClassifier | RandomForestClassifier):
        return "skl2onnx treats missing values in forests differently; impute them."
    return ""


def _columns_read(vote: PipelineEnsemble) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Find the table column and the fill value of each column of the reader's matrix."""
    reader = vote.pipelines[0].steps[0][1]
    n_features = reader.n_features_in_
    noise = np.random.default_rng(0).normal(size=(3, n_features))
    probe = np.vstack([np.arange(n_features) + 0.25, np.full(n_features, np.nan), noise])
    try:
        Z = reader.transform(_as_fitted(probe, reader))
    except TypeError as exc:
        raise ValueError(f"to_onnx needs a table of numbers and booleans only. {exc}") from exc
    if not sparse.issparse(Z):
        columns = np.clip(np.nan_to_num(Z[0]), 0, n_features - 1).astype(np.int64)
        if np.array_equal(Z[[0, 2, 3, 4]], probe[[0, 2, 3, 4]][:, columns]):
            return columns, Z[1]
    raise ValueError(
        "to_onnx needs a dense table whose columns are read as numbers. The reader of this model "
        f"makes the columns {list(reader.get_feature_names_out())[:10]}. Fit on the numeric "
        "columns, or use export_code."
    )


def _as_fitted(rows: NDArray[np.float64], reader: Any) -> Any:
    """Name the columns as in ``fit``."""
    if not hasattr(reader, "feature_names_in_"):
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=reader.feature_names_in_)


def _register() -> None:
    """Register converters for LightGBM and for skauto's subclasses of scikit-learn classifiers."""
    from onnxmltools.convert.lightgbm.operator_converters.LightGbm import convert_lightgbm
    from skl2onnx import update_registered_converter
    from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes
    from skl2onnx.operator_converters.support_vector_machines import convert_sklearn_svm_classifier
    from skl2onnx.shape_calculators.support_vector_machines import (
        calculate_sklearn_svm_output_shapes,
    )

    options = {"nocl": [True, False], "zipmap": [True, False, "columns"]}
    for boosting in (LGBMClassifier, LightGBMClassifier):
        update_registered_converter(
            boosting,
            f"Skauto{boosting.__name__}",
            calculate_linear_classifier_output_shapes,
            convert_lightgbm,
            options=options,
        )
    update_registered_converter(
        ScaledGammaSVC,
        "SkautoScaledGammaSVC",
        calculate_sklearn_svm_output_shapes,
        convert_sklearn_svm_classifier,
        options={**options, "output_class_labels": [False, True], "raw_scores": [True, False]},
    )
