"""The line that a search shows while it runs."""

import io
import re

import pytest
from sklearn.datasets import load_iris

from skauto import AutoClassifier
from tests.display.fitted import fit, small_space


class Terminal(io.StringIO):
    def isatty(self):
        return True


def quiet(max_evals=6, **kwargs):
    return AutoClassifier(
        "random", space=small_space(), cv=2, max_evals=max_evals, random_state=0, **kwargs
    )


def search(max_evals=6, **kwargs):
    return quiet(max_evals, verbose=1, **kwargs)


def iris():
    return load_iris(return_X_y=True, as_frame=True)


def test_a_search_is_silent_elsewhere_than_in_a_terminal(capsys):
    fit("random", max_evals=3)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_a_log_has_a_line_for_each_new_best_trial(capsys):
    clf = search().fit(*iris())
    lines = capsys.readouterr().out.splitlines()
    best, n_best = None, 0
    for trial in clf.history_:
        if best is None or (trial.loss, trial.tie_break) < (best.loss, best.tie_break):
            best, n_best = trial, n_best + 1
    assert len(lines) >= n_best + 1  # more where a trial took long
    assert re.match(r"1/6 trials, \d+:\d\d elapsed, \d+:\d\d left, best accuracy", lines[0])
    algorithm = clf.history_[1].configuration.structure[-1]
    assert f"now {algorithm} and " in lines[0]
    assert lines[-1].startswith("6/6 trials, ")
    assert f"best trial {clf.best_score_:.4g} ({best.configuration.structure[-1]})" in lines[-1]
    assert "left" not in lines[-1] and "now" not in lines[-1]


def test_a_terminal_has_one_line_that_is_overwritten(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("COLUMNS", "60")
    search(4).fit(*iris())
    states = terminal.getvalue().split("\r")
    assert states[0] == ""
    assert len(states) == 1 + 2 * 4 + 1  # each start, each end, and what stays
    assert states[-1].endswith("\n")
    assert terminal.getvalue().count("\n") == 1
    assert max(map(len, states)) <= 60
    shown = ""
    for state in states[1:]:
        shown = state + shown[len(state) :]
        assert shown.strip() == state.strip()  # nothing of a longer state is left


def test_time_left_is_that_of_the_time_limit(capsys):
    search(None, time_limit=600).set_params(max_evals=3).fit(*iris())
    first = capsys.readouterr().out.splitlines()[0]
    assert re.match(r"1/3 trials, \d+:\d\d elapsed, \d+:\d\d left", first)


def test_the_line_ends_after_an_error(monkeypatch):
    class Failing:
        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context):
            raise RuntimeError("stop here")

    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    with pytest.raises(RuntimeError, match="stop here"):
        search().set_callbacks(Failing()).fit(*iris())
    assert terminal.getvalue().endswith("\n")


@pytest.mark.parametrize(
    "verbose, is_terminal", [(None, True), (None, False), (0, True), (1, False)]
)
def test_verbose_shows_the_line_where_somebody_looks(verbose, is_terminal, monkeypatch):
    stream = Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr("sys.stdout", stream)
    monkeypatch.setenv("COLUMNS", "200")
    fit("random", max_evals=3, verbose=verbose)
    shown = stream.getvalue()
    assert bool(shown) == (verbose != 0 and (is_terminal or verbose == 1))
    if shown:
        assert shown.splitlines()[-1].lstrip("\r").startswith("3/3 trials, ")


def test_the_line_has_the_score_of_the_ensemble_so_far(monkeypatch, capsys):
    monkeypatch.setattr("skauto.display._progress.pause_of_scores", lambda seconds: 0.0)
    clf = quiet(4, verbose=1).fit(*iris())
    last = capsys.readouterr().out.splitlines()[-1]
    scores = f"ensemble accuracy {clf.ensemble_score_:.4g}, best trial {clf.best_score_:.4g}"
    assert f", {scores} (" in last


def test_the_last_line_has_the_score_of_the_fitted_ensemble(capsys):
    clf = quiet(4, verbose=1).fit(*iris())
    *_, last = capsys.readouterr().out.splitlines()
    assert re.match(rf"4/4 trials, .* elapsed, ensemble accuracy {clf.ensemble_score_:.4g},", last)


class Interrupting:
    """Interrupts a search after some trials, as Ctrl-C would."""

    def __init__(self, n_trials):
        self.n_left = n_trials

    def setup(self, estimator, context): ...
    def teardown(self, estimator, context): ...
    def on_fit_task_begin(self, estimator, context): ...
    def on_fit_task_end(self, estimator, context):
        self.n_left -= 1
        if self.n_left == 0:
            raise KeyboardInterrupt


def test_an_interruption_says_what_is_kept(capsys):
    clf = quiet(9, verbose=1).set_callbacks(Interrupting(4)).fit(*iris())
    *_, kept, last = capsys.readouterr().out.splitlines()
    assert clf.interrupted_
    assert len(clf.history_) == 4
    assert kept.startswith("Interrupted: the ensemble is fitted of the 4 trials until now.")
    assert f"ensemble accuracy {clf.ensemble_score_:.4g}" in last


def test_the_logger_has_a_record_of_each_trial(caplog):
    caplog.set_level("DEBUG", logger="skauto")
    clf = quiet(3).fit(*iris())
    texts = [record.getMessage() for record in caplog.records]
    assert [text.split(":")[0] for text in texts if "loss" in text and "best" not in text] == [
        f"trial {trial.number}" for trial in clf.history_
    ]
    assert any(text.startswith("trial 0 is the best: loss") for text in texts)
