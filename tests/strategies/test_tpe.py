"""TPE: its density against brute force over a small space, and where it goes."""

import numpy as np
import pytest
from scipy.stats import truncnorm

from skauto.history import History, Trial
from skauto.space import Real, SearchSpace
from skauto.strategies import TPE
from skauto.strategies._parzen import ParzenEstimator
from tests.strategies.search_loop import as_measured, drive, rich_space, small_space


def discrete_space():
    space = SearchSpace(["scaler", "classifier"])
    space.add("scaler", "none").add("scaler", "power", parameters={"method": ["a", "b", "c"]})
    return space.add("classifier", "knn", parameters={"k": [1, 3]}).add("classifier", "bayes")


def distinct(vectors):
    """Different rows and their counts; for numpy, rows with NaN differ from each other."""
    rows, counts = np.unique(np.nan_to_num(vectors, nan=-1.0), axis=0, return_counts=True)
    return np.where(rows < 0, np.nan, rows), counts


def all_vectors(space):
    return distinct(space.sample(5000, np.random.default_rng(0)))[0]


@pytest.mark.parametrize("n", [0, 1, 6])
def test_density_sums_to_one(n):
    space = discrete_space()
    observed = space.sample(n, np.random.default_rng(1))
    estimator = ParzenEstimator(space, observed)
    everything = all_vectors(space)
    assert len(everything) == (1 + 3) * (2 + 1)
    np.testing.assert_allclose(np.exp(estimator.log_density(everything)).sum(), 1.0)


def test_draws_follow_the_density():
    space = discrete_space()
    observed = space.sample(4, np.random.default_rng(1))
    estimator = ParzenEstimator(space, observed)
    drawn = estimator.sample(40_000, np.random.default_rng(2))
    vectors, counts = distinct(drawn)
    density = np.exp(estimator.log_density(vectors))
    np.testing.assert_allclose(counts / counts.sum(), density, atol=0.01)


def test_numeric_kernels_are_truncated_normal_distributions():
    space = SearchSpace(["only"]).add("only", "one", parameters={"x": Real(0, 1)})
    observed = np.array([[0.0, 0.1], [0.0, 0.8]])
    estimator = ParzenEstimator(space, observed)
    x = np.linspace(0, 1, 11)
    s = estimator.bandwidth
    kernels = [truncnorm.pdf(x, -c / s, (1 - c) / s, c, s) for c in (0.1, 0.8)]
    expected = (kernels[0] + kernels[1] + 1.0) / 3
    vectors = np.column_stack([np.zeros(11), x])
    np.testing.assert_allclose(np.exp(estimator.log_density(vectors)), expected)


def test_draws_are_legal_and_complete():
    space = rich_space()  # with a forbidden pair and conditions
    observed = space.sample(10, np.random.default_rng(0))
    drawn = ParzenEstimator(space, observed).sample(500, np.random.default_rng(1))
    for vector in drawn:
        configuration = space.decode(vector)
        space.validate(configuration)
        np.testing.assert_array_equal(space.encode([configuration])[0], vector)


def test_proposals_crowd_around_the_best():
    space = SearchSpace(["only"]).add("only", "one", parameters={"x": Real(0, 1)})
    history = drive(
        TPE(),
        space,
        lambda _, c: {"losses": (abs(c.parameters("only")["x"] - 0.3),)},
        60,
    )
    late = [trial.configuration.parameters("only")["x"] for trial in history[40:]]
    assert np.median(np.abs(np.array(late) - 0.3)) < 0.1


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (TPE(), [1, 1, 2, 10, 25]),  # a tenth, at most 25
        (TPE(gamma=0.25, split="sqrt"), [1, 1, 2, 3, 8]),  # a quarter of the square root
    ],
)
def test_number_of_the_best_trials(strategy, expected):
    assert [strategy._n_best(n) for n in (1, 10, 20, 100, 1000)] == expected


def test_the_split_decides_the_proposals():
    space = SearchSpace(["only"]).add("only", "one", parameters={"x": Real(0, 1)})
    history = drive(TPE(n_initial=100), space, as_measured(lambda _: 0.5), 100)
    one, other = (
        TPE(gamma=0.25, split=split).start(space, np.random.default_rng(0)).ask(history)
        for split in ("linear", "sqrt")
    )
    assert one.configuration != other.configuration


def test_failures_are_among_the_others():
    space = small_space()
    history = History()
    for number, vector in enumerate(all_vectors(space)[:3]):
        fields = {"losses": (0.5,)} if number == 0 else {"status": "failed", "losses": (np.inf,)}
        history.append(Trial(number=number, configuration=space.decode(vector), **fields))
    proposal = TPE(n_initial=1).start(space, np.random.default_rng(0)).ask(history)
    assert proposal.origin in ("tpe", "random")


def test_the_design_takes_at_most_a_quarter_of_the_trials():
    space = rich_space()
    history = drive(TPE(), space, as_measured(lambda _: 0.5), 20)
    assert [trial.origin for trial in history].count("initial") == 5
    assert history[0].configuration == space.default()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_initial": -1}, "'n_initial' of TPE must be an integer of at least 0"),
        ({"n_candidates": 0}, "'n_candidates' of TPE must be an integer of at least 1"),
        ({"gamma": 1.5}, "'gamma' of TPE must be a number between 0.0 and 1.0"),
        ({"split": "cubic"}, "'split' of TPE must be one of"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        TPE(**settings).start(small_space(), np.random.default_rng(0))
