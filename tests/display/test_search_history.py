"""SearchHistoryDisplay: every trial at its place, and the best so far."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from skauto.plotting import SearchHistoryDisplay
from tests.display.fitted import assert_no_overlap, fit, legend_texts


def test_every_trial_is_drawn_once_with_its_loss(random_search):
    display = SearchHistoryDisplay.from_estimator(random_search)
    drawn = np.vstack([points.get_offsets() for points in display.points_.values()])
    expected = [(t.number, t.loss) for t in random_search.history_ if np.isfinite(t.loss)]
    assert sorted(map(tuple, drawn)) == pytest.approx(np.array(sorted(expected)))
    for name, points in display.points_.items():
        numbers = points.get_offsets()[:, 0].astype(int)
        assert all(random_search.history_[n].configuration.structure[-1] == name for n in numbers)


def test_the_line_is_the_best_eligible_loss_so_far(limited_history):
    display = SearchHistoryDisplay.from_history(limited_history)
    best, expected = np.nan, []
    for trial in limited_history:
        if trial.ok and limited_history.feasible(trial):
            best = np.fmin(best, trial.loss)
        expected.append(best)
    np.testing.assert_array_equal(display.incumbent_.get_ydata(), expected)
    assert display.ax_.get_ylabel() == "left"


def test_failures_are_crosses_and_what_exceeds_a_limit_is_hollow(limited_history):
    display = SearchHistoryDisplay.from_history(limited_history)
    failed = [t.number for t in limited_history if t.status == "failed"]
    np.testing.assert_array_equal(display.failed_.get_xdata(), failed)
    (points,) = display.points_.values()
    hollow = {
        int(n) for n in points.get_offsets()[np.array(points.get_facecolors())[:, 3] == 0, 0]
    }
    beyond = {t.number for t in limited_history if t.ok and not limited_history.feasible(t)}
    assert hollow == beyond
    assert {"no score", "beyond a limit, or on a part of the rows"} <= set(
        legend_texts(display.ax_)
    )


def test_over_seconds_by_origin():
    clf = fit("forest_bo", max_evals=14)
    display = SearchHistoryDisplay.from_estimator(clf, x="seconds", by="origin")
    assert set(display.points_) == {trial.origin for trial in clf.history_}
    assert len(display.points_) >= 2
    ended = sorted(trial.ended for trial in clf.history_)
    np.testing.assert_array_equal(display.incumbent_.get_xdata(), ended)
    assert np.all(np.diff(display.incumbent_.get_ydata()) <= 0)
    assert display.ax_.get_xlabel() == "time [s]"


@pytest.mark.parametrize(
    ("scoring", "label"),
    [
        (None, "1 - accuracy"),
        ("neg_log_loss", "log loss"),
        (lambda estimator, X, y: estimator.score(X, y), "loss"),
    ],
)
def test_the_loss_is_named_after_the_scorer(scoring, label):
    clf = fit("random", max_evals=2, scoring=scoring)
    assert SearchHistoryDisplay.from_estimator(clf).ax_.get_ylabel() == label


def test_groups_differ_in_color_or_marker(random_search):
    display = SearchHistoryDisplay.from_estimator(random_search)
    looks = {
        (to_rgba(p.get_edgecolors()[0]), len(p.get_paths()[0].vertices))
        for p in display.points_.values()
    }
    assert len(looks) == len(display.points_) >= 4
    assert_no_overlap(display.figure_, display.ax_.get_legend().get_texts())


@pytest.mark.parametrize("parameter", ["x", "by"])
def test_a_misspelled_choice_is_refused(random_search, parameter):
    with pytest.raises(ValueError, match=f"The '{parameter}' of SearchHistoryDisplay must be one"):
        SearchHistoryDisplay.from_estimator(random_search, **{parameter: "trails"})
