"""The reference line: what a hundred lines reach without a search worth the name.

Sixteen default pipelines, cheapest first, then random LightGBM, extra-trees, SVM and MLP
configurations until the time is spent; greedy ensemble selection over the out-of-fold predictions
of the best 25; the fold models averaged, nothing refitted. A search that does not beat it is not
worth its code.
"""

import itertools
import multiprocessing
import time
import warnings

import numpy as np
from baselines import native, one_hot, ordinal
from lightgbm import LGBMClassifier
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as LDA
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as QDA
from sklearn.ensemble import ExtraTreesClassifier as ExtraTrees
from sklearn.ensemble import HistGradientBoostingClassifier as HistGradientBoosting
from sklearn.ensemble import RandomForestClassifier as RandomForest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier as KNN
from sklearn.neural_network import MLPClassifier as MLP
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from skauto.selection import RocAucLoss, greedy_selection

MAX_SVM_SAMPLES = 6000


def svm(C=1.0, gamma="scale"):
    return one_hot(CalibratedClassifierCV(SVC(C=C, gamma=gamma), ensemble=False, cv=3))


def boosting(**settings):
    return native(LGBMClassifier(**settings, n_jobs=1, verbose=-1, subsample_freq=1))


def default_pipelines(n_samples):
    yield one_hot(GaussianNB())
    yield one_hot(LDA(solver="lsqr", shrinkage="auto"))
    yield one_hot(QDA(solver="eigen", shrinkage="auto"))
    yield one_hot(LogisticRegression(C=0.1, max_iter=1000))
    yield one_hot(LogisticRegression(max_iter=1000))
    yield one_hot(KNN(n_neighbors=15, weights="distance"))
    yield boosting(n_estimators=100)
    yield boosting(n_estimators=200, learning_rate=0.05, num_leaves=15, colsample_bytree=0.5)
    yield ordinal(HistGradientBoosting())
    yield ordinal(ExtraTrees(200))
    yield ordinal(ExtraTrees(200, max_features=0.5, min_samples_leaf=2))
    yield ordinal(RandomForest(200))
    yield one_hot(MLP(early_stopping=True))
    yield one_hot(MLP((100, 100), alpha=0.1, max_iter=100))
    if n_samples <= MAX_SVM_SAMPLES:
        yield svm()
        yield svm(C=10.0)


def random_pipelines(n_samples, rng):
    """LightGBM, extra trees, SVM and MLP in turn, each with random hyper-parameters."""
    while True:
        yield boosting(
            n_estimators=int(rng.integers(50, 500)),
            learning_rate=10 ** rng.uniform(-2, -0.7),
            num_leaves=int(2 ** rng.uniform(2, 6)),
            min_child_samples=int(2 ** rng.uniform(1, 6)),
            colsample_bytree=rng.uniform(0.3, 1),
            subsample=rng.uniform(0.5, 1),
            reg_lambda=10 ** rng.uniform(-3, 1),
        )
        leaf, share = int(rng.integers(1, 6)), rng.uniform(0.1, 1)
        yield ordinal(ExtraTrees(200, min_samples_leaf=leaf, max_features=share))
        if n_samples <= MAX_SVM_SAMPLES:
            yield svm(C=10 ** rng.uniform(-1, 3), gamma=10 ** rng.uniform(-4, 0))
        layers = (int(2 ** rng.uniform(4, 8)),) * int(rng.integers(1, 3))
        alpha, rate = 10 ** rng.uniform(-5, 0), 10 ** rng.uniform(-3.5, -2)
        yield one_hot(MLP(layers, alpha=alpha, learning_rate_init=rate, max_iter=100))


def start_worker(*data):
    global X_ALL, Y_ALL
    (X_ALL, Y_ALL), _ = data, threadpool_limits(limits=1)
    warnings.simplefilter("ignore")


def fit_fold(pipeline, train, test):
    pipeline = clone(pipeline).fit(X_ALL.iloc[train], Y_ALL[train])
    return pipeline, pipeline.predict_proba(X_ALL.iloc[test]).astype(np.float32)


class ReferenceLine(ClassifierMixin, BaseEstimator):
    def __init__(self, time_limit=30, n_jobs=2, random_state=0):
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y):
        end = time.monotonic() + 0.97 * self.time_limit
        self.classes_, y = np.unique(y, return_inverse=True)
        n_folds = 8 if len(y) <= 2000 else 5 if len(y) <= 6000 else 3
        folds = list(StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y))
        rng = np.random.default_rng(self.random_state)
        pipelines = itertools.chain(default_pipelines(len(y)), random_pipelines(len(y), rng))
        self.pool_ = []  # (loss, number, fold models, out-of-fold predictions)
        with multiprocessing.get_context("fork").Pool(
            self.n_jobs, start_worker, (X, y)
        ) as workers:
            for number, pipeline in enumerate(pipelines):
                tasks = [(pipeline, *fold) for fold in folds]
                try:
                    results = workers.starmap_async(fit_fold, tasks, chunksize=1)
                    models, parts = zip(*results.get(max(0, end - time.monotonic())), strict=True)
                except multiprocessing.TimeoutError:
                    break
                except Exception:
                    continue
                self._keep(number, models, parts, folds, y)
        predictions = [prediction for *_, prediction in self.pool_]
        weights = greedy_selection(predictions, y, RocAucLoss(), n_members=25).weights
        self.members_ = [
            (weight / n_folds, model)
            for weight, (_, _, models, _) in zip(weights, self.pool_, strict=True)
            for model in models
            if weight > 0
        ]
        del self.pool_
        return self

    def _keep(self, number, models, parts, folds, y):
        """Add what was fitted to the pool, which holds the best 25."""
        prediction = np.empty((len(y), len(self.classes_)), dtype=np.float32)
        for (_, test), part in zip(folds, parts, strict=True):
            prediction[test] = part
        if np.isfinite(prediction).all():
            loss = RocAucLoss()(y, prediction[None])[0]
            self.pool_.append((loss, number, models, prediction))
            self.pool_ = sorted(self.pool_, key=lambda member: member[:2])[:25]

    def predict_proba(self, X):
        return sum(weight * model.predict_proba(X) for weight, model in self.members_)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
