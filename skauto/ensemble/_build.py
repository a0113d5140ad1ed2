"""Trials become a model: choose members, refit them within the time that is left."""

import math
import time
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from sklearn.dummy import DummyClassifier

from skauto.constraints import Evidence
from skauto.ensemble._limits import EnsembleLimits
from skauto.ensemble._voting import PipelineEnsemble
from skauto.evaluation import RefitTask, assemble
from skauto.selection import (
    BrierLoss,
    LogLoss,
    ScorerLoss,
    SmoothedLoss,
    choose_decision,
    gains_by_offsets,
    get_loss,
    greedy_selection,
    mean_over_pairs,
    pairwise_disagreement,
    pairwise_diversity,
)
from skauto.utils import scorer_function, take_rows

# So many of the best trials may become members, and besides so many of each algorithm of the last
# step: alike members, however good, vote alike.
_POOL = 10
_POOL_PER_ALGORITHM = 3
# Selection looks at so many rows at most; more change the choice hardly, but cost time.
_MAX_ROWS = 20_000
# Selection may take this share of the time that is left: a limit can be slow to measure on a vote.
_SELECTING = 0.2
# Refitting is given so much more time than the folds took, scaled to all the rows.
_SAFETY = 1.3
# The time for exactly the members that would be selected is stretched by this: one that a busy
# machine keeps from being fitted is lost, and the end of a search seldom finds a better one.
_SLACK = 1.5
# Share of the time limit that may be kept back for what comes after the search.
_MAX_RESERVE = 0.25
# While no member at all is fitted, the time limit may be exceeded by so many seconds and so much
# of itself.
_GRACE = 1.0
_GRACE_SHARE = 0.03


@dataclass(frozen=True)
class Model:
    """What a search ends with.

    Parameters
    ----------
    ensemble : PipelineEnsemble
        The fitted vote.
    weights : dict of int to float
        Share of the vote by number of the trial.
    best_number : int or None
        Number of the best trial among the members.
    best : Pipeline or None
        Its pipeline, fitted on all rows.
    fallback : bool
        Whether nothing was ready in time, and the class shares are predicted.
    front : dict of int to Pipeline, default={}
        Pipelines of the Pareto front, fitted on all rows, by number of the trial; only after a
        search for several objectives.
    measured : dict of str to float, default={}
        Seconds and bytes of the fitted vote, by constraint.
    """

    ensemble: PipelineEnsemble
    weights: dict
    best_number: int | None
    best: object
    fallback: bool
    front: dict = field(default_factory=dict)
    measured: dict = field(default_factory=dict)


