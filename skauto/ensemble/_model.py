"""Records of fitted ensembles and their measured constraints."""

from dataclasses import dataclass, field

from skauto.constraints._checker import CheckResult
from skauto.history import OutOfFold
from skauto.model import PipelineEnsemble
from skauto.utils import IntArray


@dataclass(frozen=True)
class CheckedEnsemble:
    """An ensemble of fitted members and its measured constraints."""

    weights: dict[int, float]  # of the members, by trial number
    model: PipelineEnsemble | None  # None if no model was fitted on all rows
    check: CheckResult


@dataclass(frozen=True)
class BuiltEnsemble:
    """Result of `EnsembleBuilder.build`.

    `out_of_fold` are the `shown_predictions` of the ensemble, `best_out_of_fold` those of its best
    pipeline, and `labels` the class codes (n_samples,) of the ensemble after the decision, -1 in
    rows that no fold predicted. They are None if no member was fitted in time.
    """

    ensemble: PipelineEnsemble
    weights: dict[int, float]  # of the members, by trial number
    best_number: int | None  # number of the best trial among the members
    best: PipelineEnsemble | None  # of this trial alone, fitted on all rows
    fallback: bool  # no member was fitted in time: a small tree predicts
    front: dict[int, CheckedEnsemble] = field(default_factory=dict)  # refitted, by trial number
    check: CheckResult = field(default_factory=CheckResult)
    best_check: CheckResult = field(default_factory=CheckResult)
    refused: list[CheckedEnsemble] = field(default_factory=list)  # those that violate a limit
    not_fitted: list[int] = field(default_factory=list)  # numbers of trials not refitted in time
    refit_errors: dict[int, str] = field(default_factory=dict)  # by trial number
    out_of_fold: OutOfFold | None = None
    best_out_of_fold: OutOfFold | None = None
    labels: IntArray | None = None
