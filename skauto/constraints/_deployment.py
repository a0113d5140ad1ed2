"""Limits on what a model takes where it is deployed: seconds and bytes."""

import pickle
import time

import numpy as np

from skauto.constraints._base import Constraint
from skauto.utils import take_rows


class PredictionLatency(Constraint):
    """Seconds that predicting a row takes, in batches of a stated size.

    Measured from the raw table to the probabilities: the median of several calls after a first
    one that does not count, divided by the number of rows.

    Parameters
    ----------
    upper : float, default=None
        Seconds per row; None for no limit.
    batch_size : int, default=100
        Rows a call. One row at a time costs far more a row than a thousand do.
    n_repeats : int, default=7
        Number of calls.

    References
    ----------
    S. Liu et al., "An ADMM Based Framework for AutoML Pipeline Configuration", AAAI 2020, App. 12.

    Examples
    --------
    >>> from skauto.constraints import PredictionLatency
    >>> PredictionLatency(10e-6).key
    'prediction_latency'
    """

    additive = True
    grows = True

    def __init__(self, upper=None, *, batch_size=100, n_repeats=7):
        self.upper = upper
        self.batch_size = batch_size
        self.n_repeats = n_repeats

    def measure(self, evidence):
        """Time the model on a batch of the rows.

        Parameters
        ----------
        evidence : Evidence
            With the rows and the model.

        Returns
        -------
        seconds : float
            Per row.
        """
        rows = np.arange(self.batch_size) % len(evidence.y)
        batch = take_rows(evidence.X, rows)
        seconds = []
        for _ in range(self.n_repeats + 1):
            started = time.perf_counter()
            evidence.model.predict_proba(batch)
            seconds.append(time.perf_counter() - started)
        return float(np.median(seconds[1:])) / self.batch_size


class ModelSize(Constraint):
    """Bytes of the pickled model.

    Parameters
    ----------
    upper : float, default=None
        Bytes; None for no limit.

    Examples
    --------
    >>> from skauto.constraints import ModelSize
    >>> ModelSize(5e6).limit
    5000000.0
    """

    additive = True
    grows = True

    def __init__(self, upper=None):
        self.upper = upper

    def measure(self, evidence):
        """Count the bytes.

        Parameters
        ----------
        evidence : Evidence
            With the model.

        Returns
        -------
        n_bytes : float
            Of the pickled model.
        """
        return float(len(pickle.dumps(evidence.model, protocol=pickle.HIGHEST_PROTOCOL)))
