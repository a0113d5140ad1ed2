"""MOSAIC: its initial design, its use of the surrogate, its playouts and its record."""

import numpy as np
import pandas as pd
import pytest

from skauto.acquisition import maximize_acquisition
from skauto.history import History, Proposal, Trial
from skauto.objectives import make_artificial_objective, make_artificial_space
from skauto.space import Real, SearchSpace
from skauto.strategies import MOSAIC
from skauto.strategies._tree import Experience
from tests.strategies.search_loop import as_measured, drive, rich_space, small_space


class Linear:
    """A surrogate that is known: the sum of the columns, with a constant deviation."""

    def fit(self, X, y, rng):
        return self

    def predict(self, X):
        return X.sum(axis=1) / 100, np.full(len(X), 0.1)

    def __sklearn_clone__(self):
        return self


def finish(history, proposal, loss, **fields):
    history.append(
        Trial(
            number=len(history),
            configuration=proposal.configuration,
            losses=(loss,),
            origin=proposal.origin,
            info=proposal.info,
            **fields,
        )
    )


def run(strategy, space, n_trials, *, max_evals=None, seed=0, loss_of=None):
    """A finished search that has not been stopped, with its history."""
    loss_of = loss_of or make_artificial_objective(space)
    strategy.start(space, np.random.default_rng(seed))
    history = History(max_evals=max_evals)
    for _ in range(n_trials):
        proposal = strategy.ask(history)
        finish(history, proposal, loss_of(proposal.configuration))
    return strategy, history


def classifiers(trials):
    return [trial.configuration["classifier"] for trial in trials]


# Initial design


def test_initial_design_has_each_default_and_kappa_random_pipelines_of_each_classifier():
    space = rich_space()
    _, history = run(MOSAIC(kappa=2, n_samples=5, n_candidates=20), space, 12)
    origins = [trial.origin for trial in history]
    # "bayes" has three pipelines in all (the scaler "power" has values): enough here.
    assert origins == ["default"] * 3 + ["design"] * 6 + ["playout"] * 3
    assert [t.configuration for t in history[:3]] == space.default_configurations("classifier")
    for start in (0, 3, 6):
        assert sorted(classifiers(history[start : start + 3])) == ["bayes", "svm", "trees"]


def test_initial_design_takes_at_most_a_quarter_of_a_small_budget():
    for max_evals, n_design in ((4, 1), (8, 2), (100, 12)):
        strategy = MOSAIC(kappa=3, n_samples=5, n_candidates=20)
        _, history = run(strategy, rich_space(), min(max_evals, 14), max_evals=max_evals)
        origins = [trial.origin for trial in history]
        assert origins[:n_design].count("playout") == 0
        assert set(origins[n_design:]) == {"playout"}


def test_initial_design_is_complete_for_any_budget_with_the_settings_of_the_paper():
    strategy = MOSAIC.paper().set_params(n_samples=5, n_candidates=20)
    _, history = run(strategy, rich_space(), 12, max_evals=13)
    assert [trial.origin for trial in history] == ["default"] * 3 + ["design"] * 9


def test_initial_design_takes_at_most_a_quarter_of_the_time():
    space = rich_space()
    strategy = MOSAIC(n_samples=5, n_candidates=20).start(space, np.random.default_rng(0))
    history = History(time_limit=8.0)
    for second in range(8):
        finish(history, strategy.ask(history), 0.5, ended=second + 1.0)
    origins = [trial.origin for trial in history]
    assert origins == ["default"] * 3 + ["playout"] * 5


def test_trials_that_others_made_take_their_place_in_the_initial_design():
    space = rich_space()
    strategy = MOSAIC(kappa=0, n_samples=5, n_candidates=20).start(space, np.random.default_rng(0))
    history = History()
    for configuration in space.default_configurations()[:2]:
        finish(history, Proposal(configuration, origin="warm start"), 0.5)
    assert strategy.ask(history).configuration == space.default_configurations()[2]


def test_initial_design_is_not_repeated_by_a_search_that_goes_on():
    space = rich_space()
    settings = {"kappa": 2, "n_samples": 5, "n_candidates": 20}
    _, history = run(MOSAIC(**settings), space, 7)
    again = MOSAIC(**settings).start(space, np.random.default_rng(1))
    for _ in range(4):
        proposal = again.ask(history)
        finish(history, proposal, 0.5)
    assert [trial.origin for trial in history] == (
        ["default"] * 3 + ["design"] * 6 + ["playout"] * 2
    )
    assert sorted(classifiers(history[6:9])) == ["bayes", "svm", "trees"]


