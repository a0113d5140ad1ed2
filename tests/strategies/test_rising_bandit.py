"""The rising bandit: rounds, bounds, and what is dropped."""

import numpy as np
import pytest

from skauto.history import History
from skauto.space import Real, SearchSpace
from skauto.strategies import RandomSearch, RisingBandit
from skauto.strategies._rising_bandit import best_by_action, lower_bound, survivors
from tests.strategies.search_loop import drive


def arms_space():
    space = SearchSpace(["scaler", "classifier"], name="arms")
    space.add("scaler", "none").add("scaler", "standard")
    for name in ("good", "fair", "bad"):
        space.add("classifier", name, parameters={"x": Real(0, 1)})
    return space.forbid({"scaler": "standard"}, {"classifier": "bad"})


def search(n_trials, evaluate, **settings):
    history = History(max_evals=n_trials)
    strategy = RisingBandit(strategy=RandomSearch(), **settings)
    drive(strategy, arms_space(), evaluate, n_trials, history=history)
    strategy.stop()
    return history, strategy


def plateaus(_, configuration):
    """Losses that do not fall within an arm: the slopes are zero."""
    levels = {"good": 0.1, "fair": 0.2, "bad": 0.3}
    return {"losses": (levels[configuration["classifier"]],)}


def test_an_arm_is_pulled_several_times_in_a_row():
    history, _ = search(12, lambda n, c: {"losses": (1.0 / (n + 1),)}, n_pulls=2)
    names = [trial.configuration["classifier"] for trial in history]
    assert names == 2 * ["good", "good", "fair", "fair", "bad", "bad"]


def test_arms_that_cannot_win_are_dropped_after_alpha_actions():
    history, strategy = search(30, plateaus, alpha=2, n_pulls=3)
    assert strategy.survivors_ == ["good"]
    names = [trial.configuration["classifier"] for trial in history]
    assert names == 2 * (["good"] * 3 + ["fair"] * 3 + ["bad"] * 3) + ["good"] * 12


def test_arms_that_may_still_win_stay():
    falling = {"good": 0.0, "fair": 0.01, "bad": 0.0}
    counts = dict.fromkeys(falling, 0)

    def evaluate(_, configuration):
        name = configuration["classifier"]
        counts[name] += 1
        level = {"good": 0.1, "fair": 0.3, "bad": 0.3}[name]
        return {"losses": (level - falling[name] * counts[name],)}

    search(60, evaluate, n_pulls=2)
    assert counts["bad"] == 6
    assert counts["fair"] > 6


def test_equal_arms_are_dropped_slowly():
    """Of eleven equal arms all stay for two rounds, then fewer and fewer."""
    kept = np.zeros(4)
    for seed in range(200):
        losses = np.random.default_rng(seed).random((11, 20))
        alive = np.arange(11)
        for action in range(4):
            curves = [best_by_action(losses[arm, : 5 * action + 5], 5) for arm in alive]
            n_left = (250 - 55 * (action + 1)) / 5
            alive = alive[survivors(curves, 3, n_left)]
            kept[action] += len(alive)
    kept /= 200
    np.testing.assert_array_equal(kept[:2], 11)
    assert 4 < kept[2] < 10 and kept[3] < kept[2]


def test_best_by_action():
    losses = np.array([0.9, 0.5, 0.7, 0.4, 0.6, 0.3, 0.8])
    np.testing.assert_array_equal(best_by_action(losses, 3), [0.5, 0.3, 0.3])
    np.testing.assert_array_equal(best_by_action(losses[:6], 3), [0.5, 0.3])
    assert best_by_action(np.empty(0), 3).shape == (0,)


def test_an_arm_that_only_fails_is_dropped():
    def evaluate(_, configuration):
        if configuration["classifier"] == "good":
            return {"status": "failed", "losses": (np.inf,)}
        return {"losses": (0.5,)}

    history, strategy = search(30, evaluate, alpha=2, n_pulls=3)
    assert strategy.survivors_ == ["fair", "bad"]
    assert sum(not trial.ok for trial in history) == 6


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        ([], -np.inf),
        ([0.9, 0.8], -np.inf),  # too few to tell
        ([0.9, 0.8, 0.7, 0.6], 0.6 - 0.2 / 3 * 10),
        ([0.9, 0.6, 0.6, 0.6], 0.6),
        ([np.inf, 0.6, 0.6], -np.inf),
        ([np.inf] * 3, np.inf),
    ],
)
def test_the_bound(curve, expected):
    assert lower_bound(np.array(curve), 3, 10) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["alpha", "n_pulls"])
def test_wrong_settings_are_named(name):
    with pytest.raises(ValueError, match=f"'{name}' of RisingBandit must be an integer"):
        RisingBandit(**{name: 0}).start(arms_space(), np.random.default_rng(0))
