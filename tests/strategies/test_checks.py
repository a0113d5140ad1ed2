"""Checks of the settings of strategies."""

import math

import pytest
from sklearn.base import BaseEstimator

from skauto.strategies._checks import (
    check_integers,
    check_numbers,
    check_options,
    check_positive,
)


class Settings(BaseEstimator):
    def __init__(self, n=3, share=None, mode="a"):
        self.n = n
        self.share = share
        self.mode = mode


def check(settings):
    check_integers(settings, n=1)
    check_numbers(settings, share=(0.0, 1.0))
    check_options(settings, mode=("a", "b"))


@pytest.mark.parametrize("legal", [{}, {"n": 1}, {"share": 0}, {"share": 1.0}, {"mode": "b"}])
def test_legal_settings(legal):
    check(Settings(**legal))


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"n": 0}, "The 'n' of Settings must be an integer of at least 1. Got 0 instead."),
        ({"n": 2.0}, "integer"),
        ({"n": None}, "integer"),  # None is not its default
        ({"share": 1.1}, "a number between 0.0 and 1.0"),
        ({"share": math.nan}, "a number"),
        ({"share": "0.5"}, "a number"),
        ({"mode": "c"}, r"one of \['a', 'b'\]"),
    ],
)
def test_wrong_settings_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        check(Settings(**wrong))


def test_positive_and_unbounded_numbers():
    check_positive(Settings(n=0.1, share=2), "n", "share")
    with pytest.raises(ValueError, match="'n' .* a positive number"):
        check_positive(Settings(n=0.0), "n")
    check_numbers(Settings(n=1e9), n=(1.0, math.inf))
    with pytest.raises(ValueError, match="a number of at least 1.0"):
        check_numbers(Settings(n=0.5), n=(1.0, math.inf))