def test_trials_of_the_initial_design_count_as_visits_of_the_root_and_its_children():
    strategy, history = run(MOSAIC(kappa=1, n_samples=5), rich_space(), 6)
    strategy.ask(history)
    root = strategy._tree.root
    assert root.visits == 6
    assert [child.visits for child in root.children.values()] == [2, 2, 2]


def test_initial_design_is_made_after_a_warm_start_too():
    space = rich_space()
    strategy = MOSAIC(kappa=1, n_samples=5, n_candidates=20)
    strategy.start(space, np.random.default_rng(0))
    history = History(max_evals=40)
    for vector in space.sample(15, np.random.default_rng(3)):
        finish(history, Proposal(space.decode(vector), origin="initial"), 0.5)
    for _ in range(5):
        finish(history, strategy.ask(history), 0.5)
    assert {trial.origin for trial in history[15:]} <= {"default", "design"}


def test_what_is_pending_is_believed_by_the_surrogate():
    class Noting(Linear):
        n_fitted = []

        def fit(self, X, y, rng):
            self.n_fitted.append(len(X))
            return self

    space = rich_space()
    strategy, history = run(MOSAIC(kappa=1, n_samples=5, n_candidates=20), space, 8)
    strategy.surrogate = Noting()
    pending = [Proposal(space.decode(v)) for v in space.sample(3, np.random.default_rng(9))]
    strategy.ask(history, pending)
    assert Noting.n_fitted == [8, 11]


# Order of the decisions


def test_decisions_are_taken_from_the_back_and_single_choices_are_none():
    space = rich_space()
    assert MOSAIC().start(space, np.random.default_rng(0))._order == [2, 1, 0]
    part = space.subspace({"selector": "none"})
    assert MOSAIC().start(part, np.random.default_rng(0))._order == [2, 0]


# The surrogate


def test_partial_surrogate_is_the_mean_over_random_completions():
    space = make_artificial_space(n_steps=2, n_algorithms=3)
    strategy, history = run(MOSAIC(n_samples=2000, kappa=1), space, 8)
    node = strategy._tree.root
    values = strategy._partial_surrogate(Linear(), node, [2, 0])
    for value, choice in zip(values, (2, 0), strict=True):
        structures = space.structures[space.structures[:, 1] == choice]
        drawn = space.sample(20_000, np.random.default_rng(5), structures=structures)
        expected = space.fill_inactive(drawn).sum(axis=1) / 100
        error = expected.std() / np.sqrt(2000)
        assert value == pytest.approx(expected.mean(), abs=5 * error)


def test_ranks_lie_between_0_and_1():
    losses = np.array([3.0, -1.0, 1e300, 0.0, 0.5])
    np.testing.assert_allclose(MOSAIC()._transformed(losses), [0.7, 0.1, 0.9, 0.3, 0.5])
    assert MOSAIC(transform=None)._transformed(losses) is losses


def test_with_ranks_only_the_order_of_the_losses_matters():
    space = rich_space()
    objective = make_artificial_objective(space)

    def configurations(loss_of):
        strategy = MOSAIC(kappa=1, n_samples=10, n_candidates=50)
        return [t.configuration for t in run(strategy, space, 25, loss_of=loss_of)[1]]

    assert configurations(objective) == configurations(lambda c: np.exp(5 * objective(c)))


# Playout


def test_playout_lies_below_the_node_and_maximises_the_improvement():
    space = rich_space()
    strategy, history = run(MOSAIC(kappa=2, n_samples=10), space, 20)
    observations = strategy.observations(history)
    experience = strategy._experience(observations, observations.y)
    node = strategy._tree.root.children[0]
    configuration = strategy._playout(Linear(), node, observations, experience)
    assert configuration["classifier"] == "svm"
    # With a constant deviation the largest improvement is the smallest prediction: all low.
    drawn = space.sample(1000, np.random.default_rng(1), structures=space.structures[node.rows])
    mean, _ = Linear().predict(space.fill_inactive(drawn))
    own, _ = Linear().predict(space.fill_inactive(space.encode([configuration])))
    assert own[0] <= np.quantile(mean, 0.01)


@pytest.mark.parametrize(("n_starts", "n_rounds"), [(0, 1), (3, 10)])
def test_without_starts_only_neighbors_of_the_best_trial_are_evaluated(
    monkeypatch, n_starts, n_rounds
):
    searches = []

    def noting(*arguments, **options):
        searches.append((options["n_random_starts"], options["n_rounds"]))
        return maximize_acquisition(*arguments, **options)

    monkeypatch.setattr("skauto.strategies._mosaic.maximize_acquisition", noting)
    run(MOSAIC(kappa=0, n_samples=5, n_candidates=5, n_starts=n_starts), rich_space(), 4)
    assert searches == [(n_starts, n_rounds)]


