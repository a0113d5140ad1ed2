"""FLASH: its three phases, and what it says about the algorithms."""

from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge

from skauto.acquisition import log_expected_improvement_per_second
from skauto.history import Goal, History
from skauto.space import Real, SearchSpace
from skauto.strategies import FLASH, TPE, ForestBO, RandomSearch
from skauto.strategies._dimensions import structure_inputs
from skauto.strategies._flash import _log_cost
from skauto.surrogates import LinearModel
from tests.strategies.search_loop import drive, rich_space, single_space

# What each algorithm adds to the loss and to the seconds of additive_space().
LOSS = {"a0": 0.1, "a1": 0.0, "a2": 0.2, "b0": 0.05, "b1": 0.3, "b2": 0.0, "b3": 0.25}
SECONDS = {"a0": 1.0, "a1": 2.0, "a2": 9.0, "b0": 3.0, "b1": 1.0, "b2": 2.0, "b3": 1.0}


def additive_space():
    """Three algorithms, then one without a choice, then four: 12 structures."""
    space = SearchSpace(["a", "fixed", "b"]).add("fixed", "only")
    for name in LOSS:
        space.add(name[0], name, parameters={"x": Real(0, 1)})
    return space


def additive(_, configuration):
    names = [name for _, name in configuration.components if name in LOSS]
    noise = 0.01 * configuration.parameters("a")["x"]
    return {
        "losses": (0.2 + sum(LOSS[name] for name in names) + noise,),
        "cost": sum(SECONDS[name] for name in names),
    }


def kept(strategy, space, evaluate, max_evals):
    """Algorithms kept by a search of `max_evals` trials, which ends when they are known."""
    history = History(max_evals=max_evals)
    drive(strategy, space, evaluate, strategy.n_init + 1, history=history)
    return strategy.kept_


def test_phases_come_in_their_order():
    strategy = FLASH(n_init=7, n_prune=5, r=2, fine_tuner="tpe")
    history = drive(strategy, additive_space(), additive, 48)
    origins = [trial.origin for trial in history]
    assert origins[:12] == ["design"] * 7 + ["eips"] * 5
    assert not {"design", "eips"} & set(origins[12:])


def test_the_first_phase_tells_all_algorithms_apart():
    space = additive_space()
    history = drive(FLASH(n_init=6), space, additive, 6, history=History(max_evals=40))
    paths = space.one_hot_structures(space.encode([t.configuration for t in history[:6]]))
    assert np.linalg.matrix_rank(paths) == 6  # N - K + 1 of the two steps with a choice


@pytest.mark.parametrize("hyperparameters", ["default", "random"])
def test_hyperparameters_of_the_first_two_phases(hyperparameters):
    """The first trial of a structure has its defaults, a repeated one and the paper's do not."""
    space = additive_space()
    strategy = FLASH(n_init=8, n_prune=12, hyperparameters=hyperparameters)
    history = drive(strategy, space, additive, 20, history=History(max_evals=80))
    seen, first = set(), []
    for trial in history[1:]:  # the default configuration comes first
        structure = trial.configuration.structure
        is_default = trial.configuration == space.default(structure)
        assert not (is_default and structure in seen)
        if structure not in seen and structure != history[0].configuration.structure:
            first.append(is_default)
        seen.add(structure)
    assert len(first) > 5
    assert all(first) if hyperparameters == "default" else not any(first)


def test_the_first_phase_builds_on_what_is_known():
    space = additive_space()
    history = drive(FLASH(n_init=1), space, additive, 1)
    history = history.with_goal(Goal(max_evals=40))
    drive(FLASH(n_init=3), space, additive, 3, history=history)
    paths = space.one_hot_structures(space.encode([t.configuration for t in history]))
    assert len(history) == 3
    assert np.linalg.matrix_rank(paths) == 3


def test_the_second_phase_is_not_shortened_by_what_is_known():
    space = additive_space()
    history = drive(RandomSearch(), space, additive, 10)
    history = history.with_goal(Goal(max_evals=60))
    drive(FLASH(n_init=4, n_prune=5, fine_tuner="tpe"), space, additive, 20, history=history)
    origins = [trial.origin for trial in history[10:]]
    assert origins.count("eips") == 5
    assert origins[:5] == ["eips"] * 5


