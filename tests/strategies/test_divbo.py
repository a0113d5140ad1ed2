"""DivBO, part by part."""

import itertools

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score

from skauto import AutoClassifier, SearchOptions
from skauto.acquisition import log_expected_improvement
from skauto.history import Goal, History, Proposal, Trial
from skauto.selection import ErrorLoss, greedy_selection, pairwise_diversity
from skauto.selection._candidates import candidate_pool
from skauto.strategies import DivBO
from skauto.surrogates import DiversityForest, DiversitySurrogate
from tests.strategies.ensemble_search import ArtificialClassifiers
from tests.strategies.search_loop import drive, rich_space
from tests.strategy_settings import quick_space


class KnownLoss(BaseEstimator):
    """A performance surrogate that knows what it has to predict."""

    def fit(self, X, y, rng):
        return self

    def predict(self, X):
        weights = np.random.default_rng(5).normal(size=X.shape[1])
        return X @ weights, np.ones(len(X))


class KnownDiversity(BaseEstimator):
    """A diversity surrogate of two models that know what they have to predict."""

    seen = []

    def update(self, X, diversity, rng):
        self.seen.append((X.copy(), diversity.copy()))
        return self

    def sample(self, members, X):
        distances = abs(self.seen[-1][0][members][:, None] - X[None]).mean(axis=2)
        return np.array([distances, distances**2])


@pytest.fixture(autouse=True)
def nothing_seen():
    KnownDiversity.seen.clear()


def divbo(**settings):
    known = {"surrogate": KnownLoss(), "diversity_surrogate": KnownDiversity()}
    return DivBO(**{"n_initial": 5} | known | settings)


def candidates_of(strategy):
    """Keep what a strategy chooses among."""
    kept, original = [], strategy._candidates

    def candidates(observations):
        kept.append(original(observations))
        return kept[-1]

    strategy._candidates = candidates
    return kept


@pytest.mark.parametrize(
    ("beta", "pool"), [(0.0, "best"), (0.05, "best"), (2.0, "best"), (2.0, "all")]
)
def test_proposes_what_minimizes_the_sum_of_ranks(beta, pool):
    space = rich_space()
    history = ArtificialClassifiers(space).history(40)
    strategy = divbo(beta=beta, pool=pool, n_candidates=200)
    strategy.start(space, np.random.default_rng(1))
    kept = candidates_of(strategy)
    proposal = strategy.ask(history)
    strategy.stop()

    filled, encoded = space.fill_inactive(kept[0]), space.one_hot(kept[0])
    assert 150 < len(filled) <= 250
    mean, std = KnownLoss().predict(filled)
    performance = rankdata(-log_expected_improvement(mean, std, mean.min() + 1), method="min")
    rows = np.argsort([trial.loss for trial in history], kind="stable")
    if pool == "best":
        algorithms = [trial.configuration["classifier"] for trial in history]
        rows = candidate_pool([trial.loss for trial in history], algorithms)
    predictions = np.array([history[i].predictions for i in rows])
    chosen = rows[greedy_selection(predictions, history.goal.targets, ErrorLoss(), 25).indices]
    known = space.one_hot(space.encode([trial.configuration for trial in history]))
    surrogate = KnownDiversity().update(known, np.empty(0), None)
    nearest = surrogate.sample(np.unique(chosen), encoded).min(axis=1).mean(axis=0)
    diversity = rankdata(-nearest, method="min")
    weight = beta * (1 / (1 + np.exp(-0.2 * 35)) - 0.5)
    combined = performance + weight * diversity
    index = [space.decode(v) for v in kept[0]].index(proposal.configuration)
    known = {trial.configuration for trial in history}
    assert not known & {space.decode(v) for v in kept[0]}  # what is known takes no ranks
    assert combined[index] == pytest.approx(combined.min())
    assert proposal.origin == ("diversity" if beta else "performance")


