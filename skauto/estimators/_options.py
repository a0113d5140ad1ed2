"""Settings of a search that are rarely changed."""

import os
from numbers import Integral, Real
from typing import Any

from sklearn.base import BaseEstimator

from skauto.utils import Interval


class SearchOptions(BaseEstimator):
    """Settings of a search that are rarely changed: engine limits, files, refitting.

    Parameters
    ----------
    refit : bool, default=True
        Whether the members are refitted on all rows. Otherwise the models of all folds are fitted
        again and averaged.
    patience : int, default=None
        The search ends after this number of trials in a row without a better one; with several
        objectives, without a change of the Pareto front.
    trial_time_limit : float, default=None
        Seconds that a trial may take; it is killed and recorded as "timeout" then.
    memory_limit : int, default=None
        Bytes that a worker process and its children may use; the trial is killed and recorded as
        "memout" then.
    cache : int, path-like or None, default=None
        Whether data behind the first steps of a pipeline are kept on disk for pipelines that begin
        with the same steps: the bytes that they may take, or an existing directory to keep up to a
        GiB in. A private directory for temporary files is made and removed at the end. The
        results are the same as without. It pays where early steps are expensive. Not used where
        constraints are measured.
    checkpoint : path-like, default=None
        File to which each trial is written the moment it ends. The same ``fit`` on the same data
        continues from there, whatever ended the first one; ``max_evals`` then counts the trials
        in the file too. The file can be read without pickle.
    warm_start : bool, default=False
        Whether another call of ``fit`` continues the search with a new budget. The data must be
        the same.

    Examples
    --------
    >>> from skauto import AutoClassifier, SearchOptions
    >>> automl = AutoClassifier(options=SearchOptions(patience=20))
    >>> automl.get_params()["options__patience"]
    20
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "refit": ["boolean"],
        "patience": [Interval(Integral, 1, None, closed="left"), None],
        "trial_time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "memory_limit": [Interval(Integral, 1, None, closed="left"), None],
        "cache": [Interval(Integral, 1, None, closed="left"), str, os.PathLike, None],
        "checkpoint": [str, os.PathLike, None],
        "warm_start": ["boolean"],
    }

    def __init__(
        self,
        *,
        refit: bool = True,
        patience: int | None = None,
        trial_time_limit: float | None = None,
        memory_limit: int | None = None,
        cache: int | str | os.PathLike[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        warm_start: bool = False,
    ) -> None:
        self.refit = refit
        self.patience = patience
        self.trial_time_limit = trial_time_limit
        self.memory_limit = memory_limit
        self.cache = cache
        self.checkpoint = checkpoint
        self.warm_start = warm_start

    def check(self) -> None:
        """Refuse settings of a wrong type or range."""
        self._validate_params()
