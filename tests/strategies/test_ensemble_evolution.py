"""Evolution of an ensemble: population, parents and mutants."""

import numpy as np
import pytest

from skauto.history import Goal, History
from skauto.selection import ErrorLoss, greedy_selection
from skauto.selection._candidates import candidate_pool
from skauto.strategies import EnsembleEvolution
from tests.strategies.ensemble_search import ArtificialClassifiers
from tests.strategies.search_loop import rich_space


def started(history, **settings):
    strategy = EnsembleEvolution(**settings).start(rich_space(), np.random.default_rng(0))
    strategy.ask(history)
    return strategy, strategy.observations(history)


def test_parents_are_members_of_the_ensemble_of_the_population():
    history = ArtificialClassifiers(rich_space()).history(40)
    strategy, observations = started(history, population_size=12, n_members=6)
    population = history[-12:]
    pool = candidate_pool(
        [trial.loss for trial in population],
        [trial.configuration["classifier"] for trial in population],
    )
    predictions = np.array([population[i].predictions for i in pool])
    chosen = pool[greedy_selection(predictions, history.goal.targets, ErrorLoss(), 6).indices]
    parents = {strategy._parent(observations) for _ in range(200)}
    assert parents == {28 + index for index in chosen.tolist()}


def test_without_predictions_the_best_of_the_population_are_parents():
    history = ArtificialClassifiers(rich_space()).history(40)
    history = history.with_goal(Goal())
    strategy, observations = started(history, population_size=12, n_members=3)
    best = 28 + np.argsort([trial.loss for trial in history[-12:]], kind="stable")[:3]
    assert {strategy._parent(observations) for _ in range(100)} == set(best.tolist())


def test_a_mutant_differs_from_its_parent_in_one_choice(monkeypatch):
    space = rich_space()
    history = ArtificialClassifiers(space).history(20)
    strategy, observations = started(history, population_size=10)
    monkeypatch.setattr(strategy, "_parent", lambda observations: 3)
    for _ in range(20):
        mutant = space.encode([strategy.ask(history).configuration])[0]
        parent = observations.vectors[3]
        steps = (mutant[:3] != parent[:3]).sum()
        both = ~np.isnan(mutant) & ~np.isnan(parent)
        assert steps == 1 or (steps == 0 and (mutant[both] != parent[both]).sum() == 1)


def test_the_search_begins_at_random():
    space = rich_space()
    strategy = EnsembleEvolution(population_size=4).start(space, np.random.default_rng(0))
    history = ArtificialClassifiers(space).history(3)
    assert strategy.ask(history).origin == "random"
    strategy.start(space, np.random.default_rng(0))
    assert strategy.ask(History()).origin == "random"
    history = ArtificialClassifiers(space).history(4)
    strategy.start(space, np.random.default_rng(0))
    assert strategy.ask(history).origin == "mutation"


@pytest.mark.parametrize("name", ["population_size", "n_members"])
def test_wrong_settings_are_named(name):
    with pytest.raises(ValueError, match=f"'{name}' of EnsembleEvolution must be an integer"):
        EnsembleEvolution(**{name: 0}).start(rich_space(), np.random.default_rng(0))
