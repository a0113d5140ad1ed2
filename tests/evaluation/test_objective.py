"""Calls of a function as trials."""

import pytest
from scipy.stats import randint, uniform

from skauto import minimize
from skauto.space import SearchSpace


@pytest.fixture
def space():
    space = SearchSpace(["shape"])
    space.add("shape", "bowl", parameters={"x": uniform(-1, 2)})
    return space.add("shape", "stairs", parameters={"n": randint(1, 9)})


def objective(configuration):
    values = configuration.parameters("shape")
    return values["x"] ** 2 if "x" in values else 1.0 / values["n"]


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
