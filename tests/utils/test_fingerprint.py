"""Hashes of parameters: equal for the same scoring in any process, and for no other one."""

import subprocess
import sys
import threading
from functools import partial
from itertools import combinations
from pathlib import Path

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, fbeta_score, make_scorer

from skauto.utils import fingerprint


def profit(estimator, X, y):
    return accuracy_score(y, estimator.predict(X))


def priced(price):
    def cost(y, predicted):
        return price * sum(a != b for a, b in zip(y, predicted, strict=True))

    return cost


def recursive():
    def depth(n):
        return 0 if n == 0 else depth(n - 1)

    return depth


def local():
    class Local:
        """Defined in a function."""

    return Local()


class Weighed:
    def __init__(self, weight):
        self.weight = weight

    def __call__(self, estimator, X, y):
        return self.weight * profit(estimator, X, y)

    def __repr__(self):
        return f"Weighed({self.weight})"


def scorings():
    """Different ones, new objects at each call."""
    return [
        None,
        "accuracy",
        ["accuracy", "roc_auc"],
        {"accuracy": "accuracy", "profit": profit},
        profit,
        partial(profit, y=None),
        Weighed(1.0),
        Weighed(2.0),
        make_scorer(fbeta_score, beta=1),
        make_scorer(fbeta_score, beta=2),
        make_scorer(lambda y, predicted: (y == predicted).mean()),
        make_scorer(lambda y, predicted: (y != predicted).mean()),
        make_scorer(lambda y, predicted: sum(a == b for a, b in zip(y, predicted, strict=True))),
        make_scorer(priced(1.0)),
        make_scorer(priced(2.0)),
        make_scorer(recursive()),
        local(),
        LogisticRegression(C=1.0),
        LogisticRegression(C=2.0),
        {"classifier": [LogisticRegression(C=2.0)]},
    ]


def test_different_scorings_differ_and_equal_ones_do_not():
    hashes = [fingerprint(scoring) for scoring in scorings()]
    assert all(a != b for a, b in combinations(hashes, 2))
    assert hashes == [fingerprint(scoring) for scoring in scorings()]


def test_another_process_has_the_same():
    code = "from tests.utils.test_fingerprint import *; print(*map(fingerprint, scorings()))"
    root = Path(__file__).parents[2]
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root
    ).stdout
    assert printed.split() == [fingerprint(scoring) for scoring in scorings()]


def test_what_cannot_be_pickled_is_named():
    with pytest.raises(ValueError, match="can be pickled. Got .*lock"):
        fingerprint(Weighed(threading.Lock()))