def test_ranks_counted_in_a_sample_are_near_the_ranks():
    space = rich_space()
    history = ArtificialClassifiers(space).history(40)
    strategy = divbo(beta=1.0, n_candidates=4000).start(space, np.random.default_rng(1))
    strategy.ask(history)
    observations = strategy.observations(history)
    candidates = strategy._candidates(observations)
    assert len(candidates) > 1000
    performance = np.arange(1.0, len(candidates) + 1)
    order = strategy._combined_order(candidates, performance, 0.5, observations)
    nearest = strategy._expected_diversity(candidates, observations)
    combined = performance + 0.5 * rankdata(-nearest, method="min")
    assert rankdata(combined)[order[0]] < 0.05 * len(candidates)
    assert set(order.tolist()) == set(range(len(candidates)))


def test_the_pair_model_is_told_the_diversity_of_all_pairs():
    space = rich_space()
    history = ArtificialClassifiers(space).history(12)
    strategy = divbo().start(space, np.random.default_rng(1))
    strategy.ask(history)
    X, diversity = KnownDiversity.seen[-1]
    configurations = [trial.configuration for trial in history]
    np.testing.assert_array_equal(X, space.one_hot(space.encode(configurations)))
    predictions = np.array([trial.predictions for trial in history])
    np.testing.assert_allclose(diversity, pairwise_diversity(predictions), atol=1e-7)


def test_a_search_tells_it_the_same_as_a_search_that_goes_on():
    space = rich_space()
    classifiers = ArtificialClassifiers(space)
    history = History(targets=classifiers.targets)
    drive(divbo(), space, lambda _, configuration: classifiers(configuration), 20, history=history)
    strategy = divbo().start(space, np.random.default_rng(1))
    strategy.ask(history)
    n = len(KnownDiversity.seen[-2][1])
    np.testing.assert_array_equal(KnownDiversity.seen[-2][1], KnownDiversity.seen[-1][1][:n, :n])


def test_without_predictions_or_targets_performance_alone_decides():
    space = rich_space()
    history = ArtificialClassifiers(space).history(20)
    history = history.with_goal(Goal())
    strategy = divbo().start(space, np.random.default_rng(1))
    assert strategy.ask(history).origin == "performance"
    history = ArtificialClassifiers(space).history(20)
    goal = history.goal
    history = history.without_data()
    assert history.goal.targets is None
    history = history.with_goal(goal)
    strategy = divbo().start(space, np.random.default_rng(1))
    assert strategy.ask(history).origin == "performance"
    assert not KnownDiversity.seen


def test_the_first_trials_are_the_default_and_random_ones():
    space = rich_space()
    history = History(max_evals=100)
    strategy = divbo(n_initial=3).start(space, np.random.default_rng(0))
    proposals = []
    for _ in range(3):
        proposals.append(strategy.ask(history, proposals))
    assert proposals[0].configuration == space.default()
    assert [p.origin for p in proposals] == ["initial"] * 3


def test_all_first_trials_are_random_with_the_settings_of_the_paper():
    space, strategy = rich_space(), divbo(n_initial=3, default_first=False)
    firsts = {
        strategy.start(space, np.random.default_rng(seed)).ask(History()).configuration
        for seed in range(6)
    }
    assert len(firsts) > 3


def test_the_pool_of_the_paper_has_members_that_are_not_among_the_best():
    """A trial with the worst loss that corrects the others: only the whole history has it."""
    space, targets = rich_space(), np.tile([0, 1], 30)
    history = History(targets=targets)
    for number, vector in enumerate(space.sample(60, np.random.default_rng(0))):
        wrong = np.arange(60) < 20
        chance = np.where(wrong, 0.45, 0.51)  # of the right class: a third of the rows is wrong
        if number == 30:
            chance = np.where(wrong, 0.99, 0.49)
        predictions = np.empty((60, 2), dtype=np.float32)
        predictions[np.arange(60), targets] = chance
        predictions[np.arange(60), 1 - targets] = 1 - chance
        history.append(
            Trial(
                number=number,
                configuration=space.decode(vector),
                losses=(float(np.mean(chance < 0.5)),),
                predictions=predictions,
            )
        )
    members = {}
    for pool in ("best", "all"):
        strategy = divbo(pool=pool, n_candidates=20).start(space, np.random.default_rng(1))
        strategy.ask(history)
        members[pool] = set(np.array(strategy._stored.indices)[strategy._pool].tolist())
    assert 30 not in members["best"]
    assert 30 in members["all"]


