"""From a configuration to fitted steps: build, adapt to the data, fit step by step."""

import time
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import softmax
from sklearn import config_context
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import compute_sample_weight
from sklearn.utils.validation import has_fit_parameter

from skauto.evaluation._cache import Prefix
from skauto.space import FitContext


@dataclass(frozen=True)
class Reuse:
    """What a cache did for one fold of one configuration.

    Parameters
    ----------
    n_steps : int, default=0
        Number of steps before the classifier.
    n_reused : int, default=0
        How many of them were not run.
    seconds_saved : float, default=0.0
        What they had taken when they were run, less what reading took.
    """

    n_steps: int = 0
    n_reused: int = 0
    seconds_saved: float = 0.0


class PipelineBuilder:
    """Turn configurations into fitted steps that work on the numeric matrix.

    Parameters
    ----------
    space : SearchSpace
        Where the components come from.
    categorical : tuple of int, default=()
        Columns of the matrix that hold category codes.
    n_levels : tuple of int, default=()
        Number of levels of each of them.
    seed : int, default=0
        Given to every ``random_state`` in every step, so that equal configurations are equal
        pipelines.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skauto.evaluation import PipelineBuilder
    >>> from skauto.space import SearchSpace
    >>> space = SearchSpace(["classifier"]).add("classifier", "gaussian_nb", GaussianNB())
    >>> X, y = load_iris(return_X_y=True)
    >>> PipelineBuilder(space).fit(space.default(), X, y)
    [('classifier', GaussianNB())]
    """

    def __init__(self, space, *, categorical=(), n_levels=(), seed=0):
        self.space = space
        self.categorical = categorical
        self.n_levels = n_levels
        self.seed = seed

    def fit(self, configuration, Z, y, sample_weight=None):
        """Fit the steps of a configuration one after the other.

        Parameters
        ----------
        configuration : Configuration
            What to build.
        Z : ndarray or CSR matrix of shape (n_samples, n_columns)
            The numeric matrix.
        y : ndarray of shape (n_samples,)
            Classes.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weight of each row for the classifier.

        Returns
        -------
        steps : list of (str, estimator)
            The fitted steps, those that do nothing left out.
        """
        if np.all(y == y[0]):
            return [("classifier", DummyClassifier().fit(Z, y))]
        steps, weigh_classes = self._unfitted(configuration)
        categorical = self.categorical
        n_classes = len(np.unique(y))
        for name, component, estimator in steps[:-1]:
            self._adapt(name, component, estimator, Z, n_classes, categorical)
            Z, y = _fit_transform(estimator, Z, y)
            categorical = _still_categorical(component, estimator, categorical)
        name, component, classifier = steps[-1]
        self._adapt(name, component, classifier, Z, n_classes, categorical)
        self._fit_classifier(classifier, Z, y, sample_weight, weigh_classes)
        return [(name, estimator) for name, _, estimator in steps]

    def fit_on_fold(self, configuration, Z, y, Z_test, sample_weight=None, *, cache, fold):
        """Fit the steps on the training rows of a fold, transform its validation rows.

        The data behind the first steps come from a cache where it has them.

        Parameters
        ----------
        configuration : Configuration
            What to build.
        Z : ndarray or CSR matrix of shape (n_samples, n_columns)
            Training rows of the numeric matrix.
        y : ndarray of shape (n_samples,)
            Their classes.
        Z_test : ndarray or CSR matrix of shape (n_validation, n_columns)
            Validation rows.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weight of each training row for the classifier.
        cache : PrefixCache
            Where transformed data are kept.
        fold : tuple
            What the data depend on besides the steps.

        Returns
        -------
        classifier : list of (str, estimator)
            The last step, fitted.
        Z_test : ndarray or sparse matrix
            Validation rows as the classifier takes them.
        reuse : Reuse
            What the cache did.
        """
        if np.all(y == y[0]):
            return self.fit(configuration, Z, y), Z_test, Reuse()
        steps, weigh_classes = self._unfitted(configuration)
        categorical = self.categorical
        n_classes = len(np.unique(y))
        keys = cache.keys(
            (fold, self.seed),
            [(name, c.name, configuration.parameters(name)) for name, c, _ in steps[:-1]],
        )
        started = time.perf_counter()
        n_known, prefix = cache.longest(keys)
        reuse = Reuse(len(keys), n_known)
        seconds = 0.0  # of all steps so far, whoever computed them
        if prefix is not None:
            Z, y, Z_test, seconds = prefix.Z, prefix.y, prefix.Z_test, prefix.seconds
            reuse = Reuse(len(keys), n_known, seconds - (time.perf_counter() - started))
        for _, component, estimator in steps[:n_known]:
            categorical = _still_categorical(component, estimator, categorical)
        since_kept = 0.0
        for key, (name, component, estimator) in zip(
            keys[n_known:], steps[n_known:-1], strict=True
        ):
            started = time.perf_counter()
            self._adapt(name, component, estimator, Z, n_classes, categorical)
            Z, y = _fit_transform(estimator, Z, y)
            if hasattr(estimator, "transform"):
                Z_test = estimator.transform(Z_test)
            categorical = _still_categorical(component, estimator, categorical)
            taken = time.perf_counter() - started
            seconds += taken
            since_kept += taken
            if cache.put(key, Prefix(Z, y, Z_test, seconds), since_kept):
                since_kept = 0.0
        name, component, classifier = steps[-1]
        self._adapt(name, component, classifier, Z, n_classes, categorical)
        self._fit_classifier(classifier, Z, y, sample_weight, weigh_classes)
        return [(name, classifier)], Z_test, reuse

    def _fit_classifier(self, classifier, Z, y, sample_weight, weigh_classes):
        weights = self._fit_params(classifier, y, sample_weight, weigh_classes)
        # With metadata routing, a classifier inside of another would have to ask for the weights.
        with config_context(enable_metadata_routing=False):
            classifier.fit(Z, y, **weights)

    def _adapt(self, name, component, estimator, Z, n_classes, categorical):
        """Fit the settings of a step to the data that it will be given."""
        if Z.shape[1] == 0:
            raise ValueError(f"No column was left for the step {name!r}.")
        if component.adapt is not None:
            component.adapt(
                estimator,
                FitContext(
                    n_samples=Z.shape[0],
                    n_features=Z.shape[1],
                    n_classes=n_classes,
                    categorical=categorical,
                    n_levels=self.n_levels if categorical else (),
                    sparse=sparse.issparse(Z),
                ),
            )

    def _unfitted(self, configuration):
        steps = []
        weigh_classes = False
        for name, algorithm in configuration.components:
            component = self.space.component(name, algorithm)
            weigh_classes = weigh_classes or component.balancing == "weights"
            estimator = component.make(configuration.parameters(name))
            if estimator is not None:
                _set_everywhere(estimator, "random_state", self.seed)
                steps.append((name, component, estimator))
        if weigh_classes and _set_everywhere(steps[-1][2], "class_weight", "balanced"):
            weigh_classes = False
        return steps, weigh_classes

    @staticmethod
    def _fit_params(classifier, y, sample_weight, weigh_classes):
        """Weights of the rows, with the classes balanced where no class_weight did it."""
        weights = None if sample_weight is None else np.asarray(sample_weight)
        if weigh_classes:
            balanced = compute_sample_weight("balanced", y)
            weights = balanced if weights is None else weights * balanced
        if weights is None or (
            sample_weight is None and not has_fit_parameter(classifier, "sample_weight")
        ):
            return {}
        return {"sample_weight": weights}


