"""SMAC-style Bayesian optimization, part by part."""

import itertools

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from skauto.acquisition import log_expected_improvement
from skauto.history import History, Proposal, Trial
from skauto.objectives import make_artificial_objective, make_artificial_space
from skauto.space import SearchSpace
from skauto.strategies import ForestBO
from tests.strategies.search_loop import as_measured, drive, rich_space

FITS = []


class Known(BaseEstimator):
    """A surrogate that knows what it has to predict; it notes what it is fitted to."""

    def fit(self, X, y, rng):
        FITS.append((X.copy(), y.copy()))
        self.y_ = y
        return self

    def predict(self, X):
        weights = np.random.default_rng(5).integers(1, 1000, size=X.shape[1])
        score = (X @ weights) % 7
        return score, 1 + (X @ weights[::-1]) % 3


@pytest.fixture(autouse=True)
def no_fits():
    FITS.clear()


def grid():
    space = SearchSpace(["a", "b"])
    for step, name in itertools.product("ab", ("one", "two")):
        space.add(step, name, parameters={"p": [1, 2, 3], "q": [1, 2, 3]})
    return space


def history_of(space, configurations, losses, **fields):
    history = History()
    for configuration, loss in zip(configurations, losses, strict=True):
        history.append(
            Trial(number=len(history), configuration=configuration, losses=(loss,), **fields)
        )
    return history


def drawn(space, n):
    """Different configurations among n random ones."""
    vectors = space.sample(n, np.random.default_rng(0))
    return list(dict.fromkeys(map(space.decode, vectors)))


@pytest.fixture(scope="module")
def everything():
    """All configurations of the grid."""
    configurations = drawn(grid(), 5000)
    assert len(configurations) == 18 * 18
    return configurations


def greedy(**settings):
    """Without design and without random proposals."""
    return ForestBO(n_initial=0, random_fraction=0.0, **settings)


@pytest.mark.parametrize("transform", [None, "log", "rank"])
def test_proposes_the_largest_expected_improvement(everything, transform):
    space, configurations = grid(), everything
    history = history_of(space, configurations[:30], np.linspace(0.1, 3.0, 30))
    strategy = greedy(surrogate=Known(), transform=transform)
    strategy.start(space, np.random.default_rng(1))
    proposal = strategy.ask(history, [Proposal(configurations[30])])
    X = space.fill_inactive(space.encode(configurations[31:]))
    improvement = log_expected_improvement(*Known().predict(X), FITS[0][1].min())
    chosen = improvement[configurations[31:].index(proposal.configuration)]
    assert chosen == pytest.approx(improvement.max())
    assert proposal.origin == "log_ei"


class Nearest(BaseEstimator):
    """A surrogate that repeats the nearest observation, everywhere equally unsure."""

    def fit(self, X, y, rng):
        self.X_, self.y_ = X, y
        return self

    def predict(self, X):
        nearest = ((X[:, None] - self.X_) ** 2).sum(axis=2).argmin(axis=1)
        return self.y_[nearest], np.full(len(X), 0.5)


def test_expensive_configurations_are_put_off_per_second(everything):
    space, configurations = grid(), everything
    rng = np.random.default_rng(0)
    losses, costs = rng.random(30), 10 ** rng.uniform(-2, 3, size=30)
    history = History()
    for number, (loss, cost) in enumerate(zip(losses, costs, strict=True)):
        history.append(
            Trial(number=number, configuration=configurations[number], losses=(loss,), cost=cost)
        )
    strategy = greedy(surrogate=Nearest(), acquisition="eips", transform=None)
    proposal = strategy.start(space, rng).ask(history)
    X = space.fill_inactive(space.encode(configurations))
    mean, std = Nearest().fit(X[:30], losses, rng).predict(X[30:])
    log_seconds, _ = Nearest().fit(X[:30], np.log(1 + costs), rng).predict(X[30:])
    rate = np.exp(log_expected_improvement(mean, std, losses.min())) / log_seconds
    chosen = configurations[30:].index(proposal.configuration)
    assert rate[chosen] == pytest.approx(rate.max())


class Hopeless(Nearest):
    """Sure that nothing is as good as the best of the losses, which are below 1."""

    def predict(self, X):
        mean, _ = super().predict(X)
        if self.y_.max() < 1:  # the losses
            return 10.0 + mean, np.full(len(X), 0.1)
        return mean, np.full(len(X), 0.1)


def test_seconds_count_also_where_no_improvement_is_in_sight(everything):
    """Expected improvement is 0 everywhere; its logarithm per second still has an order."""
    space, configurations = grid(), everything
    rng = np.random.default_rng(0)
    losses, costs = np.full(30, 0.5), rng.uniform(2, 1000, size=30)
    history = History()
    for number, (loss, cost) in enumerate(zip(losses, costs, strict=True)):
        history.append(
            Trial(number=number, configuration=configurations[number], losses=(loss,), cost=cost)
        )
    strategy = greedy(surrogate=Hopeless(), acquisition="eips", transform=None)
    proposal = strategy.start(space, rng).ask(history)
    X = space.fill_inactive(space.encode(configurations))
    seconds, _ = Hopeless().fit(X[:30], np.log1p(costs), rng).predict(X[30:])
    chosen = configurations[30:].index(proposal.configuration)
    assert seconds[chosen] == pytest.approx(seconds.min())