class EnsembleBuilder:
    """Select members among the trials of a search and fit them.

    Parameters
    ----------
    evaluator : PipelineEvaluator
        Its function holds the data and refits.
    reader : TableReader
        First step of every pipeline.
    n_members : int
        Number of votes, repetitions included.
    refit : bool
        Whether members are fitted on all rows; otherwise one model a fold.
    scoring : str or callable
        What the vote is to be good at.
    decision : {"auto", "argmax"}, default="argmax"
        Whether a temperature or offsets of the classes are chosen on the out-of-fold predictions
        of the vote, see :func:`~skauto.selection.choose_decision`.
    """

    def __init__(self, evaluator, reader, *, n_members, refit, scoring, decision="argmax"):
        self.evaluator = evaluator
        self.data = evaluator.data
        self.reader = reader
        self.n_members = n_members
        self.refit = refit
        self.scoring = scoring
        self.decision = decision
        self._needed = 0, 0.0  # number of trials, and seconds that their members take

    def refit_time(self, trial):
        """Predicted seconds of fitting a member anew.

        Parameters
        ----------
        trial : Trial
            Its folds were timed.

        Returns
        -------
        seconds : float
            Of one processor.
        """
        if not self.refit:
            return _SAFETY * sum(trial.fit_times)
        n_train = np.mean([train.size for train, _ in self.data.splits])
        return _SAFETY * trial.mean_fit_time * len(self.data.y) / n_train

    def reserve(self, history, n_workers, budget):
        """Seconds to keep back for selecting and refitting what is known so far.

        Parameters
        ----------
        history : History
            Trials so far.
        n_workers : int
            Number of fits that run at once.
        budget : Budget
            Of the whole ``fit``.

        Returns
        -------
        seconds : float
            Enough for ten members, at most a quarter of the limit, but always enough for the best
            trial. When no more is left, only enough for the members that would be selected.
        """
        pool = self._pool(history)
        if not pool:
            return 0.0
        selecting = min(0.02 * budget.time_limit, 1.0)
        best = self.refit_time(pool[0])
        times = [self.refit_time(trial) for trial in pool[: min(10, self.n_members)]]
        usual = sum(times) / min(n_workers, len(times))
        kept = max(min(usual, _MAX_RESERVE * budget.time_limit), best)
        if budget.remaining <= kept + selecting:
            needed = _SLACK * self._time_of_members(history, n_workers, kept)
            kept = min(kept, max(best, needed))
        return kept + selecting

    def _time_of_members(self, history, n_workers, seconds):
        """Predicted seconds of fitting those that would be selected now; kept for the next call.

        Selecting itself takes time, so it is left until the end of the search depends on it.
        """
        if self._needed[0] != len(history):
            chosen = self.select(history, seconds * n_workers, seconds)
            times = [self.refit_time(history[number]) for number in chosen]
            self._needed = len(history), max([sum(times) / n_workers, *times])
        return self._needed[1]

    def build(self, history, engine, budget):
        """Choose the members, fit them on the engine and put the vote together.

        Parameters
        ----------
        history : History
            All trials.
        engine : Engine
            Idle; runs the fits.
        budget : Budget
            What is not fitted when its time is over is left out of the vote.

        Returns
        -------
        model : Model
            The class shares when nothing could be fitted in time.
        """
        weights = self.select(history, budget.remaining * engine.n_workers, budget.remaining)
        fitted = self._fit(history, weights, engine, budget)
        weights = {number: weights[number] for number in weights if number in fitted}
        if not weights:
            return self._fallback()
        ensemble = self._vote(weights, fitted)
        measured = self.measure(ensemble)
        while len(weights) > 1 and not self._light_enough(measured):
            weights.popitem()  # the smallest share, and measured on the fitted vote itself
            ensemble = self._vote(weights, fitted)
            measured = self.measure(ensemble)
        self._describe(ensemble, [history[number].predictions for number in weights])
        ensemble.decision = self.decide(history, weights)
        total = sum(weights.values())
        weights = {number: weight / total for number, weight in weights.items()}
        numbers = sorted(weights, key=[t.number for t in self._pool(history)].index)
        best = assemble(self.reader, fitted[numbers[0]][0]) if self.refit else None
        return Model(ensemble, weights, numbers[0], best, fallback=False, measured=measured)

    def decide(self, history, weights):
        """Choose how a vote is read.

        Parameters
        ----------
        history : History
            All trials.
        weights : dict of int to float
            Share of the vote by number of the trial.

        Returns
        -------
        decision : Decision or None
            None with ``decision="argmax"``, and where a limit is measured on predictions.
        """
        measured = any(not c.additive for c in self.evaluator.constraints)
        if self.decision == "argmax" or measured:
            return None
        shares = np.array(list(weights.values())) / sum(weights.values())
        rows = self._rows(history[next(iter(weights))].predictions)
        vote = sum(
            share * history[number].predictions[rows]
            for number, share in zip(weights, shares, strict=True)
        )
        weight = self.data.sample_weight
        return choose_decision(
            vote,
            self.data.y[rows],
            self.score_loss(rows),
            rng=np.random.default_rng(0),
            sample_weight=None if weight is None else weight[rows],
        )

    def measure(self, model):
        """Measure a fitted model's seconds and bytes.

        Parameters
        ----------
        model : PipelineEnsemble or Pipeline
            Predicts from the raw table.

        Returns
        -------
        values : dict of str to float
            By constraint; only those that need a fitted model.
        """
        constraints = [c for c in self.evaluator.constraints if c.additive]
        if not constraints:
            return {}
        rows = np.arange(len(self.data.y))
        evidence = Evidence.of(self.data, np.empty((0, 0)), rows, model)
        return {constraint.key: float(constraint.measure(evidence)) for constraint in constraints}

    def validated(self, history, weights):
        """Measure a vote by cross-validation.

        Parameters
        ----------
        history : History
            All trials.
        weights : dict of int to float
            Share of the vote by number of the trial.

        Returns
        -------
        values : dict of str to tuple of float
            One value a fold for each constraint.
        """
        limits = EnsembleLimits([history[number] for number in weights], self.evaluator)
        values = limits.values(np.array(list(weights.values())))
        return {c.key: v for c, v in zip(limits.constraints, values, strict=True)}

    def _light_enough(self, measured):
        limits = {c.key: c.limit for c in self.evaluator.constraints}
        return all(value <= limits[key] for key, value in measured.items())

    def _vote(self, weights, fitted):
        """Put the fitted members together; the models of a member share its votes."""
        pipelines, shares = [], []
        for number, weight in weights.items():
            for steps in fitted[number]:
                pipelines.append(assemble(self.reader, steps))
                shares.append(weight / len(fitted[number]))
        shares = np.array(shares) / sum(shares)
        return PipelineEnsemble(pipelines, shares, self.data.classes)

    def _describe(self, ensemble, predictions):
        """Note how different the members' out-of-fold predictions are."""
        rows = self._rows(predictions[0])
        sampled = np.stack([prediction[rows] for prediction in predictions])
        ensemble.diversity = pairwise_diversity(sampled)
        ensemble.disagreement = mean_over_pairs(pairwise_disagreement(sampled))

    def select(self, history, processor_seconds=math.inf, seconds=math.inf):
        """Choose members by greedy selection on the out-of-fold predictions.

        Parameters
        ----------
        history : History
            All trials.
        processor_seconds : float, default=inf
            What refitting all members may take.
        seconds : float, default=inf
            What refitting one member may take. When a fifth of them is over, the vote as it is
            then gets no further members.

        Returns
        -------
        weights : dict of int to float
            Share of the vote by number of the trial, largest first; empty without any trial.
        """
        pool = [t for t in self._pool(history) if self.refit_time(t) <= seconds]
        if not pool:
            return {}
        if self.n_members == 1 or not history.feasible(pool[0]):
            return {pool[0].number: 1.0}
        times = np.array([self.refit_time(trial) for trial in pool])
        limits = EnsembleLimits(pool, self.evaluator) if history.limits else None
        end = time.monotonic() + _SELECTING * seconds

        def affordable(counts, candidate):
            if counts.any() and time.monotonic() > end:
                return False
            chosen = counts > 0
            chosen[candidate] = True
            if times[chosen].sum() > processor_seconds:
                return False
            return limits is None or limits.allow(counts, candidate)

        rows = self._rows(pool[0].predictions)
        weight = self.data.sample_weight
        selection = greedy_selection(
            [trial.predictions[rows] for trial in pool],
            self.data.y[rows],
            self.selection_loss(rows),
            self.n_members,
            feasible=affordable,
            sample_weight=None if weight is None else weight[rows],
        )
        order = np.argsort(-selection.weights, kind="stable")
        return {
            pool[i].number: float(selection.weights[i]) for i in order if selection.weights[i] > 0
        }

    def _pool(self, history):
        """Best complete trials: those that violate the limits least, then by loss."""
        complete = [t for t in history if t.ok and t.fidelity == 1.0 and t.predictions is not None]
        complete.sort(key=lambda t: (history.violation(t), t.loss, t.tie_break))
        seen = Counter()
        pool = []
        for rank, trial in enumerate(complete):
            algorithm = trial.configuration.structure[-1]
            seen[algorithm] += 1
            if rank < _POOL or seen[algorithm] <= _POOL_PER_ALGORITHM:
                pool.append(trial)
        return pool

    def _rows(self, predictions):
        """Rows that were predicted, a constant sample of them where they are many."""
        rows = np.flatnonzero(~np.isnan(predictions[:, 0]))
        if rows.size > _MAX_ROWS:
            rows = np.sort(np.random.default_rng(0).choice(rows, _MAX_ROWS, replace=False))
        return rows

    def score_loss(self, rows):
        """Loss that belongs to the scorer, on some rows of the data.

        Parameters
        ----------
        rows : ndarray of int
            Which rows.

        Returns
        -------
        loss : Loss
        """
        reads_X = not isinstance(self.scoring, str) and scorer_function(self.scoring) is None
        if self.data.X is None or not reads_X:
            return get_loss(self.scoring, self.data.classes)
        return ScorerLoss(self.scoring, self.data.classes, take_rows(self.data.X, rows))

    def selection_loss(self, rows):
        """Loss that ensembles are selected by: that of the scorer and a share of the log loss.

        Where offsets are chosen for the labels it is the log loss alone: on generated data it
        chose votes as good as the loss at the best threshold did, and better ones than the loss
        of the most probable classes.

        Parameters
        ----------
        rows : ndarray of int
            Which rows.

        Returns
        -------
        loss : Loss
        """
        loss = self.score_loss(rows)
        if self.decision == "auto" and gains_by_offsets(
            loss, self.data.y[rows], len(self.data.classes)
        ):
            return LogLoss()
        return loss if isinstance(loss, LogLoss | BrierLoss) else SmoothedLoss(loss)

    def _refit_task(self, trial, fold):
        """Fit a member with the rounds of its folds, in proportion to the rows on all rows."""
        if not trial.rounds:
            return RefitTask(trial.configuration, fold)
        if fold is not None:
            return RefitTask(trial.configuration, fold, trial.rounds[fold])
        n_train = np.mean([train.size for train, _ in self.data.splits])
        rounds = np.mean(trial.rounds) * len(self.data.y) / n_train
        return RefitTask(trial.configuration, rounds=max(1, round(rounds)))

    def _fit(self, history, weights, engine, budget):
        """Fitted steps by number of the trial; those that did not end in time are missing."""
        folds = [None] if self.refit else list(range(len(self.data.splits)))
        for number in weights:
            for fold in folds:
                engine.submit((number, fold), (self._refit_task(history[number], fold),))
        fitted = {number: [] for number in weights}
        grace = 0.0 if budget.time_limit is None else _GRACE + _GRACE_SHARE * budget.time_limit
        while engine.n_running:
            # A model a moment late is better than none.
            left = budget.remaining + (0.0 if any(fitted.values()) else grace - budget.overrun)
            if left <= 0:
                break
            for (number, _), outcome in engine.wait(None if math.isinf(left) else left):
                if outcome.status == "ok":
                    fitted[number].append(outcome.value)
        engine.cancel()
        return {number: steps for number, steps in fitted.items() if steps}

    def _fallback(self):
        """Predict the class shares."""
        y = self.data.classes[self.data.y]
        steps = [("classifier", DummyClassifier().fit(np.zeros((len(y), 1)), y))]
        pipeline = assemble(self.reader, steps)
        ensemble = PipelineEnsemble([pipeline], np.ones(1), self.data.classes)
        return Model(ensemble, {}, None, pipeline, fallback=True)
