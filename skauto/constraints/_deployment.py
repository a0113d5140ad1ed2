"""Constraints on the prediction latency and the size of a model."""

import pickle
import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skauto.constraints._base import Constraint
from skauto.constraints._evidence import Evidence
from skauto.model import PipelineEnsemble
from skauto.model._ensemble import constant_ensemble
from skauto.utils import take_rows

# The first calls of a model are slower, because its memory is not in the caches of the processor.
_WARM_UP = 6
_N_CALLS = 20
# Slow models are measured until these seconds are spent, by at least this number of calls.
_MAX_SECONDS = 0.1
_MIN_CALLS = 6
_USUAL_BATCH_SIZE = 100


class _Resource(Constraint):
    """Base class of resources, whose limit must be positive."""

    additive = True
    grows = True

    def check(self, classes: NDArray[Any]) -> None:
        """Raise ValueError if the limit is not positive."""
        super().check(classes)
        if not self.limit > 0:
            raise ValueError(
                f"The limit of the constraint {self.key!r} must be positive. "
                f"Got {self.upper!r} instead."
            )


class PredictionLatency(_Resource):
    """Seconds per row of predicting batches of rows.

    The value is the median over 20 calls of ``predict`` on the raw table, after six warm-up calls,
    divided by the number of rows. There are fewer calls if they take more than a tenth of a second
    together.

    Parameters
    ----------
    upper : float, default=None
        Maximum seconds per row; None for no limit.
    batch_size : int, default=100
        Number of rows per call, at least 1. Small batches take more seconds per row. A number
        other than 100 is part of the `key`, so that one fit may limit several batch sizes.

    References
    ----------
    S. Liu et al., "An ADMM Based Framework for AutoML Pipeline Configuration", AAAI 2020, App. 12.

    Examples
    --------
    >>> from skauto.constraints import PredictionLatency
    >>> PredictionLatency(10e-6).key
    'prediction_latency'
    >>> PredictionLatency(0.02, batch_size=1).key
    'prediction_latency(batch_size=1)'
    """

    def __init__(self, upper: float | None = None, *, batch_size: int = _USUAL_BATCH_SIZE) -> None:
        self.upper = upper
        self.batch_size = batch_size

    @property
    def _details(self) -> tuple[str, ...]:
        usual = self.batch_size == _USUAL_BATCH_SIZE
        return () if usual else (f"batch_size={self.batch_size}",)

    def check(self, classes: NDArray[Any]) -> None:
        """Raise ValueError if the limit is not positive or a batch has no rows."""
        super().check(classes)
        if not (isinstance(self.batch_size, int | np.integer) and self.batch_size >= 1):
            raise ValueError(
                "The 'batch_size' of PredictionLatency must be an int of at least 1. "
                f"Got {self.batch_size!r} instead."
            )

    def measure(self, evidence: Evidence) -> float:
        """Measure the seconds per row on a batch of the rows."""
        model = fitted_model(evidence)
        rows = np.arange(self.batch_size) % len(evidence.y)
        batch = take_rows(evidence.X, rows)
        seconds: list[float] = []
        while len(seconds) < _WARM_UP + _N_CALLS:
            started = time.perf_counter()
            model.predict(batch)
            seconds.append(time.perf_counter() - started)
            if sum(seconds) > _MAX_SECONDS and len(seconds) >= _MIN_CALLS:
                break
        warm_up = min(_WARM_UP, len(seconds) // 2)
        return float(np.median(seconds[warm_up:])) / self.batch_size

    def shared(self, evidence: Evidence, reader: Any) -> float:
        """Measure a model that reads the table and predicts equal probabilities."""
        classes = evidence.classes
        return self.measure(replace(evidence, model=constant_ensemble(reader, classes, classes)))


class ModelSize(_Resource):
    """Bytes of the pickled model, as ``pickle.dumps(ensemble_, protocol=5)`` writes them.

    Parameters
    ----------
    upper : float, default=None
        Maximum number of bytes; None for no limit.

    Examples
    --------
    >>> from skauto.constraints import ModelSize
    >>> ModelSize(5e6).limit
    5000000.0
    """

    def measure(self, evidence: Evidence) -> float:
        """Count the bytes of the pickled model."""
        return float(len(pickle.dumps(fitted_model(evidence), protocol=5)))

    def shared(self, evidence: Evidence, reader: Any) -> float:
        """Measure an ensemble without members."""
        empty = PipelineEnsemble(reader, [], [], evidence.classes)
        return self.measure(replace(evidence, model=empty))


def fitted_model(evidence: Evidence) -> PipelineEnsemble:
    """Return the fitted model of the evidence; raise a ValueError if there is none."""
    if evidence.model is None:
        raise ValueError("Seconds and bytes are measured on a fitted model. Got None.")
    return evidence.model
