"""What a fitted estimator offers on its way to production."""

from skauto.export import export_code


class DeploymentMixin:
    """Methods that hand a fitted estimator over, see `skauto.export`."""

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
