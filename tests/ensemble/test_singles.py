"""Single trials, in the order in which they may replace an ensemble."""

from functools import partial

import numpy as np
import pytest

from skauto.constraints import FalsePositiveRate
from skauto.engines import make_engine
from skauto.ensemble._decide import DecisionChooser
from skauto.ensemble._refits import Refits, refit_task
from skauto.ensemble._singles import SingleTrials
from skauto.utils import Budget
from tests.ensemble.ballast import N_ROWS, Y, builder_of, history_for, labeled_trial, refit


def test_single_trials_are_ordered_by_the_loss_after_their_decisions():
    """Trial 0 keeps the limit as it is; 1 with a higher threshold; 2 by negative labels only."""
    limit = FalsePositiveRate(0.05)
    builder = builder_of([limit])
    builder.decisions = DecisionChooser(builder.data, builder.checker, "auto")
    history = history_for([limit])
    negatives = np.flatnonzero(Y == 0)
    alarms = np.isin(np.arange(N_ROWS), negatives[::5])
    for number, positive in enumerate(
        [
            np.full(N_ROWS, 0.4),
            np.where(alarms, 0.6, 0.1 + 0.8 * Y),
            np.where(alarms, 0.9, 0.1 + 0.7 * Y),
        ]
    ):
        history.append(labeled_trial(number, positive, limit, builder.data))
    assert [t.constraints[limit.key] for t in history] == pytest.approx([0.0, 0.2, 0.2])
    assert [t.loss for t in history] == [0.5, 0.1, 0.1]
    task = partial(refit_task, data=builder.data)
    with make_engine(refit) as engine:
        refits = Refits(history, engine, Budget(), task, [None], {}, builder.refit_time)
        singles = SingleTrials(builder, history, refits)
        assert list(singles) == [1, 0, 2]
    assert singles.after_decision(1) == (0.0, 0.0)
    assert singles.after_decision(2) == (0.0, 0.5)
