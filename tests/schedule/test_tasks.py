"""Of a time limit and a table, who gets what?"""

import numpy as np
import pytest

from skauto.data import DataFacts
from skauto.metalearning import FitTimeModel
from skauto.schedule import (
    Reserve,
    TaskSchedule,
    affordable_folds,
    grace,
    max_seconds_of_network,
    refit_seconds,
    seconds_of_offsets,
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
    tasks.observe_timeout(BAYES, 100, 1.0)


def test_a_refit_takes_the_seconds_of_a_fold_in_proportion_to_the_rows():
    assert refit_seconds(2.0, 1_000, 800) == pytest.approx(1.3 * 2.5)
    assert refit_seconds(2.0) == pytest.approx(2.6)


def test_refits_have_a_quarter_of_the_time_and_the_best_one_all_it_takes():
    reserve = Reserve(100.0, 1_000, n_workers=2)
    assert reserve.for_refits([1.0] * 10, best=1.0) == 5.0
    assert reserve.for_refits([10.0] * 10, best=10.0) == 25.0
    assert reserve.for_refits([40.0] * 10, best=40.0) == 40.0
    assert reserve.for_members([2.0, 4.0], usual=25.0, best=1.0) == pytest.approx(6.0)
    assert reserve.for_members([30.0], usual=25.0, best=1.0) == 25.0


def test_a_model_of_the_hold_out_split_needs_no_refit():
    reserve = Reserve(100.0, 1_000)
    assert reserve.for_refit(9.0, fitted=False) == 9.0
    assert reserve.for_refit(9.0, fitted=True) == pytest.approx(6.0)
    assert reserve.for_refit(60.0, fitted=True) == 0.0
    assert reserve.for_refit(9.0, fitted=True, most=5.0) == 0.0
    assert Reserve(100.0, 10**6).for_refit(9.0, fitted=True) == 0.0


@pytest.mark.parametrize(
    ("limit", "n_rows", "n_groups", "seconds"),
    [
        (100, 20_000, 2, 5.0),
        (100, 10**6, 2, 5.0),
        (100, 2_000, 2, 0.5),
        (100, 20_000, 6, 15.0),
        (8, 20_000, 2, 2.0),
    ],
)
def test_decisions_take_time_by_rows_and_groups(limit, n_rows, n_groups, seconds):
    assert Reserve(limit, n_rows).for_decision(n_groups) == pytest.approx(seconds)


def test_offsets_have_what_remains_or_a_fiftieth():
    budget = Budget(time_limit=100.0)
    assert seconds_of_offsets(budget) == pytest.approx(100.0, abs=1.0)
    budget.started -= 99.5
    assert seconds_of_offsets(budget) == pytest.approx(2.0)
    assert seconds_of_offsets(Budget()) == np.inf
