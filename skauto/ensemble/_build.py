"""Refit the selected members of the ensemble and check the constraints."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from sklearn.pipeline import Pipeline

from skauto.constraints._checker import ConstraintChecker
from skauto.engines import Engine
from skauto.ensemble._choice import MemberChoice
from skauto.ensemble._cross_fit import shown_predictions
from skauto.ensemble._decide import all_labels
from skauto.ensemble._model import BuiltEnsemble, CheckedEnsemble
from skauto.ensemble._refits import Refits, refit_task
from skauto.ensemble._reserve import EnsembleReserve
from skauto.ensemble._select import MAX_ROWS
from skauto.ensemble._singles import SingleTrials
from skauto.evaluation import RefitTask
from skauto.history import History, OutOfFold, Trial
from skauto.model import Decision, PipelineEnsemble
from skauto.model._ensemble import quick_ensemble
from skauto.schedule import grace
from skauto.selection import pairwise_disagreement, pairwise_diversity
from skauto.selection._diversity import mean_over_pairs
from skauto.utils import Budget


class EnsembleBuilder(MemberChoice):
    """Refit the selected members and check the constraints, see `MemberChoice`."""

    @cached_property
    def reserve(self) -> EnsembleReserve:
        """Seconds that the search leaves for the ensemble."""
        return EnsembleReserve(self)

    def build(self, history: History, engine: Engine, budget: Budget) -> BuiltEnsemble:
        """Refit the selected members and return the first ensemble that keeps all limits.

        Members that are not fitted within the budget are excluded. If no ensemble keeps all
        limits, the one of least violation is returned; a quick tree if no member was fitted.
        """
        folds: list[int | None] = [None] if self.refit else list(range(len(self.data.splits)))
        refits = Refits(
            history,
            engine,
            budget,
            self._refit_task,
            folds,
            self.evaluator.aggregator.models,
            self.refit_time,
        )
        refused: list[CheckedEnsemble] = []
        for weights in self._ensembles(history, refits):
            candidate = self._candidate(weights, refits)
            if candidate.check.passes:
                return self._model(candidate, refused, refits)
            refused.append(candidate)
        if not refused:
            return self._fallback(refits)
        nearest = min(refused, key=lambda candidate: candidate.check.violation)
        return self._model(nearest, refused, refits)

    def _refit_task(self, trial: Trial, fold: int | None) -> RefitTask:
        return refit_task(trial, fold, self.data, self.n_seeds(trial) if fold is None else 1)

    def _ensembles(self, history: History, refits: Refits) -> Iterator[dict[int, float]]:
        """Weights of ensembles of fitted members, in the order of their check.

        The selected ensembles are followed by the last of them without its members of smallest
        weight, then by single trials.
        """
        if self.decisions.keeps_limits:
            yield from self._selected(history, refits, self.decisions.search_checker)
        weights: dict[int, float] = {}
        for weights in self._selected(history, refits, self.checker):
            yield dict(weights)
        last = None
        while weights:
            last, _ = weights.popitem()  # the smallest weight
            if weights:
                yield dict(weights)
        if self.checker.constraints:
            yield from ({n: 1.0} for n in SingleTrials(self, history, refits) if n != last)

    def _selected(
        self, history: History, refits: Refits, checker: ConstraintChecker
    ) -> Iterator[dict[int, float]]:
        """Weights of the ensemble that is selected under the constraints of a checker.

        If seconds or bytes are limited, another one is selected after those of the refitted
        members are measured. The ensemble of smaller loss comes first.
        """
        found = [self._fitted(history, refits, checker)]
        if self.may_grow:
            for number in found[0]:
                model = self._assembled(history, {number: 1.0}, refits.pipelines)
                self.checker.learn_growth(history[number], model)
            found.append(self._fitted(history, refits, checker))
        found = [weights for weights in found if weights]
        if len(found) == 2 and found[0] != found[1]:
            found.sort(key=lambda weights: self.selector.loss_of(history, weights))
        else:
            del found[1:]
        yield from found

    def _fitted(
        self, history: History, refits: Refits, checker: ConstraintChecker
    ) -> dict[int, float]:
        """Select an ensemble and fit it; return the weights of members fitted in time."""
        budget, n_workers = refits.budget, refits.engine.n_workers
        seconds = budget.remaining
        seconds -= self.reserve.for_decision(budget, seconds)
        weights = self.select(history, seconds * n_workers, seconds, checker, refits)
        if not weights and not refits.pipelines:  # then the time limit may be exceeded
            seconds = budget.remaining + grace(budget.time_limit) - budget.overrun
            weights = self.select(history, seconds * n_workers, seconds, checker, refits)
        refits.fit(weights)
        if not refits.failed.isdisjoint(weights):  # select others in their place
            return self._fitted(history, refits, checker)
        return {number: weights[number] for number in weights if number in refits.pipelines}

    def _candidate(self, weights: dict[int, float], refits: Refits) -> CheckedEnsemble:
        """Assemble an ensemble of fitted members and measure its constraints."""
        total = sum(weights.values())
        weights = {number: weight / total for number, weight in weights.items()}
        rule = self.choose_decision(refits.history, weights)
        model = self._assembled(refits.history, weights, refits.pipelines, rule.deployed)
        trials = [refits.history[number] for number in weights]
        shares = list(weights.values())
        check = self.checker.check(trials, shares, model, decision=rule.out_of_fold)
        return CheckedEnsemble(weights, model, check)

    def _model(
        self, chosen: CheckedEnsemble, refused: list[CheckedEnsemble], refits: Refits
    ) -> BuiltEnsemble:
        """Return the result with the chosen ensemble and its best pipeline."""
        assert chosen.model is not None
        history, weights = refits.history, chosen.weights
        rule = self.choose_decision(history, weights)
        trials = [history[number] for number in weights]
        numbers = sorted(weights, key=lambda n: history.preference(history[n]))
        singles = (self._single(number, refits) for number in numbers)
        best = next((s for s in singles if s.check.passes), None)
        best = best or self._single(numbers[0], refits)
        n_members = self.selector.n_members
        ensemble = shown_predictions(self.selector, history, weights, n_members)
        return BuiltEnsemble(
            chosen.model,
            weights,
            next(iter(best.weights)),
            best.model,
            fallback=False,
            front=self._front(refits),
            check=self.checker.with_upper_bounds(
                chosen.check, trials, list(weights.values()), rule.out_of_fold
            ),
            best_check=best.check,
            refused=refused,
            not_fitted=refits.missing,
            refit_errors={n: refits.errors[n] for n in sorted(refits.failed)},
            out_of_fold=ensemble,
            best_out_of_fold=shown_predictions(self.selector, history, best.weights, 1),
            labels=all_labels(ensemble, rule.out_of_fold),
        )

    def _front(self, refits: Refits) -> dict[int, CheckedEnsemble]:
        """Fitted pipelines of a Pareto front; a subclass has some."""
        return {}

    def _single(self, number: int, refits: Refits) -> CheckedEnsemble:
        """A single member; without a model if it is not fitted on all rows."""
        model = None
        if self.refit:
            pipelines = {number: refits.pipelines[number][:1]}
            model = self._assembled(refits.history, {number: 1.0}, pipelines)
        check = self.checker.check([refits.history[number]], [1.0], model)
        return CheckedEnsemble({number: 1.0}, model, check)

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
            self.data.reader,
            pipelines,
            np.array(shares) / sum(shares),
            self.data.classes,
            decision=decision,
        )
        predictions = [np.asarray(history[number].predictions) for number in weights]
        rows = OutOfFold(predictions[0]).sample(MAX_ROWS)
        sampled = np.stack([prediction[rows] for prediction in predictions])
        ensemble.diversity_ = pairwise_diversity(sampled)
        ensemble.disagreement_ = mean_over_pairs(pairwise_disagreement(sampled))
        return ensemble

    def _fallback(self, refits: Refits) -> BuiltEnsemble:
        """BuiltEnsemble of a small decision tree, whatever time is left."""
        data = self.data
        ensemble = quick_ensemble(
            data.reader, data.classes, data.Z, data.classes[data.y], data.sample_weight
        )
        return BuiltEnsemble(
            ensemble,
            {},
            None,
            ensemble,
            fallback=True,
            not_fitted=refits.missing,
            refit_errors={n: refits.errors[n] for n in sorted(refits.failed)},
        )
