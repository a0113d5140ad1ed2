"""Checks of the contract of search strategies."""

import inspect
import json
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from skauto.history import History, Proposal, Trial
from skauto.objectives import make_artificial_objective
from skauto.space import Configuration, SearchSpace
from skauto.strategies import Strategy
from skauto.testing._loop import (
    Evaluation,
    as_measured,
    conditional_space,
    run_search,
    single_space,
    small_space,
)

# Fields of trials that a strategy must survive; the losses are repeated for each objective.
_BAD_TRIALS: list[dict[str, Any]] = [
    {"status": "failed", "error": "ValueError: no"},
    {"losses": np.nan},
    {"losses": np.inf},
    {"status": "timeout", "cost": 1e9},
    {"losses": 1e300},
    {"losses": -1e300},
    {"status": "stopped", "losses": 0.9},
    {"status": "memout"},
    {"status": "crashed"},
]


def check_strategy(strategy: Strategy) -> None:
    """Check that a strategy keeps the contract of all strategies.

    Proposals lie in the space, none is made twice, and all randomness comes from the generator of
    ``start``. Pending proposals are respected, and failed, infinite and NaN trials are survived. A
    space without further configurations ends the search. The object pickles before and after a
    search. Searches are short: give settings that leave an initial design within ten trials.

    Parameters
    ----------
    strategy : Strategy
        The strategy. With ``multi_objective``, it is checked with two objectives.

    Raises
    ------
    AssertionError
        If the strategy violates the contract. The message names the rule.

    Examples
    --------
    >>> from skauto.strategies import TPE
    >>> from skauto.testing import check_strategy
    >>> check_strategy(TPE(n_initial=5))
    """
    for check in STRATEGY_CHECKS:
        check(strategy)


def check_proposals(strategy: Strategy) -> None:
    """Proposals lie in the space, none is made twice, and only ``rng`` is drawn from."""
    space = conditional_space()
    legacy, plain = pickle.dumps(np.random.get_state()), random.getstate()  # noqa: NPY002
    history = _search(strategy, space, 16)
    same = pickle.dumps(np.random.get_state()) == legacy  # noqa: NPY002
    assert same, "The strategy drew from NumPy's global random state; use the rng of start."
    assert random.getstate() == plain, "The strategy drew from the module random; use rng."
    assert len(history) > 10, f"The search ended after {len(history)} of 16 trials."
    for trial in history:
        space.validate(trial.configuration)
        assert 0 < trial.fidelity <= 1, f"A proposal has fidelity {trial.fidelity}."
    assert len(set(_keys(history))) == len(history), "A configuration was proposed twice."


def check_seed(strategy: Strategy) -> None:
    """The seed decides the proposals, also with several pending trials."""
    runs = [
        proposals_of(_search(strategy, conditional_space(), n, seed=seed, n_workers=4))
        for n, seed in [(12, 7), (12, 7), (5, 8)]
    ]
    assert runs[0] == runs[1], "The same seed gives other proposals in a second search."
    first = json.loads(runs[0])[: len(json.loads(runs[2]))]
    assert json.loads(runs[2]) != first, "Another seed gives the same proposals."


