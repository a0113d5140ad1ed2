"""TimelineDisplay: what the workers did when."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from skauto import SearchOptions
from skauto.display._timeline import _slots
from skauto.plotting import TimelineDisplay
from tests.display.fitted import assert_no_overlap, fit, legend_texts


@pytest.fixture(scope="module")
def two_workers():
    return fit("random", max_evals=12, n_jobs=2, cv=3)


def test_each_fold_is_a_bar_of_its_seconds(two_workers):
    display = TimelineDisplay.from_estimator(two_workers)
    n_folds = display.frame["trial"].value_counts()
    assert all(n_folds[t.number] == 3 for t in two_workers.history_ if t.ok)
    bars = [bar for container in display.bars_.values() for bar in container]
    seconds = sum(bar.get_width() for bar in bars)
    assert seconds == pytest.approx(sum(trial.cost for trial in two_workers.history_))
    for trial in two_workers.history_:
        own = display.frame[display.frame["trial"] == trial.number]
        # A fold is handed to a worker after its trial was begun, and ends before the trial does.
        assert own["began"].min() >= trial.started - 1e-3
        assert own["ended"].max() <= trial.ended + 1e-3


def test_two_workers_fill_two_rows_without_overlap(two_workers):
    display = TimelineDisplay.from_estimator(two_workers)
    assert sorted(display.frame["slot"].unique()) == [1, 2]
    for _, row in display.frame.groupby("slot"):
        assert (row["began"].to_numpy()[1:] >= row["ended"].to_numpy()[:-1] - 1e-3).all()


def test_one_worker_fills_one_row(random_search):
    display = TimelineDisplay.from_estimator(random_search)
    assert set(display.frame["slot"]) == {1}
    assert_no_overlap(display.figure_, display.ax_.texts)


def test_as_many_rows_as_runs_at_once():
    rng = np.random.default_rng(0)
    began = np.sort(rng.uniform(0, 10, 60))
    ended = began + rng.uniform(0.1, 2, 60)
    slots = np.array(_slots(zip(began, ended, strict=True)))
    at_once = max(((began <= t) & (ended > t)).sum() for t in began)
    assert slots.max() == at_once
    for slot in range(1, slots.max() + 1):
        own = slots == slot
        assert (began[own][1:] >= ended[own][:-1]).all()


def test_failures_have_a_color_of_their_own(limited_history):
    display = TimelineDisplay.from_history(limited_history)
    assert legend_texts(display.ax_) == ["ok", "failed"]
    assert len(display.bars_["failed"]) == limited_history.counts()["failed"]
    ok, failed = (display.bars_[s].patches[0].get_facecolor() for s in ("ok", "failed"))
    assert ok != failed


def test_a_continued_search_goes_on_where_it_stood():
    clf = fit("random", max_evals=5, options=SearchOptions(warm_start=True))
    stood = max(trial.ended for trial in clf.history_)
    clf.fit(*load_iris(return_X_y=True, as_frame=True))
    later = TimelineDisplay.from_estimator(clf).frame.query("trial >= 5")
    assert later["began"].min() >= stood
    assert set(later["slot"]) == {1}
