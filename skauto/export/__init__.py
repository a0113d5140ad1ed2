"""Export of fitted estimators: skops files, code without skauto, ONNX, smaller ensembles."""

from skauto.export._code import export_code
from skauto.export._compress import compress
from skauto.export._onnx import to_onnx
from skauto.export._trusted import trusted_types

__all__ = ["compress", "export_code", "to_onnx", "trusted_types"]
