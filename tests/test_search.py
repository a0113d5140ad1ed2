"""The loop, on any function and in a whole `fit`: failures, limits, workers, interruptions."""

import itertools
import os
import signal
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.validation import check_is_fitted

from skauto import AutoClassifier, SearchOptions, minimize
from skauto.exceptions import AllTrialsFailedError
from skauto.space import Configuration, Real, SearchSpace
from skauto.strategies import ADMM, MOSAIC, JointGP, ParEGO, RandomSearch
from tests.estimators.quick import quick, tiny_space
from tests.process_state import belongings
from tests.shapes import objective, shapes
from tests.strategy_settings import make_strategy


@pytest.fixture
def space():
    return shapes()


def configurations(result):
    return [trial.configuration for trial in result.history]


@pytest.mark.parametrize("strategy", ["random", "joint_gp"])
def test_the_same_trials_for_a_number_of_workers(space, strategy):
    def run(n_jobs):
        return minimize(
            objective,
            space,
            strategy=make_strategy(strategy),
            n_jobs=n_jobs,
            max_evals=14,
            random_state=0,
        )

    alone = run(1)
    assert configurations(run(1)) == configurations(alone)
    assert configurations(run(2)) == configurations(run(2))
    assert alone.loss == min(objective(c) for c in configurations(alone))
    assert objective(alone.configuration) == alone.loss


def test_nothing_found(space):
    result = minimize(lambda configuration: np.nan, space, max_evals=3, random_state=0)
    assert result.configuration is None
    assert result.loss == np.inf
    assert len(result.history) == 3


def test_the_answer_keeps_the_limits(space):
    def costly(configuration):
        loss = objective(configuration)
        return {"loss": loss, "cost": 1.0 - loss}

    settings = {"strategy": "random", "max_evals": 40, "random_state": 0}
    free = minimize(costly, space, **settings)
    limited = minimize(costly, space, limits={"cost": 0.5}, **settings)
    assert free.loss < 0.5 <= limited.loss
    assert limited.loss == min(t.loss for t in limited.history if t.constraints["cost"] <= 0.5)


def test_the_strategy_comes_back_with_its_record(space):
    given = MOSAIC()
    result = minimize(objective, space, strategy=given, max_evals=30, random_state=0)
    assert result.strategy is not given
    assert result.strategy.tree_["visits"][0] == 30
    assert not hasattr(given, "tree_")


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"max_evals": 0}, r"'max_evals' .* range \[1, inf\).* Got 0 instead"),
        ({"max_evals": 2.5}, "'max_evals' .* Got 2.5 instead"),
        ({"time_limit": -1}, "'time_limit' .* Got -1 instead"),
        ({"time_limit": np.nan}, "'time_limit' .* Got nan instead"),
        ({"trial_time_limit": 0}, "'trial_time_limit' .* Got 0 instead"),
        ({"objectives": "error"}, "'objectives' .* Got 'error' instead"),
        ({"objectives": ()}, "'objectives' .* different names"),
        ({"objectives": ("a", "a"), "strategy": "parego"}, "'objectives' .* different names"),
        ({"objectives": ("a", 3), "strategy": "parego"}, "'objectives' .* different names"),
        ({"limits": {"s": np.nan}}, "'limits' .* Got 's': nan instead"),
        ({"limits": {"s": "fast"}}, "'limits' .* Got 's': 'fast' instead"),
        ({"limits": ["s"]}, "'limits' .* must map names"),
        ({"space": "default"}, "'space' .* must be a SearchSpace.* Got 'default' instead"),
        ({"initial": None}, "'initial' .* Got None instead"),
        ({"initial": Configuration({"shape": "bowl"})}, "'initial' .* must be a sequence"),
        ({"initial": [{"shape": "bowl"}]}, "'initial' .* expected a Configuration"),
        ({"initial": [Configuration({"shape": ("bowl", {"x": 9.0})})]}, "'initial' .* got 9.0"),
    ],
)
def test_wrong_arguments_are_named_before_the_first_call(space, arguments, message):
    def never(configuration):
        raise AssertionError("called")

    with pytest.raises((ValueError, TypeError), match=message):
        minimize(never, **{"space": space} | arguments)


def test_a_strategy_for_one_loss_refuses_several(space):
    several = {"objectives": ("a", "b"), "max_evals": 3, "random_state": 0}
    with pytest.raises(ValueError, match="JointGP minimizes only one .*'fang_hpo', 'parego'"):
        minimize(objective, space, strategy="joint_gp", **several)
    for strategy in ("auto", "parego", "random"):
        result = minimize(lambda _: {"a": 1, "b": 2}, space, strategy=strategy, **several)
        assert [trial.losses for trial in result.history] == [(1.0, 2.0)] * 3


