"""Searches with trials whose fields a function returns, and the spaces that they run on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from skauto._search import Search
from skauto.engines import Outcome, make_engine
from skauto.evaluation._objective import CallJob
from skauto.history import History, Proposal
from skauto.space import Configuration, Integer, Real, SearchSpace
from skauto.strategies import Strategy
from skauto.utils import Budget

#: ``evaluate(number, configuration)`` returns fields of the trial.
Evaluation = Callable[[int, Configuration], Mapping[str, Any]]


def conditional_space() -> SearchSpace:
    """Space with conditions, a forbidden pair, a constant, and parameters of all kinds."""
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
    """Space of six configurations."""
    space = SearchSpace(["scaler", "classifier"], name="small")
    space.add("scaler", "none").add("scaler", "standard")
    return space.add("classifier", "bayes").add("classifier", "knn", parameters={"k": [1, 3]})


def single_space() -> SearchSpace:
    """Space of one configuration."""
    return SearchSpace(["scaler", "classifier"]).add("scaler", "none").add("classifier", "bayes")


def as_measured(*objectives: Callable[[Configuration], float]) -> Evaluation:
    """Evaluation that measures objectives, scaled to [0, 1), and never fails."""

    def evaluate(number: int, configuration: Configuration) -> dict[str, Any]:
        losses = [objective(configuration) for objective in objectives]
        return {"losses": tuple(loss / (1 + loss) for loss in losses), "cost": 0.5}

    return evaluate


@dataclass
class FunctionEvaluator:
    """Evaluator whose trials have the fields that a function returns.

    `n_opened` is the number of the next trial.
    """

    function: Evaluation
    n_opened: int = 0

    def open(self, proposal: Proposal, history: History) -> CallJob:
        """Begin a trial."""
        self.n_opened += 1
        return CallJob(proposal, (self.n_opened - 1, proposal.configuration), _value)


def _value(outcome: Outcome) -> Mapping[str, Any]:
    if outcome.status != "ok":
        raise RuntimeError(outcome.error)
    value: Mapping[str, Any] = outcome.value
    return value


def run_search(
    strategy: Strategy,
    space: SearchSpace,
    evaluate: Evaluation,
    n_trials: int,
    *,
    seed: int = 0,
    n_workers: int = 1,
    n_objectives: int = 1,
    history: History | None = None,
) -> History:
    """Search until the history has `n_trials`, or until the strategy proposes nothing.

    At most `n_workers` trials are pending.
    """
    if history is None:
        history = History([f"loss_{i}" for i in range(n_objectives)], max_evals=n_trials)
    evaluator = FunctionEvaluator(evaluate, len(history))
    with make_engine(evaluate) as engine:
        Search(
            strategy,
            space,
            evaluator,
            engine,
            history,
            Budget(),
            look_ahead=n_workers,
            on_trial=lambda trial: len(history) >= n_trials,
        ).run(np.random.default_rng(seed))
    return history