@pytest.fixture(scope="module")
def forty_trials():
    """A strategy after a search, and its history."""
    return run(MOSAIC(kappa=1, n_samples=10, n_candidates=50), rich_space(), 40)


class Indifferent(Linear):
    """A surrogate that predicts the same loss everywhere, so that policies are uniform."""

    def predict(self, X):
        return np.full(len(X), 0.5), np.full(len(X), 0.1)


def walk_from_scratch(paths, decisions, losses):
    """Last nodes at which a walk of Algorithm 1 may end, by the paths of the walks before it."""
    seen = [path[:depth] for path in paths for depth in range(len(path) + 1)]
    node, n_choices = (), decisions.max() + 1
    while len(node) < decisions.shape[1]:
        own = {path for path in seen if path[:-1] == node and len(path) == len(node) + 1}
        children = own if node else {(choice,) for choice in range(n_choices)}
        if len(children) < min(n_choices, max(1, int(seen.count(node) ** 0.6))):
            return {(*node, choice) for choice in range(n_choices)} - children
        scores = {}
        for child in children:
            below = losses[(decisions[:, : len(child)] == child).all(axis=1)]
            bonus = 1.3 / len(children) * seen.count(node) ** 0.5 / (1 + seen.count(child))
            scores[child] = bonus - np.median(below if len(below) else 0.5)
        node = max(scores, key=scores.get)
    return {node}


def test_walks_are_those_of_the_algorithm_of_the_paper():
    space = make_artificial_space(n_steps=3, n_algorithms=4)
    objective = make_artificial_objective(space)
    strategy = MOSAIC.paper().set_params(surrogate=Indifferent(), n_samples=3, n_candidates=30)
    _, history = run(strategy, space, 80, loss_of=lambda c: min(objective(c) / 10, 1.0))
    decisions = space.encode([trial.configuration for trial in history])[:, [2, 1, 0]].astype(int)
    firsts = decisions[:, 0].tolist()  # those of the design were no walks
    paths = [t.info.get("path", (a,)) for t, a in zip(history, firsts, strict=True)]
    for n in range(16, 80):  # after four pipelines of each classifier
        assert paths[n] in walk_from_scratch(paths[:n], decisions[:n], history.losses[:n, 0])


def test_every_playout_belongs_to_its_walk(forty_trials):
    space, (_, history) = rich_space(), forty_trials
    vectors = space.encode([trial.configuration for trial in history])
    paths = [trial.info.get("path", ()) for trial in history]
    assert {len(path) for path in paths} == {0, 2, 3}  # the root's children are there already
    for vector, path in zip(vectors, paths, strict=True):
        assert tuple(vector[[2, 1, 0]][: len(path)].astype(int)) == tuple(path)


def test_playout_without_a_record_starts_from_the_default_completion():
    space = rich_space()
    strategy, history = run(MOSAIC(kappa=0, n_samples=5, n_candidates=5), space, 3)
    observations = strategy.observations(history)
    empty = Experience(np.empty((0, 3), dtype=np.intp), np.empty(0))
    node = strategy._tree.expand(strategy._tree.root.children[2], 1)
    nothing = observations.__class__(
        (), np.empty((0, space.n_dimensions)), np.empty((0, 1)), *[np.empty(0, dtype=bool)] * 2
    )
    center = strategy._best_below(node, nothing, empty)
    assert space.decode(center).structure == ("none", "best", "bayes")


def test_best_below_is_a_trial_that_did_not_fail():
    space = rich_space()
    strategy, history = run(MOSAIC(kappa=0, n_samples=5, n_candidates=5), space, 3)
    best = space.complete({"classifier": ("svm", {"C": 0.5})})
    finish(history, Proposal(best), 0.01)
    worse = space.complete({"classifier": ("svm", {"C": 0.7})})
    finish(history, Proposal(worse), -np.inf, status="failed")
    strategy.ask(history)
    observations = strategy.observations(history)
    center = strategy._best_below(
        strategy._tree.root.children[0],
        observations,
        strategy._experience(observations, observations.y),
    )
    assert space.decode(center) == best


def test_policy_prefers_a_good_classifier_and_is_almost_flat_with_the_settings_of_the_paper():
    def loss_of(configuration):
        return 0.1 if configuration["classifier"] == "trees" else 0.8

    ratios = []
    for strategy in (MOSAIC(temperature=0.1), MOSAIC.paper()):
        strategy.n_candidates = 50
        strategy, _ = run(strategy, rich_space(), 14, loss_of=loss_of)
        policy = {node.path: node.prior for node in strategy._tree.nodes() if len(node.path) == 1}
        best = max(policy, key=policy.get)
        assert rich_space().components("classifier")[best[0]].name == "trees"
        ratios.append(policy[best] / min(policy.values()))
    assert ratios[1] <= np.e < ratios[0]


