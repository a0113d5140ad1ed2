"""What all displays have in common."""

import inspect
import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from skauto import plotting

DISPLAYS = {name: getattr(plotting, name) for name in plotting.__all__}
FRAMES = {
    "EnsembleDisplay": {"trial": [0], "algorithm": ["b"], "weight": [1.0], "loss": [0.1]},
    "HypervolumeDisplay": {"trial": [0], "seconds": [1.0], "rows": [1.0], "hypervolume": [0.5]},
    "LimitsDisplay": {
        "model": ["best"], "constraint": ["a"], "limit": [1.0], "value": [0.5], "error": [0.1],
        "bound": [0.6], "met": [True],
    },
    "OperatingPointDisplay": {"flagged": [0.5], "precision": [0.4], "recall": [0.9]},
    "ParetoFrontDisplay": {
        "trial": [0], "a": [1.0], "b": [1.0], "feasible": [True], "complete": [True],
        "front": [True],
    },
    "PermutationImportanceDisplay": {"column": ["a"], "mean": [0.1], "std": [0.05]},
    "SearchHistoryDisplay": {
        "trial": [0], "seconds": [1.0], "loss": [0.1], "status": ["ok"], "eligible": [True],
        "algorithm": ["b"], "origin": ["c"],
    },
    "TimelineDisplay": {
        "trial": [0], "status": ["ok"], "algorithm": ["b"], "began": [0.0], "ended": [1.0],
        "slot": [1],
    },
}  # fmt: skip
SETTINGS = {
    "EnsembleDisplay": {"diversity": np.zeros((1, 1))},
    "HypervolumeDisplay": {"reference": np.ones(2)},
    "ParetoFrontDisplay": {"x": "a", "y": "b"},
}


def make(name):
    """A display of the smallest frame."""
    return DISPLAYS[name](pd.DataFrame(FRAMES[name]), **SETTINGS.get(name, {}))


@pytest.mark.parametrize("name", DISPLAYS)
def test_plot_draws_on_the_axes_of_the_user_and_returns_itself(name):
    display = make(name)
    two = hasattr(display.plot(), "axes_")
    figure, axes = plt.subplots(1, 2) if two else plt.subplots()
    assert display.plot(ax=axes) is display
    assert (display.axes_ if two else display.ax_) is axes
    assert display.figure_ is figure


@pytest.mark.parametrize("name", DISPLAYS)
def test_a_second_plot_makes_a_figure_of_its_own(name):
    display = make(name)
    assert display.plot().figure_ is not display.plot().figure_


@pytest.mark.parametrize("name", DISPLAYS)
def test_axes_say_what_they_show(name):
    display = make(name).plot()
    for ax in np.atleast_1d(getattr(display, "axes_", getattr(display, "ax_", None))):
        assert ax.get_xlabel() or ax.get_title()


@pytest.mark.parametrize("name", DISPLAYS)
def test_without_matplotlib_the_error_says_what_to_install(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=f"{name}.plot needs matplotlib"):
        make(name).plot()


@pytest.mark.parametrize("name", DISPLAYS)
def test_parameters_are_stored_under_their_names(name):
    display = make(name)
    for parameter in list(inspect.signature(DISPLAYS[name]).parameters):
        assert hasattr(display, parameter)
