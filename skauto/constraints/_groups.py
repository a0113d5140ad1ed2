"""Fairness constraints: limits on differences between groups."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skauto.constraints._base import Constraint
from skauto.constraints._evidence import Evidence
from skauto.constraints._scores import (
    LABEL_ADVICE,
    check_metric,
    label_details,
    positive_code,
    scorer_for,
    scorer_name,
)
from skauto.exceptions import SmallGroupWarning
from skauto.model._groups import MAX_GROUPS
from skauto.selection import LabelLoss, RateLimit, ScorerLoss, get_loss
from skauto.selection._intervals import Answers, Truth, scores_of_rows
from skauto.utils import BoolArray, IntArray, explain_keywords, warn

# Number of samples of the posterior distribution of the groups' rates.
_N_DRAWS = 2000
# Standard deviation of a label whose rate is 1/2, the largest one.
_MAX_DEVIATION = 0.5


class GroupConstraint(Constraint):
    """Base class of limits on the largest difference between groups of sensitive features.

    For several features the largest difference counts. With ``intersections``, the groups are the
    combinations of their values. Groups with fewer than ``min_group_size`` validation rows, all
    folds together, do not count. With fewer than two groups the difference is undefined.

    Warning: This class should not be used directly. Use its subclasses.

    Parameters
    ----------
    upper : float, default=None
        Largest allowed difference; None for no limit.
    """

    pooled = True
    sensitive: str | Sequence[str]
    intersections: bool
    min_group_size: int

    @property
    def _details(self) -> tuple[str, ...]:
        return ((" x " if self.intersections else ", ").join(self.sensitive_names),)

    def check(self, classes: NDArray[Any]) -> None:
        """Raise ValueError if a setting is invalid for these class labels."""
        super().check(classes)
        self._check_not_negative("difference")
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

    def check_groups(self, validated: Evidence, names: Mapping[str, Sequence[str]]) -> None:
        """Raise if fewer than two groups are large enough; warn about groups that are too small.

        `validated` has the validation rows of all folds together, whose predictions are not used.
        `names` are those of the groups of each sensitive feature, in the order of their codes.
        """
        for features in self.groupings:
            (codes,) = _codes([validated], features)
            present, first = np.unique(codes, return_index=True)
            labels = {
                g: " x ".join(names[name][validated.groups[name][row]] for name in features)
                for g, row in zip(present, first, strict=True)
            }
            for kind, counted in zip(self._kinds(validated), self._counted, strict=True):
                sizes = {g: int(np.count_nonzero(codes[kind] == g)) for g in present}
                small = {g: size for g, size in sizes.items() if size < self.min_group_size}
                judged = len(sizes) - len(small)
                shown = ", ".join(
                    f"{labels[g]!r} ({size})"
                    for g, size in (small if judged >= 2 else sizes).items()
                )
                rule = (
                    f"The constraint {self.key!r} compares groups with at least "
                    f"min_group_size={self.min_group_size} {counted} among the validation rows of "
                    "all folds together"
                )
                if judged < 2:
                    raise ValueError(
                        f"{rule}, and needs two of them. Got {shown}. Merge groups, or lower "
                        "min_group_size."
                    )
                if small:
                    warn(
                        f"{rule}. Groups that are too small to judge do not count: {shown}. Merge "
                        "groups, or lower min_group_size.",
                        SmallGroupWarning,
                    )
                self._warn_of_unsure_groups({labels[g]: sizes[g] for g in sizes if g not in small})

    def _warn_of_unsure_groups(self, sizes: Mapping[str, int]) -> None:
        """Warn of groups, by name, whose value is not known as well as the limit asks."""

    #: What the rows of each mask of ``_kinds`` are called.
    _counted: tuple[str, ...] = ("rows",)

    def _kinds(self, evidence: Evidence) -> list[BoolArray]:
        """Masks of the rows that are compared between groups; a subclass may have several."""
        return [np.ones(len(evidence.y), dtype=bool)]

    def _compared(self, evidence: Evidence) -> Iterator[tuple[IntArray, IntArray]]:
        """Codes of the groups of all rows, -1 in rows that are not compared, and those present.

        There is one pair for each grouping and mask with rows of at least two groups that count.
        Which groups count is decided by the rows ``evidence.judged``.
        """
        judged = evidence.judged or evidence
        for features in self.groupings:
            codes, judged_codes = _codes([evidence, judged], features)
            n_codes = max(codes.max(initial=0), judged_codes.max(initial=0)) + 1
            for kind, judged_kind in zip(self._kinds(evidence), self._kinds(judged), strict=True):
                sizes = np.bincount(judged_codes[judged_kind], minlength=n_codes)
                counts = sizes >= self.min_group_size
                own = np.where(kind & counts[codes], codes, -1)
                present = np.flatnonzero(np.bincount(own + 1)[1:])
                if len(present) >= 2:
                    yield own, present

    @property
    def groupings(self) -> list[tuple[str, ...]]:
        """Sensitive features whose combinations of values are compared."""
        if self.intersections:
            return [self.sensitive_names]
        return [(name,) for name in self.sensitive_names]


class _RateDifference(GroupConstraint):
    """Base class of differences between groups in a rate of positive predictions."""

    resampled = False

    @explain_keywords(LABEL_ADVICE)
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

    @property
    def _details(self) -> tuple[str, ...]:
        return (*super()._details, *label_details(self.positive_label))

    def check(self, classes: NDArray[Any]) -> None:
        """Raise ValueError if a setting or the positive class is invalid."""
        super().check(classes)
        self._check_not_negative("difference of rates", 1.0)
        positive_code(self, classes)

    def _positive(self, evidence: Evidence) -> BoolArray:
        return np.asarray(evidence.y == positive_code(self, evidence.classes))

    def _warn_of_unsure_groups(self, sizes: Mapping[str, int]) -> None:
        errors = {name: _MAX_DEVIATION / math.sqrt(size) for name, size in sizes.items()}
        unsure = [name for name, error in errors.items() if error > self.limit]
        if unsure:
            shown = ", ".join(f"{name!r} ({errors[name]:.2g}, {sizes[name]})" for name in unsure)
            warn(
                f"The constraint {self.key!r} has the limit {self.limit:.4g}. The standard errors "
                f"of the rates of some groups may be larger; group (error, rows): {shown}. The "
                "limit may be exceeded on new rows, or cost most of the accuracy. Merge groups, "
                "raise min_group_size so that these do not count, or set a wider limit.",
                SmallGroupWarning,
            )

    def measure(self, evidence: Evidence) -> float:
        """Largest rate minus smallest rate; NaN for fewer than two groups."""
        spreads = [np.ptp(hits / sizes) for hits, sizes in self._counts(evidence)]
        return float(max(spreads, default=math.nan))

    def bound(self, evidence: Evidence, confidence: float) -> float:
        """Upper bound of a one-sided confidence interval for the value on new rows.

        It is the quantile of the difference when the rate of each group is sampled from its
        posterior distribution under Jeffreys' prior, Beta(hits + 1/2, misses + 1/2) (Brown, Cai
        and DasGupta, "Interval estimation for a binomial proportion", Statistical Science 16,
        2001). This is the Bayesian bootstrap over rows (Rubin, Annals of Statistics 9, 1981) plus
        a prior, which matters for rates of 0 and 1.
        """
        rng = np.random.default_rng(0)
        bounds = []
        for hits, sizes in self._counts(evidence):
            rates = rng.beta(hits + 0.5, sizes - hits + 0.5, size=(_N_DRAWS, len(hits)))
            bounds.append(np.quantile(np.ptp(rates, axis=1), confidence))
        return float(max(bounds, default=math.nan))

    def rate_limits(self, evidence: Evidence) -> list[RateLimit]:
        """Express the limit as limits on rates: one per feature and mask of rows."""
        return [
            RateLimit(codes == present[:, None], float(self.limit))
            for codes, present in self._compared(evidence)
        ]

    def _counts(self, evidence: Evidence) -> Iterator[tuple[IntArray, IntArray]]:
        """Numbers of rows predicted positive and of all rows, by group."""
        predicted = evidence.labels == positive_code(self, evidence.classes)
        for codes, present in self._compared(evidence):
            sizes = np.bincount(codes + 1)[1:]
            hits = np.bincount(codes[predicted] + 1, minlength=len(sizes) + 1)[1:]
            yield hits[present], sizes[present]


class StatisticalParity(_RateDifference):
    """Largest difference between groups in the rate of positive predictions.

    It equals fairlearn's ``demographic_parity_difference``. All rows count the same, whatever
    their ``sample_weight``.

    Parameters
    ----------
    sensitive : str or list of str
        Column of ``X`` or of ``sensitive_features`` that holds the group; any name if
        ``sensitive_features`` is a single column without a name. For several columns the largest
        difference counts.
    upper : float, default=None
        Largest allowed difference; None for no limit.
    positive_label : object, default=None
        Positive class; None means the second of two classes.
    intersections : bool, default=False
        Whether the groups are the combinations of the values of all sensitive features.
    min_group_size : int, default=10
        Minimum number of validation rows of a group, all folds together; smaller groups do not
        count.

    Examples
    --------
    >>> from skauto.constraints import StatisticalParity
    >>> StatisticalParity("sex", 0.05).key
    'statistical_parity(sex)'
    >>> StatisticalParity(["sex", "race"], 0.05, intersections=True).key
    'statistical_parity(sex x race)'
    """

    reweighable = True


class EqualOpportunity(_RateDifference):
    """Largest difference between groups in the true positive rate [1]_.

    It equals fairlearn's ``equal_opportunity_difference``. All rows count the same, whatever
    their ``sample_weight``.

    Parameters
    ----------
    sensitive : str or list of str
        Column of ``X`` or of ``sensitive_features`` that holds the group. For several columns the
        largest difference counts.
    upper : float, default=None
        Largest allowed difference; None for no limit.
    positive_label : object, default=None
        Positive class; None means the second of two classes.
    intersections : bool, default=False
        Whether the groups are the combinations of the values of all sensitive features.
    min_group_size : int, default=10
        Minimum number of truly positive validation rows of a group, all folds together; groups
        with fewer do not count.

    References
    ----------
    .. [1] M. Hardt, E. Price and N. Srebro, "Equality of opportunity in supervised learning",
       NeurIPS 2016.

    Examples
    --------
    >>> from skauto.constraints import EqualOpportunity
    >>> EqualOpportunity("sex", 0.05).key
    'equal_opportunity(sex)'
    >>> EqualOpportunity("sex", 0.05, positive_label="hired").key
    'equal_opportunity(sex, positive_label=hired)'
    """

    _counted = ("rows of the positive class",)

    def _kinds(self, evidence: Evidence) -> list[BoolArray]:
        return [self._positive(evidence)]


class EqualizedOdds(_RateDifference):
    """Largest difference between groups in the true and false positive rates [1]_.

    It equals fairlearn's ``equalized_odds_difference``. All rows count the same, whatever
    their ``sample_weight``.

    Parameters
    ----------
    sensitive : str or list of str
        Column of ``X`` or of ``sensitive_features`` that holds the group. For several columns the
        largest difference counts.
    upper : float, default=None
        Largest allowed difference; None for no limit.
    positive_label : object, default=None
        Positive class; None means the second of two classes.
    intersections : bool, default=False
        Whether the groups are the combinations of the values of all sensitive features.
    min_group_size : int, default=10
        Minimum number of validation rows of a group, all folds together, for each of the two
        rates: truly positive rows for the true positive rate, other rows for the false positive
        rate. Groups with fewer do not count in this rate.

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

    _counted = ("rows of the positive class", "rows of the other classes")

    def _kinds(self, evidence: Evidence) -> list[BoolArray]:
        return [self._positive(evidence), ~self._positive(evidence)]


