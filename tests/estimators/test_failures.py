"""Tests of the warning about failed trials."""

import pytest

from skauto.estimators._failures import report_failures
from skauto.exceptions import AllTrialsFailedError, TrialFailedWarning
from skauto.history import History, Trial
from skauto.space import Configuration


def history_of(*statuses, errors=None):
    history = History()
    for number, (status, error) in enumerate(zip(statuses, errors or statuses, strict=True)):
        configuration = Configuration({"classifier": f"tree_{number}"})
        history.append(
            Trial(number=number, configuration=configuration, status=status, error=error)
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


def test_causes_are_sentences_or_exceptions():
    place = 'File "tree.py", line 163 in fit'
    errors = [
        f"The time limit of 4 s was exceeded.\n{place}",
        f"Traceback (most recent call last):\n  {place}\nValueError: too small",
        "A fold was predicted to take 9 s.",
    ]
    history = history_of("timeout", "failed", "skipped", errors=errors)
    with pytest.raises(AllTrialsFailedError) as caught:
        report_failures(history, 1.0)
    causes = str(caught.value).splitlines()[1:-1]
    assert causes == ["  1 x The time limit of 4 s was exceeded.", "  1 x ValueError: too small"]
