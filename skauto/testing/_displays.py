"""Checks of displays."""

import inspect
from typing import Any

import numpy as np


def check_display(display: Any) -> None:
    """Check that a display draws on the axes of the user and labels them (needs matplotlib).

    Parameters
    ----------
    display : BaseDisplay
        A display that can be drawn.

    Raises
    ------
    AssertionError
        If the display violates the contract. The message names the rule.

    Examples
    --------
    >>> import pandas as pd
    >>> from skauto.plotting import PermutationImportanceDisplay
    >>> from skauto.testing import check_display
    >>> frame = pd.DataFrame({"column": ["age"], "mean": [0.1], "std": [0.05]})
    >>> check_display(PermutationImportanceDisplay(frame))
    """
    import matplotlib.pyplot as plt

    for name in inspect.signature(type(display)).parameters:
        assert hasattr(display, name), f"The parameter {name!r} is not stored under its name."
    assert display.plot() is display, "plot must return the display."
    first = display.figure_
    two = hasattr(display, "axes_")
    own = np.atleast_1d(display.axes_ if two else display.ax_)
    assert any(ax.get_xlabel() or ax.get_title() or ax.texts for ax in own), (
        "The axes have no label, title or text."
    )
    assert display.plot().figure_ is not first, "A second plot must make a figure of its own."
    figure, axes = plt.subplots(1, 2) if two else plt.subplots()
    display.plot(ax=axes)
    assert (display.axes_ if two else display.ax_) is axes, "plot must draw on the given axes."
    assert display.figure_ is figure
    for drawn in (first, figure):
        plt.close(drawn)
