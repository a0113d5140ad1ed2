"""Objectives and limits of a search."""

import math

from skauto.history import Goal


def test_the_search_keeps_all_finite_limits_by_default():
    goal = Goal(["loss", "size"], limits={"size": 5.0, "latency": math.inf})
    assert goal.objectives == ("loss", "size")
    assert goal.limits == {"size": 5.0, "latency": math.inf}
    assert goal.search_limits == {"size": 5.0}


def test_the_search_may_keep_fewer_limits():
    limits = {"size": 5.0, "parity": 0.1}
    goal = Goal(limits=limits, search_limits={"size": 5.0})
    assert (goal.limits, goal.search_limits) == (limits, {"size": 5.0})
    assert Goal(limits=limits, search_limits={}).search_limits == {}
