"""EffectsDisplay: what each algorithm adds, by FLASH's linear models."""

import numpy as np
import pandas as pd
import pytest

from skauto.plotting import EffectsDisplay
from tests.display.conftest import assert_no_overlap, fit


@pytest.fixture(scope="module")
def flash():
    return fit("flash", max_evals=24, cv=0.3)


def test_bars_are_the_weights_of_what_was_tried(flash):
    effects = pd.DataFrame(flash.strategy_.effects_)
    display = EffectsDisplay.from_estimator(flash)
    tried = effects[effects["n_trials"] > 0].set_index(["step", "algorithm"])
    shown = display.shown_.set_index(["step", "algorithm"])
    assert sorted(shown.index) == sorted(tried.index)
    for bars, column in zip(display.bars_, ("loss", "seconds"), strict=True):
        widths = pd.Series([bar.get_width() for bar in bars], shown.index)
        np.testing.assert_array_equal(widths, tried.loc[shown.index, column])
        rows = [bar.get_y() + bar.get_height() / 2 for bar in bars]
        np.testing.assert_allclose(rows, display.shown_["y"])


def test_each_step_has_a_heading_and_its_best_algorithm_first(flash):
    display = EffectsDisplay.from_estimator(flash)
    for _, own in display.shown_.groupby("step"):
        assert own["loss"].is_monotonic_increasing
    ticks = display.axes_[0].get_yticklabels()
    steps = display.shown_["step"].unique().tolist()
    assert [t.get_text() for t in ticks[: len(steps)]] == steps
    assert (
        len({t.get_position()[1] for t in ticks}) == len(ticks) == len(display.shown_) + len(steps)
    )
    assert_no_overlap(display.figure_, ticks)
    assert display.axes_[0].get_xlabel() == "change of 1 - accuracy"


def test_an_algorithm_that_was_never_tried_is_left_out(flash):
    effects = pd.DataFrame(flash.strategy_.effects_)
    effects.loc[effects["algorithm"] == "lda", "n_trials"] = 0
    shown = EffectsDisplay(effects).plot().shown_
    assert "lda" not in set(shown["algorithm"])
    assert len(shown) == (effects["n_trials"] > 0).sum()


def test_another_strategy_has_no_effects(random_search):
    with pytest.raises(ValueError, match='"flash".*RandomSearch, has recorded nothing'):
        EffectsDisplay.from_estimator(random_search)
