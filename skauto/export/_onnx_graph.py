"""ONNX graph under construction."""

import warnings
from typing import Any

import numpy as np

OPSETS = {"": 15, "ai.onnx.ml": 3}


class Graph:
    """Nodes and constants of an ONNX graph, whose real numbers are doubles."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    def add(self, operator: str, *inputs: Any, output: str = "", **attributes: Any) -> str:
        """Add an operation on named values or constants; return the name of its output."""
        import onnx

        output = output or f"{operator}_{len(self.nodes)}"
        names = [value if isinstance(value, str) else self._constant(value) for value in inputs]
        self.nodes.append(onnx.helper.make_node(operator, names, [output], **attributes))
        return output

    def _constant(self, value: Any) -> str:
        import onnx

        name = f"constant_{len(self.initializers)}"
        self.initializers.append(onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def cast(self, value: str, kind: str) -> str:
        """Convert a value to the type "DOUBLE", "FLOAT" or "INT64"."""
        import onnx

        return self.add("Cast", value, to=getattr(onnx.TensorProto, kind))

    def sum_of_rows(self, value: str) -> str:
        """Sum each row of a matrix, as a column."""
        return self.add("ReduceSum", value, np.array([1]), keepdims=1)

    def converted(self, value: str, step: Any) -> str:
        """Add a fitted step that skl2onnx converts, in double precision."""
        import onnx
        from skl2onnx import convert_sklearn
        from skl2onnx.common.data_types import DoubleTensorType

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            part = convert_sklearn(
                step,
                initial_types=[("Z", DoubleTensorType([None, step.n_features_in_]))],
                options={"zipmap": False} if hasattr(step, "predict_proba") else None,
                target_opset=dict(OPSETS),
            )
        part = onnx.compose.add_prefix(part, f"part_{len(self.nodes)}_")
        self.add("Identity", value, output=part.graph.input[0].name)
        self.nodes.extend(part.graph.node)
        self.initializers.extend(part.graph.initializer)
        return self.cast(part.graph.output[-1].name, "DOUBLE")
