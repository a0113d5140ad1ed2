"""Of a time limit and a table, who gets what?"""

import pytest

from skauto.data import DataFacts
from skauto.metalearning import FitTimeModel
from skauto.schedule import (
    Reserve,
    TaskSchedule,
    affordable_folds,
    grace,
    max_seconds_of_network,
    seconds_of_selection,
)
from skauto.space import Configuration
from skauto.utils import Budget

BAYES = Configuration({"classifier": ("gaussian_nb", {})})


def schedule(left, seconds_per_1000_rows, *, n_rows=80_000, n_workers=2):
    """A schedule whose fits take time in proportion to the rows."""
    facts = DataFacts(n_samples=n_rows, n_features=10)
    budget = Budget(time_limit=left)
    made = TaskSchedule(facts, FitTimeModel({}), budget, n_workers)
    made.seconds = lambda configuration, n_rows: seconds_per_1000_rows * n_rows / 1000
    return made


def test_of_30_seconds_on_100_000_rows_who_gets_what():
    """A fit on 80,000 training rows takes 16 s."""
    assert affordable_folds(100_000, [16.0] * 20, 60.0) == 0.2  # a hold-out set
    tasks = schedule(30.0, 0.2)
    assert tasks.first_share(80_000) == 0.125  # 10,000 rows
    assert tasks.limit(BAYES, 10_000, preview=True) == pytest.approx(7.5, rel=0.01)
    assert tasks.affordable_share(BAYES, 10_000, 0.125) == 0.125  # 2 of 7.5 s
    assert not tasks.ends_in_time(BAYES, [80_000] * 4, 30.0)
    assert tasks.ends_in_time(BAYES, [80_000], 30.0)
    assert tasks.limit(BAYES, 80_000, preview=False) == pytest.approx(32.0)  # twice 16 s
    reserve = Reserve(30.0, 100_000, n_workers=2)
    assert reserve.for_selection() == pytest.approx(0.6)
    assert reserve.for_refits([16.0] * 10, best=16.0) == 16.0  # more than a quarter: the best
    assert reserve.for_decision(2) == 5.0
    assert seconds_of_selection(10.0) == 2.0
    assert grace(30.0) == pytest.approx(1.9)
    assert max_seconds_of_network(60.0) == 3.0


def test_a_task_that_is_too_expensive_starts_on_fewer_rows_or_is_skipped():
    assert schedule(40.0, 0.2).affordable_share(BAYES, 80_000, 1.0) == pytest.approx(0.625, 0.01)
    assert schedule(4.0, 1.0).affordable_share(BAYES, 80_000, 1.0) == 0.0  # 1,000 of 2,000 rows
    # Half of the rows first, then all of them, would take 24 s.
    assert schedule(40.0, 0.2).affordable_share(BAYES, 80_000, 1.0, only=True) == 1.0
    assert schedule(30.0, 0.2).affordable_share(BAYES, 80_000, 1.0, only=True) < 0.5
    cheap = schedule(4.0, 0.001)
    assert cheap.affordable_share(BAYES, 80_000, 1.0) == 1.0


@pytest.mark.parametrize(
    ("n_workers", "reserved", "in_time"), [(2, 0, True), (1, 0, False), (2, 5, False)]
)
def test_folds_end_in_time_if_all_workers_take_part(n_workers, reserved, in_time):
    tasks = schedule(20.0, 0.2, n_workers=n_workers)
    assert tasks.ends_in_time(BAYES, [40_000] * 4, 20.0 - reserved) is in_time  # 8 s each


def test_more_rows_only_if_there_are_twice_as_many():
    tasks = schedule(16.0, 0.2)
    assert tasks.larger_share(BAYES, 0.125, 16.0, needed=False) == pytest.approx(0.5, 0.01)
    assert tasks.larger_share(BAYES, 0.3, 16.0, needed=False) is None
    assert tasks.larger_share(BAYES, 0.3, 16.0, needed=True) == pytest.approx(0.3)
    assert tasks.larger_share(BAYES, 0.1, 16.0, needed=True) == pytest.approx(0.25, 0.01)


def test_without_predicted_seconds_every_task_starts():
    tasks = TaskSchedule(
        DataFacts(n_samples=100, n_features=2),
        budget=Budget(time_limit=1e-9),
    )
    assert tasks.seconds(BAYES, 10**9) == 0.0
    assert tasks.limit(BAYES, 100, preview=False) is None
    assert tasks.affordable_share(BAYES, 100, 1.0) == 1.0
    assert tasks.ends_in_time(BAYES, [10**9], 1.0)
    tasks.observe(BAYES, 100, 1.0, killed=True)


@pytest.mark.parametrize(
    "n_rows, time_limit, seconds, n_seeds",
    [
        (10_000, None, 100.0, 4),
        (10_001, None, 0.1, 1),
        (10_001, 30.0, 0.1, 1),
        (1_000, 30.0, 0.1, 4),  # 1.2 of 60 processor seconds
        (1_000, 30.0, 0.5, 2),
        (1_000, 30.0, 5.0, 1),
        (1_000, 30.0, 0.0, 4),
    ],
)
def test_seeds_of_a_refit_take_a_fiftieth_of_the_time(n_rows, time_limit, seconds, n_seeds):
    facts = DataFacts(n_samples=n_rows, n_features=10)
    made = TaskSchedule(facts, budget=Budget(time_limit), n_workers=2)
    assert made.n_seeds(seconds, n_rows) == n_seeds
