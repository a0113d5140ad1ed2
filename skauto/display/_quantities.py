"""What of a trial is to be small: its objectives and its constraints."""

import numpy as np


def quantities(history):
    """Name what a search has measured: its objectives, then its constraints.

    Parameters
    ----------
    history : History
        The trials.

    Returns
    -------
    names : list of str
        Each once; an objective may be a constraint as well.
    """
    measured = (name for trial in history for name in trial.constraints)
    return list(dict.fromkeys((*history.objectives, *history.limits, *measured)))


def values_of(history, trials, names):
    """Give quantities of trials.

    Parameters
    ----------
    history : History
        Knows the objectives.
    trials : iterable of Trial
        Some of its trials.
    names : sequence of str
        The quantities.

    Returns
    -------
    values : ndarray of shape (n_trials, n_names)
        Infinite where nothing was measured.
    """
    rows = [
        {**trial.constraints, **dict(zip(history.objectives, trial.losses, strict=True))}
        for trial in trials
    ]
    table = [[row.get(name, np.inf) for name in names] for row in rows]
    return np.nan_to_num(np.array(table, dtype=float).reshape(-1, len(names)), nan=np.inf)
