"""From a fitted search to production: skops files, code without skauto, ONNX, smaller votes."""

from skauto.export._trusted import trusted_types

__all__ = ["trusted_types"]
