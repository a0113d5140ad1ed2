"""``minimize``: the loop on any function, with its promises on failures, limits and workers."""

import itertools
import time

import numpy as np
import pytest
from scipy.stats import randint, uniform

from skauto import minimize
from skauto.space import Configuration, SearchSpace
from skauto.strategies import ADMM, MOSAIC, JointGP, ParEGO
from tests.strategy_settings import make_strategy


@pytest.fixture
def space():
    space = SearchSpace(["shape"])
    space.add("shape", "bowl", parameters={"x": uniform(-1, 2)})
    return space.add("shape", "stairs", parameters={"n": randint(1, 9)})


def objective(configuration):
    values = configuration.parameters("shape")
    return values["x"] ** 2 if "x" in values else 1.0 / values["n"]


def configurations(result):
    return [trial.configuration for trial in result.history]


@pytest.mark.parametrize("strategy", ["random", "joint_gp"])
def test_the_same_trials_for_a_number_of_workers(space, strategy):
    def run(n_jobs):
        return minimize(
            objective,
            space,
            strategy=make_strategy(strategy),
            n_jobs=n_jobs,
            max_evals=14,
            random_state=0,
        )

    alone = run(1)
    assert configurations(run(1)) == configurations(alone)
    assert configurations(run(2)) == configurations(run(2))
    assert alone.loss == min(objective(c) for c in configurations(alone))
    assert objective(alone.configuration) == alone.loss


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


def test_nothing_found(space):
    result = minimize(lambda configuration: np.nan, space, max_evals=3, random_state=0)
    assert result.configuration is None
    assert result.loss == np.inf
    assert len(result.history) == 3


def test_the_answer_keeps_the_limits(space):
    def costly(configuration):
        loss = objective(configuration)
        return {"loss": loss, "cost": 1.0 - loss}

    settings = {"strategy": "random", "max_evals": 40, "random_state": 0}
    free = minimize(costly, space, **settings)
    limited = minimize(costly, space, limits={"cost": 0.5}, **settings)
    assert free.loss < 0.5 <= limited.loss
    assert limited.loss == min(t.loss for t in limited.history if t.constraints["cost"] <= 0.5)


def test_the_strategy_comes_back_with_its_record(space):
    given = MOSAIC()
    result = minimize(objective, space, strategy=given, max_evals=30, random_state=0)
    assert result.strategy is not given
    assert result.strategy.tree_["visits"][0] == 30
    assert not hasattr(given, "tree_")


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"max_evals": 0}, r"'max_evals' .* range \[1, inf\).* Got 0 instead"),
        ({"max_evals": 2.5}, "'max_evals' .* Got 2.5 instead"),
        ({"time_limit": -1}, "'time_limit' .* Got -1 instead"),
        ({"time_limit": np.nan}, "'time_limit' .* Got nan instead"),
        ({"trial_time_limit": 0}, "'trial_time_limit' .* Got 0 instead"),
        ({"objectives": "error"}, "'objectives' .* Got 'error' instead"),
        ({"objectives": ()}, "'objectives' .* different names"),
        ({"objectives": ("a", "a"), "strategy": "parego"}, "'objectives' .* different names"),
        ({"objectives": ("a", 3), "strategy": "parego"}, "'objectives' .* different names"),
        ({"limits": {"s": np.nan}}, "'limits' .* Got 's': nan instead"),
        ({"limits": {"s": "fast"}}, "'limits' .* Got 's': 'fast' instead"),
        ({"limits": ["s"]}, "'limits' .* must map names"),
        ({"space": "default"}, "'space' .* must be a SearchSpace.* Got 'default' instead"),
        ({"initial": None}, "'initial' .* Got None instead"),
        ({"initial": Configuration({"shape": "bowl"})}, "'initial' .* must be a sequence"),
        ({"initial": [{"shape": "bowl"}]}, "'initial' .* expected a Configuration"),
        ({"initial": [Configuration({"shape": ("bowl", {"x": 9.0})})]}, "'initial' .* got 9.0"),
    ],
)
def test_wrong_arguments_are_named_before_the_first_call(space, arguments, message):
    def never(configuration):
        raise AssertionError("called")

    with pytest.raises((ValueError, TypeError), match=message):
        minimize(never, **{"space": space} | arguments)


def test_a_strategy_for_one_loss_refuses_several(space):
    several = {"objectives": ("a", "b"), "max_evals": 3, "random_state": 0}
    with pytest.raises(ValueError, match="JointGP minimizes only one .*'fang_hpo', 'parego'"):
        minimize(objective, space, strategy="joint_gp", **several)
    for strategy in ("auto", "parego", "random"):
        result = minimize(lambda _: {"a": 1, "b": 2}, space, strategy=strategy, **several)
        assert [trial.losses for trial in result.history] == [(1.0, 2.0)] * 3


@pytest.mark.parametrize(
    ("arguments", "strategy"),
    [
        ({}, JointGP),
        ({"limits": {"cost": np.inf}}, JointGP),
        ({"limits": {"cost": 0.5}}, ADMM),
        ({"objectives": ("loss", "cost")}, ParEGO),
    ],
)
def test_the_strategy_fits_the_problem_by_default(space, arguments, strategy):
    result = minimize(lambda _: {"loss": 1, "cost": 2}, space, max_evals=2, **arguments)
    assert type(result.strategy) is strategy


def test_without_a_trial_within_the_limits_there_is_no_configuration(space):
    result = minimize(
        lambda _: {"loss": 0.5, "cost": 1.0}, space, limits={"cost": 0.1}, max_evals=3
    )
    assert all(trial.ok for trial in result.history)
    assert (result.configuration, result.loss) == (None, np.inf)


def test_runs_are_in_order_although_the_process_is_interrupted_between_two_clocks(
    space, monkeypatch
):
    read, n_readings = time.time, itertools.count()

    def interrupted():
        if next(n_readings) % 4 == 0:
            time.sleep(0.01)
        return read()

    monkeypatch.setattr(time, "time", interrupted)
    result = minimize(objective, space, strategy="random", max_evals=12, random_state=0)
    began, ended = np.array([run for trial in result.history for run in trial.runs]).T
    assert len(began) == 12
    assert (began[1:] >= ended[:-1] - 1e-3).all()
