"""Trials and builders whose models have a stated number of bytes."""

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.metrics import get_scorer
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from skauto import ConstrainedAutoClassifier
from skauto.constraints import Evidence
from skauto.constraints._checker import ConstraintChecker
from skauto.data import TableReader, TrainingData
from skauto.ensemble._build import EnsembleBuilder
from skauto.evaluation import PipelineEvaluator, PipelineWorker
from skauto.history import Goal, History, Trial
from skauto.model._pipeline import make_pipeline
from skauto.space import Configuration, SearchSpace

N_ROWS = 40
X = np.arange(N_ROWS, dtype=float)[:, None]
Y = np.arange(N_ROWS) % 2
GROUPS = np.arange(N_ROWS) // 2 % 2


class OneSeed:
    """The builder of classifiers without seeds."""

    def averages_seeds(self, configuration):
        return False


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
        reader=TableReader().fit(X),
        sensitive={"g": GROUPS},
    )
    worker = PipelineWorker(OneSeed(), data, {"score": get_scorer("accuracy")})
    evaluator = PipelineEvaluator(worker, checker=ConstraintChecker(constraints, data, **checker))
    return kind(evaluator, n_members=5, refit=True, scoring="accuracy")


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


def labeled_trial(number, positive, constraint, data):
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


def two_classifiers():
    space = SearchSpace(["classifier"])
    space.add("classifier", "gaussian_nb", GaussianNB())
    return space.add("classifier", "knn", KNeighborsClassifier())


def fit(table, constraints, **kwargs):
    settings = {"space": two_classifiers(), "max_evals": 2, "cv": 3, "random_state": 0, **kwargs}
    return ConstrainedAutoClassifier(constraints, "random", **settings).fit(*table)
