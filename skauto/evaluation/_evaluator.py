"""A proposal becomes a trial: its folds are planned, collected and summed up."""

import math
from dataclasses import dataclass, field

import numpy as np

from skauto.constraints import cautious_mean
from skauto.history import Proposal, Trial

# Number of best trials of its algorithm whose first folds a new trial must not fall behind.
_RACING_POOL = 5


class PipelineEvaluator:
    """Evaluate configurations as pipelines by their out-of-fold scores.

    Parameters
    ----------
    function : PipelineWorker
        What an engine calls for each fold.
    trial_time_limit : float, default=None
        Seconds that all folds of a trial may take together.
    racing : bool, default=True
        Whether a trial stops after a first fold that is poorer than the first folds of the best
        five trials with the same algorithm in the last step. Algorithms race among themselves:
        an ensemble needs different ones.
    safety_margin : float, default=0.0
        See ``cautious_mean``.
    """

    def __init__(self, function, *, trial_time_limit=None, racing=True, safety_margin=0.0):
        self.function = function
        self.trial_time_limit = trial_time_limit
        self.racing = racing
        self.safety_margin = safety_margin
        self.reuses = []

    @property
    def n_folds(self):
        """Number of folds of a trial."""
        return len(self.function.data.splits)

    @property
    def primary(self):
        """Name of the scorer that the search maximises."""
        return next(iter(self.function.scorers))

    def open(self, proposal, history):
        """Begin a trial.

        Parameters
        ----------
        proposal : Proposal
            What to evaluate.
        history : History
            Trials so far; they set how poor the first fold may be.

        Returns
        -------
        job : TrialJob
            Plans the folds and collects their results.
        """
        return TrialJob(self, proposal, self._threshold(proposal, history), history.objectives[1:])

    def loss(self, scores):
        """Turn the fold scores of the first scorer into the loss that is minimised.

        Parameters
        ----------
        scores : dict of str to tuple of float
            Scores by scorer and fold.

        Returns
        -------
        loss : float
            Optimum of the scorer (1, or 0 for negated losses) minus the mean over the folds on
            which it is defined; infinite when it is defined on none.
        """
        values = np.array(scores[self.primary])
        values = values[~np.isnan(values)]
        optimum = 0.0 if getattr(self.function.scorers[self.primary], "_sign", 1) < 0 else 1.0
        return optimum - float(values.mean()) if values.size else math.inf

    def pooled_loss(self, predictions):
        """Loss of all out-of-fold predictions at once, where no single fold defines a score.

        Parameters
        ----------
        predictions : ndarray of shape (n_samples, n_classes)
            NaN in rows that no fold predicted.

        Returns
        -------
        loss : float
            As ``loss``; infinite when the score is not defined on all rows either.
        """
        data = self.function.data
        rows = np.flatnonzero(~np.isnan(predictions[:, 0]))
        score = data.score(self.function.scorers[self.primary], predictions[rows], rows)
        return self.loss({self.primary: (score,)})

    def cache_report(self):
        """Sum up what the cache of transformed data did.

        Returns
        -------
        report : dict of str to float
            Steps before classifiers, how many of them were not run, the ratio, and the seconds
            that this saved.
        """
        n_steps = sum(reuse.n_steps for reuse in self.reuses)
        n_reused = sum(reuse.n_reused for reuse in self.reuses)
        return {
            "n_steps": n_steps,
            "n_reused": n_reused,
            "hit_rate": n_reused / n_steps if n_steps else 0.0,
            "seconds_saved": sum(reuse.seconds_saved for reuse in self.reuses),
        }

    def _threshold(self, proposal, history):
        alone = len(history.objectives) == 1 and not history.limits
        if not (self.racing and alone) or proposal.fidelity < 1.0 or self.n_folds == 1:
            return math.inf
        algorithm = proposal.configuration.structure[-1]
        rivals = sorted(
            (
                t
                for t in history
                if t.ok and t.fidelity == 1.0 and t.configuration.structure[-1] == algorithm
            ),
            key=lambda t: t.loss,
        )[:_RACING_POOL]
        if len(rivals) < _RACING_POOL:
            return math.inf
        return max(self.loss({self.primary: t.fold_scores[self.primary][:1]}) for t in rivals)


