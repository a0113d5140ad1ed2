"""Which trials are promoted, and how trials climb."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import TargetEncoder

from skauto import AutoClassifier, ConstrainedAutoClassifier
from skauto.constraints import ModelSize
from skauto.data import DataFacts, TrainingData
from skauto.engines import Outcome
from skauto.evaluation import (
    FoldTask,
    OutOfBagTask,
    PipelineBuilder,
    PipelineEvaluator,
    PipelineWorker,
    RungPromotion,
)
from skauto.evaluation._promotion import decisive_rows
from skauto.history import Goal, History, Proposal, Trial
from skauto.metalearning import FitTimeModel
from skauto.schedule import TaskSchedule
from skauto.selection import LogLoss, RocAucLoss, SmoothedLoss
from skauto.space import Configuration, SearchSpace
from skauto.utils import Budget

ROWS = np.arange(200)
TRUTH = np.random.default_rng(0).integers(0, 2, 200)


def probabilities(certainty, seed, share_right=0.8):
    """Predictions that are right in a share of the rows, independent between seeds."""
    right = np.random.default_rng(seed).random(200) < share_right
    of_truth = np.where(right, certainty, 1 - certainty)
    p = np.where(TRUTH == 1, of_truth, 1 - of_truth)
    return np.column_stack([1 - p, p]).astype(np.float32)


def history_of(*predictions, algorithms=None):
    history = History(Goal(ensemble_loss=lambda rows: LogLoss()))
    for number, prediction in enumerate(predictions):
        name = f"algorithm_{number}" if algorithms is None else algorithms[number]
        configuration = Configuration({"classifier": (name, {"k": number})})
        history.append(
            Trial(
                number=number, configuration=configuration, losses=(0.2,), predictions=prediction
            )
        )
    return history


@pytest.fixture
def promotion():
    return RungPromotion(TRUTH, ROWS, lambda rows: LogLoss())


def test_the_first_trials_are_promoted(promotion):
    history = history_of(probabilities(0.9, 1), probabilities(0.9, 2))
    assert promotion.promotes(history, 2, "algorithm", 1.0, probabilities(0.5, 3))


def test_a_trial_that_improves_the_ensemble_is_promoted(promotion):
    history = history_of(*(probabilities(0.95, seed) for seed in (1, 2, 3)))
    # No better than the others by itself, but its errors are others.
    assert promotion.promotes(history, 3, "algorithm", 1.0, probabilities(0.95, 4))


def test_a_trial_that_adds_nothing_is_not_promoted(promotion):
    history = history_of(*(probabilities(0.7, seed) for seed in (1, 2, 3)))
    assert not promotion.promotes(history, 3, "algorithm", 1.0, np.full((200, 2), 0.5, np.float32))
    assert not promotion.promotes(history, 3, "algorithm", 1.0, history[0].predictions)


def test_every_trial_is_promoted_if_the_loss_is_undefined():
    negative = np.zeros_like(TRUTH)
    promotion = RungPromotion(negative, ROWS, lambda rows: SmoothedLoss(RocAucLoss()))
    history = history_of(*(probabilities(0.7, seed) for seed in (1, 2, 3)))
    assert promotion.promotes(history, 3, "algorithm", 1.0, probabilities(0.5, 4))


def test_the_leader_of_a_algorithm_is_promoted(promotion):
    weak = probabilities(0.51, 5, share_right=0.5)
    weaker = probabilities(0.9, 6, share_right=0.5)
    strong = [probabilities(0.99, seed, share_right=0.99) for seed in (1, 2)]
    history = history_of(*strong, weaker, algorithms=["a", "b", "weak"])
    assert promotion.promotes(history, 3, "weak", 1.0, weak)
    assert not promotion.promotes(history, 3, "other", 1.0, weak)


def test_only_known_trials_count(promotion):
    history = history_of(*(probabilities(0.7, seed) for seed in (1, 2, 3)))
    useless = np.full((200, 2), 0.5, np.float32)
    assert promotion.promotes(history, 2, "algorithm", 1.0, useless)
    assert not promotion.promotes(history, 3, "algorithm", 1.0, useless)


@pytest.mark.parametrize("loss", [LogLoss(), SmoothedLoss(RocAucLoss())])
def test_weights_stand_for_repeated_rows(loss):
    rng = np.random.default_rng(0)
    weight = np.where(rng.random(200) < 0.1, 30, 1)
    rows = np.repeat(ROWS, weight)
    known = [probabilities(0.8, seed) for seed in (1, 2, 3)]
    plain = RungPromotion(TRUTH, ROWS, lambda rows: loss)
    weighted = RungPromotion(TRUTH, ROWS, lambda rows: loss, weight.astype(float))
    repeated = RungPromotion(TRUTH[rows], np.arange(len(rows)), lambda rows: loss)
    history, longer = history_of(*known), history_of(*(p[rows] for p in known))
    decisions = []
    for seed in range(10, 30):
        new = probabilities(0.7, seed, share_right=0.75)
        decisions.append(
            (
                weighted.promotes(history, 3, "algorithm_0", 1.0, new),
                repeated.promotes(longer, 3, "algorithm_0", 1.0, new[rows]),
                plain.promotes(history, 3, "algorithm_0", 1.0, new),
            )
        )
    by_weight, by_rows, unweighted = zip(*decisions, strict=True)
    assert by_weight == by_rows
    assert by_weight != unweighted


def evaluator_for(
    space, *, n_rows=400, n_folds=4, time_model=None, left=100.0, sample_weight=None
):
    X, y = make_classification(n_rows, 8, random_state=0)
    folds = np.arange(n_rows) % n_folds
    splits = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(n_folds)]
    data = TrainingData(
        Z=X, y=y, classes=np.array([0, 1]), splits=splits, sample_weight=sample_weight
    )
    worker = PipelineWorker(PipelineBuilder(space), data, {"score": get_scorer("accuracy")})
    facts = DataFacts(n_samples=len(splits[0][0]), n_features=8)
    schedule = TaskSchedule(facts, time_model, Budget(time_limit=left))
    return PipelineEvaluator(worker, schedule=schedule)


def bayes_space():
    return SearchSpace(["classifier"]).add("classifier", "gaussian_nb", GaussianNB())


def opened(evaluator, time_limit=None):
    goal = Goal(time_limit=time_limit, ensemble_loss=lambda rows: LogLoss())
    configuration = evaluator.function.builder.space.default()
    return evaluator.open(Proposal(configuration), History(goal))


def completed(evaluator, last_fold_first=False):
    """The trial of the default configuration."""
    job = opened(evaluator)
    while not job.done:
        parts = job.next_parts()
        for part, args, _ in reversed(parts) if last_fold_first else parts:
            job.receive(part, Outcome("ok", evaluator.function(*args)), math.inf)
    return job.trial(0, 0.0, 0.0)


def first_result(evaluator, time_limit=None):
    """Result of the first task of the default configuration."""
    ((_, args, _),) = opened(evaluator, time_limit).next_parts()
    return evaluator.function(*args)


def next_rung(evaluator, share, result, history, *, seconds_left):
    """The last rung of the default configuration after a result; None if the trial is stopped."""
    configuration = evaluator.function.builder.space.default()
    proposal = Proposal(configuration)
    goal = Goal(time_limit=1e3, ensemble_loss=lambda rows: LogLoss())
    rung = evaluator.planner.rungs(proposal, History(goal))[-1]
    return evaluator.planner.next_rung(
        configuration, rung, (share, result), history, len(history), seconds_left
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_a_trial_that_is_right_in_heavy_rows_only_is_promoted(weighted):
    heavy = np.arange(400) < 40
    weight = np.where(heavy, 50.0, 1.0) if weighted else None
    evaluator = evaluator_for(bayes_space(), sample_weight=weight)
    truth = np.eye(2, dtype=np.float32)[evaluator.data.y]
    in_light, in_heavy = (
        np.where(rows[:, None], 0.05 + 0.9 * truth, 0.5) for rows in (~heavy, heavy)
    )
    first_fold = evaluator.data.splits[0][1]
    result = replace(first_result(evaluator), probabilities=in_heavy[first_fold])
    history = history_of(*[in_light] * 3)
    rung = next_rung(evaluator, 1.0, result, history, seconds_left=math.inf)
    assert (rung is not None) is weighted


def test_the_tie_break_is_the_weighted_log_loss():
    weight = np.random.default_rng(0).integers(1, 10, 400).astype(float)
    evaluator = evaluator_for(bayes_space(), sample_weight=weight)
    trial = completed(evaluator)
    y = evaluator.data.y
    expected = log_loss(y, trial.predictions, sample_weight=weight)
    assert trial.tie_break == pytest.approx(expected, rel=1e-5)
    assert expected != pytest.approx(log_loss(y, trial.predictions), rel=1e-3)


def test_predictions_do_not_depend_on_the_order_of_completion():
    evaluator = evaluator_for(bayes_space())
    everywhere = np.arange(400)
    evaluator.data.splits[:] = [(train, everywhere) for train, _ in evaluator.data.splits]
    forth, back = (completed(evaluator, last_fold_first) for last_fold_first in (False, True))
    np.testing.assert_array_equal(forth.predictions, back.predictions)


def test_the_first_fold_comes_before_the_others():
    job = opened(evaluator_for(bayes_space()))
    ((part, (task,), _),) = job.next_parts()
    assert part == 0
    assert isinstance(task, FoldTask) and task.share == 1.0


def test_many_rows_start_with_a_share_of_them():
    evaluator = evaluator_for(bayes_space(), n_rows=80_000)
    assert opened(evaluator).next_parts()[0][0] == 0
    job = opened(evaluator, time_limit=60.0)
    ((part, (task,), _),) = job.next_parts()
    assert task.share * 60_000 == pytest.approx(10_000)


@pytest.mark.parametrize(("left", "share"), [(1_000.0, 1.0), (200.0, 0.5)])
def test_an_expensive_trial_starts_on_fewer_rows(left, share):
    time_model = FitTimeModel({"gaussian_nb": [np.log(100.0 / 7.5), 1.0, 0.0, 0.0]})
    evaluator = evaluator_for(bayes_space(), n_rows=10_000, time_model=time_model, left=left)
    job = opened(evaluator, time_limit=left)
    ((part, (task,), _),) = job.next_parts()
    assert task.share == pytest.approx(share, rel=1e-3)


@pytest.mark.parametrize(("reserved", "promoted"), [(0.0, True), (50.0, False)])
def test_a_trial_is_not_promoted_if_its_other_folds_end_after_the_search(reserved, promoted):
    time_model = FitTimeModel({"gaussian_nb": [np.log(20.0 / 0.3), 1.0, 0.0, 0.0]})  # 20 s a fold
    evaluator = evaluator_for(bayes_space(), time_model=time_model, left=100.0)
    result = first_result(evaluator, time_limit=100.0)
    history = history_of(np.full((400, 2), 0.5, np.float32))
    left = 100.0 - reserved
    rung = next_rung(evaluator, 1.0, result, history, seconds_left=left)
    assert (rung is not None) is promoted
    # Nothing else would be left.
    assert next_rung(evaluator, 1.0, result, history_of(), seconds_left=left) is not None


def test_a_killed_task_raises_the_price_of_its_classifier():
    time_model = FitTimeModel({"gaussian_nb": [0.0, 1.0, 0.0, 0.0]})
    evaluator = evaluator_for(bayes_space(), time_model=time_model)
    configuration = evaluator.function.builder.space.default()
    facts = evaluator.planner.schedule.facts
    before = time_model.seconds(configuration, facts)
    evaluator.planner.observe_timeout(FoldTask(configuration, 0), before / 10)
    assert time_model.seconds(configuration, facts) == pytest.approx(before)
    evaluator.planner.observe_timeout(FoldTask(configuration, 0), before * 10)
    assert time_model.seconds(configuration, facts) > 2 * before


@pytest.mark.parametrize(("seconds", "limits"), [(1.0, (25.0, 50.0)), (40.0, (80.0, 80.0))])
def test_a_preview_is_killed_after_a_quarter_of_the_time_and_a_fold_after_half(seconds, limits):
    time_model = FitTimeModel({"gaussian_nb": [np.log(seconds / 0.3), 1.0, 0.0, 0.0]})
    evaluator = evaluator_for(bayes_space(), time_model=time_model, left=100.0)
    fold = FoldTask(evaluator.function.builder.space.default(), 0)
    killed_after = [evaluator.planner.task_limit(replace(fold, preview=p)) for p in (True, False)]
    assert killed_after == pytest.approx(limits, rel=0.01)


def test_a_trial_that_is_not_affordable_is_skipped():
    time_model = FitTimeModel({"gaussian_nb": [np.log(1e4), 1.0, 0.0, 0.0]})
    job = opened(evaluator_for(bayes_space(), time_model=time_model), time_limit=100.0)
    assert job.done and job.next_parts() == []
    trial = job.trial(0, 0.0, 0.0)
    assert trial.status == "skipped" and "s are left" in trial.error
    # Without a time limit, seconds decide nothing.
    assert not opened(evaluator_for(bayes_space(), time_model=time_model)).done


def forest_space():
    space = SearchSpace(["encoder", "classifier"])
    space.add("encoder", "none").add("encoder", "target", TargetEncoder())
    forest = RandomForestClassifier(60, random_state=0)
    space.add("classifier", "forest", forest, {"max_features": [0.5]})
    return space.add("classifier", "logistic", LogisticRegression())


def test_forests_are_validated_out_of_bag_where_that_is_honest():
    builder = PipelineBuilder(forest_space())
    cases = {("none", "forest"): True, ("target", "forest"): False, ("none", "logistic"): False}
    for (encoder, classifier), expected in cases.items():
        configuration = builder.space.default(
            builder.space.default_structure({"encoder": encoder, "classifier": classifier})
        )
        assert builder.validates_out_of_bag(configuration) is expected


def test_out_of_bag_predictions_are_those_of_the_forest():
    space = forest_space().subspace({"encoder": ["none"], "classifier": ["forest"]})
    evaluator = evaluator_for(space)
    job = opened(evaluator)
    ((part, (task,), _),) = job.next_parts()
    assert isinstance(task, OutOfBagTask)
    results = evaluator.function(task)
    data = evaluator.data
    forest = RandomForestClassifier(60, max_features=0.5, oob_score=True, random_state=0)
    expected = forest.fit(data.Z, data.y).oob_decision_function_
    for (_, test), result in zip(data.splits, results, strict=True):
        np.testing.assert_allclose(result.probabilities, expected[test], rtol=1e-5)


def test_rows_without_out_of_bag_trees_get_the_weighted_class_frequencies():
    space = SearchSpace(["classifier"])
    space.add("classifier", "forest", RandomForestClassifier(3, random_state=0))
    weight = np.random.default_rng(0).integers(1, 10, 400).astype(float)
    evaluator = evaluator_for(space, sample_weight=weight)
    data = evaluator.data
    results = evaluator.function(OutOfBagTask(space.default()))
    forest = RandomForestClassifier(3, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
        forest.fit(data.Z, data.y, weight)
    never = forest.oob_decision_function_.sum(axis=1) == 0
    positive = np.average(data.y, weights=weight)
    assert never.any()
    for (_, test), result in zip(data.splits, results, strict=True):
        shares = result.probabilities[never[test]]
        np.testing.assert_allclose(shares, [[1 - positive, positive]] * len(shares), rtol=1e-6)


def test_a_forest_on_many_rows_starts_with_a_share_of_them():
    space = forest_space().subspace({"encoder": ["none"], "classifier": ["forest"]})
    job = opened(evaluator_for(space, n_rows=80_000), time_limit=60.0)
    ((part, (task,), _),) = job.next_parts()
    assert isinstance(task, FoldTask) and task.share * 60_000 == pytest.approx(10_000)


def test_an_out_of_bag_fit_corrects_the_price_of_its_classifier():
    space = forest_space().subspace({"encoder": ["none"], "classifier": ["forest"]})
    time_model = FitTimeModel({"forest": [0.0, 1.0, 0.0, 0.0]})
    evaluator = evaluator_for(space, time_model=time_model)
    facts = replace(evaluator.planner.schedule.facts, n_samples=400)
    configuration = space.default()
    before = time_model.seconds(configuration, facts)
    task = OutOfBagTask(configuration)
    results = evaluator.function(task)
    taken = sum(result.cpu_time for result in results)
    evaluator.planner.observe(task, taken)
    after = time_model.seconds(configuration, facts)
    assert abs(np.log(after / taken)) < 0.5 * abs(np.log(before / taken))


def test_a_held_out_forest_is_its_own_refit():
    space = forest_space().subspace({"encoder": ["none"], "classifier": ["forest"]})
    evaluator = evaluator_for(space, n_folds=5)
    evaluator.data.splits[:] = evaluator.data.splits[:1]
    job = opened(evaluator, time_limit=60.0)
    ((part, args, _),) = job.next_parts()
    results = evaluator.function(*args)
    job.receive(part, Outcome("ok", results, "", 1.0), math.inf)
    assert job.done
    forest = RandomForestClassifier(60, max_features=0.5, oob_score=True, random_state=0)
    expected = forest.fit(evaluator.data.Z, evaluator.data.y).predict_proba(evaluator.data.Z)
    fitted = evaluator.aggregator.models[space.default()][-1]
    np.testing.assert_array_equal(fitted.predict_proba(evaluator.data.Z), expected)


def test_out_of_bag_predictions_of_shuffled_labels_are_chance(rng):
    X = rng.normal(size=(600, 10))
    y = rng.integers(0, 2, 600)
    space = forest_space().subspace({"classifier": ["forest"]})
    clf = AutoClassifier("random", space=space, max_evals=2, initial=None, random_state=0)
    clf.fit(X, y)
    for trial in clf.history_:
        assert 0.35 < trial.loss < 0.65


def test_stopped_trials_keep_their_first_fold():
    X, y = make_classification(300, 10, n_informative=4, random_state=1)
    space = SearchSpace(["classifier"])
    space.add("classifier", "prior", DummyClassifier(), {"random_state": list(range(10))})
    clf = AutoClassifier("random", space=space, max_evals=10, initial=None, random_state=0, cv=4)
    clf.fit(X, y)
    assert [trial.status for trial in clf.history_].count("stopped") >= 1
    for trial in clf.history_:
        if trial.status == "stopped":
            assert len(trial.fold_scores["score"]) == 1
            assert np.isfinite(trial.loss) and not trial.ok


def test_a_share_of_many_rows_is_judged_on_few_of_them():
    evaluator = evaluator_for(bayes_space(), n_rows=80_000)
    job = opened(evaluator, time_limit=60.0)
    ((part, (task,), _),) = job.next_parts()
    result = evaluator.function(task)
    _, test = evaluator.data.splits[0]
    rows = test[decisive_rows(len(test))]
    assert len(rows) == len(result.probabilities) == 2_000
    whole = evaluator.function.evaluate(task.configuration, evaluator.data.splits[0][0], rows, ())
    np.testing.assert_allclose(result.probabilities, whole.probabilities, atol=0.1)
    job.receive(part, Outcome("ok", result, "", 1.0), math.inf)
    assert job.next_parts()[0][0] == 0  # the first trial is promoted to all rows


@pytest.mark.parametrize(
    ("left", "n_complete", "share"),
    [
        (100.0, 1, 1.0),
        (63.0, 1, 0.49),
        (30.0, 1, None),
        (63.0, 0, 0.246),  # the first one takes less time, so that there is a model early
        (30.0, 0, 10_000 / 64_000),
    ],
)
def test_a_promoted_trial_takes_as_many_rows_as_the_time_allows(left, n_complete, share):
    # 1 s for 1,000 rows, 64 s for the training rows of the hold-out split
    time_model = FitTimeModel({"gaussian_nb": [0.0, 1.0, 0.0, 0.0]})
    evaluator = evaluator_for(
        bayes_space(), n_rows=80_000, n_folds=5, time_model=time_model, left=1e3
    )
    evaluator.data.splits[:] = evaluator.data.splits[:1]
    result = first_result(evaluator, time_limit=1e3)
    history = history_of(*[np.full((80_000, 2), 0.5, np.float32)] * n_complete)
    rung = next_rung(evaluator, 10_000 / 64_000, result, history, seconds_left=left)
    assert (rung is not None) is (share is not None)
    if share is not None:
        (task,) = rung.values()
        assert task.share == pytest.approx(share, rel=0.02) and task.keep and not task.preview


@pytest.mark.parametrize(("limit", "status"), [(5_000, "stopped"), (None, "ok")])
def test_a_fold_that_exceeds_a_limit_on_the_size_is_the_last(limit, status):
    X, y = make_classification(300, 6, random_state=0)
    space = SearchSpace(["classifier"])
    space.add("classifier", "bayes", GaussianNB(), {"var_smoothing": [0.1, 0.01, 1e-3, 1e-4]})
    space.add("classifier", "neighbors", KNeighborsClassifier())
    small = [
        space.complete({"classifier": ("bayes", {"var_smoothing": value})})
        for value in (0.1, 0.01, 1e-3, 1e-4)
    ]
    large = space.complete({"classifier": "neighbors"})
    limits = [ModelSize(limit)]
    settings = {"space": space, "cv": 3, "random_state": 0, "max_evals": 5}
    model = ConstrainedAutoClassifier(limits, initial=[*small, large], **settings).fit(X, y)
    assert model.history_[4].status == status
    assert len(model.history_[4].fold_constraints["model_size"]) == (1 if limit else 3)
    # without a trial that is nearer to the limit, all folds are needed
    alone = ConstrainedAutoClassifier(limits, "random", initial=[large], **settings).fit(X, y)
    assert alone.history_[0].ok