def test_quantile_decides_between_the_best_and_the_typical_loss():
    """One algorithm has the best trial, the other the better median; there is no exploration."""

    def loss_of(configuration):
        if configuration["classifier"] == "trees":
            return 0.1 if configuration in space.default_configurations("classifier") else 0.9
        return 0.4 if configuration["classifier"] == "svm" else 1.0

    space, chosen = rich_space(), {}
    for quantile in (0.0, 0.5):
        strategy = MOSAIC(
            kappa=3, design_share=1.0, n_samples=5, n_candidates=20, c_ucb=0.0, quantile=quantile
        )
        _, history = run(strategy, space, 13, loss_of=loss_of)
        chosen[quantile] = history[-1].configuration["classifier"]
    assert chosen == {0.0: "trees", 0.5: "svm"}


# Parallel walks, exhaustion


def test_pending_walks_are_virtual_visits_that_are_taken_back():
    space = make_artificial_space(n_steps=3, n_algorithms=5)
    curious = MOSAIC(kappa=0, n_samples=10, n_candidates=50, c_ucb=1000.0)
    strategy, history = run(curious, space, 6)
    pending = []
    for _ in range(8):
        pending.append(strategy.ask(history, tuple(pending)))
    first = {proposal.info["path"][0] for proposal in pending}
    assert first == {0, 1, 2, 3, 4}
    assert len({proposal.configuration for proposal in pending}) == 8
    assert strategy._tree.root.visits == 6
    for proposal in pending:
        finish(history, proposal, 0.5)
    strategy.ask(history)
    assert strategy._tree.root.visits == 14


def test_small_space_is_searched_to_its_end():
    space = small_space()
    history = drive(MOSAIC(n_samples=5, n_candidates=5), space, as_measured(lambda c: 0.5), 20)
    assert len({trial.configuration for trial in history}) == len(history) == 6


def test_space_without_a_decision_is_bayesian_optimization():
    space = SearchSpace().add("classifier", "svm", parameters={"C": Real(0, 1)})

    def loss_of(configuration):
        return (configuration.parameters("classifier")["C"] - 0.3) ** 2

    _, history = run(MOSAIC(), space, 25, loss_of=loss_of)
    assert history.incumbent.loss < 5e-3
    assert history[-1].origin == "playout"


# The record


def test_tree_is_kept_as_a_table(forty_trials):
    strategy, history = forty_trials
    strategy.stop()
    table = pd.DataFrame(strategy.tree_)
    assert table.columns.tolist() == [
        "node",
        "depth",
        "step",
        "algorithm",
        "visits",
        "n_trials",
        "median",
        "policy",
        "value",
    ]
    root = table.iloc[0]
    losses = history.losses[:, 0]
    assert (root["node"], root["depth"], root["visits"], root["n_trials"]) == ("", 0, 40, 40)
    assert root["median"] == pytest.approx(np.median(losses))
    top = table[table["depth"] == 1].set_index("algorithm")
    assert sorted(top.index) == ["bayes", "svm", "trees"]
    assert top["visits"].sum() == 40
    for name, row in top.iterrows():
        below = [t.loss for t in history if t.configuration["classifier"] == name]
        assert row["n_trials"] == len(below)
        assert row["median"] == pytest.approx(np.median(below))
    assert top["policy"].sum() == pytest.approx(1.0)
    parents = {" > ".join(node.split(" > ")[:-1]) for node in table["node"][1:]}
    assert parents <= set(table["node"])
    assert not hasattr(strategy, "_tree")


def test_a_new_search_forgets_the_old_tree():
    strategy, _ = run(MOSAIC(kappa=0, n_samples=5, n_candidates=5), rich_space(), 5)
    strategy.stop()
    strategy.start(rich_space(), np.random.default_rng(0))
    assert not hasattr(strategy, "tree_")
    strategy.stop()
    assert not hasattr(strategy, "tree_")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"c_ucb": -1.0}, "'c_ucb' of MOSAIC must be a number of at least 0.0. Got -1.0"),
        ({"n_samples": 0}, "'n_samples' of MOSAIC must be an integer of at least 1. Got 0"),
        ({"transform": "log"}, "'transform' of MOSAIC must be one of .*'rank', None.*Got 'log'"),
        ({"quantile": 1.5}, "'quantile' of MOSAIC must be a number between 0.0 and 1.0. Got 1.5"),
        ({"temperature": 0.0}, "'temperature' of MOSAIC must be a positive number. Got 0.0"),
    ],
)
def test_messages(settings, message):
    with pytest.raises(ValueError, match=message):
        MOSAIC(**settings).start(rich_space(), np.random.default_rng(0))
