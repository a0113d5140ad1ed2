"""A classifier whose training rows are weighted by class and by sensitive group."""

from collections.abc import Callable, Mapping
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import compute_sample_weight, get_tags
from sklearn.utils.metaestimators import available_if

from skauto.model._groups import group_weights as weights_of_groups
from skauto.utils import FloatArray


def _if_classifier_has(method: str) -> Callable[[Callable[..., Any]], Any]:
    def check(self: "WeightedClassifier") -> bool:
        return hasattr(getattr(self, "classifier_", self.classifier), method)

    return cast(Callable[[Callable[..., Any]], Any], available_if(check))


class WeightedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Fit a classifier with weights by class and by sensitive group.

    The weights are products of ``sample_weight``, the weights of the groups and those of the
    classes.

    Parameters
    ----------
    classifier : estimator
        A classifier whose ``fit`` takes ``sample_weight``. It is cloned.
    class_weight : {"balanced"} or dict, default=None
        Weights of the classes, see :func:`sklearn.utils.compute_sample_weight`, for classifiers
        without a parameter of this name. None weights all classes alike.
    group_weights : dict of str to float, default=None
        Strength of the reweighting of each sensitive feature. At 1, groups and classes are
        independent in the weighted rows; 0 changes nothing. None reweights no group.

    Attributes
    ----------
    classifier_ : estimator
        The fitted classifier.
    classes_ : ndarray of shape (n_classes,)
        Labels.

    References
    ----------
    F. Kamiran and T. Calders, "Data preprocessing techniques for classification without
    discrimination", Knowledge and Information Systems 33, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skauto.model import WeightedClassifier
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> y = np.array([0, 0, 0, 1])
    >>> balanced = WeightedClassifier(GaussianNB(), class_weight="balanced").fit(X, y)
    >>> balanced.classifier_.class_prior_
    array([0.5, 0.5])
    """

    def __init__(
        self,
        classifier: Any,
        *,
        class_weight: str | Mapping[Any, float] | None = None,
        group_weights: Mapping[str, float] | None = None,
    ) -> None:
        self.classifier = classifier
        self.class_weight = class_weight
        self.group_weights = group_weights

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        sensitive_features: Mapping[str, NDArray[Any]] | None = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the classifier.

        `sensitive_features` has the groups (n_samples,) of each feature of ``group_weights``;
        `fit_params` are further arguments of the ``fit`` of the classifier.
        """
        known = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        weights = self._weigh_groups(np.asarray(y), sensitive_features or {}, known)
        if self.class_weight is not None:
            balanced = compute_sample_weight(self.class_weight, y)
            weights = balanced if weights is None else weights * balanced
        if weights is not None:
            fit_params["sample_weight"] = weights
        self.classifier_ = clone(self.classifier)
        # With metadata routing, a nested classifier would have to request the weights.
        with config_context(enable_metadata_routing=False):
            self.classifier_.fit(X, y, **fit_params)
        return self

    def _weigh_groups(
        self,
        y: NDArray[Any],
        sensitive_features: Mapping[str, NDArray[Any]],
        weights: FloatArray | None,
    ) -> FloatArray | None:
        codes = np.unique(y, return_inverse=True)[1]
        for name, strength in (self.group_weights or {}).items():
            if name not in sensitive_features:
                raise ValueError(
                    f"The weights depend on the groups {name!r}: pass "
                    f"sensitive_features={{{name!r}: groups}} to fit. Got none; to fit without "
                    "them, set group_weights=None."
                )
            groups = np.asarray(sensitive_features[name])
            if groups.dtype.kind not in "ui":
                groups = np.unique(groups, return_inverse=True)[1]
            weights = weights_of_groups(groups, codes, strength, weights)
        return weights

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels."""
        return np.asarray(self.classifier_.classes_)

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the training rows."""
        return int(self.classifier_.n_features_in_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classifier_")

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels (n_samples,) of the classifier."""
        return np.asarray(self.classifier_.predict(X))

    @_if_classifier_has("predict_proba")
    def predict_proba(self, X: Any) -> FloatArray:
        """Class probabilities (n_samples, n_classes), in the order of ``classes_``."""
        return np.asarray(self.classifier_.predict_proba(X))

    @_if_classifier_has("decision_function")
    def decision_function(self, X: Any) -> FloatArray:
        """Decision function of the classifier."""
        return np.asarray(self.classifier_.decision_function(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.classifier).input_tags
        return tags
