"""What may be deployed: members that are refitted, weighed and measured before they ensemble."""

import pickle
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.metrics import get_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from skauto import ConstrainedAutoClassifier, SearchOptions
from skauto.constraints import (
    Constraint,
    Evidence,
    FalseNegativeRate,
    FalsePositiveRate,
    ModelSize,
    PredictionLatency,
    StatisticalParity,
)
from skauto.constraints._checker import ConstraintChecker
from skauto.constraints._evidence import Margin
from skauto.data import TableReader, TrainingData
from skauto.engines import Outcome, make_engine
from skauto.ensemble._build import EnsembleBuilder
from skauto.ensemble._decide import DecisionChooser
from skauto.ensemble._refits import Refits, refit_task
from skauto.ensemble._singles import SingleTrials
from skauto.estimators._pareto import FrontBuilder
from skauto.evaluation import PipelineEvaluator, PipelineWorker, RefitTask
from skauto.exceptions import InfeasibleError, InfeasibleWarning
from skauto.history import Goal, History, Trial
from skauto.model import PipelineEnsemble
from skauto.model._pipeline import make_pipeline
from skauto.space import Configuration, SearchSpace
from skauto.utils import Budget

N_ROWS = 40
X = np.arange(N_ROWS, dtype=float)[:, None]
Y = np.arange(N_ROWS) % 2
GROUPS = np.arange(N_ROWS) // 2 % 2


class Ballast(DummyClassifier):
    """A classifier with a stated number of bytes too many."""

    def __init__(self, n_bytes=0):
        super().__init__()
        self.n_bytes = n_bytes

    def fit(self, X, y, sample_weight=None):
        self.ballast_ = bytes(self.n_bytes)
        return super().fit(X, y, sample_weight)


def refit(task):
    """Instead of a worker's: as many bytes as the configuration says, negative for none at all."""
    chosen = task.configuration.parameters("classifier")
    if chosen["n_bytes"] < 0:
        raise RuntimeError("not on all rows")
    return make_pipeline([("classifier", Ballast(chosen["n_bytes"]).fit(X, Y))])


def builder_of(constraints, kind=EnsembleBuilder, **checker):
    rows = np.arange(N_ROWS)
    data = TrainingData(
        Z=X,
        y=Y,
        classes=np.array([0, 1]),
        splits=[(rows[:20], rows[20:]), (rows[20:], rows[:20])],
        X=X,
        sensitive={"g": GROUPS},
    )
    worker = PipelineWorker(None, data, {"score": get_scorer("accuracy")})
    evaluator = PipelineEvaluator(worker, checker=ConstraintChecker(constraints, data, **checker))
    reader = TableReader().fit(X)
    return kind(evaluator, reader, n_members=5, refit=True, scoring="accuracy")


def history_for(constraints, objectives=("loss",), **budget):
    return History(Goal(objectives, limits={c.key: c.limit for c in constraints}, **budget))


def random_history(rng, checker, objectives):
    """Trials whose refitted size has little to do with that of their folds."""
    history = history_for(checker.constraints, objectives)
    for number in range(rng.integers(1, 8)):
        n_bytes = int(rng.choice([0, 3_000, 10_000, 30_000]))
        positive = rng.random(N_ROWS).astype(np.float32)
        folds = {"model_size": tuple(1500 + rng.choice([0.3, 1.0, 2.0], 2) * n_bytes)}
        predictions = np.column_stack([1 - positive, positive])
        evidence = [
            Evidence.of(checker.data, predictions[test], test) for _, test in checker.data.splits
        ]
        for constraint in checker.constraints[1:]:
            folds[constraint.key] = tuple(constraint.measure(fold) for fold in evidence)
        values = checker.estimates(folds, predictions)
        losses = (float(np.mean((positive > 0.5) != Y)), values["model_size"])
        history.append(
            Trial(
                number=number,
                configuration=Configuration({"classifier": ("ballast", {"n_bytes": n_bytes})}),
                losses=losses[: len(objectives)],
                constraints=values,
                fold_constraints=folds,
                fit_times=(0.0, 0.0),
                predictions=predictions,
            )
        )
    return history


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
            single = PipelineEnsemble(builder.reader, [fitted], [1.0], builder.data.classes)
            singles[trial.number] = builder.checker.judge([trial], [1.0], single)
        assert model.verdict.passes or not any(v.passes for v in singles.values())
        n_passed += model.verdict.passes
        members = [history[number] for number in model.weights]
        again = builder.checker.judge(members, list(model.weights.values()), model.ensemble)
        assert again.passes == model.verdict.passes
    assert 5 < n_passed < 24


