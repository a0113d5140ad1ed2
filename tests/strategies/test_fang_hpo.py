"""Tests of FanG-HPO besides the contract: one equation of the paper at a time."""

import numpy as np
import pytest
from sklearn.base import clone

from skauto.history import History, Proposal, Trial
from skauto.strategies import FanGHPO, RandomSearch
from skauto.surrogates import GaussianProcess
from skauto.utils._pareto import hypervolume
from tests.strategies.search_loop import (
    best_volume,
    coordinates,
    distances,
    drive,
    plane,
    two_valleys,
)

QUICK = FanGHPO(
    n_candidates=200,
    n_starts=1,
    surrogate=GaussianProcess(nu=1.5, trend="constant", n_restarts=0),
)


def started(strategy=QUICK, n_dimensions=3, seed=0):
    return clone(strategy).start(plane(n_dimensions), np.random.default_rng(seed))


def search(strategy, n_dimensions=3, bias=0.0, n_trials=1000, n_objectives=2, seed=0):
    """Search two valleys (or more); the cheap source has them somewhat elsewhere."""
    history = History([f"loss_{i}" for i in range(n_objectives)])
    strategy = started(strategy, n_dimensions, seed)
    while len(history) < n_trials and (proposal := strategy.ask(history)) is not None:
        point = coordinates(proposal.configuration) + bias * (1 - proposal.fidelity)
        history.append(
            Trial(
                number=len(history),
                configuration=proposal.configuration,
                losses=distances(point, n_objectives),
                fidelity=proposal.fidelity,
                origin=proposal.origin,
                info=proposal.info,
            )
        )
    return history


@pytest.fixture(scope="module")
def faithful():
    """A search whose cheap source is right."""
    return search(clone(QUICK).set_params(cost_budget=44.0))


def queries(history, origin=None):
    chosen = [trial for trial in history if origin in (None, trial.origin)]
    return [sum(t.info["source"] == s for t in chosen) for s in (0, 1)]


@pytest.mark.parametrize(("d", "design"), [(10, [13, 14]), (7, [9, 10])])
def test_the_initial_design_is_that_of_the_paper(d, design):
    strategy = started(FanGHPO(), n_dimensions=d)
    assert strategy._design(History(("a", "b")), np.array([2.0, 1.0])) == design
    assert strategy._limit() == 20 * d


def test_the_design_of_other_sources_and_short_searches():
    strategy = started(FanGHPO(n_initial=10), n_dimensions=10)
    assert strategy._design(History(("a", "b")), np.array([2.0])) == [10]
    assert strategy._design(History(("a", "b")), np.array([2.0, 1.0, 0.5])) == [5, 5, 10]
    short = strategy._design(History(("a", "b"), max_evals=20), np.array([2.0, 1.0]))
    assert short == [2, 3]


def test_the_share_of_the_design_is_one_in_the_paper():
    history, costs = History(("a", "b"), max_evals=20), np.array([2.0, 1.0])
    assert started(FanGHPO.paper(), n_dimensions=10)._design(history, costs) == [10, 10]
    assert started(FanGHPO.paper(), n_dimensions=10)._design(History(), costs) == [13, 14]
    strategy = started(FanGHPO(design_share=0.05, n_initial=40), n_dimensions=10)
    assert strategy._design(History(), costs) == [3, 4]  # a twentieth of 200


def test_the_hypervolume_of_the_paper_has_the_reference_one_and_no_lower_bound():
    strategy, front = FanGHPO.paper(), np.array([[0.2, 8.0], [0.6, 4.0]])
    assert strategy._reference(front).tolist() == [1.0, 1.0]
    assert strategy._ideal(front).tolist() == [-np.inf, -np.inf]


def test_the_search_ends_when_the_cost_budget_is_spent(faithful):
    spent = np.array([trial.info["cost"] for trial in faithful]).cumsum()
    assert spent[-2] < 44 <= spent[-1] < 46
    assert set(spent - np.round(spent)) == {0.0}
    assert queries(faithful, "initial") == [3, 5]
    assert [t.fidelity for t in faithful] == [(1.0, 0.5)[t.info["source"]] for t in faithful]


