"""Helpers that import nothing else from skauto."""

from skauto.utils._budget import Budget
from skauto.utils._caller import warn
from skauto.utils._compat import (
    Interval,
    OwnParameters,
    StrOptions,
    backend_of,
    check_sample_weight,
    column_arrays,
    fit_context,
    input_feature_names,
    n_rows,
    scorer_function,
    scorer_is_loss,
    scorer_needs_labels_only,
    scorer_options,
    take_rows,
)
from skauto.utils._extras import check_installed
from skauto.utils._fingerprint import fingerprint
from skauto.utils._keywords import explain_keywords
from skauto.utils._names import closest, known_names
from skauto.utils._pareto import non_dominated
from skauto.utils._predictions import Predictions
from skauto.utils._rows import row_hashes
from skauto.utils._threads import single_blas_thread, single_thread
from skauto.utils._types import BoolArray, FloatArray, IntArray

__all__ = [
    "BoolArray",
    "Budget",
    "FloatArray",
    "IntArray",
    "Interval",
    "OwnParameters",
    "Predictions",
    "StrOptions",
    "backend_of",
    "check_installed",
    "check_sample_weight",
    "closest",
    "column_arrays",
    "explain_keywords",
    "fingerprint",
    "fit_context",
    "input_feature_names",
    "known_names",
    "n_rows",
    "non_dominated",
    "row_hashes",
    "scorer_function",
    "scorer_is_loss",
    "scorer_needs_labels_only",
    "scorer_options",
    "single_blas_thread",
    "single_thread",
    "take_rows",
    "warn",
]
