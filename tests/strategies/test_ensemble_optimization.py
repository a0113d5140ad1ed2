"""Ensemble optimization: the places, and what the trials are worth in one of them."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from skauto.history import History, Proposal, Trial
from skauto.selection._candidates import candidate_pool
from skauto.strategies import EnsembleOptimization
from tests.strategies.ensemble_search import ArtificialClassifiers
from tests.strategies.search_loop import as_measured, drive, rich_space


def started(history, **settings):
    settings = {"n_members": 3, "n_candidates": 50} | settings
    strategy = EnsembleOptimization(**settings).start(rich_space(), np.random.default_rng(0))
    strategy.ask(history)
    return strategy


def error(history, numbers):
    mean = np.mean([history[n].predictions.astype(float) for n in numbers], axis=0)
    return np.mean(mean.argmax(axis=1) != history.goal.targets)


def test_trials_are_worth_the_loss_of_the_ensemble_with_them():
    history = ArtificialClassifiers(rich_space()).history(10)
    strategy = started(history)
    strategy._positions = [4, 7, None]
    observations = strategy.observations(history)
    for place, others in ((0, [7]), (1, [4]), (2, [4, 7])):
        values = strategy._targets(observations, place)
        expected = [error(history, [*others, n]) for n in range(10)]
        np.testing.assert_allclose(values, expected)


def test_the_best_candidate_takes_the_place():
    classifiers = ArtificialClassifiers(rich_space())
    history = History(targets=classifiers.targets)
    strategy = EnsembleOptimization(n_members=3, n_candidates=50)
    drive(strategy, rich_space(), lambda _, c: classifiers(c), 20, history=history)
    members = strategy.members_
    assert len(members) == 3
    # the last place was filled when the last proposal was asked for, 19 trials being known
    filled = (19 - 5 - 1) % 3
    others = [number for place, number in enumerate(members) if place != filled]
    known = history[:19]
    pool = candidate_pool(
        [trial.loss for trial in known], [trial.configuration["classifier"] for trial in known]
    )
    losses = [error(history, [*others, n]) for n in pool]
    assert members[filled] == pool[int(np.argmin(losses))]


def test_a_position_keeps_its_member_until_its_trial_is_complete():
    classifiers = ArtificialClassifiers(rich_space())
    history = classifiers.history(10)
    strategy = started(history)
    first = Proposal(rich_space().default(), info={"position": 0})
    strategy.ask(history, [first])
    assert strategy._positions == [None, None, None]
    outcome = classifiers(first.configuration)
    history.append(Trial(number=10, configuration=first.configuration, info=first.info, **outcome))
    strategy.ask(history)
    filled, *others = strategy._positions
    assert filled is not None and others == [None, None]


def test_what_is_pending_is_believed_by_the_surrogate():
    class Noting(BaseEstimator):
        n_fitted = []

        def fit(self, X, y, rng):
            self.n_fitted.append(len(X))
            return self

        def predict(self, X):
            return X.sum(axis=1), np.ones(len(X))

    space = rich_space()
    history = ArtificialClassifiers(space).history(10)
    strategy = EnsembleOptimization(n_members=3, n_candidates=50, surrogate=Noting())
    strategy.start(space, np.random.default_rng(0))
    strategy.ask(history, [Proposal(space.decode(space.sample(1, strategy.rng)[0]))])
    assert Noting.n_fitted == [10, 11]


def test_trials_without_predictions_are_worth_their_loss():
    space = rich_space()
    history = drive(EnsembleOptimization(n_candidates=50), space, as_measured(lambda c: 0.5), 8)
    strategy = started(history)
    values = strategy._targets(strategy.observations(history), 0)
    np.testing.assert_array_equal(values, [trial.loss for trial in history])
    assert strategy.members_ == []


@pytest.mark.parametrize("name", ["n_members", "n_initial", "n_candidates"])
def test_wrong_settings_are_named(name):
    with pytest.raises(ValueError, match=f"'{name}' of EnsembleOptimization must be an integer"):
        EnsembleOptimization(**{name: 0}).start(rich_space(), np.random.default_rng(0))
