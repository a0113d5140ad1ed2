"""Suggestions for misspelled names."""

import pytest

from skauto.utils import closest, known_names


@pytest.mark.parametrize("name", ["standrd", "STANDARD", "standards"])
def test_the_most_similar_name_is_suggested(name):
    assert closest(name, ["none", "standard", "robust"]) == " Did you mean 'standard'?"


def test_nothing_is_suggested_without_a_similar_name():
    assert closest("xyz", ["none", "standard"]) == ""
    assert closest(3, ["none"]) == closest("none", []) == ""


def test_known_names_are_listed():
    assert known_names("nine", {"none": 1, "robust": 2}) == (
        "known are none, robust. Did you mean 'none'?"
    )
