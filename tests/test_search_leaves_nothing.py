"""After a whole `fit` in parallel the process is as it was, however the fit ended."""

import os
import signal
import tempfile
from contextlib import nullcontext
from pathlib import Path

import pytest
from joblib.externals.loky import get_reusable_executor
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.validation import check_is_fitted

from skauto import AutoClassifier, SearchOptions
from skauto.exceptions import AllTrialsFailedError
from skauto.space import Real, SearchSpace
from skauto.strategies import RandomSearch
from tests.process_state import belongings

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
