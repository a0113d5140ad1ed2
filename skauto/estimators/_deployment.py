"""What a fitted estimator offers on its way to production."""

from skauto.export import compress, export_code


class DeploymentMixin:
    """Methods that hand a fitted estimator over, see `skauto.export`."""

    def compress(self, *, max_size=None, max_latency=None, X=None):
        """Select a smaller vote among the fitted members, without a new search.

        Parameters
        ----------
        max_size : float, default=None
            Bytes of the pickled vote.
        max_latency : float, default=None
            Seconds of ``predict_proba`` for one row.
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features), default=None
            Rows on which latency is measured; only with ``max_latency``.

        Returns
        -------
        vote : PipelineEnsemble
            With ``predict`` and ``predict_proba``, see :func:`skauto.export.compress`.
        """
        return compress(self, max_size=max_size, max_latency=max_latency, X=X)

    def export_code(self, folder):
        """Write a folder that predicts the same without skauto.

        Parameters
        ----------
        folder : path-like
            Is made; may exist when it is empty.

        Returns
        -------
        folder : Path
            With ``predict.py``, the fitted pipelines, the source of what they need and the
            versions of the packages, see :func:`skauto.export.export_code`.
        """
        return export_code(self, folder)
