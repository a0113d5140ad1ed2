"""Limits on differences between groups of people."""

import math
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skauto.constraints._base import Constraint
from skauto.constraints._evidence import Evidence
from skauto.constraints._scores import positive_code, scorer_for, scorer_name
from skauto.exceptions import SmallGroupWarning
from skauto.selection import RateLimit, score_probabilities
from skauto.utils import BoolArray, FloatArray, IntArray

# A sensitive feature with more values is a number that somebody forgot to cut into ranges.
MAX_GROUPS = 50
# Draws from the posterior distribution of the rates of the groups.
_N_DRAWS = 2000


class GroupConstraint(Constraint):
    """A largest difference between the groups of sensitive features.

    Of several features the worst counts; with ``intersections`` the groups are the combinations of
    their values instead. A group counts only if ``min_group_size`` of its rows are measured. With
    fewer than two such groups the difference is not defined.

    Warning: This class should not be used directly. Use its subclasses.
    """

    sensitive: str | Sequence[str]
    intersections: bool
    min_group_size: int

    @property
    def key(self) -> str:
        """Name in reports: that of the class in lower case, with the sensitive features."""
        separator = " x " if self.intersections else ", "
        return f"{self._name}({separator.join(self.sensitive_names)})"

    @property
    def _name(self) -> str:
        words = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(self).__name__)
        return words.lstrip("_")

    def check(self, classes: NDArray[Any]) -> None:
        """Refuse what cannot be measured.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,)
            Labels.

        Raises
        ------
        ValueError
            If a setting makes no sense.
        """
        super().check(classes)
        if self.upper is not None and self.upper < 0:
            raise ValueError(
                f"The limit of the constraint {self.key!r} must not be negative, since it bounds "
                f"a difference. Got {self.upper!r} instead."
            )
        if not (isinstance(self.min_group_size, int | np.integer) and self.min_group_size >= 1):
            raise ValueError(
                f"The 'min_group_size' of the constraint {self.key!r} must be an int of at least "
                f"1. Got {self.min_group_size!r} instead."
            )
        if not self.sensitive_names:
            raise ValueError(
                f"The 'sensitive' of {type(self).__name__} must name at least one feature. Got "
                f"{self.sensitive!r} instead."
            )

    def check_groups(
        self, folds: Sequence[Evidence], pooled: Evidence, names: Mapping[str, Sequence[str]]
    ) -> None:
        """Refuse groups of which no two are large enough, and warn of those that are too small.

        Parameters
        ----------
        folds : sequence of Evidence
            The validation rows of each fold; their predictions are not read.
        pooled : Evidence
            All validation rows.
        names : mapping of str to sequence of str
            Names of the groups of each sensitive feature, in the order of their codes.

        Raises
        ------
        ValueError
            If fewer than two groups of a feature can be judged.

        Warns
        -----
        SmallGroupWarning
            If a group is too small to be judged in any fold.
        """
        by_fold = [dict(self._groupings(fold)) for fold in folds]
        for feature, codes in self._groupings(pooled):
            whole = self._sizes(pooled, codes)
            judged = np.zeros(len(whole), dtype=bool)
            for fold, groupings in zip(folds, by_fold, strict=True):
                sizes = self._sizes(fold, groupings[feature])
                enough = np.flatnonzero(sizes >= self.min_group_size)
                judged[enough] |= len(enough) >= 2
            if not judged.any():  # then all rows are judged at once
                judged = whole >= self.min_group_size
            labels = self._labels(feature, names)
            present = np.unique(codes)
            if judged.sum() < 2:
                sizes_text = ", ".join(f"{labels(g)!r} {whole[g]}" for g in present)
                raise ValueError(
                    f"The constraint {self.key!r} compares groups with at least "
                    f"min_group_size={self.min_group_size} {self._counted}, and needs two of "
                    f"them. Got {sizes_text}. Merge groups, or lower min_group_size."
                )
            small = [f"{labels(g)!r} ({whole[g]})" for g in present if not judged[g]]
            if small:
                warnings.warn(
                    f"Groups that are too small to judge do not count in the constraint "
                    f"{self.key!r}: {', '.join(small)}. They have fewer than "
                    f"min_group_size={self.min_group_size} {self._counted} in every validation "
                    "fold. Merge groups, use fewer folds, or lower min_group_size.",
                    SmallGroupWarning,
                    stacklevel=7,  # the caller of fit
                )

    _counted = "rows"

    def _sizes(self, evidence: Evidence, codes: IntArray) -> IntArray:
        """Rows of each group by which it is judged."""
        return np.bincount(codes)

    def _groupings(self, evidence: Evidence) -> Iterator[tuple[str, IntArray]]:
        """Each sensitive feature with the group codes of the rows; one for all intersections."""
        if not self.intersections:
            for name in self.sensitive_names:
                yield name, np.asarray(evidence.groups[name])
            return
        crossed = np.zeros(len(evidence.y), dtype=np.intp)
        for name in self.sensitive_names:
            crossed = crossed * MAX_GROUPS + evidence.groups[name]
        yield " x ".join(self.sensitive_names), crossed

    def _labels(self, feature: str, names: Mapping[str, Sequence[str]]) -> Callable[[int], str]:
        """Name of a group code."""

        def label(code: int) -> str:
            if not self.intersections:
                return names[feature][code]
            parts = []
            for name in reversed(self.sensitive_names):
                code, own = divmod(int(code), MAX_GROUPS)
                parts.append(names[name][own])
            return " x ".join(reversed(parts))

        return label


