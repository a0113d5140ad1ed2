"""Select the members of the ensemble, refit them and check the constraints."""

import heapq
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from skauto.constraints._base import limited_resources
from skauto.constraints._gate import Verdict
from skauto.engines import Engine
from skauto.ensemble._decide import DecisionChooser, DecisionPair, mean_predictions
from skauto.ensemble._model import Candidate, Model
from skauto.ensemble._refits import Refits
from skauto.ensemble._select import MAX_ROWS, MemberSelector, is_complete, preference
from skauto.evaluation import PipelineEvaluator, RefitTask
from skauto.history import History, Trial
from skauto.model import Decision, PipelineEnsemble
from skauto.model._ensemble import constant_ensemble
from skauto.selection import (
    LabelLoss,
    pairwise_disagreement,
    pairwise_diversity,
)
from skauto.selection._diversity import mean_over_pairs
from skauto.utils import Budget, FloatArray, IntArray

# Predicted refit time = this factor * fit time of the folds, scaled to all rows.
_SAFETY = 1.3
# Reserved time = this factor * predicted time of the selected members, because a member that is
# not fitted in time is lost.
_SLACK = 1.5
# Maximum fraction of the time limit to reserve for refitting.
_MAX_RESERVE = 0.25
# Seconds to choose thresholds that keep a limit on two groups of MAX_ROWS rows together. They are
# proportional to the number of groups, and to that of the rows if there are fewer.
_DECIDING = 5.0
# Maximum fraction of the time limit to reserve for them.
_MAX_DECIDING = 0.25
# Above this number of rows no time is reserved for refits of models of the hold-out split.
_MANY_ROWS = 100_000