def test_the_first_suggestion_of_the_model_weighs_performance_only():
    space = rich_space()
    history = ArtificialClassifiers(space).history(5)
    strategy = divbo().start(space, np.random.default_rng(1))
    first = strategy.ask(history)
    assert first.origin == "performance"
    assert strategy.ask(history, [first, Proposal(space.default())]).origin == "diversity"


def test_large_validation_sets_are_sampled(monkeypatch):
    monkeypatch.setattr("skauto.strategies._stored_predictions.MAX_ROWS", 20)
    space = rich_space()
    history = ArtificialClassifiers(space).history(8)
    strategy = divbo().start(space, np.random.default_rng(1))
    strategy.ask(history)
    stored = strategy._stored
    assert stored.values.shape == (8, 20, 2)
    rows = stored._rows
    np.testing.assert_array_equal(stored.targets, history.goal.targets[rows])
    np.testing.assert_array_equal(stored.values[3], history[3].predictions[rows])


def test_suggestions_are_more_diverse_than_without_diversity():
    space, nearest = rich_space(), {0.0: [], 5.0: []}
    for beta, seed in itertools.product(nearest, range(3)):
        classifiers = ArtificialClassifiers(space, seed)
        history = History(targets=classifiers.targets)
        model = DiversityForest(n_trees=10)
        strategy = DivBO(beta=beta, n_candidates=200, diversity_surrogate=model)
        drive(strategy, space, lambda _, c, f=classifiers: f(c), 24, history=history)
        diversity = pairwise_diversity(np.array([trial.predictions for trial in history]))
        nearest[beta].append(np.mean([diversity[i, :i].min() for i in range(12, 24)]))
    assert np.mean(nearest[5.0]) > 1.2 * np.mean(nearest[0.0])


def test_the_settings_of_the_paper_have_its_surrogates():
    strategy = DivBO.paper()
    assert isinstance(strategy.diversity_surrogate, DiversitySurrogate)
    assert strategy.transform is None
    assert strategy.diversity_surrogate.max_pairs is None
    assert strategy.pool == "all"
    history = ArtificialClassifiers(rich_space()).history(8)
    strategy.set_params(n_candidates=50).start(rich_space(), np.random.default_rng(0))
    assert strategy.ask(history).origin == "diversity"


class WatchedDivBO(DivBO):
    """Keeps the numbers of the trials in the pool of the whole search, at its end."""

    def _suggest_by_model(self, history, observations):
        self._history = history
        return super()._suggest_by_model(history, observations)

    def stop(self):
        if hasattr(self, "_history"):
            observations = self.observations(self._history)
            self._update_pool(observations, self._history)
            rows = np.array(self._stored.indices)[self._pool]
            self.members_ = {observations.trials[row].number for row in rows}
        super().stop()


def of_late_rows(estimator, X, y):
    """A scorer that looks at X, and at the labels."""
    late = X[:, 0] > np.median(X[:, 0])
    return f1_score(y[late], estimator.predict(X)[late], pos_label="yes", zero_division=0.0)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc", of_late_rows])
def test_the_pool_is_the_ensemble_that_is_returned(scoring):
    X, codes = make_classification(150, flip_y=0.2, random_state=0)
    model = AutoClassifier(
        WatchedDivBO(
            n_initial=2,
            n_candidates=50,
            n_members=6,
            diversity_surrogate=DiversityForest(n_trees=5),
        ),
        scoring=scoring,
        space=quick_space(),
        initial=None,
        cv=2,
        max_evals=7,
        ensemble_size=6,
        options=SearchOptions(refit=False),
        random_state=0,
    ).fit(X, np.array(["no", "yes"])[codes])
    assert model.strategy_.members_ == set(model.member_weights_)
    assert model.history_.goal.ensemble_loss is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_initial": -1}, "'n_initial' of DivBO must be an integer of at least 0"),
        ({"n_members": 2.5}, "'n_members' of DivBO must be an integer"),
        ({"beta": -0.1}, "'beta' of DivBO must be a number of at least 0"),
        ({"pool": "some"}, "'pool' of DivBO must be one of"),
        ({"random_fraction": 2}, "'random_fraction' of DivBO must be a number between 0.0 and 1"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        DivBO(**settings).start(rich_space(), np.random.default_rng(0))
