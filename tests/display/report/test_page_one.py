"""Page one, for a reader who does not know machine learning."""

import numpy as np
import pandas as pd

from skauto import AutoClassifier
from skauto.inspection import cross_validated_importance
from tests.display.fitted import small_space
from tests.display.pages import Outline, page_of


def test_page_one_names_no_part_of_the_search(report, of_two):
    text = Outline(report).texts["summary"]
    used = {trial.origin for trial in of_two.history_} | {type(of_two.strategy_).__name__}
    for word in used | {"trial", "hyper", "fold", "LightGBM"}:
        assert word not in text


def test_an_importance_by_cross_validation_is_shown_without_rows(of_two, table_of_two, tmp_path):
    X, y = (part[:200] for part in table_of_two)
    importance = cross_validated_importance(of_two, X, y, n_repeats=2, random_state=0)
    page = Outline(page_of(of_two, tmp_path, importance=importance)).texts["summary"]
    assert "Measured by cross-validation, 4 shuffles of each column" in page
    for mean in importance.importances_mean:
        assert f"{mean:.3f}" in page


def test_many_classes(rng, tmp_path):
    y = np.repeat(np.arange(15), 20)
    X = y[:, None] + rng.normal(scale=0.6, size=(300, 2))
    clf = AutoClassifier("random", space=small_space(), max_evals=2, cv=2, random_state=0)
    outline = Outline(page_of(clf.fit(X, y), tmp_path))
    assert "The 5 classes that are found least often" in outline.texts["summary"]
    assert "Confusion matrix, share of the rows of a class" in outline.texts["analyst"]


def test_names_that_do_not_show_are_in_quotes(rng, tmp_path):
    y = np.repeat(["", "b", "b ", "c\t"], 20)
    X = pd.DataFrame({"": np.repeat(range(4), 20), "b ": rng.normal(size=80)})
    clf = AutoClassifier("random", space=small_space(), max_evals=1, cv=2, random_state=0)
    page = page_of(clf.fit(X, y), tmp_path, X=X)
    outline = Outline(page)
    for written in ("is ''", "is b", "is 'b '", "is c\\t", "answered ''", "answered 'b '"):
        assert written in outline.texts["summary"]
    assert outline.texts["summary"].count("''") > outline.texts["summary"].count("is ''") + 1
    assert page.count("'b ' (AUC = ") == page.count("'b ' (AP = ") == 1