def test_the_third_phase_keeps_what_is_good():
    strategy, history = FLASH(n_init=10, n_prune=6, r=2), History(max_evals=64)
    drive(strategy, additive_space(), additive, 32, history=history)
    assert "a1" in strategy.kept_["a"]
    assert "b2" in strategy.kept_["b"]
    assert strategy.kept_["fixed"] == ["only"]
    for trial in history[16:]:
        assert trial.configuration["a"] in strategy.kept_["a"]
        assert trial.configuration["b"] in strategy.kept_["b"]


def test_effects_are_those_of_the_algorithms():
    strategy = FLASH(n_init=100, n_prune=0, alpha=1e-6)
    history = History(max_evals=400)
    drive(strategy, additive_space(), additive, 100, history=history)
    strategy.stop()
    effects = strategy.effects_
    assert sorted(effects["algorithm"]) == sorted(LOSS)
    assert set(effects["step"]) == {"a", "b"}
    assert sum(effects["n_trials"]) == 200  # the first phase, two steps
    for truth, column, tolerance in ((LOSS, "loss", 0.01), (SECONDS, "seconds", 1e-3)):
        found = dict(zip(effects["algorithm"], effects[column], strict=True))
        for step in "ab":
            own = [name for name in LOSS if name.startswith(step)]
            for name in own[1:]:  # differences within a step are what is determined
                expected = truth[name] - truth[own[0]]
                assert found[name] - found[own[0]] == pytest.approx(expected, abs=tolerance)
            weights = np.array(effects["n_trials"])[np.array(effects["step"]) == step]
            mean = np.dot(weights, [found[name] for name in own])
            assert mean == pytest.approx(0.0, abs=1e-6)  # an average trial has no effect


def test_a_fast_failure_is_not_the_unit_of_cost():
    costs = np.array([0.5, 3.0, 20.0])
    expected = _log_cost(costs, np.ones(3, dtype=bool))
    with_failure = _log_cost(np.append(costs, 5e-4), np.array([True, True, True, False]))
    np.testing.assert_array_equal(with_failure[:3], expected)
    assert with_failure[3] == expected[0]
    np.testing.assert_allclose(expected, np.log(1 + costs / 0.5))


def algorithms_only(*names):
    space = SearchSpace(["only"])
    for name in names:
        space.add("only", name, parameters={"x": Real(0, 1)})
    return space


@pytest.mark.parametrize("second", [1.0, 1e-3])
def test_a_costly_structure_must_be_better(second):
    """Two structures of the same loss: the cheaper one stays."""

    def evaluate(number, configuration):
        loss = {"best": 0.2, "cheap": 0.3, "dear": 0.3, "poor": 0.9}[configuration["only"]]
        noise = 0.02 * (-1) ** number
        seconds = 100 if configuration["only"] == "dear" else 1
        return {"losses": (loss + noise,), "cost": seconds * second}

    space = algorithms_only("best", "cheap", "dear", "poor")
    strategy = FLASH(n_init=16, n_prune=0, r=2)
    assert kept(strategy, space, evaluate, 80)["only"] == ["best", "cheap"]


