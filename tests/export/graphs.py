"""ONNX models and parts of graphs, run on rows."""

import onnx
import onnxruntime

from skauto.export._onnx_graph import OPSETS


def run(model, X):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return session.run(["label", "probabilities"], {"X": X})


def evaluate(graph, X):
    """Output of the last node of a graph."""
    values, double = onnx.helper.make_tensor_value_info, onnx.TensorProto.DOUBLE
    output = graph.nodes[-1].output[0]
    made = onnx.helper.make_graph(
        graph.nodes,
        "part",
        [values("X", double, [None, X.shape[1]])],
        [values(output, double, None)],
        graph.initializers,
    )
    opsets = [onnx.helper.make_opsetid(*pair) for pair in OPSETS.items()]
    model = onnx.helper.make_model(made, opset_imports=opsets, ir_version=8)
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"X": X})[0]
