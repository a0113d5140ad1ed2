"""What is built is what may be deployed: members are refitted, weighed and measured."""

import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification

from skauto import AutoClassifier, SearchOptions
from skauto._search import Search
from skauto.constraints import FalseNegativeRate, ModelSize, StatisticalParity
from skauto.constraints._evidence import Margin
from skauto.engines import make_engine
from skauto.ensemble._build import EnsembleBuilder
from skauto.estimators._pareto import FrontBuilder
from skauto.evaluation import RefitTask
from skauto.model import PipelineEnsemble
from skauto.selection import pairwise_disagreement, pairwise_diversity
from skauto.space import Configuration, get_space
from skauto.utils import Budget
from tests.ensemble.ballast import (
    ballast_trial,
    builder_of,
    fit,
    history_for,
    random_history,
    refit,
)


@pytest.mark.parametrize("kind", [EnsembleBuilder, FrontBuilder])
@pytest.mark.parametrize("margin", [Margin(), Margin.of("60%")])
def test_if_any_single_trial_passes_when_refitted_the_result_passes(kind, margin):
    rng = np.random.default_rng(0)
    n_passed = 0
    for _ in range(24):
        constraints = [
            ModelSize(float(rng.choice([1_000, 5_000, 15_000, 40_000]))),
            StatisticalParity("g", float(rng.choice([0.05, 0.2, 0.5])), min_group_size=1),
            FalseNegativeRate(float(rng.choice([0.3, 0.6]))),
        ]
        builder = builder_of(constraints, kind, margin=margin)
        objectives = ("loss", "model_size") if kind is FrontBuilder else ("loss",)
        history = random_history(rng, builder.checker, objectives)
        with make_engine(refit) as engine:
            model = builder.build(history, engine, Budget())
        singles = {}
        for trial in history:
            fitted = refit(RefitTask(trial.configuration))
            single = PipelineEnsemble(builder.data.reader, [fitted], [1.0], builder.data.classes)
            singles[trial.number] = builder.checker.check([trial], [1.0], single)
        assert model.check.passes or not any(v.passes for v in singles.values())
        n_passed += model.check.passes
        members = [history[number] for number in model.weights]
        again = builder.checker.check(members, list(model.weights.values()), model.ensemble)
        assert again.passes == model.check.passes
    assert 5 < n_passed < 24


def test_a_member_that_could_not_be_fitted_changes_the_ensemble_that_is_judged():
    history = history_for([ModelSize(60_000)])
    builder = builder_of([ModelSize(60_000)])
    for trial in (ballast_trial(0, 0.1, -1), ballast_trial(1, 0.3, 1_000)):
        history.append(trial)
    with make_engine(refit) as engine:
        model = builder.build(history, engine, Budget())
    assert model.weights == {1: 1.0}
    assert model.not_fitted == [0]
    assert model.check.passes
    assert model.check["model_size"].fitted < 6_000


@pytest.mark.parametrize("limit, members", [(40_000, {0, 1}), (20_000, {1})])
def test_sizes_of_refitted_members_correct_the_prediction(limit, members):
    """Models of constant size are expected to double from half of the rows to all rows."""
    history = history_for([ModelSize(limit)])
    builder = builder_of([ModelSize(limit)])
    for number, (n_bytes, loss) in enumerate([(25_000, 0.1), (5_000, 0.3)]):
        trial = ballast_trial(number, loss, n_bytes)
        size = 1500.0 + n_bytes
        history.append(
            replace(
                trial,
                configuration=Configuration({"classifier": ("ballast", {"n_bytes": n_bytes})}),
                constraints={"model_size": 2 * size},
                fold_constraints={"model_size": (size, size)},
            )
        )
    assert not history.feasible(history[0])
    with make_engine(refit) as engine:
        model = builder.build(history, engine, Budget())
    assert set(model.weights) <= members
    assert (0 in model.weights) == (0 in members)
    assert model.check.passes


def test_the_smallest_shares_leave_until_the_rest_is_light_enough():
    """Predicted to be light by their folds, heavy when refitted."""
    history = history_for([ModelSize(60_000)])
    builder = builder_of([ModelSize(60_000)])
    for number in range(3):
        trial = ballast_trial(number, 0.1 + 0.1 * number, 25_000)
        trial.fold_constraints["model_size"] = (5_000.0, 5_000.0)
        history.append(trial)
    builder.select = lambda *args: {0: 0.5, 2: 0.3, 1: 0.2}
    with make_engine(refit) as engine:
        model = builder.build(history, engine, Budget())
    assert model.weights == {0: pytest.approx(0.625), 2: pytest.approx(0.375)}
    assert [set(candidate.weights) for candidate in model.refused] == [{0, 1, 2}]


@pytest.fixture(scope="module")
def table():
    return make_classification(900, 6, random_state=0)


def test_nearest_neighbors_that_outgrow_the_limit_when_refitted_are_replaced(table):
    """44 kB on two thirds of the rows, 63 kB on all."""
    clf = fit(table, [ModelSize(50_000)])
    by_folds = [np.mean(trial.fold_constraints["model_size"]) for trial in clf.history_]
    assert max(by_folds) < 50_000 < clf.history_[1].constraints["model_size"]
    assert clf.feasible_
    assert clf.member_weights_ == {0: 1.0}
    fit(table, [ModelSize(50_000)], on_infeasible="raise")


@pytest.fixture(scope="module")
def fitted(iris):
    options = SearchOptions(warm_start=True)
    return AutoClassifier(max_evals=4, cv=3, random_state=0, options=options).fit(*iris)


def test_diversity_is_that_of_the_out_of_fold_predictions(fitted):
    members = list(fitted.member_weights_)
    predictions = np.array([fitted.history_[number].predictions for number in members])
    assert np.isfinite(predictions).all()
    diversity = fitted.ensemble_.diversity_
    assert diversity.dtype == np.float64
    np.testing.assert_allclose(diversity, pairwise_diversity(predictions))
    n = len(members)
    pairs = pairwise_disagreement(predictions)[np.triu_indices(n, 1)]
    expected = pairs.mean() if n > 1 else 0.0
    assert fitted.ensemble_.disagreement_ == pytest.approx(expected)


def test_a_search_that_ends_late_leaves_seconds_for_one_refit(monkeypatch):
    run = Search.run

    def late(search, rng):
        try:
            return run(search, rng)
        finally:
            time.sleep(search.budget.remaining + 0.1)

    monkeypatch.setattr(Search, "run", late)
    X, y = make_classification(200, 5, random_state=0)
    space = get_space("default").subspace({"classifier": "gaussian_nb", "transformer": "none"})
    settings = {"space": space, "time_limit": 3, "max_evals": 2, "random_state": 0}
    assert AutoClassifier("random", **settings).fit(X, y).member_weights_
