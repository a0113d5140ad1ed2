"""The history of a search."""

import math

import numpy as np
import pytest

from skauto.history import History, Trial
from skauto.space import Configuration


def _trial(number, loss=0.5, **kwargs):
    configuration = Configuration({"scaler": "none", "classifier": ("knn", {"k": number + 1})})
    losses = loss if isinstance(loss, tuple) else (loss,)
    return Trial(number=number, configuration=configuration, losses=losses, **kwargs)


def _history(*losses, **kwargs):
    history = History(**kwargs)
    for number, loss in enumerate(losses):
        history.append(_trial(number, loss))
    return history


def test_incumbent_is_the_best_complete_trial():
    history = _history(0.3, 0.2, math.nan, 0.4)
    history.append(_trial(4, 0.1, status="failed"))
    history.append(_trial(5, 0.1, fidelity=0.5))
    history.append(_trial(6, 0.1, status="stopped"))
    assert history.incumbent.number == 1
    assert History().incumbent is None


def test_equal_losses_are_decided_by_the_tie_break():
    history = History()
    for number, tie in enumerate([0.7, 0.5, 0.6]):
        history.append(_trial(number, 0.1, tie_break=tie))
    assert history.incumbent.number == 1


def test_losses_are_infinite_where_a_trial_is_not_ok():
    history = _history(0.3, math.nan)
    history.append(_trial(2, 0.2, status="timeout"))
    np.testing.assert_array_equal(history.losses, [[0.3], [np.inf], [np.inf]])


def test_feasibility_and_violation():
    history = History(limits={"latency": 2.0, "parity": 0.1})
    history.append(_trial(0, 0.1, constraints={"latency": 3.0, "parity": 0.2}))
    history.append(_trial(1, 0.4, constraints={"latency": 1.0, "parity": 0.1}))
    history.append(_trial(2, 0.2, constraints={"latency": 1.0}))
    history.append(_trial(3, 0.3, constraints={"latency": 1.0, "parity": math.nan}))
    assert [history.feasible(t) for t in history] == [False, True, False, False]
    assert history.violation(history[0]) == pytest.approx(0.5 + 1.0)
    assert history.violation(history[2]) == math.inf
    assert history.incumbent.number == 1
    assert history.least_violating.number == 1


def test_front_holds_what_nothing_dominates():
    losses = np.random.default_rng(0).random((40, 2))
    history = History(("error", "unfairness"))
    for number, row in enumerate(losses):
        history.append(_trial(number, tuple(row)))
    expected = {
        i
        for i, a in enumerate(losses)
        if not any((b <= a).all() and (b < a).any() for b in losses)
    }
    assert {t.number for t in history.front()} == expected
    assert [t.losses for t in history.front()] == sorted(t.losses for t in history.front())


def test_append_refuses_what_does_not_belong():
    history = _history(0.1)
    with pytest.raises(ValueError, match="must be 1, the next position"):
        history.append(_trial(0))
    with pytest.raises(ValueError, match="one loss for each"):
        history.append(_trial(1, (0.1, 0.2)))


def test_frame_has_a_row_a_trial():
    frame = _history(0.3, 0.1).to_frame()
    assert frame["loss"].tolist() == [0.3, 0.1]
    assert frame["classifier"].tolist() == ["knn", "knn"]
    assert frame["classifier__k"].tolist() == [1, 2]


def test_cv_results_have_the_form_of_grid_search():
    history = History()
    history.append(_trial(0, 0.3, fold_scores={"accuracy": (0.6, 0.8)}, fit_times=(1.0, 3.0)))
    history.append(_trial(1, 0.1, fold_scores={"accuracy": (0.9, 0.9)}, fit_times=(1.0, 1.0)))
    history.append(_trial(2, math.inf, status="failed", error="boom"))
    results = history.to_cv_results()
    np.testing.assert_allclose(results["mean_test_score"], [0.7, 0.9, np.nan])
    np.testing.assert_allclose(results["std_test_score"], [0.1, 0.0, np.nan], atol=1e-12)
    np.testing.assert_array_equal(results["rank_test_score"], [2, 1, 3])
    np.testing.assert_array_equal(results["split0_test_score"], [0.6, 0.9, np.nan])
    np.testing.assert_array_equal(results["mean_fit_time"], [2.0, 1.0, np.nan])
    assert results["params"][1] == {"scaler": "none", "classifier": "knn", "classifier__k": 2}
    assert results["param_classifier__k"].tolist() == [1, 2, 3]
    assert results["status"].tolist() == ["ok", "ok", "failed"]


def test_predictions_can_be_forgotten():
    history = History()
    for number in range(3):
        history.append(_trial(number, predictions=np.zeros((2, 2), np.float32)))
    kept = history.without_data(keep=[1])
    assert [t.predictions is None for t in kept] == [True, False, True]
    assert [t.predictions is None for t in history] == [False] * 3


def test_remaining_evals():
    assert _history(0.1, max_evals=3).remaining_evals == 2
    assert _history(0.1).remaining_evals is None


def test_share_of_time():
    history = History(time_limit=20.0)
    assert history.elapsed == history.share_of_time == 0.0
    for number, ended in enumerate((4.0, 3.0)):
        history.append(_trial(number, ended=ended))
    assert (history.elapsed, history.share_of_time) == (4.0, 0.2)
    assert _history(0.1).share_of_time == 0.0
