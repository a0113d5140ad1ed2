"""The operating point of ``predict``, chosen after ``fit``, and prediction sets."""

import copy
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from skauto.constraints import Constraint
from skauto.display._predictions import LabeledPredictions
from skauto.estimators._scores import ScoreMixin
from skauto.model import Decision
from skauto.model._decision import CostDecision, logarithms
from skauto.selection._conformal import smallest_probability
from skauto.selection._operating_points import OperatingPoints
from skauto.utils import BoolArray, FloatArray, IntArray, explain_keywords

if TYPE_CHECKING:
    import pandas as pd

# Maximum number of rows of the table of operating points.
_MAX_POINTS = 200


class OperatingPointMixin(ScoreMixin):
    """Methods that choose the operating point of a fitted estimator.

    Warning: This class should not be used directly. Use the estimators.
    """

    _out_of_fold_labels: IntArray | None
    # Decision and out-of-fold labels of ``fit``, if another operating point was chosen.
    _before: tuple[Decision | None, IntArray | None] | None = None
    _point: dict[str, Any] | None = None

    @property
    def operating_point_(self) -> dict[str, Any] | None:
        """Operating point that `choose_operating_point` has chosen, None if it has not.

        ``pos_label``, ``threshold`` (two classes), and ``recall``, ``precision`` and ``flagged``,
        the share of rows that are predicted as ``pos_label``, on the out-of-fold predictions; or
        ``costs`` and ``mean_cost``.
        """
        check_is_fitted(self)
        return self._point

    @explain_keywords({})
    def choose_operating_point(
        self,
        *,
        recall: float | None = None,
        precision: float | None = None,
        flagged: float | None = None,
        costs: ArrayLike | None = None,
        pos_label: Any = None,
    ) -> Self:
        """Choose how ``predict`` decides, on the out-of-fold predictions and without a refit.

        Rows are predicted as ``pos_label`` if its probability is above a threshold; with more than
        two classes, if its log-probability plus an offset is the largest. Probabilities stay as
        they are. The choice is stored and exported with the model until `reset_operating_point`,
        another choice or another ``fit``.

        The bounds hold on the out-of-fold predictions. Models that are refitted on all rows give
        more extreme probabilities: of new rows of 34 tables they flagged 11% on average with
        ``flagged=0.1``, 7% to 15% in 60 runs, and the models of the folds 9%
        (``options={"refit": False}``).

        Parameters
        ----------
        recall : float, default=None
            Smallest share of the rows of ``pos_label`` that are predicted as such, in (0, 1]. Of
            several thresholds the one of highest precision is chosen.
        precision : float, default=None
            Smallest share of ``pos_label`` among the rows that are predicted as such, in (0, 1].
            Of several thresholds the one of highest recall is chosen.
        flagged : float, default=None
            Largest share of rows that are predicted as ``pos_label``, in (0, 1].
        costs : array-like of shape (n_classes, n_classes), default=None
            Cost of predicting a class (column) for a row of a class (row), in the order of
            ``classes_``, or a DataFrame with the classes as labels. The class of least expected
            cost is predicted [1]_. It excludes the other arguments.
        pos_label : object, default=None
            The class that the bounds are about. None is the second of two classes that are
            numbers or booleans.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If no threshold meets all bounds; the message has the nearest point. If limits of the
            estimator depend on the labels, there are no out-of-fold predictions, or an argument
            is out of range.

        References
        ----------
        .. [1] C. Elkan, "The foundations of cost-sensitive learning", IJCAI 2001, Eq. (1).

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from skauto import AutoClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> clf = AutoClassifier(max_evals=3, cv=3, random_state=0).fit(X, y)
        >>> clf = clf.choose_operating_point(recall=0.99, pos_label=0)
        >>> bool(clf.operating_point_["recall"] >= 0.99)
        True
        >>> clf = clf.reset_operating_point()
        """
        check_is_fitted(self)
        bounds = {"recall": recall, "precision": precision, "flagged": flagged}
        asked = {name: value for name, value in bounds.items() if value is not None}
        if bool(asked) == (costs is not None):
            raise ValueError(
                "choose_operating_point needs bounds ('recall', 'precision', 'flagged') or 'costs'"
                f", and not both. Got {[*asked, *(['costs'] if costs is not None else [])]}."
            )
        self._check_no_limits()
        if costs is not None:
            return self._minimize_costs(np.asarray(_in_order(costs, self.classes_.tolist())))
        for name, value in asked.items():
            check_scalar(value, name, Real, min_val=0, max_val=1, include_boundaries="right")
        known = self._known()
        positive = self._position(pos_label)
        points, label = self._points(known, positive), self.classes_.tolist()[positive]
        index, is_met = points.find(recall, precision, flagged)
        found = {name: float(getattr(points, name)[index]) for name in bounds}
        if not is_met:
            wanted = " and ".join(f"{name}={value}" for name, value in asked.items())
            nearest = ", ".join(f"{name} {value:.3g}" for name, value in found.items())
            raise ValueError(
                f"No threshold for {label!r} has {wanted} on the out-of-fold predictions. The"
                f" nearest has {nearest}; operating_points() has all."
            )
        offsets = np.zeros(len(self.classes_))
        offsets[positive] = -points.cuts[index]
        point = {"pos_label": label}
        if len(offsets) == 2:
            point["threshold"] = float(expit(points.cuts[index]))
        before = self.ensemble_.decision_
        decision = Decision(offsets - offsets.mean(), before.temperature, before.shift)
        self._use(decision, {**point, **found})
        return self

    def reset_operating_point(self) -> Self:
        """Return to the decision that ``fit`` has chosen.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        check_is_fitted(self)
        if self._before is not None:
            decision, labels = self._before
            self._replace_decision(decision, labels)
            self._before = self._point = None
        return self

    def operating_points(self, pos_label: Any = None) -> "pd.DataFrame":
        """Recall, precision and share of flagged rows by threshold (needs pandas).

        They are measured on the out-of-fold predictions.

        Parameters
        ----------
        pos_label : object, default=None
            The class; None is the second of two classes that are numbers or booleans.

        Returns
        -------
        points : pandas.DataFrame
            At most 200 thresholds, from few to all rows flagged. The columns are ``threshold`` of
            the probability (with two classes), ``flagged``, the share of rows predicted as
            ``pos_label``, ``precision`` and ``recall``.
        """
        import pandas as pd

        check_is_fitted(self)
        points = self._points(self._known(), self._position(pos_label))
        n_points = len(points.cuts)
        rows = np.unique(np.linspace(0, n_points - 1, min(n_points, _MAX_POINTS)).astype(int))
        columns = {"threshold": expit(points.cuts[rows])} if len(self.classes_) == 2 else {}
        for name in ("flagged", "precision", "recall"):
            columns[name] = getattr(points, name)[rows]
        return pd.DataFrame(columns)

    def predict_set(self, X: Any, coverage: float = 0.9) -> BoolArray:
        """Sets of classes that hold the true class with a given probability.

        They are conformal prediction sets [1]_, calibrated on the out-of-fold predictions: on
        average over new rows from the same source, a set holds the true class with probability
        ``coverage``. Rows that are hard to predict have several classes. If the model is right
        more often than ``coverage``, some sets are empty.

        Models that are refitted on all rows differ from those that were calibrated. On 34 tables
        on which less than 90% of the rows are right, a coverage of 0.9 became 0.90 on average on
        new rows, 0.88 to 0.92 in 52 of 57 runs (exact sets would be in 53), and 0.87 to 0.93
        in all. With permuted classes, which nothing predicts, it was 0.88 to 0.92 in 12 of 19.

        Parameters
        ----------
        X : {array-like, dataframe, sparse matrix} of shape (n_samples, n_features)
            The table, with the columns of ``fit``.
        coverage : float, default=0.9
            Probability that a set holds the true class, in (0, 1).

        Returns
        -------
        sets : ndarray of shape (n_samples, n_classes), dtype bool
            Whether each class, in the order of ``classes_``, is in the set of a row.

        References
        ----------
        .. [1] M. Sadinle, J. Lei and L. Wasserman, "Least ambiguous set-valued classifiers with
           bounded error levels", Journal of the American Statistical Association 114, 2019.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from skauto import AutoClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> clf = AutoClassifier(max_evals=3, cv=3, random_state=0).fit(X, y)
        >>> clf.predict_set(X[:2], coverage=0.99).shape
        (2, 3)
        """
        check_is_fitted(self)
        check_scalar(
            coverage, "coverage", Real, min_val=0, max_val=1, include_boundaries="neither"
        )
        known = self._known()
        least = smallest_probability(
            known.probabilities, known.truth, coverage, self._weights(known)
        )
        return np.asarray(self.ensemble_.predict_proba(X) >= least)

    def _minimize_costs(self, costs: NDArray[Any]) -> Self:
        n_classes = len(self.classes_)
        numeric = costs.dtype.kind in "biuf"
        if costs.shape != (n_classes, n_classes) or not numeric or not np.isfinite(costs).all():
            raise ValueError(
                f"The 'costs' must be finite numbers of shape {(n_classes, n_classes)}, one row "
                f"for each class of {self.classes_[:10].tolist()} and one column for each "
                f"prediction. Got the shape {costs.shape} and the type {costs.dtype}."
            )
        costs = costs.astype(np.float64)
        known = self._known()
        plain = np.zeros(n_classes)
        before = self.ensemble_.decision_
        decision = CostDecision(plain, before.temperature, before.shift, costs)
        labels = decision.labels(known.probabilities)
        mean = float(np.average(costs[known.truth, labels], weights=self._weights(known)))
        self._use(decision, {"costs": costs, "mean_cost": mean})
        return self

    def _known(self) -> LabeledPredictions:
        known = LabeledPredictions.out_of_fold(self)
        if known is None or not len(known.truth):
            raise ValueError(
                "There are no out-of-fold predictions: no pipeline was fitted in time. Give a "
                "longer time_limit."
            )
        return known

    def _weights(self, known: LabeledPredictions) -> FloatArray | None:
        return known.truth_of(self.history_.goal.sample_weight).weight

    def _points(self, known: LabeledPredictions, positive: int) -> OperatingPoints:
        logs = logarithms(known.probabilities)
        others = np.delete(logs, positive, axis=1).max(axis=1)
        is_positive = known.truth == positive
        return OperatingPoints.of(logs[:, positive] - others, is_positive, self._weights(known))

    def _position(self, pos_label: Any) -> int:
        classes = self.classes_.tolist()
        if pos_label is None and len(classes) == 2 and not isinstance(classes[1], str):
            return 1  # strings have no order that says which is positive
        if pos_label in classes:
            return classes.index(pos_label)
        raise ValueError(
            f"The 'pos_label' must be one of the classes {classes[:10]}. Got {pos_label!r}."
        )

    def _check_no_limits(self) -> None:
        constraints: Sequence[Constraint] = self._constraints(self.classes_)  # type: ignore[attr-defined]
        of_labels = [constraint.key for constraint in constraints if not constraint.additive]
        if of_labels:
            raise ValueError(
                f"The operating point is part of what keeps the limits on {of_labels}, and cannot "
                "be chosen again. Use AutoClassifier, or a limit on the rate instead."
            )

    def _use(self, decision: Decision, point: dict[str, Any]) -> None:
        if self._before is None:
            self._before = self.ensemble_.decision, self._out_of_fold_labels
        known = self._known()
        labels = np.full(len(np.asarray(self.history_.goal.targets)), -1)
        labels[known.rows] = decision.labels(known.probabilities)
        self._replace_decision(decision, labels)
        self._point = point

    def _replace_decision(self, decision: Decision | None, labels: IntArray | None) -> None:
        self.ensemble_ = copy.copy(self.ensemble_)
        self.ensemble_.decision = decision
        self._out_of_fold_labels = labels
        self._rescore()


def _in_order(costs: Any, classes: list[Any]) -> Any:
    """Return costs whose rows and columns are in the order of the classes if these label them."""
    for axis, labels in enumerate(getattr(costs, "axes", ())):
        if set(labels) == set(classes):
            costs = costs.reindex(classes, axis=axis)
    return costs