class _RateDifference(GroupConstraint):
    """Largest difference between groups in the share of rows that are predicted positive."""

    resampled = False

    def __init__(
        self,
        sensitive: str | Sequence[str],
        upper: float | None = None,
        *,
        positive_label: Any = None,
        intersections: bool = False,
        min_group_size: int = 10,
    ) -> None:
        self.sensitive = sensitive
        self.upper = upper
        self.positive_label = positive_label
        self.intersections = intersections
        self.min_group_size = min_group_size

    def check(self, classes: NDArray[Any]) -> None:
        """Refuse what cannot be measured.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,)
            Labels.

        Raises
        ------
        ValueError
            If a setting makes no sense, or the positive class is not known.
        """
        super().check(classes)
        positive_code(self, classes)

    @abstractmethod
    def _kinds(self, positive: BoolArray) -> list[BoolArray]:
        """Rows over which a share is taken, given which rows are truly positive."""

    def _sizes(self, evidence: Evidence, codes: IntArray) -> IntArray:
        truth = evidence.y == positive_code(self, evidence.classes)
        n_groups = int(codes.max()) + 1
        counts = [np.bincount(codes[kind], minlength=n_groups) for kind in self._kinds(truth)]
        return np.asarray(np.min(counts, axis=0))

    def measure(self, evidence: Evidence) -> float:
        """Measure the difference.

        Parameters
        ----------
        evidence : Evidence
            Predictions, truth and groups.

        Returns
        -------
        difference : float
            Largest share minus smallest share; NaN with fewer than two groups.
        """
        spreads = [np.ptp(hits / sizes) for hits, sizes in self._counts(evidence)]
        return float(max(spreads, default=math.nan))

    def bound(self, evidence: Evidence, confidence: float) -> float:
        """Upper end of a one-sided confidence interval for the value on new rows.

        The quantile of the difference when the rate of each group is drawn from its posterior
        distribution under Jeffreys' prior, Beta(hits + 1/2, misses + 1/2) [1]_. That is the
        Bayesian bootstrap over rows [2]_ with half a hit and half a miss more in each group, which
        matters where a rate is 0 or 1.

        Parameters
        ----------
        evidence : Evidence
            Predictions for rows that no model was fitted on.
        confidence : float
            Level of the interval.

        Returns
        -------
        bound : float
            NaN with fewer than two groups.

        References
        ----------
        .. [1] L. D. Brown, T. T. Cai and A. DasGupta, "Interval estimation for a binomial
           proportion", Statistical Science 16, 2001.
        .. [2] D. B. Rubin, "The Bayesian bootstrap", Annals of Statistics 9, 1981.
        """
        rng = np.random.default_rng(0)
        bounds = []
        for hits, sizes in self._counts(evidence):
            rates = rng.beta(hits + 0.5, sizes - hits + 0.5, size=(_N_DRAWS, len(hits)))
            bounds.append(np.quantile(np.ptp(rates, axis=1), confidence))
        return float(max(bounds, default=math.nan))

    def rate_limits(self, evidence: Evidence) -> list[RateLimit]:
        """Give the limit as limits on rates of labels, which a decision can keep.

        Parameters
        ----------
        evidence : Evidence
            Truth and groups of rows of two classes; predictions are not read.

        Returns
        -------
        limits : list of RateLimit
            One for each feature and kind of row, of the groups that are large enough.
        """
        truth = evidence.y == positive_code(self, evidence.classes)
        limits = []
        for _, codes in self._groupings(evidence):
            for kind in self._kinds(truth):
                sizes = np.bincount(codes[kind], minlength=1)
                large = np.flatnonzero(sizes >= self.min_group_size)
                if len(large) >= 2:
                    sets = np.array([kind & (codes == group) for group in large])
                    limits.append(RateLimit(sets, float(self.limit)))
        return limits

    def _counts(self, evidence: Evidence) -> Iterator[tuple[IntArray, IntArray]]:
        """Rows predicted positive and all rows of each group, by feature and kind of row."""
        code = positive_code(self, evidence.classes)
        predicted = evidence.labels == code
        for _, codes in self._groupings(evidence):
            for kind in self._kinds(evidence.y == code):
                sizes = np.bincount(codes[kind], minlength=1)
                hits = np.bincount(codes[kind & predicted], minlength=len(sizes))
                large = sizes >= self.min_group_size
                if large.sum() >= 2:
                    yield hits[large], sizes[large]