def test_what_is_running_and_what_came_first_counts_against_the_budget():
    space = plane()
    configurations = [space.decode(v) for v in space.sample(6, np.random.default_rng(1))]
    strategy = started(clone(QUICK).set_params(cost_budget=9.0))
    history = History(("a", "b"))
    for configuration, fidelity in zip(configurations[:3], [1.0, 1.0, 0.5], strict=True):
        history.append(
            Trial(
                number=len(history),
                configuration=configuration,
                losses=(0.5, 0.5),
                fidelity=fidelity,
            )
        )
    running = [
        Proposal(c, fidelity=f) for c, f in zip(configurations[3:], [1.0, 0.5, 0.5], strict=True)
    ]
    assert strategy.ask(history, running[:2]) is not None  # 5 + 3 of 9 are spent
    assert strategy.ask(history, running) is None  # 5 + 4


def test_without_a_cost_budget_only_the_loop_ends_the_search():
    history = search(clone(QUICK).set_params(cost_budget=None, n_initial=4), 1, n_trials=23)
    assert len(history) == 23  # "auto" would end at a cost of 20, after at most 20 trials


class Scripted:
    """An augmented model that says what it is told."""

    def __init__(self, n_augmenting, discrepancy, reliable=True):
        self.n_augmenting_ = np.array(n_augmenting)
        self._discrepancy = np.array(discrepancy)
        self._reliable = reliable

    def discrepancy(self, X):
        return np.repeat(self._discrepancy[:, None], len(X), axis=1)

    def is_reliable(self, X):
        return np.repeat([[True], [self._reliable]], len(X), axis=1)


def chosen_source(*models):
    strategy = started()
    strategy.ask(History(("a", "b")))
    return strategy._choose_source(list(models), plane().default(), np.array([2.0, 1.0]))


@pytest.mark.parametrize(
    ("n_augmenting", "discrepancies", "source"),
    [
        ([5, 5], ([0.1, 0.1], [0.1, 0.1]), 1),  # 2 * 0.2 against 1 * 0.2
        ([5, 5], ([0.1, 0.2], [0.0, 0.1]), 0),  # 2 * 0.1 against 1 * 0.3
        ([5, 5], ([0.1, 0.3], [0.1, 0.0]), 1),  # 2 * 0.2 against 1 * 0.3
        ([5, 0], ([0.0, 0.0], [0.0, 0.0]), 0),  # a tie
        ([5, 6], ([0.1, 0.1], [0.1, 0.1]), 0),  # cheap observations outnumber the ground truth
        ([5, 1], ([0.1, np.inf], [0.1, np.inf]), 0),  # nothing is known of the cheap source
    ],
)
def test_the_source_is_chosen_by_equation_12(n_augmenting, discrepancies, source):
    first, second = discrepancies
    assert chosen_source(Scripted(n_augmenting, first), Scripted([5, 0], second)) == source


@pytest.mark.parametrize(
    ("reliable", "source"),
    [((True, True), 1), ((True, False), 1), ((False, True), 1), ((False, False), 0)],
)
def test_a_query_that_no_model_would_learn_from_goes_to_the_ground_truth(reliable, source):
    models = [Scripted([5, 5], [0.1, 0.1], reliable=flag) for flag in reliable]
    assert chosen_source(*models) == source


def test_a_configuration_that_the_source_knows_goes_to_the_ground_truth():
    strategy, known = started(), plane().default()
    history = History(("a", "b"))
    history.append(Trial(number=0, configuration=known, losses=(0.5, 0.5), fidelity=0.5))
    strategy.ask(history)
    models, costs = [Scripted([5, 5], [0.1, 0.1])] * 2, np.array([2.0, 1.0])
    other = plane().decode(np.full(plane().n_dimensions, 0.0))
    assert strategy._choose_source(models, known, costs) == 0
    assert strategy._choose_source(models, other, costs) == 1


