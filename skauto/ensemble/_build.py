"""Trials become a model: choose members, refit them within the time that is left."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier

from skauto.constraints import Verdict
from skauto.engines import Engine
from skauto.ensemble._decide import DecisionChooser, Reading
from skauto.ensemble._refits import Refits
from skauto.ensemble._voting import PipelineEnsemble
from skauto.evaluation import PipelineEvaluator, RefitTask, assemble
from skauto.history import History, Trial
from skauto.selection import (
    BrierLoss,
    LogLoss,
    Loss,
    ScorerLoss,
    SmoothedLoss,
    candidate_pool,
    gains_by_offsets,
    get_loss,
    greedy_selection,
    mean_over_pairs,
    pairwise_disagreement,
    pairwise_diversity,
)
from skauto.utils import Budget, FloatArray, IntArray, scorer_function, take_rows

# Most rows that selection looks at; more rows rarely change the result, but cost time.
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


@dataclass(frozen=True)
class Candidate:
    """A vote of fitted members, and what the gate says of it.

    Parameters
    ----------
    weights : dict of int to float
        Share of the vote by number of the trial.
    model : PipelineEnsemble or Pipeline
        Predicts from the raw table.
    verdict : Verdict
        Of the gate.
    """

    weights: dict[int, float]
    model: Any
    verdict: Verdict


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
    front : dict of int to Candidate, default={}
        Pipelines of the Pareto front, fitted on all rows, by number of the trial; only after a
        search for several objectives.
    verdict : Verdict, default=Verdict()
        Of the gate about the fitted vote.
    best_verdict : Verdict, default=Verdict()
        The same about the best pipeline.
    refused : list of Candidate, default=[]
        Fitted votes that the gate refused.
    not_fitted : list of int, default=[]
        Numbers of trials that were to be fitted and did not end in time.
    """

    ensemble: PipelineEnsemble
    weights: dict[int, float]
    best_number: int | None
    best: Any
    fallback: bool
    front: dict[int, Candidate] = field(default_factory=dict)
    verdict: Verdict = field(default_factory=Verdict)
    best_verdict: Verdict = field(default_factory=Verdict)
    refused: list[Candidate] = field(default_factory=list)
    not_fitted: list[int] = field(default_factory=list)