class EnsembleBuilder:
    """Select members among the trials of a search, refit them and check the constraints.

    The evaluator holds the data and refits, and its gate measures constraints. The reader is the
    first step of every pipeline. The ensemble optimizes `scoring` and has `n_members`, counting
    repeated members. They are fitted on all rows, or without `refit` once per fold. Without
    `decisions`, an ensemble predicts the most probable class.
    """

    _selector_type = MemberSelector

    def __init__(
        self,
        evaluator: PipelineEvaluator,
        reader: Any,
        *,
        n_members: int,
        refit: bool,
        scoring: Any,
        decisions: DecisionChooser | None = None,
    ) -> None:
        self.evaluator = evaluator
        self.data = evaluator.data
        self.gate = evaluator.gate
        self.reader = reader
        self.refit = refit
        self.decisions = decisions or DecisionChooser(self.data, self.gate, "argmax")
        self.selector = self._selector_type(
            self.data,
            self.gate,
            n_members=n_members,
            scoring=scoring,
            tunes_labels=self.decisions.decision != "argmax",
        )
        self._needed = 0, 0.0  # number of trials, and refit seconds of the selected members
        self._chosen: dict[tuple[tuple[int, float], ...], DecisionPair] = {}  # by weights

    def refit_time(self, trial: Trial) -> float:
        """Predict the processor seconds of refitting a trial by the fit times of its folds."""
        if self._is_fitted(trial) and (
            not self.refit or self.evaluator.validates_out_of_bag(trial.configuration)
        ):
            return 0.0
        if not self.refit:
            return _SAFETY * sum(trial.fit_times)
        n_train = np.mean([train.size for train, _ in self.data.splits])
        return float(_SAFETY * trial.mean_fit_time * len(self.data.y) / n_train)

    @property
    def _may_grow(self) -> bool:
        """Whether a member may exceed a limit after its refit."""
        return self.refit and bool(limited_resources(self.gate.constraints))

    def _is_fitted(self, trial: Trial) -> bool:
        return trial.configuration in self.evaluator.models

    def _time_to_fit(self, trial: Trial) -> float:
        """Predicted seconds until there is a fitted model of a trial."""
        return 0.0 if self._is_fitted(trial) else self.refit_time(trial)

    def _time_to_reserve(self, trial: Trial, most: float) -> float:
        """Seconds to reserve for a trial, at most `most` if it has a held-out model."""
        if not self._is_fitted(trial):
            return self.refit_time(trial)
        seconds = self.refit_time(trial) / _SLACK  # if that is too little, its model remains
        return seconds if seconds <= most and len(self.data.y) <= _MANY_ROWS else 0.0

    def reserve(self, history: History, n_workers: int, budget: Budget) -> float:
        """Return the seconds to reserve for selecting and refitting members, and for thresholds.

        Those for refits suffice for the ten best trials, but are at most a quarter of the time
        limit, and at least enough for the best trial, or two of its kind if a refitted member may
        exceed a limit. If less time remains, they suffice for the selected members.
        """
        pool = self.selector.pool(history)
        if not pool or budget.time_limit is None:
            return 0.0
        selecting = min(0.02 * budget.time_limit, 1.0) + self._time_to_decide(budget.time_limit)
        most = _MAX_RESERVE * budget.time_limit
        best = self._time_to_fit(pool[0]) * (2 if self._may_grow else 1)
        n_best = min(10, self.selector.n_members)
        times = [self._time_to_reserve(trial, most) for trial in pool[:n_best]]
        usual = sum(times) / min(n_workers, len(times))
        kept = max(min(usual, most), best)
        if budget.remaining <= kept + selecting:
            needed = _SLACK * self._time_of_members(history, n_workers, kept)
            kept = min(kept, max(best, needed))
        return kept + selecting

    def _time_to_decide(self, time_limit: float) -> float:
        """Seconds to reserve for thresholds that keep limits."""
        if not self.decisions.kept_by_decision:
            return 0.0
        share = min(1.0, len(self.data.y) / MAX_ROWS)
        seconds = _DECIDING * share * max(2, self.decisions.n_groups) / 2
        return min(seconds, _MAX_DECIDING * time_limit)

    def _time_of_members(self, history: History, n_workers: int, seconds: float) -> float:
        """Predicted refit seconds of the members that would be selected now (cached)."""
        if self._needed[0] != len(history):
            kept = self.decisions.kept_by_decision
            chosen = self.select(history, seconds * n_workers, seconds, kept)
            times = [self._time_to_reserve(history[number], seconds) for number in chosen]
            self._needed = len(history), max([sum(times) / n_workers, *times])
        return self._needed[1]

    def build(self, history: History, engine: Engine, budget: Budget) -> Model:
        """Refit the selected members and return the first ensemble that keeps all limits.

        Members that are not fitted within the budget are excluded. If no ensemble keeps all
        limits, the one of least violation is returned; class frequencies if no member was fitted.
        """
        folds: list[int | None] = [None] if self.refit else list(range(len(self.data.splits)))
        refits = Refits(
            history,
            engine,
            budget,
            self._refit_task,
            folds,
            self.evaluator.models,
            self.refit_time,
        )
        refused: list[Candidate] = []
        for weights in self._ensembles(history, refits):
            candidate = self._candidate(weights, refits)
            if candidate.verdict.passes:
                return self._model(candidate, refused, refits)
            refused.append(candidate)
        if not refused:
            return self._fallback(refits)
        nearest = min(refused, key=lambda candidate: candidate.verdict.violation)
        return self._model(nearest, refused, refits)

    def select(
        self,
        history: History,
        processor_seconds: float = math.inf,
        seconds: float = math.inf,
        kept: Sequence[str] = (),
        fitted: Collection[int] = (),
        failed: Collection[int] = (),
    ) -> dict[int, float]:
        """Weights of the selected members, see `MemberSelector.select`.

        Trials that are `fitted` take no time, and those that have `failed` are excluded.
        """

        def time_to_fit(trial: Trial) -> float:
            return 0.0 if trial.number in fitted else self._time_to_fit(trial)

        return self.selector.select(history, time_to_fit, processor_seconds, seconds, kept, failed)

    def _ensembles(self, history: History, refits: Refits) -> Iterator[dict[int, float]]:
        """Weights of ensembles of fitted members, in the order of their check.

        The selected ensembles are followed by the last of them without its members of smallest
        weight, then by single trials.
        """
        if self.decisions.kept_by_decision:
            yield from self._votes(history, refits, self.decisions.kept_by_decision)
        weights: dict[int, float] = {}
        for weights in self._votes(history, refits):
            yield dict(weights)
        last = None
        while weights:
            last, _ = weights.popitem()  # the smallest weight
            if weights:
                yield dict(weights)
        if self.gate.constraints:
            yield from ({n: 1.0} for n in self._singles(history, refits) if n != last)

    def _votes(
        self, history: History, refits: Refits, kept: Sequence[str] = ()
    ) -> Iterator[dict[int, float]]:
        """Weights of the selected ensemble.

        If seconds or bytes are limited, another one is selected after those of the refitted
        members are measured. The ensemble of smaller loss comes first.
        """
        votes = [self._fitted(history, refits, kept)]
        if self._may_grow:
            for number in votes[0]:
                model = self._assembled(history, {number: 1.0}, refits.pipelines)
                self.gate.learn_growth(history[number], model)
            votes.append(self._fitted(history, refits, kept))
        votes = [weights for weights in votes if weights]
        if len(votes) == 2 and votes[0] != votes[1]:
            votes.sort(key=lambda weights: self._vote_loss(history, weights))
        else:
            del votes[1:]
        yield from votes

    def _fitted(
        self, history: History, refits: Refits, kept: Sequence[str] = ()
    ) -> dict[int, float]:
        """Select an ensemble and fit it; return the weights of members fitted in time."""
        seconds = refits.budget.remaining
        if refits.budget.time_limit is not None:
            seconds -= min(self._time_to_decide(refits.budget.time_limit), seconds / 2)
        processor_seconds = seconds * refits.engine.n_workers
        weights = self.select(
            history, processor_seconds, seconds, kept, refits.pipelines, _failed(refits)
        )
        refits.fit(weights)
        if not _failed(refits).isdisjoint(weights):  # select others in their place
            return self._fitted(history, refits, kept)
        return {number: weights[number] for number in weights if number in refits.pipelines}

    def _vote_loss(self, history: History, weights: dict[int, float]) -> float:
        """Loss of ensemble selection of the out-of-fold predictions of an ensemble."""
        total = sum(weights.values())
        shares = [weight / total for weight in weights.values()]
        vote = mean_predictions([history[number] for number in weights], shares)
        rows = self.selector.rows(vote)
        loss, known = self.selector.selection_loss(rows), self.data.weights_of(rows)
        return float(loss(self.data.y[rows], vote[rows][None], known)[0])

    def _singles(self, history: History, refits: Refits) -> Iterator[int]:
        """Numbers of single trials that may keep the limits, refitted lazily.

        If the remaining time suffices for one more fit only, the trial with the smallest additive
        values is fitted. Trials that violate a limit on their out-of-fold predictions are
        excluded, unless a decision can keep the limit.
        """
        predicted = {t.number: self.gate.judge([t], [1.0]) for t in history if is_complete(t)}
        kept = self.decisions.kept_by_decision
        predicted = {n: verdict for n, verdict in predicted.items() if _may_pass(verdict, kept)}
        lightest = min(predicted, key=lambda n: _relative_load(predicted[n]), default=None)

        def in_time(trial: Trial) -> bool:
            if trial.number in refits.requested:
                return trial.number in refits.pipelines
            left = refits.budget.remaining
            if math.isinf(left) or lightest is None or trial.number == lightest:
                return True
            return left > self._time_to_fit(trial) + self._time_to_fit(history[lightest])

        ordered = self._by_decided_loss(history, predicted, in_time)
        n_fits = refits.engine.n_workers if math.isinf(refits.budget.remaining) else 1
        while several := list(islice(ordered, n_fits)):
            refits.fit(several)
            yield from (number for number in several if number in refits.pipelines)

    def _by_decided_loss(
        self, history: History, predicted: dict[int, Verdict], eligible: Callable[[Trial], bool]
    ) -> Iterator[int]:
        """Numbers of eligible trials by violation, then by loss, both after the decision.

        A decision takes time to choose. It can only remove violations of the limits that it keeps,
        and a limit does not decrease the error rate. So a decision is chosen only for the trial
        that is first without these violations, at the loss of the most probable class.
        """
        kept = self.decisions.kept_by_decision
        queue = [
            (_violation_besides(verdict, kept), history[n].loss, history[n].tie_break, n, not kept)
            for n, verdict in predicted.items()
        ]
        heapq.heapify(queue)
        while queue:
            _, _, tie_break, number, decided = heapq.heappop(queue)
            if not eligible(history[number]):
                continue
            if decided:
                yield number
            else:
                violation, loss = self._after_decision(history, number)
                heapq.heappush(queue, (violation, loss, tie_break, number, True))

    def _after_decision(self, history: History, number: int) -> tuple[float, float]:
        """Predicted violation and loss of a single trial with the labels of its decision."""
        trial = history[number]
        decision = self._choose_decision(history, {number: 1.0}).out_of_fold
        violation = self.gate.judge([trial], [1.0], decision=decision).violation
        predictions = np.asarray(trial.predictions)
        rows = self.selector.rows(predictions)
        loss = self.selector.score_loss(rows)
        if not isinstance(loss, LabelLoss):
            return violation, trial.loss
        one_hot = np.eye(self.data.n_classes)[_labels(predictions, rows, decision)][None]
        known = self.data.weights_of(rows)
        return violation, float(loss(self.data.y[rows], one_hot, known)[0])

    def _candidate(self, weights: dict[int, float], refits: Refits) -> Candidate:
        """Assemble an ensemble of fitted members and measure its constraints."""
        total = sum(weights.values())
        weights = {number: weight / total for number, weight in weights.items()}
        rule = self._choose_decision(refits.history, weights)
        model = self._assembled(refits.history, weights, refits.pipelines, rule.deployed)
        trials = [refits.history[number] for number in weights]
        shares = list(weights.values())
        verdict = self.gate.judge(trials, shares, model, decision=rule.out_of_fold)
        return Candidate(weights, model, verdict)

    def _choose_decision(self, history: History, weights: dict[int, float]) -> DecisionPair:
        """Choose the decision of an ensemble (cached)."""
        key = tuple(weights.items())
        if key not in self._chosen:
            trials = [history[number] for number in weights]
            rows = self.selector.rows(np.asarray(trials[0].predictions))
            shares = np.array(list(weights.values()))
            loss = self.selector.score_loss(rows)
            self._chosen[key] = self.decisions.choose(trials, shares, rows, loss)
        return self._chosen[key]

    def _model(self, chosen: Candidate, refused: list[Candidate], refits: Refits) -> Model:
        """Return the result with the chosen ensemble and its best pipeline."""
        assert chosen.model is not None
        history, weights = refits.history, chosen.weights
        rule = self._choose_decision(history, weights)
        trials = [history[number] for number in weights]
        vote = mean_predictions(trials, weights.values())
        rows = np.flatnonzero(~np.isnan(vote[:, 0]))
        labels = np.full(len(vote), -1)
        labels[rows] = _labels(vote, rows, rule.out_of_fold)
        numbers = sorted(weights, key=lambda n: preference(history, history[n]))
        singles = (self._single(number, refits) for number in numbers)
        best = next((s for s in singles if s.verdict.passes), None)
        best = best or self._single(numbers[0], refits)
        return Model(
            chosen.model,
            weights,
            next(iter(best.weights)),
            best.model,
            fallback=False,
            verdict=self.gate.with_upper_bounds(
                chosen.verdict, trials, list(weights.values()), rule.out_of_fold
            ),
            best_verdict=best.verdict,
            refused=refused,
            not_fitted=refits.missing,
            refit_errors={n: refits.errors[n] for n in sorted(_failed(refits))},
            labels=labels,
        )

    def _single(self, number: int, refits: Refits) -> Candidate:
        """A single member; without a model if it is not fitted on all rows."""
        model = None
        if self.refit:
            pipelines = {number: refits.pipelines[number][:1]}
            model = self._assembled(refits.history, {number: 1.0}, pipelines)
        verdict = self.gate.judge([refits.history[number]], [1.0], model)
        return Candidate({number: 1.0}, model, verdict)

    def _assembled(
        self,
        history: History,
        weights: dict[int, float],
        fitted: dict[int, list[Pipeline]],
        decision: Decision | None = None,
    ) -> PipelineEnsemble:
        """Assemble fitted members; the models of a member share its weight."""
        pipelines, shares = [], []
        for number, weight in weights.items():
            pipelines += fitted[number]
            shares += [weight / len(fitted[number])] * len(fitted[number])
        ensemble = PipelineEnsemble(
            self.reader,
            pipelines,
            np.array(shares) / sum(shares),
            self.data.classes,
            decision=decision,
        )
        predictions = [np.asarray(history[number].predictions) for number in weights]
        rows = self.selector.rows(predictions[0])
        sampled = np.stack([prediction[rows] for prediction in predictions])
        ensemble.diversity_ = pairwise_diversity(sampled)
        ensemble.disagreement_ = mean_over_pairs(pairwise_disagreement(sampled))
        return ensemble

    def _refit_task(self, trial: Trial, fold: int | None) -> RefitTask:
        """Task to refit a member; its boosting rounds grow in proportion to the rows."""
        if not trial.rounds:
            return RefitTask(trial.configuration, fold)
        rounds = float(np.mean(trial.rounds))
        if fold is None:
            n_train = float(np.mean([train.size for train, _ in self.data.splits]))
            rounds *= len(self.data.y) / n_train
        elif len(trial.rounds) == len(self.data.splits):  # else a fold has a single class
            rounds = trial.rounds[fold]
        return RefitTask(trial.configuration, fold, max(1, round(rounds)))

    def _fallback(self, refits: Refits) -> Model:
        """Model that predicts the class frequencies."""
        data = self.data
        ensemble = constant_ensemble(
            self.reader, data.classes, data.classes[data.y], data.sample_weight
        )
        return Model(
            ensemble,
            {},
            None,
            ensemble,
            fallback=True,
            not_fitted=refits.missing,
            refit_errors={n: refits.errors[n] for n in sorted(_failed(refits))},
        )


def _failed(refits: Refits) -> set[int]:
    """Numbers of trials without a model because their refit failed."""
    return refits.errors.keys() - refits.pipelines.keys()


def _labels(predictions: FloatArray, rows: IntArray, decision: Decision | None) -> IntArray:
    """Class codes of some rows after the decision; the most probable class for None."""
    if decision is None:
        return np.asarray(np.argmax(predictions[rows], axis=1))
    return decision.take(rows).labels(decision.scale(predictions[rows]))


def _may_pass(predicted: Verdict, kept_by_decision: Sequence[str]) -> bool:
    """Whether a trial keeps all limits that neither a refit nor a decision can change."""
    return all(
        m.met or m.constraint.additive or m.constraint.key in kept_by_decision
        for m in predicted.measurements
    )


def _violation_besides(predicted: Verdict, keys: Sequence[str]) -> float:
    """Sum of the violations of all constraints but some."""
    return sum(m.violation for m in predicted.measurements if m.constraint.key not in keys)


def _relative_load(predicted: Verdict) -> float:
    """Sum of the additive constraint values, each divided by its limit."""
    additive = [m for m in predicted.measurements if m.constraint.additive]
    return sum(m.value / (abs(m.constraint.limit) or 1.0) for m in additive)
