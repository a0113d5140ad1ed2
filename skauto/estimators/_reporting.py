"""What a fitted estimator shows of itself: a report and a summary in notebooks."""

import os
from pathlib import Path
from typing import Any

from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from skauto.display._report import report_html
from skauto.display._summary import summary_html


class ReportMixin:
    """Report and HTML representation of the estimators.

    Warning: This class should not be used directly. Use the estimators.
    """

    def save_report(self, path: "str | os.PathLike[str]", *, X: Any = None, y: Any = None) -> None:
        """Write a report on the fitted estimator: one HTML file that needs no network.

        The report shows the data, the search with its failures, the ensemble, its out-of-fold
        predictions (confusion matrix, calibration and, of two classes, the ROC curve), the limits,
        the cost, and the code and versions to repeat it. It needs the extra ``skauto[plot]``.

        Parameters
        ----------
        path : path-like
            File to write; an existing one is replaced.
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features), default=None
            Rows that ``fit`` has not seen. With them, the report also shows scores on these rows
            and the permutation importance of the columns, on at most 1,000 rows.
        y : array-like of shape (n_samples,), default=None
            Their classes; required with ``X``.

        Raises
        ------
        ImportError
            If matplotlib or pandas is not installed.
        NotFittedError
            Before ``fit``.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from sklearn.datasets import load_iris
        >>> from skauto import AutoClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> clf = AutoClassifier("random", max_evals=3, cv=2, random_state=0).fit(X, y)
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "report.html")
        ...     clf.save_report(file)
        ...     print(file.read_text(encoding="utf-8")[:15])
        <!DOCTYPE html>
        """
        check_is_fitted(self)
        Path(path).write_text(report_html(self, X, y), encoding="utf-8")

    def _html_repr(self) -> str:
        """Give the diagram of scikit-learn; after ``fit`` a summary of the result above it."""
        diagram: str = estimator_html_repr(self)
        if not self.__sklearn_is_fitted__():  # type: ignore[attr-defined]
            return diagram
        return summary_html(self) + diagram
