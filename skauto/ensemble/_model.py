"""Records of fitted ensembles and their measured constraints."""

from dataclasses import dataclass, field
from typing import Any

from skauto.constraints import Verdict
from skauto.ensemble._voting import PipelineEnsemble
from skauto.utils import IntArray


@dataclass(frozen=True)
class Candidate:
    """An ensemble of fitted members and its measured constraints.

    Parameters
    ----------
    weights : dict of int to float
        Weights of the members by trial number.
    model : PipelineEnsemble or Pipeline
        Fitted model of the raw table.
    verdict : Verdict
        Measured constraints.
    """

    weights: dict[int, float]
    model: Any
    verdict: Verdict


@dataclass(frozen=True)
class Model:
    """Result of `EnsembleBuilder.build`.

    Parameters
    ----------
    ensemble : PipelineEnsemble
        Fitted ensemble.
    weights : dict of int to float
        Weights of the members by trial number.
    best_number : int or None
        Number of the best trial among the members.
    best : Pipeline or None
        Pipeline of this trial, fitted on all rows.
    fallback : bool
        Whether no member was fitted in time, so that class frequencies are predicted.
    front : dict of int to Candidate, default={}
        Refitted pipelines of the Pareto front by trial number, after a multi-objective search.
    verdict : Verdict, default=Verdict()
        Measured constraints of the ensemble.
    best_verdict : Verdict, default=Verdict()
        Measured constraints of the best pipeline.
    refused : list of Candidate, default=[]
        Fitted ensembles that violate a limit.
    not_fitted : list of int, default=[]
        Numbers of trials whose refit did not end in time.
    labels : ndarray of int of shape (n_samples,), default=None
        Class codes of the out-of-fold predictions of the ensemble after its decision, -1 in rows
        that no fold predicted; None if no member was fitted in time.
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
    labels: IntArray | None = None