def test_running_proposals_are_believed_at_their_predicted_mean(everything):
    space, configurations = grid(), everything
    history = history_of(space, configurations[:5], [5.0, 4.0, 3.0, 2.0, 1.0])
    strategy = greedy(surrogate=Known(), transform=None).start(space, np.random.default_rng(0))
    running = configurations[5:8]
    strategy.ask(history, [Proposal(c) for c in running])
    (_, before), (X, after) = FITS
    np.testing.assert_array_equal(before, [5, 4, 3, 2, 1])
    points = space.fill_inactive(space.encode(running))
    np.testing.assert_array_equal(X[5:], points)
    np.testing.assert_array_equal(after, [5, 4, 3, 2, 1, *Known().predict(points)[0]])


def test_failures_are_learned_at_the_worst_loss_and_are_never_the_best(everything):
    space, configurations = grid(), everything
    history = history_of(space, configurations[:3], [0.5, np.inf, 0.25])
    strategy = greedy(surrogate=Known(), transform=None).start(space, np.random.default_rng(0))
    strategy.ask(history)
    np.testing.assert_array_equal(FITS[0][1], [0.5, 0.5, 0.25])


def test_ranks_make_it_indifferent_to_the_scale_of_the_losses():
    space = rich_space()
    configurations = drawn(space, 30)[:20]
    losses = np.random.default_rng(0).random(20)
    proposals = [
        greedy()
        .start(space, np.random.default_rng(0))
        .ask(history_of(space, configurations, scaled))
        for scaled in (losses, np.exp(9 * losses), losses**9)
    ]
    assert len({proposal.configuration for proposal in proposals}) == 1


def origins(history):
    return [trial.origin for trial in history]


def test_design_is_the_default_and_random_configurations():
    space = rich_space()
    evaluate = as_measured(make_artificial_objective(space))
    settings = {"random_fraction": 0.0, "n_candidates": 100}
    history = drive(ForestBO(n_initial=4, **settings), space, evaluate, 20)
    assert history[0].configuration == space.default()
    assert origins(history) == ["initial"] * 4 + ["log_ei"] * 16
    short = drive(ForestBO(n_initial=10, **settings), space, evaluate, 12)
    assert origins(short) == ["initial"] * 3 + ["log_ei"] * 9


def test_what_others_tried_first_counts_as_design():
    space = rich_space()
    evaluate = as_measured(make_artificial_objective(space))
    configurations = [c for c in drawn(space, 30) if c != space.default()][:3]
    history = history_of(space, configurations, [0.5, 0.4, 0.3], origin="given")
    strategy = ForestBO(n_initial=5, random_fraction=0.0, n_candidates=100)
    drive(strategy, space, evaluate, 8, history=history)
    assert origins(history) == ["given"] * 3 + ["initial"] * 2 + ["log_ei"] * 3
    assert history[3].configuration == space.default()


def test_some_proposals_are_random():
    space = rich_space()
    evaluate = as_measured(make_artificial_objective(space))
    settings = {"n_initial": 2, "n_candidates": 20, "n_starts": 1}
    history = drive(ForestBO(random_fraction=0.5, **settings), space, evaluate, 80)
    assert 20 < origins(history).count("random") < 58
    history = drive(ForestBO(random_fraction=1.0, **settings), space, evaluate, 10)
    assert origins(history) == ["initial"] * 2 + ["random"] * 8


def test_converges_on_a_smooth_function():
    space = make_artificial_space(n_steps=1, n_algorithms=3, n_continuous=2, n_integers=0)

    def evaluate(number, configuration):
        name, values = configuration["step_0"], configuration.parameters("step_0")
        offset = {"algorithm_0": 0.3, "algorithm_1": 0.0, "algorithm_2": 0.5}[name]
        square = (values["real_0"] - 0.7) ** 2 + (values["real_1"] - 0.2) ** 2
        return {"losses": (offset + square,)}

    history = drive(ForestBO(n_candidates=500, n_starts=3), space, evaluate, 80)
    assert history.incumbent.configuration["step_0"] == "algorithm_1"
    assert history.incumbent.loss < 0.003
    chosen = [t for t in history[40:] if t.origin == "log_ei"]
    assert np.mean([t.configuration["step_0"] == "algorithm_1" for t in chosen]) > 0.6


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"acquisition": "pi"}, r"'acquisition' of ForestBO must be one of \['log_ei', .*'pi'"),
        ({"transform": "sqrt"}, r"'transform' of ForestBO must be one of .*'sqrt'"),
        (
            {"random_fraction": 1.5},
            r"'random_fraction' of ForestBO must be a number between .* Got 1\.5",
        ),
        (
            {"n_candidates": 0},
            r"'n_candidates' of ForestBO must be an integer of at least 1\. Got 0",
        ),
        ({"n_initial": -1}, r"'n_initial' of ForestBO must be an integer of at least 0\. Got -1"),
        ({"n_starts": 2.5}, r"'n_starts' of ForestBO must be an integer of at least 0\. Got 2\.5"),
    ],
)
def test_wrong_settings_are_explained(settings, message):
    with pytest.raises(ValueError, match=message):
        ForestBO(**settings).start(rich_space(), np.random.default_rng(0))
