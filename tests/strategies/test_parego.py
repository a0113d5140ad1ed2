"""Tests of ParEGO besides the contract."""

import numpy as np
import pytest
from sklearn.base import clone

from skauto.history import History
from skauto.strategies import Observations, ParEGO, RandomSearch
from skauto.surrogates import GaussianProcess
from skauto.utils._pareto import hypervolume
from tests.strategies.search_loop import (
    best_volume,
    coordinates,
    distances,
    drive,
    plane,
    rich_space,
    two_valleys,
)

QUICK = ParEGO(n_initial=6, n_candidates=300, n_starts=3, surrogate=GaussianProcess(n_restarts=0))


def observed(losses):
    losses = np.asarray(losses, dtype=float)
    n = len(losses)
    nothing = np.ones(n)
    return Observations((), np.zeros((n, 1)), losses, nothing.astype(bool), nothing)


def test_the_mixture_is_the_augmented_tchebycheff_function():
    # On a scale from 0 to 1 these are (0, 1), (1, 0) and (0.5, 0.5).
    observations = observed([[10.0, 4.0], [30.0, 2.0], [20.0, 3.0]])
    y = ParEGO(rho=0.1)._scalarized(observations, np.array([0.25, 0.75]))
    np.testing.assert_allclose(y, [0.75 + 0.1 * 0.75, 0.25 + 0.1 * 0.25, 0.375 + 0.1 * 0.5])


def test_an_objective_that_never_varies_does_no_harm():
    y = ParEGO(rho=0.0)._scalarized(observed([[1.0, 4.0], [3.0, 4.0]]), np.array([0.5, 0.5]))
    np.testing.assert_allclose(y, [0.0, 0.5])


@pytest.mark.parametrize(
    ("n_initial", "max_evals", "expected"), [(None, 100, 6), (4, 100, 4), (None, 8, 2)]
)
def test_the_design_is_random_and_as_long_as_it_says(n_initial, max_evals, expected):
    strategy = clone(QUICK).set_params(n_initial=n_initial)
    history = History(("a", "b"), max_evals=max_evals)
    drive(strategy, plane(), two_valleys, expected + 2, history=history)
    origins = [trial.origin for trial in history]
    assert origins == ["initial"] * expected + ["log_ei"] * 2


def test_the_front_of_two_valleys_is_found():
    volumes = []
    for strategy in (clone(QUICK), RandomSearch()):
        history = drive(strategy, plane(), two_valleys, 40, n_objectives=2)
        volumes.append(hypervolume(history.losses, [0.3, 0.3]))
    assert volumes[1] < volumes[0] < best_volume()
    assert best_volume() - volumes[0] < 0.5 * (best_volume() - volumes[1])


@pytest.mark.parametrize("n_objectives", [1, 3])
def test_any_number_of_objectives(n_objectives):
    def evaluate(number, configuration):
        return {"losses": distances(coordinates(configuration), n_objectives)}

    history = drive(clone(QUICK), plane(2), evaluate, 20, n_objectives=n_objectives)
    assert len(history) == 20
    assert len(history.front()) >= n_objectives
    if n_objectives == 1:
        assert history.incumbent.loss < 1e-3


def test_parallel_proposals_differ():
    strategy = clone(QUICK)
    history = drive(RandomSearch(), plane(), two_valleys, 15, n_objectives=2)
    strategy.start(plane(), np.random.default_rng(0))
    pending = []
    for _ in range(4):
        pending.append(strategy.ask(history, tuple(pending)))
    points = np.array([coordinates(proposal.configuration) for proposal in pending])
    distances = np.linalg.norm(points[:, None] - points, axis=-1)
    assert distances[np.triu_indices(4, 1)].min() > 0.01


def test_conditions_categories_and_structures_are_no_obstacle():
    def evaluate(number, configuration):
        complexity = sum(len(configuration.parameters(step)) for step in configuration.steps)
        return {"losses": (1.0 / (1 + complexity), complexity / 10)}

    history = drive(clone(QUICK), rich_space(), evaluate, 15, n_objectives=2)
    assert len(history) == 15
