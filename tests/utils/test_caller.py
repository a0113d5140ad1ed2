"""Warnings name the line of the user."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from skauto import AutoClassifier, ConstrainedAutoClassifier, SearchOptions
from skauto.constraints import ModelSize, StatisticalParity
from skauto.data import TableReader
from skauto.exceptions import (
    BudgetWarning,
    CheckpointWarning,
    ColumnKindWarning,
    InfeasibleWarning,
    NoBetterThanGuessingWarning,
    SmallGroupWarning,
    TrialFailedWarning,
    UnreadableCellsWarning,
)
from skauto.space import SearchSpace

ROWS = np.arange(120)
X = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 2))).add_prefix("x")
X = X.assign(group=np.where(ROWS % 15 == 0, "c", np.where(ROWS % 4 < 2, "a", "b")))
Y = ROWS % 2
SETTINGS = {"strategy": "random", "initial": None, "max_evals": 2, "cv": 2, "random_state": 0}


def test_warnings_name_the_line_of_the_user():
    X = pd.DataFrame({"id": np.arange(40), "size": [f"{i % 7} cm" for i in range(40)]})
    for fit in (TableReader().fit, AutoClassifier("random", max_evals=1, cv=2).fit):
        with pytest.warns(ColumnKindWarning) as told:
            fitted = fit(X, np.arange(40) % 2)
        assert {w.filename for w in told if w.category is ColumnKindWarning} == {__file__}
    with pytest.warns(UnreadableCellsWarning) as told:
        fitted.predict(X.assign(size=X["size"].where(X["id"] > 3, "unknown")))
    assert told[0].filename == __file__


def broken_in_part():
    space = SearchSpace(["classifier"])
    classifiers = {"max_depth": [-1, 2, 3, 4, 5]}
    return space.add("classifier", "tree", DecisionTreeClassifier(random_state=0), classifiers)


@pytest.mark.parametrize(
    ("category", "changes"),
    [
        (TrialFailedWarning, {"space": broken_in_part(), "max_evals": 5}),
        (NoBetterThanGuessingWarning, {}),
        (BudgetWarning, {"max_evals": 1, "time_limit": 1e-3}),
        (InfeasibleWarning, {"constraints": [ModelSize(1)]}),
        (SmallGroupWarning, {"constraints": [StatisticalParity(["group"], 0.5)]}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
@pytest.mark.parametrize("fit", ["fit", "pipeline", "cross_val_score"])
def test_warnings_of_fit_name_the_line_of_the_user(category, changes, fit):
    kind = ConstrainedAutoClassifier if "constraints" in changes else AutoClassifier
    clf = kind(**{**SETTINGS, **changes})
    with pytest.warns(category) as told:
        if fit == "cross_val_score":
            cross_val_score(clf, X, Y, cv=2)
        else:
            (clf if fit == "fit" else make_pipeline(clf)).fit(X, Y)
    assert {w.filename for w in told if w.category is category} == {__file__}


def test_a_damaged_checkpoint_is_a_warning_of_the_line_of_the_user(tmp_path):
    path = tmp_path / "search.jsonl"
    clf = AutoClassifier(**SETTINGS, options=SearchOptions(checkpoint=path)).fit(X, Y)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.warns(CheckpointWarning) as told:
        clf.fit(X, Y)
    assert {w.filename for w in told if w.category is CheckpointWarning} == {__file__}
