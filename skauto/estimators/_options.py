"""Further settings of a search."""

import os
from numbers import Integral, Real
from typing import Any

from sklearn.base import BaseEstimator

from skauto.utils import Interval, StrOptions, explain_keywords


class SearchOptions(BaseEstimator):
    """Settings of a search that are rarely changed.

    Parameters
    ----------
    refit : bool, default=True
        Whether the members are refitted on all rows. Otherwise the models of all folds are fitted
        again and averaged.
    pool : {"best", "all"} or int, default="best"
        Trials that the ensemble is selected from. "best" are the 10 best and the 3 best of each
        classifier; on few rows, selection from them is bagged. An int is the number of best
        trials: 32 in the ADMM paper [1]_. From all trials, selection overfits small validation
        sets.
    patience : "auto", int or None, default="auto"
        When a search ends before its limits; None means never. An int is a number of trials in a
        row without a smaller loss; with several objectives, without a change of the Pareto front.
        "auto" compares, after 512 trials and each further doubling, the ensemble with that of the
        first half of the trials. The search ends if the out-of-fold log loss did not decrease by
        one standard error. It needs a time limit, one objective and no limits.
    trial_time_limit : float, default=None
        Seconds that a trial may take. A longer trial is killed and recorded as "timeout".
    memory_limit : int, default=None
        Bytes that a worker process and its children may use. A larger trial is killed and recorded
        as "memout".
    cache : int, path-like or None, default=None
        Whether transformed data are kept on disk for pipelines that begin with the same steps. An
        int is the largest size in bytes. A path is an existing directory, in which up to a GiB is
        kept. The files are in a temporary directory that is removed after the search. The results
        are the same without a cache. It saves time if early steps are expensive. It is not used if
        constraints are measured.
    checkpoint : path-like, default=None
        File to which each trial is written when it ends. After a crash, the same ``fit`` on the
        same data resumes the search; ``max_evals`` includes the trials in the file. Without
        ``time_limit``, the result is that of a search without a crash. The file can be read
        without pickle.
    warm_start : bool, default=False
        Whether another call of ``fit`` on the same data continues the search with a new budget. It
        keeps the seed and the folds; other data, ``cv``, ``scoring`` or ``space`` are an error.

    References
    ----------
    .. [1] S. Liu et al., "An ADMM Based Framework for AutoML Pipeline Configuration", AAAI 2020,
       Appendix 8.

    Examples
    --------
    >>> from skauto import AutoClassifier, SearchOptions
    >>> automl = AutoClassifier(options=SearchOptions(patience=20))
    >>> automl.get_params()["options__patience"]
    20
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "refit": ["boolean"],
        "pool": [StrOptions({"best", "all"}), Interval(Integral, 1, None, closed="left")],
        "patience": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left"), None],
        "trial_time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "memory_limit": [Interval(Integral, 1, None, closed="left"), None],
        "cache": [Interval(Integral, 1, None, closed="left"), str, os.PathLike, None],
        "checkpoint": [str, os.PathLike, None],
        "warm_start": ["boolean"],
    }

    @explain_keywords({})
    def __init__(
        self,
        *,
        refit: bool = True,
        pool: str | int = "best",
        patience: str | int | None = "auto",
        trial_time_limit: float | None = None,
        memory_limit: int | None = None,
        cache: int | str | os.PathLike[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        warm_start: bool = False,
    ) -> None:
        self.refit = refit
        self.pool = pool
        self.patience = patience
        self.trial_time_limit = trial_time_limit
        self.memory_limit = memory_limit
        self.cache = cache
        self.checkpoint = checkpoint
        self.warm_start = warm_start

    def check(self) -> None:
        """Raise an error if a setting has a wrong type or range."""
        self._validate_params()
