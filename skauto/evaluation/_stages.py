"""One number of boosting rounds or epochs for all folds of a trial.

Early stopping chooses the number for each fold by the rows that the fold predicts. With few rows
the out-of-fold loss is then too low, and the ensemble prefers models that vary much from round to
round. So all folds are predicted after their mean number of rounds, which the refit has too.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import log

import numpy as np

from skauto.evaluation._worker import FoldResult, PipelineWorker


def with_common_rounds(
    folds: Mapping[int, FoldResult], worker: PipelineWorker
) -> dict[int, FoldResult]:
    """Return the results of all folds after the mean of the numbers that early stopping chose.

    A fold whose training ended before is at its last stage. Results of a single fold, and of folds
    without stages, remain as they are.
    """
    if len(folds) < 2 or not all(result.stages for result in folds.values()):
        return dict(folds)
    mean = float(np.mean([result.rounds for result in folds.values()]))
    return {fold: _after(result, fold, mean, worker) for fold, result in folds.items()}


def _after(result: FoldResult, fold: int, n_rounds: float, worker: PipelineWorker) -> FoldResult:
    """Return the result at the stage that is nearest to a number of rounds on a log scale."""
    stage = min(result.stages, key=lambda stage: abs(log(stage.n_rounds / n_rounds)))
    scores = worker.scores(stage.probabilities, worker.data.splits[fold][1])
    return replace(result, probabilities=stage.probabilities, scores=scores, stages=())
