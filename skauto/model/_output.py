"""Pipelines whose output can be a dataframe."""

from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.metaestimators import available_if


def _above_has(method: str) -> Any:
    return available_if(lambda self: hasattr(super(NamedOutput, self), method))


class NamedOutput:
    """Mixin of pipelines: `set_output` makes a dataframe of their output, not of each step's.

    The steps are fitted on arrays, so that they do not know the names of their columns.
    """

    _transform_output = "default"

    def set_output(self, *, transform: str | None = None) -> Self:
        """Set the type of the output of ``transform``.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, default=None
            Type of the output; None changes nothing.

        Returns
        -------
        self : Pipeline
            The pipeline.
        """
        if transform not in ("default", "pandas", "polars", None):
            raise ValueError(
                "The 'transform' parameter of set_output must be 'default', 'pandas', 'polars' or "
                f"None. Got {transform!r} instead."
            )
        self._transform_output = transform or self._transform_output
        return self

    @_above_has("transform")  # type: ignore[untyped-decorator]
    def transform(self, X: Any, **params: Any) -> Any:
        """Transform the table by all steps; see :meth:`sklearn.pipeline.Pipeline.transform`."""
        return self._as_output(super().transform(X, **params), X)  # type: ignore[misc]

    @_above_has("fit_transform")  # type: ignore[untyped-decorator]
    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit the steps and transform the table by them."""
        return self._as_output(super().fit_transform(X, y, **params), X)  # type: ignore[misc]

    def _as_output(self, Z: Any, X: Any) -> Any:
        if self._transform_output == "default":
            return Z
        if sparse.issparse(Z):
            raise ValueError(
                "The output of the pipeline is a sparse matrix, of which set_output makes no "
                "dataframe. Use set_output(transform='default')."
            )
        names: NDArray[np.object_] = self.get_feature_names_out()  # type: ignore[attr-defined]
        columns = [str(name) for name in names]
        backend = nw.Implementation.from_string(self._transform_output)
        frame = nw.from_numpy(np.asarray(Z), columns, backend=backend)  # type: ignore[arg-type]
        frame = frame.to_native()
        if self._transform_output == "pandas" and hasattr(X, "iloc"):
            frame.index = X.index
        return frame

    def __getitem__(self, index: Any) -> Any:
        part = super().__getitem__(index)  # type: ignore[misc]
        if isinstance(part, NamedOutput):
            part._transform_output = self._transform_output
        return part
