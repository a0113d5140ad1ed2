"""Shares of the time limit."""

import numpy as np
import pytest

from skauto.schedule import limits_of_texts, pause_of_scores, seconds_of_offsets
from skauto.utils import Budget


def test_offsets_have_what_remains_or_a_fiftieth():
    budget = Budget(time_limit=100.0)
    assert seconds_of_offsets(budget) == pytest.approx(100.0, abs=1.0)
    budget.started -= 99.5
    assert seconds_of_offsets(budget) == pytest.approx(2.0)
    assert seconds_of_offsets(Budget()) == np.inf


def test_texts_are_read_in_a_third_of_the_time_limit():
    assert limits_of_texts(30.0) == (10.0, 1_500_000)
    assert limits_of_texts(None) == (None, None)


def test_the_score_of_the_ensemble_takes_at_most_a_twentieth_of_the_time():
    assert pause_of_scores(0.0) == pause_of_scores(0.25) == 5.0
    assert pause_of_scores(1.0) == 20.0
