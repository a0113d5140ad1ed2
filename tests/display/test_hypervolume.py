"""HypervolumeDisplay."""

import numpy as np

from skauto.plotting import HypervolumeDisplay
from skauto.utils._pareto import hypervolume
from tests.display.fitted import legend_texts


def test_hypervolume_over_seconds_up_to_the_worst_seen(limited_history):
    display = HypervolumeDisplay.from_history(limited_history)
    losses = limited_history.losses
    reference = losses[np.isfinite(losses).all(axis=1)].max(axis=0)
    np.testing.assert_array_equal(display.reference, reference)
    expected = [hypervolume(losses[: k + 1], reference) for k in range(len(losses))]
    np.testing.assert_allclose(display.line_.get_ydata(), expected, atol=1e-12)
    costs = np.cumsum([t.cost for t in limited_history])
    np.testing.assert_allclose(display.line_.get_xdata(), costs)


def test_two_searches_share_axes(limited_history):
    one = HypervolumeDisplay.from_history(limited_history, reference=(1, 1), name="one")
    two = HypervolumeDisplay.from_history(
        limited_history, reference=(2, 2), name="two", ax=one.ax_
    )
    assert legend_texts(two.ax_) == ["one", "two"]
    assert one.line_.get_color() != two.line_.get_color()


def test_constraints_count_where_there_is_one_objective(constrained):
    display = HypervolumeDisplay.from_estimator(constrained)
    assert display.reference.shape == (4,)
    assert display.frame["hypervolume"].is_monotonic_increasing
