"""EnsembleDisplay: weights and diversity of the members."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from skauto.exceptions import BudgetWarning
from skauto.plotting import EnsembleDisplay
from tests.display.fitted import assert_no_overlap, fit


def test_weights_and_diversity_of_the_fitted_ensemble(random_search):
    display = EnsembleDisplay.from_estimator(random_search)
    weights = random_search.member_weights_
    assert len(weights) > 1
    np.testing.assert_allclose([bar.get_width() for bar in display.bars_], list(weights.values()))
    np.testing.assert_array_equal(display.image_.get_array(), random_search.ensemble_.diversity_)
    for label, number in zip(display.axes_[0].get_yticklabels(), weights, strict=True):
        algorithm = random_search.history_[number].configuration.structure[-1]
        assert label.get_text() == f"{algorithm} #{number}"
    assert f"{random_search.ensemble_.disagreement_:.1%}" in display.axes_[1].get_title()


def test_thirty_members_keep_their_labels_apart():
    n = 30
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "trial": np.arange(100, 100 + n),
            "algorithm": "hist_gradient_boosting",
            "weight": 1 / n,
            "loss": 0.1,
        }
    )
    display = EnsembleDisplay(frame, diversity=rng.random((n, n))).plot()
    for axis in (display.axes_[0].yaxis, display.axes_[1].xaxis):
        labels = axis.get_ticklabels()
        assert len(labels) == n
        assert_no_overlap(display.figure_, labels)
    # The rows of both halves are the same members.
    assert display.axes_[0].get_ylim() == display.axes_[1].get_ylim()


def test_axes_of_the_user_are_used_if_there_are_two(random_search):
    _, axes = plt.subplots(1, 2)
    display = EnsembleDisplay.from_estimator(random_search, ax=axes)
    assert display.axes_ is axes
    _, axes = plt.subplots(1, 3)
    with pytest.raises(ValueError, match="must hold 2 axes. Got 3"):
        EnsembleDisplay.from_estimator(random_search, ax=axes)


def test_without_members_there_is_nothing_to_draw():
    with pytest.warns(BudgetWarning):
        clf = fit("random", time_limit=1e-3)
    with pytest.raises(ValueError, match="Nothing was fitted in time"):
        EnsembleDisplay.from_estimator(clf)