def _fit_transform(estimator, Z, y):
    """Fit a step that is not the last; give the rows and classes that come out of it."""
    if hasattr(estimator, "fit_resample"):
        return estimator.fit_resample(Z, y)
    return estimator.fit_transform(Z, y), y


def _still_categorical(component, estimator, categorical):
    """Columns that hold category codes behind a step."""
    if component.keeps_categories or hasattr(estimator, "fit_resample"):
        return categorical
    return ()


def assemble(reader, steps):
    """Put the reader in front of fitted steps: a pipeline that predicts from the raw table.

    Parameters
    ----------
    reader : TableReader
        The fitted reader.
    steps : list of (str, estimator)
        Fitted steps.

    Returns
    -------
    pipeline : sklearn.pipeline.Pipeline or imblearn.pipeline.Pipeline
        The latter only where a step is a sampler.
    """
    if any(hasattr(estimator, "fit_resample") for _, estimator in steps):
        from imblearn.pipeline import Pipeline as SamplerPipeline  # slow to import

        return SamplerPipeline([("reader", reader), *steps])
    return Pipeline([("reader", reader), *steps])


def transform_and_predict(steps, Z, classes):
    """Class probabilities of fitted steps.

    Parameters
    ----------
    steps : list of (str, estimator)
        Fitted steps.
    Z : ndarray or CSR matrix of shape (n_samples, n_columns)
        The numeric matrix.
    classes : ndarray of shape (n_classes,)
        All classes; one that the steps have not seen has probability 0.

    Returns
    -------
    probabilities : ndarray of shape (n_samples, n_classes), dtype float32
        Their rows sum to 1.
    """
    for _, step in steps[:-1]:
        if hasattr(step, "transform"):
            Z = step.transform(Z)
    return class_probabilities(steps[-1][1], Z, classes)


def class_probabilities(estimator, X, classes):
    """Class probabilities of any fitted classifier, in the order of ``classes``.

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba``; otherwise the softmax of ``decision_function`` is taken;
        otherwise its labels count as probability 1.
    X : array-like of shape (n_samples, n_features)
        What it predicts from.
    classes : ndarray of shape (n_classes,)
        All classes; one that the estimator has not seen has probability 0.

    Returns
    -------
    probabilities : ndarray of shape (n_samples, n_classes), dtype float32
        Their rows sum to 1.

    Raises
    ------
    ValueError
        If the estimator returns a value that is not a number.
    """
    if hasattr(estimator, "predict_proba"):
        known = np.asarray(estimator.predict_proba(X))
    elif hasattr(estimator, "decision_function"):
        margins = np.asarray(estimator.decision_function(X))
        if margins.ndim == 1:
            margins = np.column_stack([-margins, margins])
        known = softmax(margins, axis=1)
    else:
        known = np.asarray(estimator.predict(X))[:, None] == estimator.classes_
    if not np.isfinite(known).all():
        raise ValueError("The predictions hold values that are not finite numbers.")
    probabilities = np.zeros((known.shape[0], len(classes)), dtype=np.float32)
    probabilities[:, np.searchsorted(classes, estimator.classes_)] = known
    return probabilities


def _set_everywhere(estimator, name, value):
    """Set a parameter of the estimator and of those inside it; say whether there was one."""
    found = [key for key in estimator.get_params() if key == name or key.endswith(f"__{name}")]
    estimator.set_params(**dict.fromkeys(found, value))
    return bool(found)