def test_the_paper_has_no_rule_of_reliable_queries():
    strategy = started(clone(QUICK).set_params(reliable_only=False))
    strategy.ask(History(("a", "b")))
    models = [Scripted([5, 5], [0.1, 0.1], reliable=False)] * 2
    assert strategy._choose_source(models, plane().default(), np.array([2.0, 1.0])) == 1
    assert not FanGHPO.paper().reliable_only


def test_a_faithful_cheap_source_is_used_and_a_wild_one_is_not():
    """In four searches, because one may hardly use it."""
    strategy = clone(QUICK).set_params(cost_budget=44.0)
    faithful, wild = (
        sum(queries(search(strategy, bias=bias, seed=seed), "ehvi")[1] for seed in range(4))
        for bias in (0.0, 2.0)
    )
    assert faithful >= 12
    assert wild <= 1


def test_only_the_ground_truth_makes_the_front():
    strategy = started()
    history, space = History(("a", "b")), plane()
    vectors = space.sample(12, np.random.default_rng(1))
    for number, vector in enumerate(vectors):
        truth = number < 6
        # The cheap source predicts the best losses everywhere.
        losses = (0.3 + 0.05 * number, 0.6 - 0.05 * number) if truth else (0.0, 0.0)
        history.append(
            Trial(
                number=number,
                configuration=space.decode(vector),
                losses=losses,
                fidelity=1.0 if truth else 0.5,
            )
        )
    strategy.ask(history)
    by_source = [strategy.observations(history, share) for share in (1.0, 0.5)]
    _, front = strategy._fit_models(by_source)
    np.testing.assert_array_equal(front, history.losses[:6])
    strategy.pending = (Proposal(space.default()), Proposal(space.default(), fidelity=0.5))
    _, front = strategy._fit_models(by_source)
    assert len(front) == 7  # the ground truth that is running, at its predicted losses


def test_measured_costs_are_relative_to_the_ground_truth():
    strategy = started(clone(QUICK).set_params(costs="measured"))
    history, space = History(("a", "b")), plane()
    strategy.ask(history)
    assert strategy._source_costs(
        [strategy.observations(history, share) for share in (1.0, 0.5)]
    ).tolist() == [2.0, 1.0]
    for number, vector in enumerate(space.sample(4, np.random.default_rng(1))):
        fidelity, cost = ((1.0, 8.0), (0.5, 3.0))[number % 2]
        history.append(
            Trial(
                number=number,
                configuration=space.decode(vector),
                losses=(0.5, 0.5),
                fidelity=fidelity,
                cost=cost,
            )
        )
    proposal = strategy.ask(history)
    assert proposal.info["cost"] == {0: 2.0, 1: 0.75}[proposal.info["source"]]


def test_measured_costs_do_not_reprice_what_was_paid_nor_change_the_design():
    strategy = started(clone(QUICK).set_params(costs="measured", n_initial=4, cost_budget=30.0))
    history = History(("a", "b"))
    for number in range(12):
        proposal = strategy.ask(history)
        history.append(
            Trial(
                number=number,
                configuration=proposal.configuration,
                losses=(0.1 * number % 0.7, 0.5 / (1 + number)),
                fidelity=proposal.fidelity,
                cost=8.0 if proposal.fidelity == 1.0 else 1.0,  # a quarter of what was assumed
                origin=proposal.origin,
                info=proposal.info,
            )
        )
    paid = [trial.info["cost"] for trial in history]
    assert strategy._spent(history) == pytest.approx(sum(paid))
    assert {2.0, 1.0, 0.25} == set(paid)  # assumed first, measured later
    origins = [trial.origin for trial in history]
    assert "initial" not in origins[origins.index("ehvi") :]


@pytest.mark.parametrize(
    ("losses", "reference"),
    [
        ([[0.2, 0.8], [0.6, 0.4], [0.9, 0.9]], [1.0, 1.0]),
        ([[0.2, 8.0], [0.6, 4.0], [0.9, 1e9]], [1.0, 8.4]),
    ],
)
def test_the_reference_is_one_or_just_beyond_the_front(losses, reference):
    np.testing.assert_allclose(FanGHPO()._reference(np.array(losses)), reference)
    given = FanGHPO(reference=(2.0, 3.0))._reference(np.array(losses))
    np.testing.assert_array_equal(given, [2.0, 3.0])
    assert FanGHPO(reference=2.0)._reference(np.array(losses)).tolist() == [2.0, 2.0]