class StatisticalParity(_RateDifference):
    """Largest difference between groups in the share of rows predicted positive.

    It equals fairlearn's ``demographic_parity_difference``.

    Parameters
    ----------
    sensitive : str or list of str
        Column of ``X`` or of ``sensitive_features`` that holds the group; the name given here is
        free when ``sensitive_features`` is a single column without a name. Of several columns the
        worst counts.
    upper : float, default=None
        Largest difference allowed; None for no limit.
    positive_label : object, default=None
        Which class is positive; of two classes the second one unless stated.
    intersections : bool, default=False
        Whether the groups are the combinations of the values of all sensitive features.
    min_group_size : int, default=10
        Smallest number of rows of a group, in a validation fold, with which it counts.

    Examples
    --------
    >>> from skauto.constraints import StatisticalParity
    >>> StatisticalParity("sex", 0.05).key
    'statistical_parity(sex)'
    >>> StatisticalParity(["sex", "race"], 0.05, intersections=True).key
    'statistical_parity(sex x race)'
    """

    reweighable = True

    def _kinds(self, positive: BoolArray) -> list[BoolArray]:
        return [np.ones_like(positive)]


class EqualOpportunity(_RateDifference):
    """Largest difference between groups in the true positive rate [1]_.

    It equals fairlearn's ``equal_opportunity_difference``.

    Parameters
    ----------
    sensitive : str or list of str
        Column of ``X`` or of ``sensitive_features`` that holds the group. Of several columns the
        worst counts.
    upper : float, default=None
        Largest difference allowed; None for no limit.
    positive_label : object, default=None
        Which class is positive; of two classes the second one unless stated.
    intersections : bool, default=False
        Whether the groups are the combinations of the values of all sensitive features.
    min_group_size : int, default=10
        Smallest number of truly positive rows of a group, in a validation fold, with which it
        counts.

    References
    ----------
    .. [1] M. Hardt, E. Price and N. Srebro, "Equality of opportunity in supervised learning",
       NeurIPS 2016.

    Examples
    --------
    >>> from skauto.constraints import EqualOpportunity
    >>> EqualOpportunity("sex", 0.05).key
    'equal_opportunity(sex)'
    """

    _counted = "rows of the positive class"

    def _kinds(self, positive: BoolArray) -> list[BoolArray]:
        return [positive]


class EqualizedOdds(_RateDifference):
    """Larger of the differences between groups in the true and in the false positive rate [1]_.

    It equals fairlearn's ``equalized_odds_difference``.

    Parameters
    ----------
    sensitive : str or list of str
        Column of ``X`` or of ``sensitive_features`` that holds the group. Of several columns the
        worst counts.
    upper : float, default=None
        Largest difference allowed; None for no limit.
    positive_label : object, default=None
        Which class is positive; of two classes the second one unless stated.
    intersections : bool, default=False
        Whether the groups are the combinations of the values of all sensitive features.
    min_group_size : int, default=10
        Smallest number of truly positive rows of a group, in a validation fold, with which it
        counts in the true positive rate; of negative rows in the false positive rate.

    References
    ----------
    .. [1] M. Hardt, E. Price and N. Srebro, "Equality of opportunity in supervised learning",
       NeurIPS 2016.

    Examples
    --------
    >>> from skauto.constraints import EqualizedOdds
    >>> EqualizedOdds("sex", 0.05).key
    'equalized_odds(sex)'
    """

    _counted = "rows of each class"

    def _kinds(self, positive: BoolArray) -> list[BoolArray]:
        return [positive, ~positive]