class GroupDisparity(GroupConstraint):
    r"""Largest difference between groups in a score.

    .. math:: \max_j \epsilon(A_j) - \min_j \epsilon(A_j)

    over the groups :math:`A_j` of a sensitive feature (App. 12, Eq. A43). A group for which the
    score is undefined (ROC AUC of a single class) does not count. Rows are weighted by the
    ``sample_weight`` of ``fit`` if the scorer takes weights.

    Parameters
    ----------
    sensitive : str or list of str
        Column of ``X`` or of ``sensitive_features`` that holds the group. For several columns the
        largest difference counts.
    metric : str or callable, default="accuracy"
        scikit-learn scorer or its name.
    upper : float, default=None
        Largest allowed difference; None for no limit.
    intersections : bool, default=False
        Whether the groups are the combinations of the values of all sensitive features.
    min_group_size : int, default=10
        Minimum number of validation rows of a group, all folds together; smaller groups do not
        count.

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
        """Raise ValueError if a setting or the metric is invalid."""
        super().check(classes)
        check_metric(self.metric, self.key, classes)

    def measure(self, evidence: Evidence) -> float:
        """Largest score minus smallest score; NaN if it is defined for fewer than two groups."""
        scorer = scorer_for(self.metric, self.key, len(evidence.classes))
        answers = Answers(evidence.probabilities, evidence.labels)
        truth = Truth(evidence.y, evidence.classes, evidence.sample_weight)
        loss = get_loss(self.metric, evidence.classes)
        if not isinstance(
            loss, LabelLoss
        ):  # it would be another score where a group lacks a class
            loss = ScorerLoss(scorer, evidence.classes)
        score, spreads = scores_of_rows(scorer, loss, [answers], truth), []
        for codes, present in self._compared(evidence):
            scores = [float(score(np.flatnonzero(codes == group))[0]) for group in present]
            defined = [score for score in scores if math.isfinite(score)]
            if len(defined) >= 2:
                spreads.append(np.ptp(defined))
        return float(max(spreads, default=math.nan))


def _codes(parts: Sequence[Evidence], features: Sequence[str]) -> list[IntArray]:
    """Codes of the combinations of values of some features in the rows of each part.

    The combinations that are present have the codes from 0, in alphabetical order. A single
    feature has its own codes.
    """
    codes = np.concatenate([part.groups[features[0]] for part in parts])
    for name in features[1:]:
        codes = codes * MAX_GROUPS + np.concatenate([part.groups[name] for part in parts])
        codes = (np.cumsum(np.bincount(codes) > 0) - 1)[codes]
    return np.split(codes, np.cumsum([len(part.y) for part in parts[:-1]]))
