"""Export of a fitted estimator."""

import os
from pathlib import Path
from typing import Any

from skauto.ensemble import PipelineEnsemble
from skauto.export import compress, export_code


class DeploymentMixin:
    """Methods that export a fitted estimator, see `skauto.export`.

    Warning: This class should not be used directly. Use the estimators.
    """

    def compress(
        self, *, max_size: float | None = None, max_latency: float | None = None, X: Any = None
    ) -> PipelineEnsemble:
        """Select a smaller ensemble among the fitted members, without a new search.

        Parameters
        ----------
        max_size : float, default=None
            Largest size of the pickled ensemble, in bytes.
        max_latency : float, default=None
            Largest time of ``predict_proba`` for one row, in seconds.
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features), default=None
            Rows on which latency is measured; required with ``max_latency``.

        Returns
        -------
        vote : PipelineEnsemble
            With ``predict`` and ``predict_proba``, see :func:`skauto.export.compress`.
        """
        return compress(self, max_size=max_size, max_latency=max_latency, X=X)

    def export_code(self, folder: str | os.PathLike[str]) -> Path:
        """Write a folder that makes the same predictions without skauto.

        Parameters
        ----------
        folder : path-like
            Folder to create. An existing one must be empty.

        Returns
        -------
        folder : Path
            Contains ``predict.py``, the fitted pipelines, the source of the classes that they need
            and the versions of the packages, see :func:`skauto.export.export_code`.
        """
        return export_code(self, folder)
