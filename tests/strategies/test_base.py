"""What the base classes do for strategies."""

import numpy as np
import pytest

from skauto.history import History, Proposal, Trial
from skauto.space import Configuration, SearchSpace
from skauto.strategies import (
    STRATEGIES,
    ForestBO,
    GeneratorStrategy,
    RandomSearch,
    Strategy,
    get_strategy,
)
from tests.strategies.search_loop import rich_space, single_space, small_space


class Probe(Strategy):
    """Leaves its hook to the test."""

    def suggest(self, history, pending):
        return None


def started(space, strategy=None):
    return (strategy or Probe()).start(space, np.random.default_rng(0))


def add(history, configuration, **fields):
    history.append(Trial(number=len(history), configuration=configuration, **fields))


def configurations(space, n, seed=0):
    found = dict.fromkeys(map(space.decode, space.sample(10 * n, np.random.default_rng(seed))))
    return list(found)[:n]


def test_observations_put_failures_at_the_worst_measured_loss_of_each_objective():
    space = rich_space()
    history = History(["a", "b"])
    fields = [
        {"losses": (0.1, 5.0), "cost": 1.0},
        {"losses": (np.nan, 9.0), "cost": 2.0},
        {"losses": (0.7, 2.0)},
        {"losses": (np.inf, np.inf), "status": "timeout"},
        {"losses": (0.9, 1.0), "status": "stopped"},
        {"losses": (0.99, 0.99), "status": "failed"},
    ]
    for configuration, field in zip(configurations(space, 6), fields, strict=True):
        add(history, configuration, **field)
    observations = started(space).observations(history)
    expected = [[0.1, 5.0], [0.9, 5.0], [0.7, 2.0], [0.9, 5.0], [0.9, 1.0], [0.9, 5.0]]
    np.testing.assert_array_equal(observations.losses, expected)
    np.testing.assert_array_equal(observations.ok, [True, False, True, False, False, False])
    np.testing.assert_array_equal(observations.y, np.array(expected)[:, 0])
    np.testing.assert_array_equal(observations.costs, [1, 2, 0, 0, 0, 0])
    np.testing.assert_array_equal(
        observations.vectors, space.encode([trial.configuration for trial in history])
    )


def test_stopped_trials_are_corrected_by_the_effect_of_the_first_fold():
    space = rich_space()
    history = History()
    first, second, third, fourth, fifth = configurations(space, 5)
    # losses are 1 - score: the first fold is harder by 0.1 and by 0.3 than all folds on average
    add(history, first, losses=(0.3,), fold_scores={"accuracy": (0.6, 0.8)})
    add(history, second, losses=(0.4,), fold_scores={"accuracy": (0.3, np.nan, 0.9)})
    add(history, third, status="stopped", losses=(0.8,), fold_scores={"accuracy": (0.2,)})
    add(history, fourth, status="stopped", losses=(0.9,), fidelity=0.25)
    add(history, fifth, status="skipped")
    strategy = started(space)
    strategy.ask(history)
    observations = strategy.observations(history)
    np.testing.assert_allclose(observations.y, [0.3, 0.4, 0.6, 0.7])
    np.testing.assert_array_equal(observations.ok, [True, True, False, False])
    assert all(strategy.is_known(c) for c in (first, second, third, fourth, fifth))


def test_observations_without_a_success_are_ones():
    space = rich_space()
    history = History()
    add(history, space.default(), status="failed")
    observations = started(space).observations(history)
    assert observations.y.tolist() == [1.0] and not observations.ok.any()


def test_observations_of_an_empty_history():
    space = rich_space()
    observations = started(space).observations(History(["a", "b"]))
    assert len(observations) == 0
    assert observations.vectors.shape == (0, space.n_dimensions)
    assert observations.losses.shape == (0, 2)


def test_observations_are_of_one_fidelity_unless_asked_and_inside_the_space():
    space = rich_space()
    history = History()
    first, second, third = configurations(space, 3)
    add(history, first, losses=(0.3,))
    add(history, Configuration({"somewhere": "else"}), losses=(0.0,))
    add(history, second, losses=(0.2,), fidelity=0.5)
    add(history, third, losses=(0.1,))
    strategy = started(space)
    assert [t.number for t in strategy.observations(history).trials] == [0, 3]
    assert [t.number for t in strategy.observations(history, fidelity=0.5).trials] == [2]
    everything = strategy.observations(history, fidelity=None)
    assert [t.number for t in everything.trials] == [0, 2, 3]


def test_a_parent_space_s_trials_outside_of_the_subspace_are_passed_over():
    space = rich_space()
    inner = space.subspace({"classifier": ["svm"]})
    history = History()
    for configuration in configurations(space, 20):
        add(history, configuration, losses=(0.5,))
    observations = started(inner).observations(history)
    kept = [t for t in history if t.configuration["classifier"] == "svm"]
    assert list(observations.trials) == kept and 0 < len(kept) < 20


def test_each_trial_is_encoded_once(monkeypatch):
    space = rich_space()
    calls = []
    encode = SearchSpace.encode
    monkeypatch.setattr(SearchSpace, "encode", lambda s, c: calls.append(list(c)) or encode(s, c))
    strategy, history = started(space), History()
    for configuration in configurations(space, 10):
        add(history, configuration, losses=(0.5,))
        strategy.ask(history)
        strategy.observations(history)
        strategy.observations(history, fidelity=None)
    assert [c for call in calls for c in call] == [trial.configuration for trial in history]