def check_bad_trials(strategy: Strategy) -> None:
    """Failed trials and losses that are not finite do not end the search."""
    space, n_objectives = conditional_space(), _n_objectives(strategy)
    good = _artificial(space, n_objectives)

    def evaluate(number: int, configuration: Configuration) -> dict[str, Any]:
        if number % 2:
            return dict(good(number, configuration))
        fields = {"losses": np.inf} | _BAD_TRIALS[number // 2 % len(_BAD_TRIALS)]
        return fields | {"losses": (fields["losses"],) * n_objectives}

    history = _search(strategy, space, 19, evaluate=evaluate)
    assert len(history) > 12, f"The search ended after {len(history)} of 19 trials, half bad."
    for trial in history:
        space.validate(trial.configuration)
    failed = {"status": "failed", "losses": (np.inf,) * n_objectives}
    history = _search(strategy, space, 14, evaluate=lambda *_: failed)
    assert len(history) > 10, f"The search ended after {len(history)} of 14 failed trials."


def check_pending(strategy: Strategy) -> None:
    """Pending proposals are neither repeated nor waited for."""
    space = conditional_space()
    started = clone(strategy).start(space, np.random.default_rng(0))
    history = History([f"loss_{i}" for i in range(_n_objectives(strategy))])
    pending: list[Proposal] = []
    for _ in range(12):  # none of them is completed
        proposal = started.ask(history, tuple(pending))
        assert proposal is not None, f"No proposal beside {len(pending)} pending ones."
        space.validate(proposal.configuration)
        pending.append(proposal)
    distinct = {(proposal.configuration, proposal.fidelity) for proposal in pending}
    assert len(distinct) == len(pending), "A pending proposal was proposed again."


def check_small_spaces(strategy: Strategy) -> None:
    """The search ends when a space has no further configuration."""
    for n_workers in (1, 3):
        history = _search(strategy, single_space(), 50, n_workers=n_workers)
        assert {trial.configuration for trial in history} == {single_space().default()}
        assert len(set(_keys(history))) == len(history), "A configuration was proposed twice."
    history = _search(strategy, small_space(), 100)
    assert len(set(_keys(history))) == len(history), "A configuration was proposed twice."
    n_found = len({trial.configuration for trial in history})
    assert n_found > 3, f"The search ended after {n_found} of 6 configurations."


def check_earlier_trials(strategy: Strategy) -> None:
    """Trials that were in the history before the search are not proposed again."""
    space, n_objectives = conditional_space(), _n_objectives(strategy)
    history = History([f"loss_{i}" for i in range(n_objectives)])
    drawn = space.sample(12, np.random.default_rng(3))
    foreign = Configuration({"somewhere": "else"})
    for configuration in [space.default(), foreign, *map(space.decode, drawn)]:
        losses = (0.5,) * n_objectives
        history.append(Trial(number=len(history), configuration=configuration, losses=losses))
    before = set(_keys(history))
    run_search(clone(strategy), space, _artificial(space, n_objectives), 18, history=history)
    assert len(history) > 14, "No proposal beside the earlier trials."
    assert not before & set(_keys(history)[14:]), "An earlier trial was proposed again."


def check_pickles(strategy: Strategy) -> None:
    """The object pickles before and after a search, and ``stop`` deletes its state."""
    space, n_objectives = conditional_space(), _n_objectives(strategy)
    searched = pickle.loads(pickle.dumps(clone(strategy)))
    texts = []
    for _ in range(2):
        history = run_search(
            searched, space, _artificial(space, n_objectives), 9, n_objectives=n_objectives
        )
        texts.append(proposals_of(history))
        searched.stop()
        state = {key for key in vars(searched) if not key.endswith("_")}
        kept = state - set(searched.get_params(deep=False))
        assert not kept, f"After stop, the strategy keeps {sorted(kept)}."
        searched = pickle.loads(pickle.dumps(searched))
    assert texts[0] == texts[1], "A second search after stop differs from the first."


def check_stop(strategy: Strategy) -> None:
    """``stop`` is always allowed, and ``ask`` only after ``start``."""
    stopped = clone(strategy)
    stopped.stop()
    stopped.start(conditional_space(), np.random.default_rng(0))
    stopped.stop()
    stopped.stop()
    try:
        stopped.ask(History())
    except RuntimeError:
        return
    raise AssertionError("ask before start must raise RuntimeError.")


def check_constructor(strategy: Strategy) -> None:
    """The constructor stores its arguments under their names and does nothing else."""
    parameters = inspect.signature(type(strategy)).parameters
    cloned = clone(strategy)
    others = set(vars(cloned)) - set(parameters)
    assert not others, f"The constructor sets {sorted(others)}, which are no arguments."
    for name, value in cloned.get_params(deep=False).items():
        assert cloned.set_params(**{name: value}) is cloned
        assert getattr(cloned, name) is value, f"The constructor changes the argument {name!r}."


#: The checks of `check_strategy`, each a function of a strategy.
STRATEGY_CHECKS: list[Callable[[Strategy], None]] = [
    check_proposals,
    check_seed,
    check_bad_trials,
    check_pending,
    check_small_spaces,
    check_earlier_trials,
    check_pickles,
    check_stop,
    check_constructor,
]


def proposals_of(history: History) -> str:
    """Proposals of a search as text."""
    return json.dumps([[t.configuration.to_dict(), t.fidelity, t.origin] for t in history])


def _n_objectives(strategy: Strategy) -> int:
    return 2 if strategy.multi_objective else 1


def _artificial(space: SearchSpace, n_objectives: int) -> Evaluation:
    objectives = [make_artificial_objective(space, seed=i) for i in range(n_objectives)]
    return as_measured(*objectives)


def _search(
    strategy: Strategy,
    space: SearchSpace,
    n_trials: int,
    *,
    seed: int = 0,
    n_workers: int = 1,
    evaluate: Evaluation | None = None,
) -> History:
    """Run a clone of the strategy, by default on artificial objectives."""
    n_objectives = _n_objectives(strategy)
    return run_search(
        clone(strategy),
        space,
        evaluate or _artificial(space, n_objectives),
        n_trials,
        seed=seed,
        n_workers=n_workers,
        n_objectives=n_objectives,
    )


def _keys(history: History) -> list[tuple[Configuration, float]]:
    return [(trial.configuration, trial.fidelity) for trial in history]
