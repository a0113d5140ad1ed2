"""A tiny ask and tell loop, and the spaces that strategies are tried on."""

from collections.abc import Callable

import numpy as np

from skauto.history import History, Trial
from skauto.space import Configuration, Integer, Real, SearchSpace
from skauto.strategies import Strategy


def rich_space() -> SearchSpace:
    """A space with everything in it: conditions, a forbidden pair, constants, all kinds."""
    space = SearchSpace(["scaler", "selector", "classifier"], name="rich")
    space.add("scaler", "none")
    space.add("scaler", "power", parameters={"lambda": Real(-1, 1), "fixed": ["always"]})
    space.add("selector", "none")
    space.add("selector", "best", parameters={"k": Integer(1, 5)})
    space.add(
        "classifier",
        "svm",
        parameters={
            "C": Real(1e-3, 1e3, log=True),
            "kernel": ["rbf", "poly", "linear"],
            "degree": Integer(2, 5),
            "gamma": Real(1e-4, 10, log=True),
        },
        conditions={"degree": ("kernel", ["poly"]), "gamma": ("kernel", ["rbf", "poly"])},
    )
    space.add("classifier", "trees", parameters={"n": Integer(1, 500, log=True), "leaf": [1, 5]})
    space.add("classifier", "bayes")
    return space.forbid({"scaler": "power"}, {"classifier": "trees"})


def small_space() -> SearchSpace:
    """A space of six configurations."""
    space = SearchSpace(["scaler", "classifier"], name="small")
    space.add("scaler", "none").add("scaler", "standard")
    return space.add("classifier", "bayes").add("classifier", "knn", parameters={"k": [1, 3]})


def single_space() -> SearchSpace:
    """A space of one configuration."""
    return SearchSpace(["scaler", "classifier"]).add("scaler", "none").add("classifier", "bayes")


def as_measured(
    *objectives: Callable[[Configuration], float],
) -> Callable[[int, Configuration], dict]:
    """An evaluation that measures objectives and never fails."""

    def evaluate(number: int, configuration: Configuration) -> dict:
        losses = [objective(configuration) for objective in objectives]
        return {"losses": tuple(loss / (1 + loss) for loss in losses), "cost": 0.5}

    return evaluate


def drive(
    strategy: Strategy,
    space: SearchSpace,
    evaluate: Callable[[int, Configuration], dict],
    n_trials: int,
    *,
    seed: int = 0,
    n_workers: int = 1,
    n_objectives: int = 1,
    history: History | None = None,
) -> History:
    """Ask, evaluate and tell until enough trials are made or nothing is left to propose.

    `evaluate` takes the number of a trial and its configuration, and returns fields of the trial.
    With several workers, the youngest and the oldest proposal finish in turn.
    """
    if history is None:
        history = History([f"loss_{i}" for i in range(n_objectives)], max_evals=n_trials)
    strategy.start(space, np.random.default_rng(seed))
    pending = []
    while True:
        while len(pending) < n_workers and len(history) + len(pending) < n_trials:
            proposal = strategy.suggest(history, tuple(pending))
            if proposal is None:
                break
            pending.append(proposal)
        if not pending:
            return history
        finished = pending.pop(-(len(history) % 2))
        number = len(history)
        trial = Trial(
            number=number,
            configuration=finished.configuration,
            fidelity=finished.fidelity,
            origin=finished.origin,
            info=finished.info,
            **evaluate(number, finished.configuration),
        )
        history.append(trial)
        strategy.observe(trial)
