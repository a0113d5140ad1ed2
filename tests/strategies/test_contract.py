"""What every strategy promises, tested once for all that are registered."""

import inspect
import json
import os
import pickle
import random
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import skauto
from skauto.engines._base import thread_pools
from skauto.history import History, Proposal, Trial
from skauto.objectives import make_artificial_objective, make_artificial_space
from skauto.space import Configuration
from skauto.strategies import STRATEGIES
from tests.instances import N_OBJECTIVES, STRATEGY_NAMES, make_strategy
from tests.strategies.search_loop import (
    as_measured,
    drive,
    rich_space,
    single_space,
    small_space,
)

every_strategy = pytest.mark.parametrize("name", STRATEGY_NAMES)


def search(name, space, n_trials, *, seed=0, n_workers=1, evaluate=None):
    """Run a registered strategy on artificial objectives."""
    n_objectives = N_OBJECTIVES.get(name, 1)
    objectives = [make_artificial_objective(space, seed=i) for i in range(n_objectives)]
    return drive(
        make_strategy(name),
        space,
        evaluate or as_measured(*objectives),
        n_trials,
        seed=seed,
        n_workers=n_workers,
        n_objectives=n_objectives,
    )


def keys(history):
    return [(trial.configuration, trial.fidelity) for trial in history]


def as_text(history):
    return json.dumps([[t.configuration.to_dict(), t.fidelity, t.origin] for t in history])


@every_strategy
def test_proposals_lie_in_the_space_and_none_is_made_twice(name):
    space = rich_space()
    legacy, plain = np.random.get_state()[1].copy(), random.getstate()
    history = search(name, space, 16)
    np.testing.assert_array_equal(np.random.get_state()[1], legacy)  # only rng was drawn from
    assert random.getstate() == plain
    assert len(history) > 10
    for trial in history:
        space.validate(trial.configuration)
        assert 0 < trial.fidelity <= 1
    assert len(set(keys(history))) == len(history)


@cache
def proposals_of(name):
    """Proposals of a strategy with four trials under way; sums depend on the threads."""
    with thread_pools().limit(limits=1):
        return as_text(search(name, rich_space(), 12, seed=7, n_workers=4))


@every_strategy
def test_another_seed_other_proposals(name):
    other = search(name, rich_space(), 5, seed=8, n_workers=4)
    assert json.loads(as_text(other)) != json.loads(proposals_of(name))[: len(other)]


def test_same_seed_same_proposals_in_another_process():
    script = (
        "import json\n"
        "from tests.strategies.test_contract import STRATEGY_NAMES, proposals_of\n"
        "print(json.dumps([proposals_of(name) for name in STRATEGY_NAMES]))"
    )
    root = Path(skauto.__file__).parents[1]
    environment = os.environ | {"PYTHONPATH": str(root), "PYTHONHASHSEED": "12345"}
    output = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert json.loads(output) == [proposals_of(name) for name in STRATEGY_NAMES]