class GroupDisparity(GroupConstraint):
    r"""Largest difference between groups in a score.

    .. math:: \max_j \epsilon(A_j) - \min_j \epsilon(A_j)

    over the groups :math:`A_j` of a sensitive feature (App. 12, Eq. A43). A group in which the
    score is not defined (ROC AUC of a single class) does not count.

    Parameters
    ----------
    sensitive : str or list of str
        Column of ``X`` or of ``sensitive_features`` that holds the group. Of several columns the
        worst counts.
    metric : str or callable, default="accuracy"
        A scikit-learn scorer or its name.
    upper : float, default=None
        Largest difference allowed; None for no limit.
    intersections : bool, default=False
        Whether the groups are the combinations of the values of all sensitive features.
    min_group_size : int, default=10
        Smallest number of rows of a group, in a validation fold, with which it counts.

    References
    ----------
    S. Liu et al., "An ADMM Based Framework for AutoML Pipeline Configuration", AAAI 2020, App. 12.

    Examples
    --------
    >>> from skauto.constraints import GroupDisparity
    >>> GroupDisparity("age_group", metric="roc_auc", upper=0.07).key
    'roc_auc_disparity(age_group)'
    """

    def __init__(
        self,
        sensitive: str | Sequence[str],
        metric: str | Callable[..., float] = "accuracy",
        *,
        upper: float | None = None,
        intersections: bool = False,
        min_group_size: int = 10,
    ) -> None:
        self.sensitive = sensitive
        self.metric = metric
        self.upper = upper
        self.intersections = intersections
        self.min_group_size = min_group_size

    @property
    def _name(self) -> str:
        return f"{scorer_name(self.metric)}_disparity"

    def check(self, classes: NDArray[Any]) -> None:
        """Refuse what cannot be measured.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,)
            Labels.

        Raises
        ------
        ValueError
            If a setting makes no sense, or the metric is not known.
        """
        super().check(classes)
        scorer_for(self.metric, self.key, len(classes))

    def measure(self, evidence: Evidence) -> float:
        """Measure the difference.

        Parameters
        ----------
        evidence : Evidence
            Predictions, truth and groups.

        Returns
        -------
        difference : float
            NaN when the score is defined in fewer than two groups.
        """
        scorer = scorer_for(self.metric, self.key, len(evidence.classes))
        spreads = []
        for _, codes in self._groupings(evidence):
            large = np.flatnonzero(np.bincount(codes) >= self.min_group_size)
            scores = self._scores(scorer, evidence, [codes == group for group in large])
            if scores.size >= 2:
                spreads.append(np.ptp(scores))
        return float(max(spreads, default=math.nan))

    @staticmethod
    def _scores(
        scorer: Callable[..., float], evidence: Evidence, groups: Sequence[BoolArray]
    ) -> FloatArray:
        """Scores of the groups in which they are defined."""
        labels = evidence.labels
        scores = [
            score_probabilities(
                scorer,
                evidence.probabilities[rows],
                evidence.y[rows],
                evidence.classes,
                labels=labels[rows],
            )
            for rows in groups
        ]
        return np.array([score for score in scores if math.isfinite(score)])


def group_names(values: ArrayLike, name: str) -> list[str]:
    """Names of the groups of a sensitive feature, in the order of their codes.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        The feature; missing values are a group of their own, named "".
    name : str
        Its name, for messages.

    Returns
    -------
    names : list of str
        In alphabetical order.

    Raises
    ------
    ValueError
        If there are more than 50 groups, or only one.

    Examples
    --------
    >>> from skauto.constraints import group_names
    >>> group_names(["b", "a", None, "b"], "letter")
    ['', 'a', 'b']
    """
    groups = sorted(set(_texts(values)))
    if not 2 <= len(groups) <= MAX_GROUPS:
        raise ValueError(
            f"The sensitive feature {name!r} must have 2 to {MAX_GROUPS} groups. Got "
            f"{len(groups)} instead; cut numbers into ranges, for instance with pandas.cut."
        )
    return groups


def group_codes(values: ArrayLike, name: str) -> IntArray:
    """Number the groups of a sensitive feature.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        The feature; missing values are a group of their own.
    name : str
        Its name, for messages.

    Returns
    -------
    codes : ndarray of int of shape (n_samples,)
        From 0.

    Raises
    ------
    ValueError
        If there are more than 50 groups, or only one.

    Examples
    --------
    >>> from skauto.constraints import group_codes
    >>> group_codes(["b", "a", None, "b"], "letter")
    array([2, 1, 0, 2])
    """
    return np.searchsorted(group_names(values, name), _texts(values))


def _texts(values: ArrayLike) -> list[str]:
    """Values as strings; missing ones are empty."""
    given = np.asarray(values, dtype=object).tolist()
    missing = ("None", "nan", "NaN", "NaT", "<NA>")
    return ["" if str(v) in missing and not isinstance(v, str) else str(v) for v in given]
