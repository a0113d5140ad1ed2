"""The leaderboard: the ensemble on top, pipelines and statuses in words."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from skauto import AutoClassifier, SearchOptions

FIRST = ["model", "score", "std", "fit_seconds", "predict_seconds", "size", "pipeline"]


@pytest.fixture(scope="module")
def fitted():
    X, y = load_breast_cancer(return_X_y=True)
    return AutoClassifier(max_evals=6, cv=3, random_state=0).fit(X, y)


def test_the_ensemble_is_on_top_with_its_own_score(fitted):
    board = fitted.leaderboard()
    assert list(board)[:7] == FIRST
    top = board.iloc[0]
    assert (top["model"], top["status"]) == ("ensemble", "ok")
    assert top["score"] == fitted.ensemble_score_
    assert top["size"] == len(pickle.dumps(fitted.ensemble_, protocol=5))
    members = board[board["trial"].isin(fitted.member_weights_)]
    assert top["fit_seconds"] == pytest.approx(members["fit_seconds"].sum())
    assert top["predict_seconds"] == pytest.approx(members["predict_seconds"].sum())
    assert len(board) == 1 + len(fitted.history_)
    assert len(fitted.leaderboard(top=2)) == 2
    with pytest.raises(ValueError, match="top == -1"):
        fitted.leaderboard(top=-1)
    assert fitted.leaderboard(top=1)["model"].tolist() == ["ensemble"]


def test_trials_have_mean_and_deviation_over_the_folds(fitted):
    for row in fitted.leaderboard()[1:].itertuples():
        trial = fitted.history_[row.trial]
        scores = next(iter(trial.fold_scores.values()))
        assert row.model == f"trial {trial.number}"
        assert row.score == pytest.approx(np.mean(scores))
        if trial.status == "ok":
            assert row.std == pytest.approx(np.std(scores))
        assert (row.size > 0) == (trial.number in fitted.member_weights_)
    losses = fitted.leaderboard()[1:].query("status == 'ok'")["loss"]
    assert losses.is_monotonic_increasing


def test_deviation_of_the_ensemble_is_that_of_its_score_on_each_fold():
    X, y = load_breast_cancer(return_X_y=True)
    fold = np.arange(len(y)) % 3
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    clf = AutoClassifier("random", max_evals=2, cv=splits, random_state=0).fit(X, y)
    right = clf.out_of_fold_proba_.argmax(axis=1) == y
    deviation = np.std([right[fold == k].mean() for k in range(3)])
    assert clf.leaderboard().loc[0, "std"] == pytest.approx(deviation)


def test_sizes_of_members_of_fold_models_count_all_folds():
    X, y = load_breast_cancer(return_X_y=True)
    options = SearchOptions(refit=False)
    clf = AutoClassifier("random", max_evals=2, cv=3, random_state=0, options=options).fit(X, y)
    board = clf.leaderboard()
    number = next(iter(clf.member_weights_))
    size = board.set_index("trial").loc[number, "size"]
    assert size == len(pickle.dumps(clf.ensemble_.pipelines[:3], protocol=5))