@every_strategy
def test_bad_trials_are_survived(name):
    space = rich_space()
    n_objectives = N_OBJECTIVES.get(name, 1)
    good = as_measured(*(make_artificial_objective(space, seed=i) for i in range(n_objectives)))
    bad = [
        {"status": "failed", "error": "ValueError: no"},
        {"losses": (np.nan,) * n_objectives},
        {"losses": (np.inf,) * n_objectives},
        {"status": "timeout", "cost": 1e9},
        {"losses": (1e300,) * n_objectives},
        {"losses": (-1e300,) * n_objectives},
        {"status": "stopped", "losses": (0.9,) * n_objectives},
        {"status": "memout"},
        {"status": "crashed"},
    ]

    def evaluate(number, configuration):
        nothing = {"losses": (np.inf,) * n_objectives}
        return good(number, configuration) if number % 2 else nothing | bad[number // 2 % len(bad)]

    history = search(name, space, 19, evaluate=evaluate)
    assert len(history) > 12
    for trial in history:
        space.validate(trial.configuration)


@every_strategy
def test_a_search_without_a_single_success_goes_on(name):
    losses = (np.inf,) * N_OBJECTIVES.get(name, 1)
    history = search(
        name, rich_space(), 14, evaluate=lambda *_: {"status": "failed", "losses": losses}
    )
    assert len(history) > 10


@every_strategy
def test_pending_proposals_are_neither_repeated_nor_waited_for(name):
    space = rich_space()
    strategy = make_strategy(name).start(space, np.random.default_rng(0))
    history = History([f"loss_{i}" for i in range(N_OBJECTIVES.get(name, 1))])
    pending = []
    for _ in range(12):  # nothing is ever finished
        proposal = strategy.suggest(history, tuple(pending))
        assert isinstance(proposal, Proposal)
        space.validate(proposal.configuration)
        pending.append(proposal)
    assert len({(p.configuration, p.fidelity) for p in pending}) == len(pending)


@every_strategy
def test_several_workers_get_different_proposals(name):
    proposed = [json.dumps(proposal[:2]) for proposal in json.loads(proposals_of(name))]
    assert len(proposed) > 10
    assert len(set(proposed)) == len(proposed)


@every_strategy
@pytest.mark.parametrize("n_workers", [1, 3])
def test_a_single_configuration_ends_the_search(name, n_workers):
    history = search(name, single_space(), 50, n_workers=n_workers)
    assert len(set(keys(history))) == len(history)
    assert {trial.configuration for trial in history} == {single_space().default()}


@every_strategy
def test_a_small_space_ends_the_search(name):
    history = search(name, small_space(), 100)
    assert len(set(keys(history))) == len(history)
    assert len({trial.configuration for trial in history}) > 3


@every_strategy
def test_what_is_in_the_history_already_counts(name):
    space = rich_space()
    n_objectives = N_OBJECTIVES.get(name, 1)
    history = History([f"loss_{i}" for i in range(n_objectives)])
    vectors = space.sample(12, np.random.default_rng(3))
    foreign = Configuration({"somewhere": "else"})
    for configuration in [space.default(), foreign, *(space.decode(v) for v in vectors)]:
        history.append(
            Trial(number=len(history), configuration=configuration, losses=(0.5,) * n_objectives)
        )
    before = set(keys(history))
    objectives = [make_artificial_objective(space, seed=i) for i in range(n_objectives)]
    strategy = make_strategy(name)
    drive(strategy, space, as_measured(*objectives), 18, history=history)
    assert len(history) > 14
    assert not before & set(keys(history)[14:])


@every_strategy
def test_the_object_pickles_before_and_after(name):
    space = rich_space()
    strategy = pickle.loads(pickle.dumps(make_strategy(name)))
    n_objectives = N_OBJECTIVES.get(name, 1)
    objectives = [make_artificial_objective(space, seed=i) for i in range(n_objectives)]
    first = drive(strategy, space, as_measured(*objectives), 9, n_objectives=n_objectives)
    strategy.stop()
    state = {key for key in vars(strategy) if not key.endswith("_")}
    assert state <= set(strategy.get_params(deep=False))
    strategy = pickle.loads(pickle.dumps(strategy))
    again = drive(strategy, space, as_measured(*objectives), 9, n_objectives=n_objectives)
    assert as_text(first) == as_text(again)


@every_strategy
def test_stopping_is_always_allowed(name):
    strategy = make_strategy(name)
    strategy.stop()
    strategy.start(rich_space(), np.random.default_rng(0))
    strategy.stop()
    strategy.stop()
    with pytest.raises(RuntimeError, match="has not been started"):
        strategy.suggest(History())


@every_strategy
def test_the_constructor_only_stores(name):
    signature = inspect.signature(STRATEGIES[name])
    strategy = STRATEGIES[name]()
    assert vars(strategy) == {key: p.default for key, p in signature.parameters.items()}
    assert len(signature.parameters) <= 12
    settings = make_strategy(name).get_params()
    assert clone(make_strategy(name)).get_params().keys() == settings.keys()
    for key, value in make_strategy(name).get_params(deep=False).items():
        assert strategy.set_params(**{key: value}) is strategy
        assert getattr(strategy, key) is value


def bowl(configuration):
    """Smooth in every choice: each has an effect of its own."""
    names = [int(name[-1]) for _, name in configuration.components]
    values = [v for step in configuration.steps for v in configuration.parameters(step).items()]
    units = [(v - 1) / 19 if key.startswith("integer") else v for key, v in values]
    return 0.15 * sum(names) + sum((u - 0.3) ** 2 for u in units)


@pytest.mark.parametrize("name", [name for name in STRATEGY_NAMES if name != "random"])
def test_late_proposals_are_far_better_than_random_ones(name):
    """Half of them lie among the best fifth of the prior, or the best trials beat 500 draws.

    Four searches decide, because late proposals of one depend on its seed.
    """
    space = make_artificial_space(n_steps=2, n_algorithms=3, n_continuous=1, n_integers=1)
    shifts = np.linspace(0.0, 0.01, N_OBJECTIVES.get(name, 1))
    objectives = [lambda c, shift=shift: bowl(c) + shift for shift in shifts]
    searches = [
        drive(
            make_strategy(name),
            space,
            as_measured(*objectives),
            45,
            seed=s,
            n_objectives=len(shifts),
        )
        for s in range(4)
    ]
    losses = np.array([[bowl(trial.configuration) for trial in history] for history in searches])
    prior = [bowl(space.decode(v)) for v in space.sample(500, np.random.default_rng(0))]
    late, best = np.median(losses[:, 30:]), np.median(losses.min(axis=1))
    assert late < np.quantile(prior, 0.2) or best < min(prior)