@pytest.mark.parametrize(
    ("arguments", "strategy"),
    [
        ({}, JointGP),
        ({"limits": {"cost": np.inf}}, JointGP),
        ({"limits": {"cost": 0.5}}, ADMM),
        ({"objectives": ("loss", "cost")}, ParEGO),
    ],
)
def test_the_strategy_fits_the_problem_by_default(space, arguments, strategy):
    result = minimize(lambda _: {"loss": 1, "cost": 2}, space, max_evals=2, **arguments)
    assert type(result.strategy) is strategy


def test_without_a_trial_within_the_limits_there_is_no_configuration(space):
    result = minimize(
        lambda _: {"loss": 0.5, "cost": 1.0}, space, limits={"cost": 0.1}, max_evals=3
    )
    assert all(trial.ok for trial in result.history)
    assert (result.configuration, result.loss) == (None, np.inf)


def test_runs_are_in_order_although_the_process_is_interrupted_between_two_clocks(
    space, monkeypatch
):
    read, n_readings = time.time, itertools.count()

    def interrupted():
        if next(n_readings) % 4 == 0:
            time.sleep(0.01)
        return read()

    monkeypatch.setattr(time, "time", interrupted)
    result = minimize(objective, space, strategy="random", max_evals=12, random_state=0)
    began, ended = np.array([run for trial in result.history for run in trial.runs]).T
    assert len(began) == 12
    assert (began[1:] >= ended[:-1] - 1e-3).all()


def test_keyboard_interrupt_keeps_what_was_found(iris):
    class Impatient(RandomSearch):
        def observe(self, trial):
            if trial.number == 2:
                raise KeyboardInterrupt

    clf = quick(strategy=Impatient(), max_evals=50).fit(*iris)
    assert clf.interrupted_
    assert len(clf.history_) == 3
    assert clf.score(*iris) > 0.9


def test_search_ends_when_the_space_is_exhausted(iris):
    clf = quick(max_evals=200, space=tiny_space()).fit(*iris)
    assert len(clf.history_) == 6


N_ROWS = 150


class Accident(GaussianNB):
    """Has something happen to the search while a worker fits it."""

    def __init__(self, kind="", marker="", var_smoothing=1e-9):
        super().__init__(var_smoothing=var_smoothing)
        self.kind = kind
        self.marker = marker

    def fit(self, X, y, sample_weight=None):
        if self.kind == "failures":
            raise ValueError("no luck")
        where = "refit" if len(y) == N_ROWS else "search"
        if self.kind == f"Ctrl-C in the {where}" and self._is_first():
            os.kill(os.getppid(), signal.SIGINT)
            while True:  # until somebody kills this process
                pass
        return super().fit(X, y, sample_weight)

    def _is_first(self):
        try:
            Path(self.marker).unlink()
        except FileNotFoundError:
            return False
        return True


class Broken(RandomSearch):
    """Fails while workers are busy."""

    def observe(self, trial):
        if trial.number == 2:
            raise RuntimeError("the strategy is broken")


@pytest.fixture
def temporary_files(tmp_path, monkeypatch):
    """A directory of temporary files for this process and its workers alone."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.filterwarnings("ignore::skauto.exceptions.BudgetWarning")  # Ctrl-C came early
@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("success", None),
        ("failures", AllTrialsFailedError),
        ("broken strategy", RuntimeError),
        ("Ctrl-C in the search", None),
        ("Ctrl-C in the refit", KeyboardInterrupt),
    ],
)
def test_nothing_is_left_behind(kind, error, iris, tmp_path, temporary_files):
    X, y = iris
    assert len(y) == N_ROWS
    marker = tmp_path / "marker"
    marker.touch()
    space = SearchSpace(["classifier"])
    space.add(
        "classifier",
        "accident",
        Accident(kind, str(marker)),
        {"var_smoothing": Real(1e-9, 1e-3, log=True)},
    )
    clf = AutoClassifier(
        Broken() if kind == "broken strategy" else "random",
        space=space,
        max_evals=6,
        time_limit=120,
        options=SearchOptions(
            trial_time_limit=60, memory_limit=2**30, cache=2**20, checkpoint=tmp_path / "search"
        ),
        ensemble_size=1,
        n_jobs=2,
        random_state=0,
    )
    get_reusable_executor().shutdown(wait=True, kill_workers=True)  # of earlier tests
    belongings()  # the first look opens descriptors of its own
    before = belongings()
    with pytest.raises(error) if error else nullcontext():
        clf.fit(X, y)
    assert belongings() == before
    assert list(temporary_files.iterdir()) == []
    assert marker.exists() == (not kind.startswith("Ctrl-C"))
    if error is None:
        check_is_fitted(clf)
        assert clf.interrupted_ == (kind == "Ctrl-C in the search")
