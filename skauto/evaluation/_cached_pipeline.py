"""Fit pipelines with a cache of the output of their first steps."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skauto.evaluation._cache import Prefix, PrefixCache
from skauto.evaluation._pipeline import Groups, PipelineBuilder, ValidatedFit
from skauto.model._pipeline import make_pipeline
from skauto.space import Configuration
from skauto.utils import FloatArray


@dataclass(frozen=True)
class Reuse:
    """Steps before the classifier, those read from the cache, and the seconds that this saved."""

    n_steps: int = 0
    n_reused: int = 0
    seconds_saved: float = 0.0


@dataclass(eq=False)
class CachedPipelineBuilder(PipelineBuilder):
    """Read the output of the first steps from a cache if it is known, see `PrefixCache`."""

    cache: PrefixCache | None = None

    def fit_validated(
        self,
        configuration: Configuration,
        train: tuple[Any, NDArray[Any]],
        validation: tuple[Any, NDArray[Any]],
        sample_weight: FloatArray | None = None,
        *,
        groups: Groups | None = None,
        where: tuple[Any, ...] | None = None,
    ) -> ValidatedFit:
        """Fit the steps that are not in the cache, whose keys are `where` and the steps."""
        (Z, y), (Z_test, y_test) = train, validation
        if self.cache is None or where is None or np.all(y == y[0]):
            return super().fit_validated(
                configuration, train, validation, sample_weight, groups=groups, where=where
            )
        run = self._begin(configuration, y, groups)
        steps = run.steps[:-1]
        described = [(name, c.name, configuration.parameters(name)) for name, c, _ in steps]
        keys = self.cache.keys((where, self.seed), described)
        started = time.perf_counter()
        n_known, prefix = self.cache.longest(keys)
        reuse = Reuse(len(keys), n_known)
        seconds = since_kept = 0.0  # of all steps so far; of those after the last stored prefix
        if prefix is not None:
            Z, y, Z_test, seconds = prefix.Z, prefix.y, prefix.Z_test, prefix.seconds
            reuse = Reuse(len(keys), n_known, seconds - (time.perf_counter() - started))
            for _, component, estimator in steps[:n_known]:
                run.track_categories(component, estimator)
        for key, (name, component, estimator) in zip(keys[n_known:], steps[n_known:], strict=True):
            started = time.perf_counter()
            Z, y = run.fit_transform(name, component, estimator, Z, y, sample_weight)
            if hasattr(estimator, "transform"):
                Z_test = estimator.transform(Z_test)
            taken = time.perf_counter() - started
            seconds, since_kept = seconds + taken, since_kept + taken
            if self.cache.put(key, Prefix(Z, y, Z_test, seconds), since_kept):
                since_kept = 0.0
        self._fit_classifier(run, Z, y, sample_weight, (Z_test, y_test))
        return ValidatedFit(make_pipeline(run.fitted[n_known:]), Z_test, reuse)


def cache_report(reuses: Iterable[Reuse]) -> dict[str, float]:
    """Summarize the cache: preprocessing steps, reused steps, hit rate, seconds saved."""
    reuses = list(reuses)
    n_steps = sum(reuse.n_steps for reuse in reuses)
    n_reused = sum(reuse.n_reused for reuse in reuses)
    return {
        "n_steps": n_steps,
        "n_reused": n_reused,
        "hit_rate": n_reused / n_steps if n_steps else 0.0,
        "seconds_saved": sum(reuse.seconds_saved for reuse in reuses),
    }