class EnsembleBuilder:
    """Select members among the trials of a search, fit them and ask the gate.

    Parameters
    ----------
    evaluator : PipelineEvaluator
        Its function holds the data and refits; its gate decides what may be deployed.
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

    def __init__(
        self,
        evaluator: PipelineEvaluator,
        reader: Any,
        *,
        n_members: int,
        refit: bool,
        scoring: Any,
        decision: str = "argmax",
    ) -> None:
        self.evaluator = evaluator
        self.data = evaluator.data
        self.gate = evaluator.gate
        self.reader = reader
        self.n_members = n_members
        self.refit = refit
        self.scoring = scoring
        self.decision = decision
        self.decisions = DecisionChooser(self.data, self.gate, decision)
        self._needed = 0, 0.0  # number of trials, and seconds that their members take

    def refit_time(self, trial: Trial) -> float:
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
        if trial.configuration in self.evaluator.models:
            return 0.0
        if not self.refit:
            return _SAFETY * sum(trial.fit_times)
        n_train = np.mean([train.size for train, _ in self.data.splits])
        return float(_SAFETY * trial.mean_fit_time * len(self.data.y) / n_train)

    def reserve(self, history: History, n_workers: int, budget: Budget) -> float:
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
        if not pool or budget.time_limit is None:
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

    def _time_of_members(self, history: History, n_workers: int, seconds: float) -> float:
        """Predicted seconds of fitting those that would be selected now; kept for the next call.

        Selecting itself takes time, so it is left until the end of the search depends on it.
        """
        if self._needed[0] != len(history):
            kept = self.decisions.kept_by_decision
            chosen = self.select(history, seconds * n_workers, seconds, kept)
            times = [self.refit_time(history[number]) for number in chosen]
            self._needed = len(history), max([sum(times) / n_workers, *times])
        return self._needed[1]

    def build(self, history: History, engine: Engine, budget: Budget) -> Model:
        """Fit the members that are selected, and deploy the first vote that passes the gate.

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
            The vote that violates the limits least where none passes; the class shares when
            nothing could be fitted in time.
        """
        folds: list[int | None] = [None] if self.refit else list(range(len(self.data.splits)))
        refits = Refits(
            history, engine, budget, self._refit_task, folds, known=self.evaluator.models
        )
        refused: list[Candidate] = []
        for weights in self._votes(history, refits):
            candidate = self._candidate(weights, refits)
            if candidate.verdict.passes:
                return self._model(candidate, refused, refits)
            refused.append(candidate)
        if not refused:
            return self._fallback(refits)
        nearest = min(refused, key=lambda candidate: candidate.verdict.violation)
        return self._model(nearest, refused, refits)

    def _votes(self, history: History, refits: Refits) -> Iterator[dict[int, float]]:
        """Votes of fitted members in the order in which the gate is asked about them."""
        if self.decisions.kept_by_decision:
            weights = self._fitted(history, refits, self.decisions.kept_by_decision)
            if weights:
                yield weights
        weights = self._fitted(history, refits)
        last = None
        while weights:
            yield dict(weights)
            last, _ = weights.popitem()  # the smallest share
        if self.gate.constraints:
            yield from ({n: 1.0} for n in self._singles(history, refits) if n != last)

    def _fitted(
        self, history: History, refits: Refits, kept: Sequence[str] = ()
    ) -> dict[int, float]:
        """Select a vote and fit it; the shares of the members that were fitted in time."""
        seconds = refits.budget.remaining
        weights = self.select(history, seconds * refits.engine.n_workers, seconds, kept)
        refits.fit(weights)
        return {number: weights[number] for number in weights if number in refits.steps}

    def _singles(self, history: History, refits: Refits) -> Iterator[int]:
        """Numbers of single trials that may pass, each fitted when it is its turn.

        Those that are predicted to keep the limits come first, the most accurate before the
        others; then those that are predicted to exceed them least. When time is left for one more
        fit only, the lightest is fitted. A trial cannot pass if it misses a limit on its
        out-of-fold predictions that no decision keeps.
        """
        predicted = {t.number: self.gate.judge([t], [1.0]) for t in history if _complete(t)}
        kept = self.decisions.kept_by_decision
        hopeful = [history[n] for n, verdict in predicted.items() if _may_pass(verdict, kept)]
        hopeful.sort(key=lambda t: (predicted[t.number].violation, t.loss, t.tie_break))
        lightest = min(hopeful, key=lambda t: _load(predicted[t.number]), default=None)
        for position, trial in enumerate(hopeful):
            if trial.number not in refits.asked:
                left = refits.budget.remaining
                if math.isinf(left):
                    several = hopeful[position : position + refits.engine.n_workers]
                    refits.fit(t.number for t in several)
                elif trial is lightest or left > sum(map(self.refit_time, (trial, lightest))):
                    refits.fit([trial.number])
            if trial.number in refits.steps:
                yield trial.number

    def _candidate(self, weights: dict[int, float], refits: Refits) -> Candidate:
        """Put fitted members together and ask the gate."""
        total = sum(weights.values())
        weights = {number: weight / total for number, weight in weights.items()}
        model = self._vote(weights, refits.steps)
        judged = self.decisions.judged
        reading = self._read(refits.history, weights) if judged else Reading()
        model.decision = reading.deployed
        trials = [refits.history[number] for number in weights]
        shares = list(weights.values())
        verdict = self.gate.judge(trials, shares, model, decision=reading.out_of_fold)
        return Candidate(weights, model, verdict)

    def _read(self, history: History, weights: dict[int, float]) -> Reading:
        """Choose how a vote is read."""
        trials = [history[number] for number in weights]
        rows = self._rows(np.asarray(trials[0].predictions))
        shares = np.array(list(weights.values()))
        return self.decisions.choose(trials, shares, rows, self.score_loss(rows))

    def _model(self, chosen: Candidate, refused: list[Candidate], refits: Refits) -> Model:
        """Describe the vote that is deployed, and take out its best pipeline."""
        history, weights = refits.history, chosen.weights
        if not self.decisions.judged:  # the gate did not need it
            chosen.model.decision = self._read(history, weights).deployed
        self._describe(chosen.model, [history[number].predictions for number in weights])
        numbers = sorted(weights, key=lambda n: _preference(history, history[n]))
        singles = (self._single(number, refits) for number in numbers)
        best = next((s for s in singles if s.verdict.passes), None)
        best = best or self._single(numbers[0], refits)
        return Model(
            chosen.model,
            weights,
            next(iter(best.weights)),
            best.model,
            fallback=False,
            verdict=chosen.verdict,
            best_verdict=best.verdict,
            refused=refused,
            not_fitted=refits.missing,
        )

    def _single(self, number: int, refits: Refits) -> Candidate:
        """One fitted pipeline by itself; without a model where it is not fitted on all rows."""
        model = assemble(self.reader, refits.steps[number][0]) if self.refit else None
        verdict = self.gate.judge([refits.history[number]], [1.0], model)
        return Candidate({number: 1.0}, model, verdict)

    def _vote(self, weights: dict[int, float], fitted: dict[int, list[Any]]) -> PipelineEnsemble:
        """Put the fitted members together; the models of a member share its votes."""
        pipelines, shares = [], []
        for number, weight in weights.items():
            for steps in fitted[number]:
                pipelines.append(assemble(self.reader, steps))
                shares.append(weight / len(fitted[number]))
        return PipelineEnsemble(pipelines, np.array(shares) / sum(shares), self.data.classes)

    def _describe(self, ensemble: PipelineEnsemble, predictions: list[FloatArray]) -> None:
        """Note how different the members' out-of-fold predictions are."""
        rows = self._rows(predictions[0])
        sampled = np.stack([prediction[rows] for prediction in predictions])
        ensemble.diversity = pairwise_diversity(sampled)
        ensemble.disagreement = mean_over_pairs(pairwise_disagreement(sampled))

    def select(
        self,
        history: History,
        processor_seconds: float = math.inf,
        seconds: float = math.inf,
        kept: Sequence[str] = (),
    ) -> dict[int, float]:
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
        kept : sequence of str, default=()
            Keys of constraints that do not restrict the choice, since a decision keeps them.

        Returns
        -------
        weights : dict of int to float
            Share of the vote by number of the trial, largest first; empty without any trial.
        """
        pool = [t for t in self._pool(history, kept) if self.refit_time(t) <= seconds]
        if not pool:
            return {}
        if self.n_members == 1 or not history.feasible(_as_if_kept(pool[0], kept)):
            return {pool[0].number: 1.0}
        gate = self.gate.without(kept)
        times = np.array([self.refit_time(trial) for trial in pool])
        end = time.monotonic() + _SELECTING * seconds

        def affordable(counts: NDArray[np.integer[Any]], candidate: int) -> bool:
            if counts.any() and time.monotonic() > end:
                return False
            chosen = counts > 0
            chosen[candidate] = True
            if times[chosen].sum() > processor_seconds:
                return False
            votes = counts.copy()
            votes[candidate] += 1
            members = np.flatnonzero(votes)
            return gate.allows([pool[i] for i in members], votes[members])

        predictions = [np.asarray(trial.predictions) for trial in pool]
        rows = self._rows(predictions[0])
        weight = self.data.sample_weight
        selection = greedy_selection(
            [prediction[rows] for prediction in predictions],
            self.data.y[rows],
            self.selection_loss(rows),
            self.n_members,
            feasible=affordable,
            sample_weight=None if weight is None else weight[rows],
        )
        if not selection.indices.size:  # the gate knows better than the estimates of the trials
            return {pool[0].number: 1.0}
        order = np.argsort(-selection.weights, kind="stable")
        return {
            pool[i].number: float(selection.weights[i]) for i in order if selection.weights[i] > 0
        }

    def _pool(self, history: History, kept: Sequence[str] = ()) -> list[Trial]:
        """Best complete trials: those that violate the limits least, then by loss."""
        complete = [t for t in history if _complete(t)]
        keys = [_preference(history, _as_if_kept(t, kept)) for t in complete]
        families = [t.configuration.structure[-1] for t in complete]
        return [complete[i] for i in candidate_pool(keys, families)]

    def _rows(self, predictions: FloatArray) -> IntArray:
        """Rows that were predicted, a constant sample of them where they are many."""
        rows = np.flatnonzero(~np.isnan(predictions[:, 0]))
        if rows.size > _MAX_ROWS:
            rows = np.sort(np.random.default_rng(0).choice(rows, _MAX_ROWS, replace=False))
        return rows

    def score_loss(self, rows: IntArray) -> Loss:
        """Loss that belongs to the scorer, on some rows of the data.

        Parameters
        ----------
        rows : ndarray of int
            Which rows.

        Returns
        -------
        loss : Loss
            Of predictions for these rows.
        """
        reads_X = not isinstance(self.scoring, str) and scorer_function(self.scoring) is None
        if self.data.X is None or not reads_X:
            return get_loss(self.scoring, self.data.classes)
        return ScorerLoss(self.scoring, self.data.classes, take_rows(self.data.X, rows))

    def selection_loss(self, rows: IntArray) -> Loss:
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
            Of predictions for these rows.
        """
        loss = self.score_loss(rows)
        if self.decision == "auto" and gains_by_offsets(
            loss, self.data.y[rows], len(self.data.classes)
        ):
            return LogLoss()
        return loss if isinstance(loss, LogLoss | BrierLoss) else SmoothedLoss(loss)

    def _refit_task(self, trial: Trial, fold: int | None) -> RefitTask:
        """Fit a member with the rounds of its folds, in proportion to the rows on all rows."""
        if not trial.rounds:
            return RefitTask(trial.configuration, fold)
        if fold is not None:
            return RefitTask(trial.configuration, fold, trial.rounds[fold])
        n_train = np.mean([train.size for train, _ in self.data.splits])
        rounds = np.mean(trial.rounds) * len(self.data.y) / n_train
        return RefitTask(trial.configuration, rounds=max(1, round(rounds)))

    def _fallback(self, refits: Refits) -> Model:
        """Predict the class shares."""
        y = self.data.classes[self.data.y]
        steps = [("classifier", DummyClassifier().fit(np.zeros((len(y), 1)), y))]
        pipeline = assemble(self.reader, steps)
        ensemble = PipelineEnsemble([pipeline], np.ones(1), self.data.classes)
        return Model(ensemble, {}, None, pipeline, fallback=True, not_fitted=refits.missing)


def _complete(trial: Trial) -> bool:
    return trial.ok and trial.fidelity == 1.0 and trial.predictions is not None


def _as_if_kept(trial: Trial, keys: Sequence[str]) -> Trial:
    """The trial with nothing to object to by some of the constraints."""
    return replace(trial, constraints={**trial.constraints, **dict.fromkeys(keys, -math.inf)})


def _may_pass(predicted: Verdict, kept_by_decision: Sequence[str]) -> bool:
    """Whether a trial keeps all limits that neither a new fit nor a decision changes."""
    return all(
        m.met or m.constraint.additive or m.constraint.key in kept_by_decision
        for m in predicted.measurements
    )


def _load(predicted: Verdict) -> float:
    """Sum of the additive values, each in units of its limit."""
    additive = [m for m in predicted.measurements if m.constraint.additive]
    return sum(m.value / (abs(m.constraint.limit) or 1.0) for m in additive)


def _preference(history: History, trial: Trial) -> tuple[float, float, float]:
    """Sort key: the least violation first, then the best loss."""
    return history.violation(trial), trial.loss, trial.tie_break
