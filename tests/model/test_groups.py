"""Codes, names and weights of sensitive groups."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skauto.model._groups import group_codes, group_names, group_weights


def test_groups():
    np.testing.assert_array_equal(group_codes([1, 2, None, np.nan, 1], "g"), [1, 2, 0, 0, 1])
    np.testing.assert_array_equal(group_codes(["b", "b"], "g", ["a", "b"]), [1, 1])
    np.testing.assert_array_equal(group_codes([1.0, 2.0], "g", ["", "1", "2"]), [1, 2])
    with pytest.raises(ValueError, match=r"'g' must hold groups of fit, \['a', 'b'\]. Got 'c'"):
        group_codes(["a", "c"], "g", ["a", "b"])
    with pytest.raises(ValueError, match="'age' must have 2 to 50 groups. Got 100"):
        group_codes(np.arange(100), "age")
    with pytest.raises(ValueError, match="Got 1 instead"):
        group_codes(["a", "a"], "g")


def test_groups_with_the_same_text_are_refused():
    with pytest.raises(ValueError, match=r"'sex' holds 1 and '1'.*astype"):
        group_names([1, "1", 2], "sex")
    assert group_names([1, 1.0, 2, None], "sex") == ["", "1", "2"]


@pytest.fixture
def table(rng):
    """Groups that tell of the classes; the third one is rare."""
    groups = rng.choice(3, size=500, p=[0.5, 0.4, 0.1])
    y = (rng.random(500) < np.array([0.2, 0.5, 0.8])[groups]).astype(int)
    return groups, y


def weighted_shares(groups, y, weights):
    """Weighted share of the second class in each group."""
    return np.bincount(groups, weights * y) / np.bincount(groups, weights)


@pytest.mark.parametrize("weighted", [False, True])
def test_at_strength_1_groups_and_classes_are_independent(table, rng, weighted):
    groups, y = table
    known = rng.random(500) if weighted else None
    weights = group_weights(groups, y, 1.0, known)
    assert_allclose(weighted_shares(groups, y, weights), np.average(y, weights=known))
    before = np.ones(500) if known is None else known
    assert_allclose(np.bincount(groups, weights), np.bincount(groups, before))


def test_strength_goes_on_in_the_same_direction(table):
    groups, y = table
    gaps = [
        np.diff(weighted_shares(groups, y, group_weights(groups, y, strength))[[0, 2]])[0]
        for strength in (0.0, 0.5, 1.0, 2.0)
    ]
    assert gaps[0] == pytest.approx(np.diff(weighted_shares(groups, y, np.ones(500))[[0, 2]])[0])
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[1] > 0.05 > abs(gaps[2])
    assert gaps[3] < -0.05
    assert group_weights(groups, y, 2.0).mean() == pytest.approx(1.0)


def test_a_class_that_a_group_lacks_is_no_problem():
    weights = group_weights(np.array([0, 0, 1]), np.array([0, 1, 1]), 1.0)
    assert np.isfinite(weights).all()