@pytest.mark.parametrize(("acquisition", "second_best"), [("eips", "cheap"), ("ei", "dear")])
def test_only_the_improvement_per_second_knows_the_cost(acquisition, second_best):
    def evaluate(number, configuration):
        loss = {"best": 0.2, "cheap": 0.3, "dear": 0.28, "poor": 0.9}[configuration["only"]]
        seconds = 100 if configuration["only"] == "dear" else 1
        return {"losses": (loss + 0.01 * (number // 4 % 2),), "cost": seconds}

    strategy = FLASH(n_init=16, n_prune=0, r=2, acquisition=acquisition)
    space = algorithms_only("best", "cheap", "dear", "poor")
    assert sorted(kept(strategy, space, evaluate, 80)["only"]) == ["best", second_best]


@pytest.mark.parametrize("second", [10.0, 1e-3])
def test_a_little_better_is_worth_some_seconds_whatever_their_unit(second):
    """One algorithm is much better than what costs a hundredth; a lucky trial beats both."""

    def evaluate(number, configuration):
        loss = {"lucky": 0.6, "good": 0.1, "cheap": 0.3}[configuration["only"]]
        noise = 0.09 * (-1) ** number
        seconds = 100 if configuration["only"] == "good" else 1
        return {"losses": (loss + noise if number else 0.0,), "cost": seconds * second}

    strategy, space = FLASH(n_init=12, n_prune=0, r=1), algorithms_only("lucky", "good", "cheap")
    assert "good" in kept(strategy, space, evaluate, 60)["only"]


def test_the_structure_of_the_best_trial_stays():
    """Poor on average, but the best trial of all had it."""

    def evaluate(number, configuration):
        loss = 0.9 if configuration["only"] == "moody" else 0.5
        return {"losses": (0.01 if number == 0 else loss,), "cost": 1.0}

    space = algorithms_only("moody", "b", "c")  # the default is moody
    found = kept(FLASH(n_init=9, n_prune=0, r=1), space, evaluate, 40)["only"]
    assert "moody" in found
    assert len(found) == 2


def test_the_structure_of_the_best_trial_goes_with_the_settings_of_the_paper():
    def evaluate(number, configuration):
        loss = 0.9 if configuration["only"] == "moody" else 0.5
        return {"losses": (0.01 if number == 0 else loss,), "cost": 1.0}

    space = algorithms_only("moody", "b", "c")
    strategy = FLASH(n_init=9, n_prune=0, r=1, keep_best=False)
    assert len(kept(strategy, space, evaluate, 40)["only"]) == 1


def test_the_default_is_tried_first_and_a_random_structure_in_the_paper():
    space, firsts = additive_space(), {"default": set(), "random": set()}
    for hyperparameters, seed in product(firsts, range(6)):
        strategy, history = FLASH(hyperparameters=hyperparameters), History(max_evals=40)
        drive(strategy, space, additive, 1, history=history, seed=seed)
        firsts[hyperparameters].add(history[0].configuration)
    assert firsts["default"] == {space.default()}
    assert len({configuration.structure for configuration in firsts["random"]}) > 2


@pytest.mark.parametrize(("star", "origin"), [(False, "log_ei"), (True, "tpe")])
def test_the_phases_of_the_paper_have_thirty_trials_in_a_short_search(star, origin):
    strategy = FLASH.paper(star=star)
    history = drive(strategy, additive_space(), additive, 72)
    origins = [trial.origin for trial in history]
    assert origins[:60] == ["design"] * 30 + ["eips"] * 30
    assert origin in origins[60:]
    assert "initial" not in origins  # the fine tuner begins with the trials of the pruned space
    assert all(len(names) <= 10 for names in strategy.kept_.values())


def test_the_third_phase_has_all_combinations_of_the_kept_algorithms():
    strategy = FLASH.paper().set_params(n_init=10, n_prune=0, fine_tuner=RandomSearch())
    history = drive(strategy.set_params(r=3), additive_space(), additive, 120)
    tuned = {trial.configuration.structure for trial in history[10:]}
    assert len(tuned) > 3
    assert tuned == set(product(*strategy.kept_.values()))


def eips(history, n, paths, xi):
    """Log expected improvement per second of paths (Eq. 4) by the first n trials, as printed."""
    space, trials = additive_space(), history[:n]
    X = structure_inputs(space, space.encode([trial.configuration for trial in trials]))
    losses, costs = (np.array([getattr(t, name) for t in trials]) for name in ("loss", "cost"))
    mean, std = LinearModel().fit(X, losses).predict(paths)
    seconds = Ridge().fit(X, np.log(1 + costs / costs.min())).predict(paths)
    return log_expected_improvement_per_second(mean, std, losses.min(), seconds, xi=xi)


def test_paths_of_the_largest_improvement_per_second_are_evaluated_and_kept():
    space, strategy = additive_space(), FLASH.paper().set_params(n_init=8, n_prune=12, r=2)
    history = drive(strategy, space, additive, 21)
    paths = structure_inputs(space, space.structures)
    for n in range(8, 20):
        scores = eips(history, n, paths, xi=1.0)  # 100 percent
        row = space.encode([history[n].configuration])
        own = eips(history, n, structure_inputs(space, row), xi=1.0)
        assert own[0] == pytest.approx(scores.max())
    best = space.structures[eips(history, 20, paths, xi=0.0).argsort()[-2:]]
    names = [{space.components(s)[j].name for j in best[:, i]} for i, s in enumerate(space.steps)]
    assert [set(kept) for kept in strategy.kept_.values()] == names


def test_paths_of_a_large_space_are_sampled(monkeypatch):
    monkeypatch.setattr("skauto.strategies._flash._MAX_PATHS", 5)
    strategy = FLASH.paper()
    history = drive(strategy, additive_space(), additive, 60)
    assert len({trial.configuration.structure for trial in history}) <= 5


def test_flash_star_is_tuned_by_the_split_of_hyperopt():
    tuners = [FLASH.paper(star=star).fine_tuner for star in (False, True)]
    assert [type(tuner) for tuner in tuners] == [ForestBO, TPE]
    assert (tuners[1].gamma, tuners[1].split) == (0.25, "sqrt")


def test_the_phases_take_at_most_a_quarter_of_the_trials_each():
    history = drive(FLASH(), additive_space(), additive, 12)
    origins = [trial.origin for trial in history]
    assert origins.count("design") == origins.count("eips") == 3


def test_the_phases_take_at_most_a_quarter_of_the_time_each():
    def a_second_each(number, configuration):
        return additive(number, configuration) | {"ended": number + 1.0}

    history = History(["loss"], time_limit=12.0)
    drive(FLASH(), additive_space(), a_second_each, 12, history=history)
    origins = [trial.origin for trial in history]
    assert origins[:7] == ["design"] * 4 + ["eips"] * 3  # proposed until 3 and until 6 seconds
    assert not {"design", "eips"} & set(origins[7:])


def test_the_share_of_a_phase_bounds_its_trials_and_its_time():
    def a_second_each(number, configuration):
        return additive(number, configuration) | {"ended": number + 1.0}

    strategy = FLASH(phase_share=0.5)
    history = drive(strategy, additive_space(), additive, 12)
    assert [trial.origin for trial in history] == ["design"] * 6 + ["eips"] * 6
    history = History(["loss"], time_limit=8.0)
    drive(strategy, additive_space(), a_second_each, 8, history=history)
    assert [trial.origin for trial in history] == ["design"] * 5 + ["eips"] * 3


def test_any_strategy_can_tune():
    strategy = clone(FLASH(n_init=2, n_prune=1, fine_tuner=TPE(n_initial=3)))
    assert strategy.get_params()["fine_tuner__n_initial"] == 3
    history = drive(strategy, rich_space(), lambda *_: {"losses": (0.5,)}, 40)
    assert "tpe" in {trial.origin for trial in history}


def test_a_space_without_a_choice_is_survived():
    strategy = FLASH()
    history = drive(strategy, single_space(), lambda *_: {"losses": (0.5,)}, 10)
    strategy.stop()
    assert len(history) == 1
    assert strategy.effects_["algorithm"] == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_init": 0}, "'n_init' of FLASH must be an integer of at least 1"),
        ({"r": None}, "'r' of FLASH must be an integer of at least 1"),
        ({"phase_share": 1.5}, "'phase_share' of FLASH must be a number between 0.0 and 1.0"),
        ({"acquisition": "pi"}, "'acquisition' of FLASH must be one of"),
        ({"alpha": 0.0}, "'alpha' of FLASH must be a positive number"),
        ({"fine_tuner": "smac"}, "'fine_tuner' of FLASH must be one of"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        FLASH(**settings).start(rich_space(), np.random.default_rng(0))
