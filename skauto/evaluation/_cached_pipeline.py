"""Fit the steps of configurations with a cache of the first steps on a fold."""

import time
from dataclasses import dataclass
from typing import Any

from skauto.evaluation._cache import Prefix, PrefixCache
from skauto.evaluation._pipeline import PipelineBuilder, Rows, Run
from skauto.space import Configuration
from skauto.utils import FloatArray


@dataclass(eq=False, kw_only=True)
class CachedPipelineBuilder(PipelineBuilder):
    """Builder that reads the output of the first steps on a fold from a cache if it is known.

    A fitted pipeline lacks the steps that were read.
    """

    cache: PrefixCache

    def _transformed(
        self,
        configuration: Configuration,
        run: Run,
        rows: Rows,
        sample_weight: FloatArray | None,
        where: tuple[Any, ...] | None,
    ) -> Rows:
        if where is None:
            return super()._transformed(configuration, run, rows, sample_weight, where)
        steps = run.steps[:-1]
        described = [(name, c.name, configuration.parameters(name)) for name, c, _ in steps]
        keys = self.cache.keys((where, self.seed), described)
        started = time.perf_counter()
        n_known, prefix = self.cache.longest(keys)
        seconds = since_kept = saved = 0.0
        if prefix is not None:
            rows, seconds = (prefix.Z, prefix.y, prefix.Z_test), prefix.seconds
            for _, component, estimator in steps[:n_known]:
                run.track_categories(component, estimator)
            saved = seconds - (time.perf_counter() - started)
        self.cache.record(len(keys), n_known, saved)
        for key, step in zip(keys[n_known:], steps[n_known:], strict=True):
            started = time.perf_counter()
            rows = run.transform(step, rows, sample_weight)
            taken = time.perf_counter() - started
            seconds, since_kept = seconds + taken, since_kept + taken
            if self.cache.put(key, Prefix(*rows, seconds), since_kept):
                since_kept = 0.0
        del run.steps[:n_known]
        return rows