def test_the_ideal_is_zero_where_nothing_was_negative():
    losses = np.array([[0.0, 0.3], [2.0, -0.1]])
    assert FanGHPO()._ideal(losses).tolist() == [0.0, -np.inf]
    assert FanGHPO(nonnegative=False)._ideal(losses).tolist() == [-np.inf, -np.inf]


def test_what_cannot_be_beaten_is_left_alone():
    """Half of the plane is as fair as can be, and poor: there is nothing more to find there."""

    def losses(number, configuration):
        x, y, _ = coordinates(configuration)
        if x < 0.5:
            return {"losses": (0.5, 0.0)}
        gap = 2 * x - 1
        return {"losses": (0.15 + (1 - gap) ** 2 / 4 + (y - 0.6) ** 2 / 10, 0.05 + 0.3 * gap)}

    strategy = clone(QUICK).set_params(sources=(1.0,), cost_budget=50.0)
    history = drive(strategy, plane(), losses, 25, n_objectives=2)
    chosen = [trial for trial in history if trial.origin == "ehvi"]
    assert sum(trial.losses == (0.5, 0.0) for trial in chosen) < 0.4 * len(chosen)


def test_the_front_of_two_valleys_is_found():
    strategy, gaps = clone(QUICK).set_params(cost_budget=50.0), []
    for seed in range(5):
        history = search(strategy, bias=0.05, seed=seed)
        rival = drive(RandomSearch(), plane(), two_valleys, 25, n_objectives=2, seed=seed)
        by_chance = hypervolume(rival.losses, [0.3, 0.3])  # of the same cost
        found = hypervolume([t.losses for t in history if t.fidelity == 1.0], [0.3, 0.3])
        assert by_chance < found < best_volume()
        gaps.append((best_volume() - found) / (best_volume() - by_chance))
    assert np.median(gaps) < 0.25


@pytest.mark.parametrize(("n_objectives", "budget"), [(1, 24.0), (3, 16.0), (4, 16.0)])
def test_any_number_of_objectives(n_objectives, budget):
    strategy = clone(QUICK).set_params(cost_budget=budget, n_initial=4)
    history = search(strategy, 2, bias=0.02, n_objectives=n_objectives)
    assert sum(queries(history, "ehvi")) > 5
    if n_objectives == 1:
        assert history.incumbent.loss < 1e-2


def test_one_source_is_plain_multi_objective_optimization():
    history = search(clone(QUICK).set_params(sources=(1.0,), cost_budget=30.0))
    assert len(history) == 15
    assert {trial.fidelity for trial in history} == {1.0}


@pytest.mark.parametrize("sources", [(), (0.5, 1.0), (1.0, 1.0), (1.0, 0.0), (1.0, 1.5)])
def test_sources_must_be_shares_with_the_ground_truth_first(sources):
    with pytest.raises(ValueError, match=r"The 'sources' of FanGHPO must be shares"):
        started(FanGHPO(sources=sources))


@pytest.mark.parametrize("costs", ["cheap", (2.0,), (2.0, 0.0)])
def test_costs_must_fit_the_sources(costs):
    with pytest.raises(ValueError, match=r"The 'costs' of FanGHPO must be .* the 2 sources"):
        started(FanGHPO(costs=costs))


def test_other_settings_are_checked_too():
    with pytest.raises(ValueError, match=r"'cost_budget' of FanGHPO must be .* Got 'paper'"):
        started(FanGHPO(cost_budget="paper"))
    with pytest.raises(ValueError, match=r"one for each of the 2 objectives. Got \[1, 1, 1\]"):
        FanGHPO(reference=[1, 1, 1])._reference(np.ones((4, 2)))
