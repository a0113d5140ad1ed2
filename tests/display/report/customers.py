"""Searches on customers, and parts of their reports."""

from skauto import AutoClassifier
from tests.display.fitted import small_space


def search(X, y, **settings):
    settings = {"max_evals": 3, "cv": 2, "random_state": 0, "verbose": 0, **settings}
    return AutoClassifier("random", space=small_space(), ensemble_size=5, **settings).fit(X, y)


def held_out(customers):
    X, y = customers
    return {"X": X[400:].reset_index(drop=True), "y": y[400:].reset_index(drop=True)}


def hints(report):
    return " ".join(hint["text"] for hint in report["watch"])
