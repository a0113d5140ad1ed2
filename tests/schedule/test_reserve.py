"""Seconds that are kept for refits and decisions."""

import pytest

from skauto.schedule import (
    Reserve,
    refit_seconds,
)


def test_a_refit_takes_the_seconds_of_a_fold_in_proportion_to_the_rows():
    assert refit_seconds(2.0, 1_000, 800) == pytest.approx(1.3 * 2.5)
    assert refit_seconds(2.0) == pytest.approx(2.6)


def test_refits_have_a_quarter_of_the_time_and_the_best_one_all_it_takes():
    reserve = Reserve(100.0, 1_000, n_workers=2)
    assert reserve.for_refits([1.0] * 10, best=1.0) == 5.0
    assert reserve.for_refits([10.0] * 10, best=10.0) == 25.0
    assert reserve.for_refits([40.0] * 10, best=40.0) == 40.0
    assert reserve.for_refits([1.0, 3.0], best=1.0) == 3.0
    assert reserve.for_members([2.0, 4.0], usual=25.0, best=1.0) == 4.0
    assert reserve.for_members([2.0, 4.0, 4.0], usual=25.0, best=1.0) == 5.0
    assert reserve.for_members([30.0], usual=25.0, best=1.0) == 25.0


def test_a_model_of_the_hold_out_split_needs_no_refit():
    reserve = Reserve(100.0, 1_000)
    assert reserve.for_refit(9.0, fitted=False) == pytest.approx(13.5)
    assert reserve.for_refit(9.0, fitted=True) == 9.0
    assert reserve.for_refit(60.0, fitted=True) == 0.0
    assert reserve.for_refit(9.0, fitted=True, most=5.0) == 0.0
    assert Reserve(100.0, 10**6).for_refit(9.0, fitted=True) == 0.0


@pytest.mark.parametrize("times", [[9.0], [9.0, 2.0], [3.0, 3.0, 2.0]])
@pytest.mark.parametrize("n_workers", [1, 2])
def test_few_models_of_the_hold_out_split_are_refitted(times, n_workers):
    reserve = Reserve(100.0, 1_000, n_workers)
    seconds = [reserve.for_refit(time, fitted=True) for time in times]
    usual = reserve.for_refits(seconds, best=0.0)
    members = [reserve.for_refit(time, fitted=True, most=usual) for time in times]
    kept = reserve.for_members(members, usual, best=0.0)
    assert kept >= max(times)
    assert kept * n_workers >= sum(times)


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
    reserve = Reserve(limit, n_rows)
    assert reserve.for_decision(n_groups) == pytest.approx(seconds)
    assert reserve.for_decision(n_groups, seconds) == pytest.approx(seconds / 2)
