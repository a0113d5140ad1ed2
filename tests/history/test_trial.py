"""Records of proposals and trials."""

import math

import pytest

from skauto.history import Proposal, Trial
from skauto.history._trial import STATUSES, cause_of
from skauto.space import Configuration

CONFIGURATION = Configuration({"classifier": ("knn", {"k": 1})})


def make(**fields):
    return Trial(number=0, configuration=CONFIGURATION, **fields)


def test_settings_are_checked():
    with pytest.raises(ValueError, match="'status' of a trial"):
        make(status="odd")
    for fidelity in (0.0, -0.1, 1.5, math.nan):
        with pytest.raises(ValueError, match="'fidelity'"):
            Proposal(CONFIGURATION, fidelity=fidelity)


@pytest.mark.parametrize("status", STATUSES)
def test_only_an_ok_trial_with_finite_losses_is_ok(status):
    assert make(status=status, losses=(0.1, 0.2)).ok == (status == "ok")
    assert not make(status=status, losses=(0.1, math.nan)).ok
    assert not make(status=status).ok


def test_a_complete_trial_used_all_rows():
    assert make(losses=(0.1,)).complete
    assert not make(losses=(0.1,), fidelity=0.5).complete
    assert not make(losses=(0.1,), status="stopped").complete


def test_mean_fit_time():
    assert make(fit_times=(1.0, 3.0)).mean_fit_time == 2.0
    assert math.isnan(make().mean_fit_time)


def test_the_cause_is_one_line():
    traceback = 'Traceback:\n  File "a.py", line 3, in fit\n    f(x)\nValueError: too small\n'
    assert cause_of(traceback) == "ValueError: too small"
    killed = 'timeout after 2 s\nStack (most recent call first):\n  File "a.py", line 3 in fit\n'
    assert cause_of(killed) == "timeout after 2 s"
    assert cause_of("") == ""
    assert make(status="failed", error=traceback).cause == "ValueError: too small"
    assert make(error=traceback).cause == ""
