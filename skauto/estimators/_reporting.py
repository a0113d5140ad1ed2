"""Results of a fitted estimator: tables, properties, report and HTML summary."""

import os
from collections.abc import Callable
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_scalar, estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from skauto.data import TableReader
from skauto.display._leaderboard import leaderboard_frame
from skauto.display._report import report_dict, report_html
from skauto.display._summary import summary_html
from skauto.history import History, Trial
from skauto.model import PipelineEnsemble
from skauto.utils import FloatArray, explain_keywords, scorer_is_loss

if TYPE_CHECKING:
    import pandas as pd


class ReportMixin:
    """Methods and properties that show the results of a fitted estimator.

    Warning: This class should not be used directly. Use the estimators.
    """

    ensemble_: PipelineEnsemble
    history_: History
    member_weights_: dict[int, float]
    reader_: TableReader
    scorer_: Callable[..., float]
    _target: str | None = None  # name of y in fit

    def table_report(self) -> "pd.DataFrame":
        """Kind of each column of the table, and the reason for it (needs pandas).

        Returns
        -------
        report : pandas.DataFrame
            One row for each column, see `skauto.data.TableReader.table_report`.
        """
        check_is_fitted(self)
        return self.reader_.table_report()

    def leaderboard(self, top: int | None = None) -> "pd.DataFrame":
        """The ensemble, then the trials from the best to the worst (needs pandas).

        Parameters
        ----------
        top : int, default=None
            Number of rows; None for all.

        Returns
        -------
        leaderboard : pandas.DataFrame
            The row "ensemble", if pipelines were fitted in time, and one row for each trial. The
            columns are ``model``; ``score``, of the ensemble ``ensemble_score_``, of a trial the
            mean over the folds; ``std``, the standard deviation over the folds; ``fit_seconds``
            and ``predict_seconds``, means over the folds, summed over the members of the
            ensemble; ``size``, the bytes of the fitted models (members only); ``pipeline`` in
            words; ``weight`` in the ensemble; ``status``; the number ``trial``;
            ``share_of_rows`` of the trial; objectives and constraints; and ``error``.
            Under limits, ``feasible`` is whether a trial keeps all of them alone, predicting the
            most probable class. The ensemble can keep them without such trials, by decision
            thresholds.
            ``history_.to_frame()`` has the hyper-parameters.
        """
        check_is_fitted(self)
        if top is not None:
            check_scalar(top, "top", Integral, min_val=0)
        frame = leaderboard_frame(self)
        return frame if top is None else frame.head(top)

    def cost_report(self, watts_per_core: float = 10.0) -> "pd.DataFrame":
        """Processor time and energy of the trials, by share of the rows (needs pandas).

        The time of the strategy and of the fits after the search is not included.

        Parameters
        ----------
        watts_per_core : float, default=10.0
            Power of one busy core. The default is an assumption: the thermal design power of a
            server processor divided by its cores.

        Returns
        -------
        report : pandas.DataFrame
            One row for each fidelity and a row "total". The columns are ``n_trials``;
            ``cpu_seconds`` of all cores, including folds without a result; ``watt_hours``, the
            energy; ``full_cpu_seconds`` and ``full_watt_hours``, estimates for the same trials on
            all rows, if time is proportional to the rows.
        """
        import pandas as pd

        check_is_fitted(self)
        check_scalar(watts_per_core, "watts_per_core", Real, min_val=0)
        trials = pd.DataFrame(
            {
                "fidelity": [trial.fidelity for trial in self.history_],
                "n_trials": 1,
                "cpu_seconds": [trial.cpu_time for trial in self.history_],
            }
        )
        report = trials.groupby("fidelity").sum().sort_index(ascending=False)
        report["full_cpu_seconds"] = report["cpu_seconds"] / report.index
        report = pd.concat([report, report.sum().to_frame("total").T])
        report["n_trials"] = report["n_trials"].astype(int)
        for name in ("", "full_"):
            report[f"{name}watt_hours"] = report[f"{name}cpu_seconds"] * watts_per_core / 3600.0
        return report.rename_axis("fidelity")

    @property
    def decision_offsets_(self) -> FloatArray:
        """Offsets of the classes, added to the log probabilities before ``predict`` compares."""
        check_is_fitted(self)
        return self.ensemble_.decision_.offsets

    @property
    def decision_threshold_(self) -> float:
        """Smallest probability of the second of two classes for which it is predicted."""
        check_is_fitted(self)
        return self.ensemble_.decision_.threshold

    @property
    def temperature_(self) -> float:
        """Divisor of the log-probabilities; values below 1 make the probabilities surer."""
        check_is_fitted(self)
        return self.ensemble_.decision_.temperature

    @property
    def cv_results_(self) -> dict[str, Any]:
        """Trials in the form of ``GridSearchCV.cv_results_``."""
        check_is_fitted(self)
        return self.history_.to_cv_results()

    @property
    def best_trial_(self) -> Trial | None:
        """Best trial of the search, within the limits if it has some.

        If no trial keeps all limits alone, as when decision thresholds keep them, it is the member
        of the ensemble that violates them least, as ``best_estimator_`` is.
        """
        check_is_fitted(self)
        history = self.history_
        members = [history[number] for number in self.member_weights_]
        return history.incumbent or min(members, key=history.preference, default=None)

    @property
    def best_params_(self) -> dict[str, Any] | None:
        """Configuration of the best trial, as a dict of steps."""
        return None if self.best_trial_ is None else self.best_trial_.configuration.to_dict()

    @property
    def best_score_(self) -> float:
        """Mean score of the best trial over the folds; of all rows if no fold has a score."""
        if self.best_trial_ is None:
            return float("nan")
        scores = np.array(next(iter(self.best_trial_.fold_scores.values())))
        if np.isnan(scores).all():
            return (0.0 if scorer_is_loss(self.scorer_) else 1.0) - self.best_trial_.loss
        return float(np.nanmean(scores))

    @explain_keywords({})
    def save_report(
        self,
        path: "str | os.PathLike[str]",
        *,
        X: Any = None,
        y: Any = None,
        importance: Any = None,
        title: str | None = None,
    ) -> None:
        """Write a report on the fitted estimator: one HTML file that needs no network.

        Page one is for readers who do not know machine learning: what to expect on new rows, what
        drives the answers, where they err and what to watch. Page two has probabilities,
        thresholds and limits, page three the search and how to repeat it. It needs the extra
        ``skauto[plot]``. With ``verbose`` a line on the standard error shows the progress.

        Parameters
        ----------
        path : path-like
            File to write; an existing one is replaced.
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features), default=None
            Rows to show what drives the answers, by permuting the columns of a sample. With
            ``y`` they must be held-out rows: the report is about their predictions. If they are
            rows of ``fit``, a warning says so, and ``y`` is not used.
        y : array-like of shape (n_samples,), default=None
            Classes of ``X``. Without it, ``X`` can be the rows of ``fit``.
        importance : Bunch, default=None
            Result of :func:`skauto.inspection.cross_validated_importance` on the rows of ``fit``,
            which is shown in place of the importance on ``X``.
        title : str, default=None
            Title of the report; None makes one from the name of ``y``, here or in ``fit``, or
            from the classes.

        Raises
        ------
        ImportError
            If matplotlib or pandas is not installed.
        ValueError
            If y is given without X, or the importance has not one row for each column.
        NotFittedError
            Before ``fit``.

        See Also
        --------
        report_dict : The content as data.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from sklearn.datasets import load_iris
        >>> from skauto import AutoClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> clf = AutoClassifier("random", max_evals=2, cv=2, random_state=0).fit(X[::2], y[::2])
        >>> with TemporaryDirectory() as folder:
        ...     clf.save_report(f"{folder}/report.html", X=X[1::2], y=y[1::2], title="Irises")
        """
        check_is_fitted(self)
        page = report_html(self, X, y, importance, title)
        Path(path).write_text(page, encoding="utf-8")

    @explain_keywords({})
    def report_dict(
        self,
        *,
        X: Any = None,
        y: Any = None,
        importance: Any = None,
        title: str | None = None,
    ) -> dict[str, Any]:
        """Return the content of the report as data that JSON can represent (needs pandas).

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features), default=None
            Rows, see ``save_report``.
        y : array-like of shape (n_samples,), default=None
            Classes of ``X`` if they are held-out rows.
        importance : Bunch, default=None
            Result of :func:`skauto.inspection.cross_validated_importance`, see ``save_report``.
        title : str, default=None
            Title of the report.

        Returns
        -------
        report : dict
            The keys are "title", "date", "data", "verdict", "scores", "drivers", "errors",
            "watch", "probabilities", "limits" and "engineering". Values that are not defined are
            None.

        Raises
        ------
        ImportError
            If pandas is not installed.
        ValueError
            If y is given without X, or the importance has not one row for each column.
        NotFittedError
            Before ``fit``.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from skauto import AutoClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = AutoClassifier("random", max_evals=2, cv=2, random_state=0).fit(X, y)
        >>> report = clf.report_dict()
        >>> report["verdict"]["score"] == clf.ensemble_score_
        True
        """
        check_is_fitted(self)
        return report_dict(self, X, y, importance, title)

    def _html_repr(self) -> str:
        """Diagram of scikit-learn, after ``fit`` with a summary of the results above it."""
        diagram: str = estimator_html_repr(self)
        if not hasattr(self, "ensemble_"):
            return diagram
        return summary_html(self) + diagram
