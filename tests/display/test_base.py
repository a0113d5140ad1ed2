"""Names, styles and scales that displays share."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import f1_score, get_scorer, make_scorer

from skauto.display._base import (
    COLORS,
    MARKERS,
    check_choice,
    is_wide,
    loss_name,
    mean_score,
    score_name,
    styles,
    than_guessing,
)


@pytest.mark.parametrize(
    ("scorer", "loss", "score"),
    [
        (get_scorer("accuracy"), "1 - accuracy", "accuracy"),
        (get_scorer("neg_log_loss"), "log loss", "negative log loss"),
        (make_scorer(f1_score, average="macro"), "1 - f1 macro", "f1 macro"),
        (lambda estimator, X, y: 1.0, "loss", "score"),
    ],
)
def test_names_of_a_score_and_its_loss(scorer, loss, score):
    estimator = SimpleNamespace(scorer_=scorer)
    assert (loss_name(estimator), score_name(estimator)) == (loss, score)


def test_each_name_has_a_style_of_its_own():
    names = [f"n{i}" for i in range(len(COLORS) * len(MARKERS))]
    assert len(set(styles([*names, *names]).values())) == len(names)


def test_the_mean_score_leaves_out_folds_without_one():
    trial = SimpleNamespace(fold_scores={"accuracy": (0.5, np.nan, 1.0), "other": (0.0,)})
    assert mean_score(trial) == 0.75
    assert np.isnan(mean_score(SimpleNamespace(fold_scores={})))


def test_wide_ranges_of_positive_values_are_logarithmic():
    assert is_wide(np.array([1.0, 100.0]))
    assert not is_wide(np.array([1.0, 10.0]))
    assert not is_wide(np.array([0.0, 100.0]))
    assert not is_wide(np.array([]))


def test_unknown_choices_are_named():
    with pytest.raises(ValueError, match=r"'x' of int must be one of \['a'\]. Got 'b' instead"):
        check_choice(int, "x", "b", ["a"])


def test_a_score_beside_guessing():
    assert than_guessing(0.7, 0.6) == "may be no better than"
    assert than_guessing(0.6, 0.6) == "is no better than"
