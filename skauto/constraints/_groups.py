"""Limits on differences between groups of people."""

import numpy as np

from skauto.constraints._base import Constraint
from skauto.constraints._scores import positive_code, scorer_for, scorer_name
from skauto.selection import score_probabilities

# A sensitive feature with more values is a number that somebody forgot to cut into ranges.
_MAX_GROUPS = 50


class StatisticalParity(Constraint):
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

    Examples
    --------
    >>> from skauto.constraints import StatisticalParity
    >>> StatisticalParity("sex", 0.05).key
    'statistical_parity(sex)'
    """

    reweighable = True

    def __init__(self, sensitive, upper=None, *, positive_label=None):
        self.sensitive = sensitive
        self.upper = upper
        self.positive_label = positive_label

    def check(self, classes):
        """Refuse what cannot be measured.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,)
            Labels.
        """
        super().check(classes)
        positive_code(self, classes)

    def measure(self, evidence):
        """Measure the difference.

        Parameters
        ----------
        evidence : Evidence
            Predictions and groups.

        Returns
        -------
        difference : float
            Largest share minus smallest share.
        """
        positive = evidence.labels == positive_code(self, evidence.classes)
        return _worst_spread(self, evidence, lambda rows: positive[rows].mean())


class GroupDisparity(Constraint):
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

    References
    ----------
    S. Liu et al., "An ADMM Based Framework for AutoML Pipeline Configuration", AAAI 2020, App. 12.

    Examples
    --------
    >>> from skauto.constraints import GroupDisparity
    >>> GroupDisparity("age_group", metric="roc_auc", upper=0.07).key
    'roc_auc_disparity(age_group)'
    """

    def __init__(self, sensitive, metric="accuracy", *, upper=None):
        self.sensitive = sensitive
        self.metric = metric
        self.upper = upper

    @property
    def key(self):
        """Name in reports."""
        return f"{scorer_name(self.metric)}_disparity({', '.join(self.sensitive_names)})"

    def check(self, classes):
        """Refuse what cannot be measured.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,)
            Labels.
        """
        super().check(classes)
        scorer_for(self.metric, self.key, len(classes))

    def measure(self, evidence):
        """Measure the difference.

        Parameters
        ----------
        evidence : Evidence
            Predictions, truth and groups.

        Returns
        -------
        difference : float
            0 when the score is defined in fewer than two groups.
        """
        scorer = scorer_for(self.metric, self.key, len(evidence.classes))
        return _worst_spread(
            self,
            evidence,
            lambda rows: score_probabilities(
                scorer, evidence.probabilities[rows], evidence.y[rows], evidence.classes
            ),
        )


def group_codes(values, name):
    """Number the groups of a sensitive feature.

    Parameters
    ----------
    values : array-like of shape (n_samples,)
        The feature; a missing value is a group of its own.
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
    texts = ["" if v is None or v != v else str(v) for v in np.asarray(values, object).tolist()]
    groups, codes = np.unique(texts, return_inverse=True)
    if not 2 <= len(groups) <= _MAX_GROUPS:
        raise ValueError(
            f"The sensitive feature {name!r} must have 2 to {_MAX_GROUPS} groups. Got "
            f"{len(groups)} instead; cut numbers into ranges, for instance with pandas.cut."
        )
    return codes


def _worst_spread(constraint, evidence, measure):
    """Largest difference of ``measure(rows)`` between the groups of a sensitive feature."""
    spreads = []
    for name in constraint.sensitive_names:
        codes = evidence.groups[name]
        values = [measure(np.flatnonzero(codes == group)) for group in np.unique(codes)]
        defined = [value for value in values if np.isfinite(value)]
        spreads.append(max(defined) - min(defined) if len(defined) > 1 else 0.0)
    return float(max(spreads))