@dataclass
class TrialJob:
    """A trial on its way: which folds are still to run, and what the others gave.

    Parameters
    ----------
    evaluator : PipelineEvaluator
        Knows the folds, the scorers and the limits.
    proposal : Proposal
        What is evaluated.
    threshold : float
        Loss of the first fold above which the trial stops.
    minimized : tuple of str, default=()
        Constraints whose values are losses of the trial too.
    """

    evaluator: PipelineEvaluator
    proposal: Proposal
    threshold: float
    minimized: tuple = ()
    results: dict = field(default_factory=dict, init=False)
    status: str = field(default="ok", init=False)
    error: str = field(default="", init=False)
    seconds: float = field(default=0.0, init=False)
    cpu_time: float = field(default=0.0, init=False)
    submitted: int = field(default=0, init=False)

    def next_parts(self):
        """Folds to submit now: the first alone, the others when it was good enough."""
        n_folds = self.evaluator.n_folds
        if self.submitted == 0:
            parts = [0]
        elif self.submitted == 1 and len(self.results) == 1 and self.status == "ok":
            parts = list(range(1, n_folds))
        else:
            parts = []
        self.submitted += len(parts)
        return parts

    def args(self, fold):
        """Arguments of the engine's function for a fold."""
        return ("evaluate_fold", self.proposal.configuration, fold, self.proposal.fidelity)

    @property
    def time_limit(self):
        """Seconds that one more fold may take."""
        limit = self.evaluator.trial_time_limit
        return None if limit is None else max(0.0, limit - self.seconds)

    def receive(self, fold, outcome):
        """Take what came of a fold."""
        self.seconds += outcome.seconds
        if outcome.status != "ok":
            self.cpu_time += outcome.seconds
            self._end(outcome.status, outcome.error)
            return
        self.cpu_time += outcome.value.cpu_time
        self.results[fold] = outcome.value
        if outcome.value.reuse is not None:
            self.evaluator.reuses.append(outcome.value.reuse)
        limit = self.evaluator.trial_time_limit
        if fold == 0 and self.evaluator.n_folds > 1:
            if limit is not None and self.seconds * self.evaluator.n_folds > limit:
                self._end(
                    "timeout",
                    f"The first of {self.evaluator.n_folds} folds took {self.seconds:.3g} s: all "
                    f"would exceed the limit of {limit:.3g} s a trial.",
                )
            elif self._loss_of(0) > self.threshold:
                self._end("stopped", "")

    def unfinished(self):
        """Folds that are still running."""
        return [fold for fold in range(self.submitted) if fold not in self.results]

    @property
    def done(self):
        """Whether nothing more has to run."""
        return self.status != "ok" or len(self.results) == self.evaluator.n_folds

    def trial(self, number, started, ended):
        """Give the frozen record.

        Parameters
        ----------
        number : int
            Its position in the history.
        started, ended : float
            Seconds since the search began.

        Returns
        -------
        trial : Trial
            With infinite losses unless at least one fold was scored.
        """
        folds = sorted(self.results)
        results = [self.results[fold] for fold in folds]
        scores = {
            name: tuple(result.scores[name] for result in results)
            for name in (results[0].scores if results else ())
        }
        complete = self.status == "ok"
        predictions = self._out_of_fold() if complete else None
        loss, tie_break, status, error = math.inf, 0.0, self.status, self.error
        if complete or status == "stopped":
            loss = self.evaluator.loss(scores)
        if complete:
            tie_break = self._log_loss(predictions)
            if not math.isfinite(loss):
                loss = self.evaluator.pooled_loss(predictions)
            if not math.isfinite(loss):
                status, error = "failed", "The score is not a finite number on any fold."
        measured = {
            key: tuple(result.constraints[key] for result in results)
            for key in (results[0].constraints if results else ())
        }
        constraints = {
            key: cautious_mean(values, self.evaluator.safety_margin)
            for key, values in measured.items()
        }
        others = tuple(constraints.get(key, math.inf) for key in self.minimized)
        if status == "ok" and not all(math.isfinite(value) for value in others):
            key = next(key for key in self.minimized if not math.isfinite(constraints[key]))
            status, error = "failed", f"{key!r} is not a finite number on any fold."
        return Trial(
            number=number,
            configuration=self.proposal.configuration,
            status=status,
            losses=(loss, *others),
            constraints=constraints,
            fold_constraints=measured,
            tie_break=tie_break,
            fidelity=self.proposal.fidelity,
            cost=self.seconds,
            cpu_time=self.cpu_time,
            started=started,
            ended=ended,
            error=error,
            fold_scores=scores,
            fit_times=tuple(result.fit_time for result in results),
            score_times=tuple(result.score_time for result in results),
            predictions=predictions,
            origin=self.proposal.origin,
            info=self.proposal.info,
        )

    def _end(self, status, error):
        if self.status == "ok":
            self.status, self.error = status, error

    def _loss_of(self, fold):
        name = self.evaluator.primary
        return self.evaluator.loss({name: (self.results[fold].scores[name],)})

    def _out_of_fold(self):
        """Probabilities of all rows, averaged where several folds predicted a row."""
        data = self.evaluator.function.data
        shape = (len(data.y), len(data.classes))
        total = np.zeros(shape, dtype=np.float32)
        count = np.zeros(len(data.y), dtype=np.float32)
        for fold, result in self.results.items():
            _, test = self.evaluator.function.rows(fold, self.proposal.fidelity)
            total[test] += result.probabilities
            count[test] += 1
        with np.errstate(invalid="ignore"):
            return total / count[:, None]

    def _log_loss(self, predictions):
        """Mean negative log probability of the true classes: decides between equal losses."""
        y = self.evaluator.function.data.y
        truth = predictions[np.arange(len(y)), y]
        truth = truth[~np.isnan(truth)]
        return float(-np.log(np.maximum(truth, np.finfo(np.float32).eps)).mean())
