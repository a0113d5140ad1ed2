"""TPE: the trials that it calls good, and where it goes."""

import numpy as np
import pytest

from skauto.history import History, Trial
from skauto.space import Real, SearchSpace
from skauto.strategies import TPE
from tests.strategies.search_loop import as_measured, drive, rich_space, small_space
from tests.strategies.vectors import all_vectors


def test_proposals_crowd_around_the_best():
    space = SearchSpace(["only"]).add("only", "one", parameters={"x": Real(0, 1)})
    history = drive(
        TPE(),
        space,
        lambda _, c: {"losses": (abs(c.parameters("only")["x"] - 0.3),)},
        60,
    )
    late = [trial.configuration.parameters("only")["x"] for trial in history[40:]]
    assert np.median(np.abs(np.array(late) - 0.3)) < 0.1


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (TPE(), [1, 1, 2, 10, 25]),  # a tenth, at most 25
        (TPE(gamma=0.25, split="sqrt"), [1, 1, 2, 3, 8]),  # a quarter of the square root
    ],
)
def test_number_of_the_best_trials(strategy, expected):
    assert [strategy._n_best(n) for n in (1, 10, 20, 100, 1000)] == expected


def test_the_split_decides_the_proposals():
    space = SearchSpace(["only"]).add("only", "one", parameters={"x": Real(0, 1)})
    history = drive(TPE(n_initial=100), space, as_measured(lambda _: 0.5), 100)
    one, other = (
        TPE(gamma=0.25, split=split).start(space, np.random.default_rng(0)).ask(history)
        for split in ("linear", "sqrt")
    )
    assert one.configuration != other.configuration


def test_failures_are_among_the_others():
    space = small_space()
    history = History()
    for number, vector in enumerate(all_vectors(space)[:3]):
        fields = {"losses": (0.5,)} if number == 0 else {"status": "failed", "losses": (np.inf,)}
        history.append(Trial(number=number, configuration=space.decode(vector), **fields))
    proposal = TPE(n_initial=1).start(space, np.random.default_rng(0)).ask(history)
    assert proposal.origin in ("tpe", "random")


def test_the_design_takes_at_most_a_quarter_of_the_trials():
    space = rich_space()
    history = drive(TPE(), space, as_measured(lambda _: 0.5), 20)
    assert [trial.origin for trial in history].count("initial") == 5
    assert history[0].configuration == space.default()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_initial": -1}, "'n_initial' of TPE must be an integer of at least 0"),
        ({"n_candidates": 0}, "'n_candidates' of TPE must be an integer of at least 1"),
        ({"gamma": 1.5}, "'gamma' of TPE must be a number between 0.0 and 1.0"),
        ({"split": "cubic"}, "'split' of TPE must be one of"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        TPE(**settings).start(small_space(), np.random.default_rng(0))
