"""Searches with trials that a function decides, and the spaces that they run on."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skauto._search import Search
from skauto.engines import Outcome, make_engine
from skauto.history import History, Proposal, Trial
from skauto.space import Configuration, Integer, Real, SearchSpace
from skauto.strategies import Strategy
from skauto.utils import Budget
from skauto.utils._pareto import hypervolume


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


def plane(n_dimensions: int = 3) -> SearchSpace:
    """A space of points of the unit cube."""
    parameters = {f"x{i}": Real(0, 1) for i in range(n_dimensions)}
    return SearchSpace().add("classifier", "point", parameters=parameters)


def coordinates(configuration: Configuration) -> np.ndarray:
    """The point that a configuration of a plane stands for."""
    return np.array(list(configuration.parameters("classifier").values()))


def distances(point: np.ndarray, n_objectives: int = 2) -> tuple[float, ...]:
    """Mean squared distances from points of the diagonal: the Pareto set of two is a segment."""
    centers = np.linspace(0.2, 0.7, n_objectives)
    return tuple(float(np.mean((point - center) ** 2)) for center in centers)


def two_valleys(number: int, configuration: Configuration) -> dict:
    """Measure the distances of a point of a plane from two points."""
    return {"losses": distances(coordinates(configuration))}


def best_volume() -> float:
    """Hypervolume of the front of two valleys within (0.3, 0.3): losses t^2 and (0.5 - t)^2."""
    t = np.linspace(0, 0.5, 500)
    return hypervolume(np.column_stack([t**2, (0.5 - t) ** 2]), [0.3, 0.3])


def as_measured(
    *objectives: Callable[[Configuration], float],
) -> Callable[[int, Configuration], dict]:
    """An evaluation that measures objectives and never fails."""

    def evaluate(number: int, configuration: Configuration) -> dict:
        losses = [objective(configuration) for objective in objectives]
        return {"losses": tuple(loss / (1 + loss) for loss in losses), "cost": 0.5}

    return evaluate


class ScriptedEvaluator:
    """Makes a trial of the fields that a function returns for its number and configuration."""

    def __init__(self, evaluate: Callable[[int, Configuration], dict], n_before: int) -> None:
        self.function = evaluate
        self.n_opened = n_before

    def open(self, proposal: Proposal, history: History) -> "ScriptedJob":
        self.n_opened += 1
        return ScriptedJob(proposal, self.n_opened - 1)


@dataclass
class ScriptedJob:
    """One call of the function."""

    proposal: Proposal
    number: int
    outcome: Outcome | None = None

    @property
    def done(self) -> bool:
        return self.outcome is not None

    def next_parts(self) -> list:
        return [(0, (self.number, self.proposal.configuration), None)]

    def receive(self, part: int, outcome: Outcome) -> None:
        assert outcome.status == "ok", outcome.error
        self.outcome = outcome

    def trial(self, number: int, started: float, ended: float) -> Trial:
        proposal = self.proposal
        fields = {"fidelity": proposal.fidelity, "origin": proposal.origin, "info": proposal.info}
        fields |= self.outcome.value
        return Trial(number=number, configuration=proposal.configuration, **fields)


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
    """Search until the history has `n_trials`, or until nothing is left to propose.

    `evaluate` takes the number of a trial and its configuration, and returns fields of the trial.
    As many trials as there are workers are under way at once.
    """
    if history is None:
        history = History([f"loss_{i}" for i in range(n_objectives)], max_evals=n_trials)
    evaluator = ScriptedEvaluator(evaluate, len(history))
    budget = Budget(max_evals=n_trials - len(history))
    with make_engine(evaluate) as engine:
        search = Search(strategy, space, evaluator, engine, history, budget, look_ahead=n_workers)
        search.run(np.random.default_rng(seed))
    return history