def test_what_is_known_depends_on_the_fidelity():
    space = rich_space()
    strategy, history = started(space), History()
    cheap, running, unknown = configurations(space, 3)
    add(history, cheap, losses=(0.5,), fidelity=0.5)
    strategy.ask(history, [Proposal(running)])
    assert strategy.is_known(cheap, fidelity=0.5) and not strategy.is_known(cheap)
    assert strategy.is_known(running) and not strategy.is_known(running, fidelity=0.5)
    assert not strategy.is_known(unknown)
    assert strategy.trial_of(history, cheap, fidelity=0.5) is history[0]
    assert strategy.trial_of(history, cheap) is None
    assert strategy.trial_of(history, running) is None
    vectors = space.encode([running, running, unknown, cheap])
    assert strategy.first_new(vectors) == unknown
    assert strategy.first_new(vectors[:2]) is None
    assert strategy.are_new(vectors).tolist() == [False, False, True, True]
    assert strategy.are_new(vectors[[2, 2, 3]], fidelity=0.5).tolist() == [True, False, False]
    strategy.ask(history, ())
    assert not strategy.is_known(running)


def test_sample_new_exhausts_a_small_space():
    space = small_space()
    strategy, history = started(space), History()
    for _ in range(6):
        strategy.ask(history)
        add(history, strategy.sample_new(), losses=(0.5,))
    assert len({trial.configuration for trial in history}) == 6
    strategy.ask(history)
    assert strategy.sample_new() is None


def test_sample_new_keeps_to_the_structures_it_is_given():
    space = rich_space()
    strategy = started(space)
    structure = space.structures[:1]
    drawn = [strategy.sample_new(structure) for _ in range(10)]
    rows = space.encode(drawn)[:, : len(space.steps)]
    np.testing.assert_array_equal(rows, np.repeat(structure, 10, axis=0))


def test_stop_keeps_settings_and_records_and_start_drops_records():
    class Recording(Probe):
        def __init__(self, setting=1):
            self.setting = setting

        def _start(self):
            self.record_ = []
            self._private = object()

    strategy = started(rich_space(), Recording(2))
    strategy.late_ = "now"
    strategy.stop()
    assert strategy.get_params() == {"setting": 2}
    assert set(vars(strategy)) == {"setting", "record_", "late_"}
    strategy.start(rich_space(), np.random.default_rng(0))
    assert not hasattr(strategy, "late_") and hasattr(strategy, "_private")


class Scripted(GeneratorStrategy):
    """Yields the proposals of a function of itself and the history."""

    def __init__(self, script=None):
        self.script = script

    def _run(self, history):
        return self.script(self, history)


def test_a_generator_reads_each_result_when_it_is_resumed():
    space = rich_space()
    first, second = configurations(space, 2)
    read = []

    def script(strategy, history):
        yield Proposal(first)
        read.append(strategy.trial_of(history, first))
        yield Proposal(second)
        read.append(strategy.trial_of(history, second))

    strategy, history = started(space, Scripted(script)), History()
    for _ in range(2):
        add(history, strategy.ask(history).configuration, losses=(0.5,))
    assert strategy.ask(history) is None and strategy.ask(history) is None
    assert read == [history[0], history[1]]


def test_a_known_proposal_of_a_generator_is_not_evaluated_again():
    space = rich_space()
    first, second, third = configurations(space, 3)

    def script(strategy, history):
        for configuration in (first, first, second, first, third):
            yield Proposal(configuration)
        yield Proposal(first, fidelity=0.5)

    strategy, history = started(space, Scripted(script)), History()
    add(history, first, losses=(0.5,))
    running = strategy.ask(history)
    assert running.configuration == second
    assert strategy.ask(history, [running]).configuration == third
    assert strategy.ask(history, [running]).fidelity == 0.5
    assert strategy.ask(history, [running]) is None


def test_a_generator_that_waits_is_bypassed_by_random_proposals():
    def script(strategy, history):
        while True:
            yield Proposal(strategy.space.default())

    space = rich_space()
    strategy, history = started(space, Scripted(script)), History()
    running = [strategy.ask(history)]
    for _ in range(3):
        running.append(strategy.ask(history, running))
    assert len({p.configuration for p in running}) == 4
    assert [p.origin for p in running] == ["", "random", "random", "random"]
    assert started(single_space(), strategy).ask(history).configuration
    single = Proposal(single_space().default())
    assert strategy.ask(history, [single]) is None


def test_get_strategy_makes_new_objects():
    assert {name: type(get_strategy(name)) for name in STRATEGIES} == STRATEGIES
    assert get_strategy("forest_bo") is not get_strategy("forest_bo")
    mine = ForestBO(n_initial=3)
    assert get_strategy(mine) is not mine and get_strategy(mine).n_initial == 3


@pytest.mark.parametrize(
    "wrong, error, message",
    [
        (
            "forest_ob",
            ValueError,
            r"must be one of .*'random'.*Got 'forest_ob'.*mean 'forest_bo'\?",
        ),
        ("Random", ValueError, r"Did you mean 'random'\?"),
        ("xyzzy", ValueError, r"Got 'xyzzy' instead\.$"),
        (RandomSearch, TypeError, r"Write RandomSearch\(\)"),
        (3, TypeError, r"Got 3 instead"),
        (["random"], TypeError, r"Got \['random'\] instead"),
    ],
)
def test_get_strategy_explains_what_is_wrong(wrong, error, message):
    with pytest.raises(error, match=message):
        get_strategy(wrong)