def test_fold_models_are_scaled_to_all_rows_before_selection():
    checker = builder_of([ModelSize(5_000)]).checker
    assert checker.estimates({"model_size": (1000.0, 1200.0)}, None) == {"model_size": 2200.0}
    at_half = checker.estimates({"model_size": (1000.0, 1200.0)}, None, fidelity=0.5)
    assert at_half == {"model_size": 4400.0}
    kept = builder_of([ModelSize(5_000)], refit=False).checker
    assert kept.estimates({"model_size": (1000.0, 1200.0)}, None) == {"model_size": 2200.0}


def ballast_trial(number, loss, n_bytes):
    positive = np.clip(np.where(np.arange(N_ROWS) < loss * N_ROWS, 1 - Y, Y), 0.1, 0.9)
    return Trial(
        number=number,
        configuration=Configuration({"classifier": (f"ballast_{number}", {"n_bytes": n_bytes})}),
        losses=(loss,),
        constraints={"model_size": 2 * (1500.0 + n_bytes / 2)},
        fold_constraints={"model_size": (1500.0 + n_bytes / 2,) * 2},
        fit_times=(0.01, 0.01),
        predictions=np.column_stack([1 - positive, positive]).astype(np.float32),
    )


def test_a_member_that_could_not_be_fitted_changes_the_vote_that_is_judged():
    history = history_for([ModelSize(60_000)])
    builder = builder_of([ModelSize(60_000)])
    for trial in (ballast_trial(0, 0.1, -1), ballast_trial(1, 0.3, 1_000)):
        history.append(trial)
    with make_engine(refit) as engine:
        model = builder.build(history, engine, Budget())
    assert model.weights == {1: 1.0}
    assert model.not_fitted == [0]
    assert model.verdict.passes
    assert model.verdict["model_size"].fitted < 6_000


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
    assert model.verdict.passes


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


class Backwards:
    """Instead of an engine: the task that was submitted last is complete first."""

    n_workers = 2

    def __init__(self):
        self.tasks = []

    @property
    def n_running(self):
        return len(self.tasks)

    def submit(self, key, args):
        self.tasks.append((key, args))

    def wait(self, timeout):
        key, (task,) = self.tasks.pop()
        return [(key, Outcome("ok", task.fold))]

    def cancel(self):
        pass


def test_models_of_the_folds_are_ordered_by_fold_whichever_is_complete_first():
    history = history_for([])
    for number in range(2):
        history.append(ballast_trial(number, 0.1, 0))
    refits = Refits(
        history,
        Backwards(),
        Budget(),
        lambda trial, fold: RefitTask(trial.configuration, fold),
        [0, 1, 2],
        {},
        lambda trial: 0.0,
    )
    refits.fit([0, 1])
    assert list(refits.pipelines.items()) == [(0, [0, 1, 2]), (1, [0, 1, 2])]


def labelled_trial(number, positive, constraint, data):
    """A trial with these out-of-fold probabilities of the positive class."""
    predictions = np.column_stack([1 - positive, positive]).astype(np.float32)
    evidence = [Evidence.of(data, predictions[test], test) for _, test in data.splits]
    folds = {constraint.key: tuple(constraint.measure(fold) for fold in evidence)}
    return Trial(
        number=number,
        configuration=Configuration({"classifier": (f"ballast_{number}", {"n_bytes": 0})}),
        losses=(float(np.mean((positive > 0.5) != Y)),),
        constraints=ConstraintChecker([constraint], data).estimates(folds, predictions),
        fold_constraints=folds,
        fit_times=(0.01, 0.01),
        predictions=predictions,
    )


