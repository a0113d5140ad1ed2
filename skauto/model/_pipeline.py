"""Fitted pipelines: on the numeric matrix, and on the raw table."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax
from sklearn import config_context
from sklearn.pipeline import Pipeline

from skauto.model._groups import groups_of
from skauto.model._output import NamedOutput
from skauto.model._weighted import WeightedClassifier


class NamedPipeline(NamedOutput, Pipeline):
    """A pipeline whose output can be a dataframe."""


class GroupWeightedPipeline(NamedPipeline):
    """A pipeline whose last step, a `WeightedClassifier`, weights sensitive groups.

    ``fit(X, y)`` reads the groups from the columns of ``X``, or from those of the dataframe
    ``sensitive_features``, and raises a ValueError if neither has them.
    """

    def fit(self, X: Any, y: Any = None, sensitive_features: Any = None, **params: Any) -> Self:
        """Fit the steps; `params` are those of :meth:`sklearn.pipeline.Pipeline.fit`."""
        name, classifier = self.steps[-1]
        names = list(getattr(classifier, "group_weights", None) or ())
        if names:
            params[f"{name}__sensitive_features"] = groups_of([sensitive_features, X], names)
        with config_context(enable_metadata_routing=False):
            return super().fit(X, y, **params)


def make_pipeline(steps: list[tuple[str, Any]]) -> Pipeline:
    """Make a pipeline of fitted steps: that of imbalanced-learn if one of them is a sampler."""
    if any(hasattr(estimator, "fit_resample") for _, estimator in steps):
        from skauto.model._sampler_pipeline import SamplerPipeline  # slow to import

        return SamplerPipeline(steps)
    weighted = getattr(steps[-1][1], "group_weights", None)
    return GroupWeightedPipeline(steps) if weighted else NamedPipeline(steps)


def final_classifier(pipeline: Pipeline) -> Any:
    """Return the fitted classifier of a pipeline, without its wrapper for weights."""
    last = pipeline.steps[-1][1]
    return last.classifier_ if isinstance(last, WeightedClassifier) else last


def predict_probabilities(
    pipeline: Pipeline, Z: Any, classes: NDArray[Any]
) -> NDArray[np.float32]:
    """Predict class probabilities (n_samples, n_classes) of the numeric matrix.

    See `class_probabilities`.
    """
    for _, step in pipeline.steps[:-1]:
        if hasattr(step, "transform"):
            Z = as_matrix(step.transform(Z))
    return class_probabilities(pipeline.steps[-1][1], Z, classes)


def class_probabilities(
    classifier: Any, Z: Any, classes: NDArray[Any], known: Any = None
) -> NDArray[np.float32]:
    """Predict probabilities (n_samples, n_classes) of the input rows of a fitted classifier.

    Without ``predict_proba``, the softmax of ``decision_function`` is used; without both, the
    predicted labels get probability 1. A class that was absent in training has probability 0. A
    value that is not a number raises a ValueError. Probabilities of all rows that are `known`
    are not predicted again.
    """
    if known is None or len(known) != np.shape(Z)[0]:
        known = _predict(classifier, Z)
    if not np.isfinite(known).all():
        raise ValueError("The predicted probabilities contain NaN or infinite values.")
    probabilities = np.zeros((known.shape[0], len(classes)), dtype=np.float32)
    probabilities[:, np.searchsorted(classes, classifier.classes_)] = known
    return probabilities


def _predict(classifier: Any, Z: Any) -> NDArray[Any]:
    """Return probabilities of the classes of the classifier, or what stands for them."""
    if hasattr(classifier, "predict_proba"):
        return np.asarray(classifier.predict_proba(Z))
    if hasattr(classifier, "decision_function"):
        margins = np.asarray(classifier.decision_function(Z))
        if margins.ndim == 1:
            margins = np.column_stack([-margins, margins])
        return np.asarray(softmax(margins, axis=1))
    return np.asarray(np.asarray(classifier.predict(Z))[:, None] == classifier.classes_)


def as_matrix(Z: Any) -> Any:
    """Return the array of a dataframe, which `set_output` makes of the output of a step."""
    return Z if isinstance(Z, np.ndarray) or sparse.issparse(Z) else np.asarray(Z)
