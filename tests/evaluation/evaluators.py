"""Evaluators of small searches, and what their trials go through."""

import math

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import TargetEncoder

from skauto.data import DataFacts, TrainingData
from skauto.engines import Outcome
from skauto.evaluation import PipelineBuilder, PipelineEvaluator, PipelineWorker
from skauto.history import Goal, History, Proposal, Trial
from skauto.schedule import TaskSchedule
from skauto.selection import LogLoss
from skauto.space import Configuration, SearchSpace
from skauto.utils import Budget


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
    configuration = evaluator.worker.builder.space.default()
    return evaluator.open(Proposal(configuration), History(goal))


def completed(evaluator, last_fold_first=False):
    """The trial of the default configuration."""
    job = opened(evaluator)
    while not job.done:
        parts = job.next_parts()
        for part, args, _ in reversed(parts) if last_fold_first else parts:
            job.receive(part, Outcome("ok", evaluator.worker(*args)), math.inf)
    return job.trial(0, 0.0, 0.0)


def first_result(evaluator, time_limit=None):
    """Result of the first task of the default configuration."""
    ((_, args, _),) = opened(evaluator, time_limit).next_parts()
    return evaluator.worker(*args)


def next_rung(evaluator, share, result, history, *, seconds_left):
    """The last rung of the default configuration after a result; None if the trial is stopped."""
    configuration = evaluator.worker.builder.space.default()
    proposal = Proposal(configuration)
    goal = Goal(time_limit=1e3, ensemble_loss=lambda rows: LogLoss())
    rung = evaluator.planner.rungs(proposal, History(goal))[-1]
    return evaluator.planner.next_rung(
        configuration, rung, (share, result), history, len(history), seconds_left
    )


def forest_space():
    space = SearchSpace(["encoder", "classifier"])
    space.add("encoder", "none").add("encoder", "target", TargetEncoder())
    forest = RandomForestClassifier(60, random_state=0)
    space.add("classifier", "forest", forest, {"max_features": [0.5]})
    return space.add("classifier", "logistic", LogisticRegression())