def test_single_trials_are_ordered_by_the_loss_after_their_decisions():
    """Trial 0 keeps the limit as it is; 1 with a higher threshold; 2 by negative labels only."""
    limit = FalsePositiveRate(0.05)
    builder = builder_of([limit])
    builder.decisions = DecisionChooser(builder.data, builder.checker, "auto")
    history = history_for([limit])
    negatives = np.flatnonzero(Y == 0)
    alarms = np.isin(np.arange(N_ROWS), negatives[::5])
    for number, positive in enumerate(
        [
            np.full(N_ROWS, 0.4),
            np.where(alarms, 0.6, 0.1 + 0.8 * Y),
            np.where(alarms, 0.9, 0.1 + 0.7 * Y),
        ]
    ):
        history.append(labelled_trial(number, positive, limit, builder.data))
    assert [t.constraints[limit.key] for t in history] == pytest.approx([0.0, 0.2, 0.2])
    assert [t.loss for t in history] == [0.5, 0.1, 0.1]
    task = partial(refit_task, data=builder.data)
    with make_engine(refit) as engine:
        refits = Refits(history, engine, Budget(), task, [None], {}, builder.refit_time)
        singles = SingleTrials(builder, history, refits)
        assert list(singles) == [1, 0, 2]
    assert singles.after_decision(1) == (0.0, 0.0)
    assert singles.after_decision(2) == (0.0, 0.5)


def select_within(limit, columns):
    """Weights of trials with these probabilities, and the labels of their ensemble."""
    builder = builder_of([limit])
    history = history_for([limit])
    for number, positive in enumerate(columns):
        history.append(labelled_trial(number, positive, limit, builder.data))
    feasible = [history.feasible(trial) for trial in history]
    weights = builder.select(history)
    ensemble = sum(weight * history[n].predictions for n, weight in weights.items())
    evidence = Evidence(ensemble, Y, builder.data.classes, builder.data.sensitive)
    return feasible, weights, limit.measure(evidence), np.mean(evidence.labels == Y)


def test_a_fair_and_an_accurate_member_are_mixed():
    cell = np.arange(N_ROWS) // 4  # ten rows of each class and group
    true = 0.1 + 0.8 * Y
    favored = np.where((cell < 4) & (Y != GROUPS), 0.1 + 0.5 * (1 - Y) + 0.3 * Y, true)
    blurred = np.where(cell >= 6, 0.55 - 0.1 * Y, true)
    parity = StatisticalParity("g", 0.1, min_group_size=1)
    feasible, weights, value, accuracy = select_within(parity, [favored, blurred])
    assert feasible == [False, True]
    assert set(weights) == {0, 1}
    assert value <= 0.1
    assert accuracy == 1.0


def test_two_members_whose_differences_cancel_are_mixed():
    cell = np.arange(N_ROWS) // 4
    true = 0.1 + 0.8 * Y
    errors = [(cell < 4) & (Y != GROUPS), (cell >= 6) & (Y == GROUPS)]
    columns = [np.where(wrong, 0.6 - 0.2 * Y, true) for wrong in errors]
    parity = StatisticalParity("g", 0.1, min_group_size=1)
    feasible, weights, value, accuracy = select_within(parity, columns)
    assert feasible == [False, False]
    assert weights == {0: 0.5, 1: 0.5}
    assert value <= 0.1
    assert accuracy == 1.0


class Doubtful(Constraint):
    """An additive constraint that reads probabilities: shares of rows near 0.5, summed up."""

    additive = True

    def __init__(self, upper=None):
        self.upper = upper

    def measure(self, evidence):
        assert evidence.probabilities.shape == (len(evidence.y), len(evidence.classes))
        return float((evidence.probabilities.max(axis=1) < 0.6).mean())


def two_classifiers():
    space = SearchSpace(["classifier"])
    space.add("classifier", "gaussian_nb", GaussianNB())
    return space.add("classifier", "knn", KNeighborsClassifier())


@pytest.fixture(scope="module")
def table():
    return make_classification(900, 6, random_state=0)


def fit(table, constraints, **kwargs):
    settings = {"space": two_classifiers(), "max_evals": 2, "cv": 3, "random_state": 0, **kwargs}
    return ConstrainedAutoClassifier(constraints, "random", **settings).fit(*table)


def test_an_additive_constraint_may_read_probabilities(table):
    clf = fit(table, [Doubtful(2.0)])
    assert clf.feasible_
    row = clf.constraint_values_.set_index("model").loc["ensemble"]
    weights = clf.member_weights_.items()
    mean = sum(weight * clf.history_[n].predictions for n, weight in weights)
    assert row["fitted"] == pytest.approx((mean.max(axis=1) < 0.6).mean())


