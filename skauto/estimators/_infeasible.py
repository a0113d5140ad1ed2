"""Text of the error or warning if no model keeps the limits."""

import math

from skauto.constraints import Constraint
from skauto.constraints._checker import Measurement
from skauto.ensemble._model import BuiltEnsemble
from skauto.history import History


def infeasibility_message(model: BuiltEnsemble, history: History) -> str:
    """Describe the limits that a model missed and the best values that were reached."""
    n_trials = sum(trial.complete for trial in history)
    text = f"No model keeps all limits, of {n_trials} complete trials"
    if model.refused:
        text += f" and {len(model.refused)} ensembles or single pipelines fitted on all rows"
    parts = [_missed(m, model, history) for m in model.check.measurements if not m.met]
    if model.not_fitted:
        parts.append(f"{len(model.not_fitted)} trials could not be fitted in time.")
    return f"{text}. {' '.join(parts)} Give more time, or a wider limit.".replace("  ", " ")


def _missed(measured: Measurement, model: BuiltEnsemble, history: History) -> str:
    constraint = measured.constraint
    limit = f"{constraint.reported(constraint.limit):.4g}"
    value, who = _best_reached(constraint, model, history)
    if math.isnan(value):
        return f"{constraint.key!r}, with the limit {limit}, was not defined on any of them."
    reached = f"the best value that was reached is {constraint.reported(value):.4g}, by {who}"
    if value <= constraint.limit:
        reached += ", which misses another limit"
    return f"{constraint.key!r} has the limit {limit}; {reached}."


def _best_reached(
    constraint: Constraint, model: BuiltEnsemble, history: History
) -> tuple[float, str]:
    """Smallest value of a constraint and the model that has it."""
    values = [
        (candidate.check[constraint.key].value, _named(list(candidate.weights), history))
        for candidate in model.refused
    ]
    if not constraint.additive:
        values += [
            (trial.constraints.get(constraint.key, math.nan), _named([trial.number], history))
            for trial in history
            if trial.complete
        ]
    defined = [pair for pair in values if not math.isnan(pair[0])]
    return min(defined, key=lambda pair: pair[0], default=(math.nan, ""))


def _named(numbers: list[int], history: History) -> str:
    if len(numbers) > 1:
        return f"the ensemble of trials {sorted(numbers)}"
    algorithm = history[numbers[0]].configuration.algorithm
    return f"trial {numbers[0]} ({algorithm})"
