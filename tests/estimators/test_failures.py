"""Tests of the warning about failed trials."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from skauto import AutoClassifier
from skauto.estimators._failures import report_failures
from skauto.exceptions import AllTrialsFailedError, BudgetWarning, TrialFailedWarning
from skauto.history import History, Trial
from skauto.schedule import TaskSchedule
from skauto.space import Configuration, SearchSpace
from skauto.strategies import RandomSearch
from tests.estimators.quick import quick, tiny_space


def history_of(*statuses, errors=None):
    history = History()
    for number, (status, error) in enumerate(zip(statuses, errors or statuses, strict=True)):
        configuration = Configuration({"classifier": f"tree_{number}"})
        history.append(
            Trial(number=number, configuration=configuration, status=status, error=error)
        )
    return history


def test_trials_that_a_short_budget_killed_are_no_failures():
    with pytest.warns(TrialFailedWarning, match="(?s)1 of 2 trials gave no score .1 t.*'error'.$"):
        report_failures(history_of("timeout", "skipped"), None)
    with pytest.warns(TrialFailedWarning, match="The other trials are not affected.$"):
        report_failures(history_of("timeout", "ok"), None)


@pytest.mark.parametrize(
    ("statuses", "trial_time_limit"),
    [(["timeout", "failed"], None), (["timeout"] * 2, 0.5), (["timeout", "skipped"], 0.5)],
)
def test_failures_and_trials_beyond_their_own_limit_raise(statuses, trial_time_limit):
    listed = ", ".join(f"{statuses.count(status)} {status}" for status in dict.fromkeys(statuses))
    with pytest.raises(AllTrialsFailedError, match=f"All 2 trials failed .{listed}"):
        report_failures(history_of(*statuses), trial_time_limit)


def test_causes_are_sentences_or_exceptions():
    place = 'File "tree.py", line 163 in fit'
    errors = [
        f"The time limit of 4 s was exceeded.\n{place}",
        f"Traceback (most recent call last):\n  {place}\nValueError: too small",
        "A fold was predicted to take 9 s.",
        "The time limit of 4 s was exceeded.\nStack (most recent call first):",  # and no more
    ]
    history = history_of("timeout", "failed", "skipped", "timeout", errors=errors)
    with pytest.raises(AllTrialsFailedError) as caught:
        report_failures(history, 1.0)
    causes = str(caught.value).splitlines()[1:-1]
    assert causes == ["  2 x The time limit of 4 s was exceeded.", "  1 x ValueError: too small"]


class FailsOnAllRows(DecisionTreeClassifier):
    """A tree that fits the folds of 200 rows, but not all of them."""

    def fit(self, X, y, sample_weight=None):
        if len(y) == 200:
            raise MemoryError("Unable to allocate 80 GiB")
        return super().fit(X, y, sample_weight=sample_weight)


class UndefinedOnAllRows(DecisionTreeClassifier):
    """A tree that predicts NaN if it was fitted on all of the 200 rows."""

    def predict_proba(self, X):
        wrong = self.tree_.n_node_samples[0] == 200
        return super().predict_proba(X) * (np.nan if wrong else 1.0)


@pytest.mark.parametrize("size", [1, 25])
@pytest.mark.parametrize(
    ("heavy", "error"),
    [(FailsOnAllRows, "Unable to allocate 80 GiB"), (UndefinedOnAllRows, "contain NaN")],
)
def test_a_member_whose_refit_fails_is_replaced(rng, size, heavy, error):
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + X[:, 1] ** 2 > 0.7).astype(int)
    space = SearchSpace(["classifier"]).add("classifier", "heavy", heavy(random_state=0))
    space.add("classifier", "light", DecisionTreeClassifier(max_depth=2, random_state=0))
    clf = AutoClassifier(
        space=space, initial="defaults", max_evals=2, cv=4, ensemble_size=size, random_state=0
    )
    with pytest.warns(TrialFailedWarning, match=f"(?s)not be fitted.*others.*{error}") as caught:
        clf.fit(X, y)
    assert sum("could not be fitted" in str(w.message) for w in caught) == 1
    assert list(clf.member_weights_) == [1]
    assert clf.score(X, y) > max(y.mean(), 1 - y.mean())
    board = clf.leaderboard().set_index("trial")
    assert error in board.loc[0, "error"]


def test_a_search_that_skipped_every_trial_says_why(iris, tmp_path, monkeypatch):
    monkeypatch.setattr(TaskSchedule, "seconds", lambda *ignored: 9.0)
    with pytest.warns(BudgetWarning, match="no trial was finished in time. A small decision tree"):
        clf = AutoClassifier(time_limit=10, random_state=0).fit(*iris)
    errors = set(clf.leaderboard()["error"])
    assert all("predicted to take 9 s, more than " in error for error in errors), errors
    clf.save_report(tmp_path / "report.html")


def test_a_small_tree_predicts_if_no_refit_succeeds(rng):
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 2
    space = SearchSpace(["classifier"]).add("classifier", "heavy", FailsOnAllRows(random_state=0))
    clf = AutoClassifier(space=space, max_evals=1, cv=4, random_state=0)
    with pytest.warns(TrialFailedWarning, match="(?s)decision tree.*80 GiB") as caught:
        clf.fit(X, y)
    assert not any("time_limit" in str(warning.message) for warning in caught)


def test_failures_are_trials_and_warn_once(iris):
    space = tiny_space()
    space.add("classifier", "broken", DecisionTreeClassifier(), {"max_depth": [-1, -2, -3]})
    with pytest.warns(TrialFailedWarning, match="3 of 9 trials gave no score .3 failed") as caught:
        clf = quick(space=space, max_evals=20).fit(*iris)
    assert len([w for w in caught if w.category is TrialFailedWarning]) == 1
    board = clf.leaderboard()
    assert (board["status"] == "failed").sum() == 3
    assert board["error"].str.contains("max_depth").sum() == 3
    assert board["status"].tolist()[-3:] == ["failed"] * 3


def test_every_trial_failing_raises_the_commonest_cause(iris):
    space = SearchSpace(["classifier"])
    space.add("classifier", "broken", DecisionTreeClassifier(), {"max_depth": [-1, -2]})
    with pytest.raises(AllTrialsFailedError, match="All 2 trials failed .2 failed.*\n.*max_depth"):
        quick(space=space).fit(*iris)


def test_an_early_ctrl_c_is_not_called_a_short_budget(iris):
    class Stopped(RandomSearch):
        def ask(self, history, pending=()):
            raise KeyboardInterrupt

    with pytest.warns(BudgetWarning, match="interrupted: no trial was finished.*; fit again") as w:
        clf = quick(strategy=Stopped(), initial=None).fit(*iris)
    assert clf.interrupted_
    assert not any("too short" in str(warning.message) for warning in w)


def test_a_small_tree_predicts_if_the_budget_is_too_short(iris):
    X, y = iris
    with pytest.warns(BudgetWarning, match="small decision tree"):
        clf = AutoClassifier(time_limit=1e-3, random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.9
    assert clf.predict_proba(X).min() > 0.0
    assert clf.leaderboard().empty
    again = clone(clf.best_estimator_).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), clf.best_estimator_.predict(X))