def test_nearest_neighbors_that_outgrow_the_limit_when_refitted_are_replaced(table):
    """44 kB on two thirds of the rows, 63 kB on all."""
    clf = fit(table, [ModelSize(50_000)])
    by_folds = [np.mean(trial.fold_constraints["model_size"]) for trial in clf.history_]
    assert max(by_folds) < 50_000 < clf.history_[1].constraints["model_size"]
    assert clf.feasible_
    assert clf.member_weights_ == {0: 1.0}
    fit(table, [ModelSize(50_000)], on_infeasible="raise")


def test_the_front_is_judged_as_it_is_refitted(table):
    clf = ConstrainedAutoClassifier(
        [ModelSize(50_000)],
        "parego",
        space=two_classifiers(),
        max_evals=2,
        cv=3,
        random_state=0,
    ).fit(*table)
    assert clf.feasible_
    assert isinstance(clf.select(clf.selected_)[-1], GaussianNB)
    assert isinstance(clf.select(ModelSize(50_000))[-1], GaussianNB)
    assert isinstance(clf.select(ModelSize(70_000))[-1], KNeighborsClassifier)
    with pytest.raises(InfeasibleError, match=r"within 1000; the nearest has \d{4}\."):
        clf.select(ModelSize(1_000))


@pytest.mark.parametrize("kwargs", [{}, {"options": SearchOptions(refit=False)}])
def test_a_refusal_names_limit_best_value_and_trial(table, kwargs):
    message = (
        r"'model_size' has the limit 900; the best value that was reached is \d+, "
        r"by trial 0 \(gaussian_nb\)"
    )
    with pytest.warns(InfeasibleWarning, match=message):
        clf = fit(table, [ModelSize(900)], **kwargs)
    assert not clf.feasible_
    assert clf.member_weights_ == {0: 1.0}
    with pytest.raises(InfeasibleError, match=message):
        fit(table, [ModelSize(900)], on_infeasible="raise", **kwargs)


def test_limits_that_exclude_each_other_are_named_so(table):
    limits = [ModelSize(4_000), FalseNegativeRate(0.1)]
    frame = fit(table, [ModelSize(), FalseNegativeRate()]).leaderboard()
    assert (frame["false_negative_rate"] < 0.1).sum() == 1, frame
    with pytest.warns(InfeasibleWarning, match="which misses another limit"):
        fit(table, limits, decision="argmax")


def test_seconds_are_measured_on_the_fitted_vote(table):
    clf = fit(table, [PredictionLatency(1.0)])
    frame = clf.constraint_values_
    assert (frame["bound"] == frame["fitted"]).all()
    assert (frame["fitted"] > 0).all()


def test_pandas_rows_reach_an_additive_constraint():
    X, y = make_classification(60, 4, random_state=0)
    clf = fit((pd.DataFrame(X, columns=list("abcd")), y), [Doubtful(2.0)])
    assert clf.feasible_


def test_the_shared_reader_counts_once_and_does_not_grow(table):
    """The reader of a column of 40 names is larger than a naive Bayes classifier."""
    X, y = table
    frame = pd.DataFrame(X).assign(name=[f"level {i % 40}" for i in range(len(y))])
    frame.columns = frame.columns.astype(str)
    space = SearchSpace(["classifier"])
    space.add("classifier", "gaussian_nb", GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 0.1]})
    options = SearchOptions(warm_start=True)
    clf = fit((frame, y), [ModelSize()], space=space, max_evals=3, options=options)
    n_rows = len(y)
    empty = PipelineEnsemble(clf.reader_, [], [], clf.classes_)
    size = len(pickle.dumps(empty, protocol=5))
    splits = [(np.arange(2 * n_rows // 3), np.arange(2 * n_rows // 3, n_rows))] * 3
    data = TrainingData(
        Z=clf.reader_.transform(frame),
        y=y,
        classes=clf.classes_,
        splits=splits,
        X=frame,
        reader=clf.reader_,
    )
    checker = ConstraintChecker([ModelSize()], data)
    one, three = (checker.judge(clf.history_[:n], np.ones(n))["model_size"].value for n in (1, 3))
    own = [trial.fold_constraints["model_size"][0] - size for trial in clf.history_]
    assert one == pytest.approx(size + 1.5 * own[0], rel=0.05)
    assert three == pytest.approx(size + 1.5 * sum(own), rel=0.05)
