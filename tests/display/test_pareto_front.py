"""ParetoFrontDisplay."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from skauto import ConstrainedAutoClassifier, minimize
from skauto.constraints import ModelSize, PredictionLatency
from skauto.plotting import HypervolumeDisplay, ParetoFrontDisplay
from skauto.utils._pareto import hypervolume
from tests.display.fitted import curve_space, legend_texts, small_space


def test_the_front_is_what_no_other_trial_beats(limited_history):
    display = ParetoFrontDisplay.from_history(limited_history)
    known = [t.losses for t in limited_history if t.ok]
    expected = sorted(
        (right, left)
        for left, right in known
        if not any(o != (left, right) and o[0] <= left and o[1] <= right for o in known)
    )
    assert len(expected) > 1
    np.testing.assert_array_equal(display.front_.get_xydata(), expected)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("right", "left")


def test_completed_trials_are_drawn_and_those_beyond_a_limit_are_hollow(limited_history):
    display = ParetoFrontDisplay.from_history(limited_history)
    drawn = display.trials_.get_offsets()
    completed = [t for t in limited_history if t.ok]
    np.testing.assert_array_equal(drawn, [t.losses[::-1] for t in completed])
    filled = display.trials_.get_facecolors()[:, 3] > 0
    np.testing.assert_array_equal(filled, [limited_history.feasible(t) for t in completed])
    assert display.limit_lines_ == {}  # the limited quantity is not shown
    assert "beyond a limit" in legend_texts(display.ax_)


def test_limit_and_reference_are_marked(limited_history):
    display = ParetoFrontDisplay.from_history(limited_history, x="weight", reference=(0.5, 1.0))
    (line,) = display.limit_lines_.values()
    assert set(line.get_xdata()) == {0.2}
    assert display.reference_.get_xydata().tolist() == [[0.5, 1.0]]
    assert {"limit", "reference point"} <= set(legend_texts(display.ax_))


def test_of_an_estimator(constrained):
    display = ParetoFrontDisplay.from_estimator(constrained)
    assert display.ax_.get_xlabel() == "model size [bytes]"
    assert display.ax_.get_ylabel() == "1 - accuracy"
    assert set(display.limit_lines_["model_size"].get_xdata()) == {25_000}
    best = constrained.best_trial_
    [place] = display.chosen_.get_offsets()
    np.testing.assert_array_equal(place, [best.constraints["model_size"], best.loss])


def test_latencies_of_two_batch_sizes_have_units():
    X, y = load_breast_cancer(return_X_y=True)
    constraints = [PredictionLatency(10.0), PredictionLatency(10.0, batch_size=1)]
    clf = ConstrainedAutoClassifier(
        constraints, "random", max_evals=2, cv=2, space=small_space(), random_state=0
    ).fit(X, y)
    x, y = (constraint.key for constraint in constraints)
    display = ParetoFrontDisplay.from_estimator(clf, x=x, y=y)
    assert display.ax_.get_xlabel() == "prediction latency [s per row]"
    assert display.ax_.get_ylabel() == "prediction latency (batch size=1) [s per row]"


def test_of_a_search_for_several_objectives():
    X, y = load_breast_cancer(return_X_y=True)
    clf = ConstrainedAutoClassifier(
        [ModelSize()], "parego", max_evals=10, cv=0.3, space=small_space(), random_state=0
    ).fit(X, y)
    display = ParetoFrontDisplay.from_estimator(clf)
    front = clf.pareto_front_[["model_size", "loss"]].to_numpy()
    np.testing.assert_array_equal(display.front_.get_xydata(), front[np.argsort(front[:, 0])])
    np.testing.assert_array_equal(display.chosen_.get_offsets(), front[[clf.selected_]])


def test_a_lower_bound_is_named_as_it_is_measured(constrained):
    display = ParetoFrontDisplay.from_estimator(constrained, x="recall", y="model_size")
    assert display.ax_.get_xlabel() == "1 - recall"
    assert set(display.limit_lines_["recall"].get_xdata()) == {0.5}
    assert set(display.limit_lines_["model_size"].get_ydata()) == {25_000}


def test_trials_on_a_part_of_the_rows_are_never_on_the_front():
    def objective(configuration, fidelity):
        x = configuration.parameters("classifier")["x"]
        return {"left": fidelity * x, "right": fidelity * (1 - x)}

    history = minimize(
        objective,
        curve_space(),
        strategy="fang_hpo",
        objectives=("left", "right"),
        max_evals=14,
        random_state=0,
    ).history
    n_partial = sum(t.fidelity < 1.0 for t in history)
    assert 0 < n_partial < len(history)
    display = ParetoFrontDisplay.from_history(history)
    assert display.frame.loc[~display.frame["complete"], "front"].sum() == 0
    assert len(display.trials_.get_offsets()) == len(history) - n_partial
    volumes = HypervolumeDisplay.from_history(history, reference=(1, 1), cost="rows")
    np.testing.assert_allclose(volumes.line_.get_xdata(), np.cumsum([t.fidelity for t in history]))
    for k, volume in enumerate(volumes.line_.get_ydata()):
        complete = [t.losses for t in history[: k + 1] if t.fidelity == 1.0]
        expected = hypervolume(complete, (1, 1)) if complete else 0.0
        assert volume == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (
            {"x": "weights"},
            r"The 'x' of ParetoFrontDisplay must be one of \['left', 'right', 'weight'\]",
        ),
        ({"x": "left"}, "'x' and 'y' are both 'left'"),
    ],
)
def test_quantities_must_be_known_and_differ(limited_history, choice, message):
    with pytest.raises(ValueError, match=message):
        ParetoFrontDisplay.from_history(limited_history, **choice)


def test_a_single_quantity_has_no_front():
    history = minimize(lambda c: 1.0, curve_space(), strategy="random", max_evals=2).history
    with pytest.raises(ValueError, match="needs two different quantities"):
        ParetoFrontDisplay.from_history(history)
