"""The verdict: what to expect on new rows, in one sentence."""

import math
from typing import Any

from sklearn.metrics import accuracy_score

from skauto.display._base import score_name, than_guessing
from skauto.display._report._evidence import Evidence
from skauto.display._report._format import digits_of, percent, quoted
from skauto.display._words import count
from skauto.selection._intervals import ENSEMBLE, MAJORITY, is_guessing
from skauto.utils import scorer_is_loss


def verdict(evidence: Evidence) -> dict[str, Any]:
    """Score, interval and score of the majority class, and the sentence that states them.

    They are those of the held-out rows, if they were given.
    """
    estimator = evidence.estimator
    if evidence.held_out is None:
        score = estimator.ensemble_score_
        low, high = estimator.ensemble_score_interval_
        baseline, guessing = estimator.majority_score_, estimator._is_guessing
    else:
        scores = evidence.held_out_scores
        (score, low, high), baseline = scores[ENSEMBLE], scores[MAJORITY][0]
        guessing = is_guessing(scores)
    known = not math.isnan(score)
    found = {
        "score_name": name_of_score(estimator),
        "score": score,
        "low": low,
        "high": high,
        "majority_score": baseline,
        "majority_class": evidence.majority,
        "measured_on": evidence.measured_on,
        "n_rows": 0 if evidence.shown is None else len(evidence.shown.truth),
        "no_better_than_guessing": bool(guessing and known),
        "smaller_is_better": scorer_is_loss(estimator.scorer_),
    }
    if known:
        sentence = _sentence(evidence, found)
    elif estimator.member_weights_:
        sentence = (
            "How good the model is on new rows was not measured, because the search kept no "
            "predictions to score; give rows that it has not seen."
        )
    else:
        sentence = (
            "No pipeline was fitted in time, so a small decision tree answers. How good it is on "
            "new rows was not measured."
        )
    return {"sentence": sentence, **found, **_answers(evidence)}


def name_of_score(estimator: Any) -> str:
    """Name the score of the search in a sentence, which states losses as positive numbers."""
    return score_name(estimator).removeprefix("negative ").replace("roc auc", "ROC AUC")


def _answers(evidence: Evidence) -> dict[str, Any]:
    """Share of right answers of the model and of always answering the most frequent class."""
    known = evidence.shown
    if known is None:
        return {"share_right": math.nan, "majority_share_right": math.nan}
    guess = evidence.majority
    return {
        "share_right": float(accuracy_score(known.truth, known.labels)),
        "majority_share_right": float((known.classes[known.truth] == guess).mean()),
    }


def _sentence(evidence: Evidence, found: dict[str, Any]) -> str:
    """State a score by what it counts, if it is a share of rows or pairs."""
    estimator = evidence.estimator
    name, guess = found["score_name"], quoted(evidence.majority)
    always = f"always answering {guess}"
    if name == "accuracy":
        return _of_shares(found, "{} right", always, "would be right in {}")
    if name == "balanced accuracy":
        return _of_shares(
            found, "{} of the rows of a class right, on average over the classes", always, "{}"
        )
    if name == "ROC AUC" and len(estimator.classes_) == 2:
        rare, other = quoted(estimator.classes_[1]), quoted(estimator.classes_[0])
        return _of_shares(
            found,
            f"a row of class {rare} to get a higher probability than a row of class {other} in "
            "{} of the pairs",
            "guessing",
            "{}",
        )
    return _of_values(found)


def _of_shares(found: dict[str, Any], expected: str, guess: str, right: str) -> str:
    score, low, high, base = (found[key] for key in ("score", "low", "high", "majority_score"))
    digits = digits_of(low, high, score)
    interval = ""
    if low < high:
        interval = f", {percent(low, digits)[:-1]} to {percent(high, digits)}"
    stated = f"On new rows, expect {expected.format(percent(score, digits))}{interval}"
    base = percent(base, digits)
    if found["no_better_than_guessing"]:
        return f"{stated}, which {_than(found)} {guess} ({base})."
    verb = right if " " in right else "would reach {}"
    return f"{stated}; {guess} {verb.format(base)}."


def _of_values(found: dict[str, Any]) -> str:
    """State a score that is no share; losses are positive numbers."""
    score, low, high, base = (found[key] for key in ("score", "low", "high", "majority_score"))
    what, notes = "score", [found["score_name"]]
    if found["smaller_is_better"]:
        score, low, high, base = -score, -high, -low, -base
        what, notes = "loss", [*notes, "smaller is better"]
    interval = f", {low:.3g} to {high:.3g}" if low < high else ""
    note = ", ".join(note for note in notes if note != what)
    named = f" ({note})" if note else ""
    stated = f"On new rows, expect a {what} of {score:.3g}{interval}{named}"
    guess = "answering by the class frequencies alone"
    if found["no_better_than_guessing"]:
        return f"{stated}, which {_than(found)} {guess} ({base:.3g})."
    return f"{stated}; {guess} would reach {base:.3g}."


def _than(found: dict[str, Any]) -> str:
    return than_guessing(found["score"], found["majority_score"])


def how_measured(found: dict[str, Any]) -> str:
    """Say in a sentence what the verdict was measured on."""
    rows = count(found["n_rows"], "row")
    if found["measured_on"] == "held-out rows":
        text = f"Measured on {rows} that the model had not seen."
    else:
        text = (
            f"Measured on {rows} of the fit, each predicted by models that had not seen it. The "
            "model was also selected on them, so expect slightly less."
        )
    if found["low"] < found["high"]:
        text += " With 95% confidence, the value on many such rows lies in the range."
    return text
