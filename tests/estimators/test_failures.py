"""Tests of the warning about failed trials."""

import pytest

from skauto.estimators._failures import report_failures
from skauto.exceptions import AllTrialsFailedError, TrialFailedWarning
from skauto.history import History, Trial
from skauto.space import Configuration


def history_of(*statuses):
    history = History()
    for number, status in enumerate(statuses):
        configuration = Configuration({"classifier": f"tree_{number}"})
        history.append(
            Trial(number=number, configuration=configuration, status=status, error=status)
        )
    return history


def test_trials_that_a_short_budget_killed_are_no_failures():
    with pytest.warns(TrialFailedWarning, match="1 of 2 trials gave no score .1 timeout"):
        report_failures(history_of("timeout", "skipped"), None)


@pytest.mark.parametrize(
    ("statuses", "trial_time_limit"), [(["timeout", "failed"], None), (["timeout"] * 2, 0.5)]
)
def test_failures_and_trials_beyond_their_own_limit_raise(statuses, trial_time_limit):
    with pytest.raises(AllTrialsFailedError, match="All 2 trials failed .*timeout"):
        report_failures(history_of(*statuses), trial_time_limit)
