"""Calls of a function as trials."""

import pytest

from skauto import minimize
from tests.shapes import objective, shapes


@pytest.fixture
def space():
    return shapes()


def test_a_failing_call_is_a_trial(space):
    def fragile(configuration):
        if configuration.structure == ("stairs",):
            raise ZeroDivisionError("a stair is missing")
        return objective(configuration)

    result = minimize(fragile, space, strategy="random", max_evals=20, random_state=0)
    failed = [trial for trial in result.history if not trial.ok]
    assert failed and all("a stair is missing" in trial.error for trial in failed)
    assert result.configuration.structure == ("bowl",)
    assert len(result.history) == 20
