"""Constraints of a whole ensemble, before and after it is fitted."""

import numpy as np

from skauto.constraints import Evidence, cautious_mean


class EnsembleLimits:
    """Say whether a vote of candidates would keep the constraints.

    What adds up (seconds, bytes) is summed over the distinct members; everything else is measured
    fold by fold on the averaged out-of-fold predictions.

    Parameters
    ----------
    candidates : list of Trial
        With their out-of-fold predictions.
    evaluator : PipelineEvaluator
        Its function holds the constraints, the rows and the folds.
    """

    def __init__(self, candidates, evaluator):
        self.candidates = candidates
        self.constraints = evaluator.constraints
        self.data = evaluator.data
        self.safety_margin = evaluator.safety_margin

    def allow(self, counts, candidate):
        """Whether the vote keeps every constraint when a candidate is added.

        Parameters
        ----------
        counts : ndarray of int of shape (n_candidates,)
            Votes so far.
        candidate : int
            Which one is to get one more.

        Returns
        -------
        allowed : bool
            False too where a constraint is not defined.
        """
        counts = counts.copy()
        counts[candidate] += 1
        return all(
            cautious_mean(values, self.safety_margin) <= constraint.limit
            for constraint, values in zip(self.constraints, self.values(counts), strict=True)
            if np.isfinite(constraint.limit)
        )

    def values(self, counts):
        """Measure a vote by cross-validation.

        Parameters
        ----------
        counts : ndarray of int of shape (n_candidates,)
            Votes.

        Returns
        -------
        values : generator of tuple of float
            For each constraint one value a fold, made when asked for.
        """
        members = np.flatnonzero(counts)
        evidence = None
        for constraint in self.constraints:
            if constraint.additive:
                folds = [self.candidates[i].fold_constraints[constraint.key] for i in members]
                yield tuple(np.sum(folds, axis=0))
                continue
            if evidence is None:
                evidence = self._evidence(counts, members)
            yield tuple(float(constraint.measure(fold)) for fold in evidence)

    def _evidence(self, counts, members):
        """Averaged predictions on the validation rows of each fold."""
        mean = sum(counts[i] * self.candidates[i].predictions for i in members) / counts.sum()
        return [Evidence.of(self.data, mean[test], test) for _, test in self.data.splits]
