"""Build the pipeline of a configuration, adapt it to the data and fit it step by step."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from skauto.model import WeightedClassifier
from skauto.model._pipeline import make_pipeline
from skauto.space import Component, Configuration, FitContext, SearchSpace
from skauto.utils import FloatArray, IntArray

# Codes of sensitive groups by feature.
Groups = Mapping[str, IntArray]
# Training rows, their classes, which samplers change, and validation rows.
Rows = tuple[Any, NDArray[Any], Any]
# Name of a step, its component and its estimator.
Step = tuple[str, Component, Any]


@dataclass(eq=False)
class PipelineBuilder:
    """Fit the steps of configurations on the numeric matrix.

    The columns `categorical` of the matrix hold category codes, with `n_levels` levels each. The
    seed is the value of every ``random_state``, so that equal configurations give equal pipelines.
    Without `random_folds`, steps do not learn what the rows of single groups share.
    """

    space: SearchSpace
    categorical: tuple[int, ...] = ()
    n_levels: tuple[int, ...] = ()
    seed: int = 0
    random_folds: bool = True

    def fit(
        self,
        configuration: Configuration,
        Z: Any,
        y: NDArray[Any],
        sample_weight: FloatArray | None = None,
        *,
        groups: Groups | None = None,
        rounds: int | None = None,
        n_seeds: int = 1,
        out_of_bag: bool = False,
    ) -> Pipeline:
        """Fit the steps of a configuration one after the other; leave out identity steps.

        `groups` are the sensitive groups of the rows, which a configuration may weight. A
        classifier with ``set_rounds`` gets these `rounds`, and one with ``set_seeds`` is the mean
        of `n_seeds` models. With `out_of_bag` a forest also predicts its training rows out of bag.
        """
        if np.all(y == y[0]):
            return make_pipeline([("classifier", DummyClassifier().fit(Z, y))])
        run = self._begin(configuration, y, groups)
        for step in run.steps[:-1]:
            Z, y = run.fit_transform(step, Z, y, sample_weight)
        classifier = run.steps[-1][2]
        if rounds is not None and hasattr(classifier, "set_rounds"):
            classifier.set_rounds(rounds)
        if n_seeds > 1 and hasattr(classifier, "set_seeds"):
            classifier.set_seeds(n_seeds)
        if out_of_bag:
            classifier.set_params(oob_score=True)
        self._fit_classifier(run, Z, y, sample_weight)
        return make_pipeline(run.fitted)

    def fit_validated(
        self,
        configuration: Configuration,
        train: tuple[Any, NDArray[Any]],
        validation: tuple[Any, NDArray[Any]],
        sample_weight: FloatArray | None = None,
        *,
        groups: Groups | None = None,
        where: tuple[Any, ...] | None = None,
        deadline: float = math.inf,
    ) -> tuple[Pipeline, Any]:
        """Fit the steps on the training rows of a fold and transform its validation rows.

        A classifier with ``set_rounds`` stops early on the validation rows, or at the deadline if
        its ``fit`` takes one. `where` names the rows if fitted steps before the classifier are not
        needed. The transformed rows are the input of the classifier.
        """
        (Z, y), (Z_test, y_test) = train, validation
        if np.all(y == y[0]):
            return self.fit(configuration, Z, y), Z_test
        run = self._begin(configuration, y, groups)
        Z, y, Z_test = self._transformed(configuration, run, (Z, y, Z_test), sample_weight, where)
        self._fit_classifier(run, Z, y, sample_weight, (Z_test, y_test), deadline)
        return make_pipeline(run.fitted), Z_test

    def _transformed(
        self,
        configuration: Configuration,
        run: "Run",
        rows: Rows,
        sample_weight: FloatArray | None,
        where: tuple[Any, ...] | None,
    ) -> Rows:
        """Fit the steps before the classifier and transform the rows."""
        for step in run.steps[:-1]:
            rows = run.transform(step, rows, sample_weight)
        return rows

    def averages_seeds(self, configuration: Configuration) -> bool:
        """Whether the classifier can be the mean of models with different seeds."""
        component = self.space.component(*configuration.components[-1])
        return hasattr(component.estimator, "set_seeds")

    def validates_out_of_bag(self, configuration: Configuration) -> bool:
        """Whether out-of-bag predictions of a single fit on all rows are unbiased.

        This holds for forests of bootstrap samples without supervised preprocessing: a supervised
        step is fitted on the classes of the out-of-bag rows too.
        """
        steps, _ = self._unfitted(configuration)
        classifier = steps[-1][2]
        is_forest = hasattr(classifier, "oob_score") and getattr(classifier, "bootstrap", False)
        return is_forest and not any(_reads_classes(estimator) for _, _, estimator in steps[:-1])

    def _begin(
        self, configuration: Configuration, y: NDArray[Any], groups: Groups | None
    ) -> "Run":
        steps, weigh_classes = self._unfitted(configuration)
        _, counts = np.unique(y, return_counts=True)
        strengths = self._group_strengths(configuration, groups or {})
        return Run(
            steps,
            counts,
            self.categorical,
            self.n_levels,
            weigh_classes,
            self.random_folds,
            strengths,
            {name: (groups or {})[name] for name in strengths},
        )

    def _group_strengths(self, configuration: Configuration, groups: Groups) -> dict[str, float]:
        """Strengths of the weights of sensitive groups, by feature."""
        strengths: dict[str, float] = {}
        for step, algorithm in configuration.components:
            if self.space.component(step, algorithm).balancing == "groups":
                chosen = configuration.parameters(step)
                known = {name: chosen.get(f"strength_{name}") for name in groups}
                strengths |= {name: value for name, value in known.items() if value is not None}
        return strengths

    def _fit_classifier(
        self,
        run: "Run",
        Z: Any,
        y: NDArray[Any],
        sample_weight: FloatArray | None,
        validation: tuple[Any, NDArray[Any]] | None = None,
        deadline: float = math.inf,
    ) -> None:
        name, component, classifier = run.steps[-1]
        run.adapt(name, component, classifier, Z)
        settings: dict[str, Any] = {}
        if sample_weight is not None:
            settings["sample_weight"] = sample_weight
        if validation is not None and hasattr(classifier, "set_rounds"):
            settings["eval_set"] = validation
            if has_fit_parameter(classifier, "deadline"):
                settings["deadline"] = deadline
        takes_weights = sample_weight is not None or has_fit_parameter(classifier, "sample_weight")
        weigh_classes = run.weigh_classes and takes_weights  # there is no class_weight
        if weigh_classes or run.group_weights:
            classifier = WeightedClassifier(
                classifier,
                class_weight="balanced" if weigh_classes else None,
                group_weights=run.group_weights or None,
            )
            settings["sensitive_features"] = run.groups
            run.steps[-1] = (name, component, classifier)
        # With metadata routing, a nested classifier would have to request the weights.
        with config_context(enable_metadata_routing=False):
            classifier.fit(Z, y, **settings)

    def _unfitted(self, configuration: Configuration) -> tuple[list[Step], bool]:
        steps = []
        weigh_classes = False
        for name, algorithm in configuration.components:
            component = self.space.component(name, algorithm)
            weigh_classes = weigh_classes or component.balancing == "weights"
            estimator = component.make(configuration.parameters(name))
            if estimator is not None:
                _set_everywhere(estimator, "random_state", self.seed)
                if hasattr(estimator, "set_output"):
                    # Steps pass arrays, also under set_config(transform_output="pandas").
                    estimator.set_output(transform="default")
                steps.append((name, component, estimator))
        if weigh_classes and _set_everywhere(steps[-1][2], "class_weight", "balanced"):
            weigh_classes = False
        return steps, weigh_classes


@dataclass
class Run:
    """The steps of a configuration during fitting."""

    steps: list[Step]
    counts: IntArray  # rows of each class
    categorical: tuple[int, ...]
    n_levels: tuple[int, ...]
    weigh_classes: bool
    random_folds: bool
    group_weights: dict[str, float] = field(default_factory=dict)
    groups: Groups = field(default_factory=dict)

    @property
    def fitted(self) -> list[tuple[str, Any]]:
        return [(name, estimator) for name, _, estimator in self.steps]

    def fit_transform(
        self, step: Step, Z: Any, y: NDArray[Any], sample_weight: FloatArray | None
    ) -> tuple[Any, NDArray[Any]]:
        """Fit a step before the classifier and return its output rows and classes.

        Steps whose ``fit`` takes ``sample_weight``, such as `StandardScaler`, get the weights.
        """
        name, component, estimator = step
        self.adapt(name, component, estimator, Z)
        if hasattr(estimator, "fit_resample"):
            Z, y = estimator.fit_resample(Z, y)
        elif sample_weight is not None and has_fit_parameter(estimator, "sample_weight"):
            Z = estimator.fit(Z, y, sample_weight=sample_weight).transform(Z)
        else:
            Z = estimator.fit_transform(Z, y)
        self.track_categories(component, estimator)
        return Z, y

    def transform(self, step: Step, rows: Rows, sample_weight: FloatArray | None) -> Rows:
        """Fit a step before the classifier and transform the rows of a fold."""
        Z, y, Z_test = rows
        Z, y = self.fit_transform(step, Z, y, sample_weight)
        return Z, y, step[2].transform(Z_test) if hasattr(step[2], "transform") else Z_test

    def adapt(self, name: str, component: Component, estimator: Any, Z: Any) -> None:
        """Set the parameters of a step that depend on its input data."""
        if Z.shape[1] == 0:
            raise ValueError(f"No column was left for the step {name!r}.")
        if component.adapt is not None:
            context = FitContext(
                n_samples=Z.shape[0],
                n_features=Z.shape[1],
                n_classes=len(self.counts),
                categorical=self.categorical,
                n_levels=self.n_levels if self.categorical else (),
                sparse=sparse.issparse(Z),
                smallest_class=int(self.counts.min()),
                random_folds=self.random_folds,
            )
            component.adapt(estimator, context)

    def track_categories(self, component: Component, estimator: Any) -> None:
        """Forget the category columns after a step that does not preserve them."""
        if not (component.keeps_categories or hasattr(estimator, "fit_resample")):
            self.categorical = ()


def _reads_classes(estimator: Any) -> bool:
    """Whether the fit of a step uses the classes."""
    if hasattr(estimator, "fit_resample") or hasattr(estimator, "estimator"):
        return True
    return bool(get_tags(estimator).target_tags.required)


def _set_everywhere(estimator: Any, name: str, value: object) -> bool:
    """Set a parameter of an estimator and of nested ones; return whether one has it."""
    found = [key for key in estimator.get_params() if key == name or key.endswith(f"__{name}")]
    estimator.set_params(**dict.fromkeys(found, value))
    return bool(found)
