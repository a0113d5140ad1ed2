"""Contract tests of every registered strategy."""

import inspect
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import skauto
from skauto.objectives import make_artificial_objective, make_artificial_space
from skauto.strategies import STRATEGIES
from skauto.testing._loop import as_measured, conditional_space, run_search
from skauto.testing._strategies import STRATEGY_CHECKS, proposals_of
from skauto.utils import single_thread
from tests.strategy_settings import N_OBJECTIVES, STRATEGY_NAMES, make_strategy

every_strategy = pytest.mark.parametrize("name", STRATEGY_NAMES)


@every_strategy
@pytest.mark.parametrize("check", STRATEGY_CHECKS, ids=lambda check: check.__name__)
def test_every_strategy_passes_the_checks_for_authors(name, check):
    check(make_strategy(name))


@every_strategy
def test_constructors_have_few_settings(name):
    signature = inspect.signature(STRATEGIES[name])
    assert vars(STRATEGIES[name]()) == {key: p.default for key, p in signature.parameters.items()}
    assert len(signature.parameters) <= 12


def test_only_strategies_of_a_paper_have_its_settings():
    assert {name for name in STRATEGY_NAMES if hasattr(STRATEGIES[name], "paper")} == {
        "admm",
        "divbo",
        "fang_hpo",
        "flash",
        "forest_bo",
        "joint_gp",
        "mosaic",
    }


@cache
def proposals(name):
    """Proposals of a strategy with four pending trials; sums depend on the threads."""
    space, n_objectives = conditional_space(), N_OBJECTIVES.get(name, 1)
    evaluate = as_measured(*(make_artificial_objective(space, i) for i in range(n_objectives)))
    settings = {"seed": 7, "n_workers": 4, "n_objectives": n_objectives}
    with single_thread():
        return proposals_of(run_search(make_strategy(name), space, evaluate, 12, **settings))


def test_same_seed_same_proposals_in_another_process():
    script = (
        "import json\n"
        "from tests.strategies.test_contract import STRATEGY_NAMES, proposals\n"
        "print(json.dumps([proposals(name) for name in STRATEGY_NAMES]))"
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
    assert json.loads(output) == [proposals(name) for name in STRATEGY_NAMES]


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
        run_search(
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
