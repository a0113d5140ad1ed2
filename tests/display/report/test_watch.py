"""What to watch."""

import numpy as np
import pandas as pd

from skauto import AutoClassifier
from tests.display.fitted import small_space
from tests.display.report.customers import held_out, hints, search


def test_nothing_is_told_of_rows_like_those_of_the_fit(fitted, customers):
    topics = [hint["topic"] for hint in fitted.report_dict(**held_out(customers))["watch"]]
    assert topics == ["columns"]  # the identifier that is left out


def test_rows_of_the_fit_are_recognized(rng):
    X = rng.normal(size=(300, 12))
    y = rng.permutation(np.repeat([0, 1], 150))
    X[:, 0] += 0.8 * y
    clf = AutoClassifier("random", max_evals=3, cv=2, random_state=1, verbose=0)
    clf.set_params(space=small_space(classifier=["k_nearest_neighbors"])).fit(X, y)
    report = clf.report_dict(X=X, y=y)
    assert report["verdict"]["score"] > clf.ensemble_score_interval_[1]
    assert "the numbers of this page are too good" in hints(report)


def test_rows_of_the_fit_are_recognized_without_a_better_score(rng):
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    clf = AutoClassifier("random", max_evals=1, cv=2, random_state=1, verbose=0)
    clf.set_params(space=small_space(classifier=["logistic_regression"])).fit(X, y)
    report = clf.report_dict(X=X, y=y)
    assert report["verdict"]["score"] <= clf.ensemble_score_interval_[1]
    assert "the numbers of this page are too good" in hints(report)
    ordered = np.argsort(y, kind="stable")
    clf.fit(X[ordered], y[ordered])
    mirrored = clf.report_dict(X=X[ordered] * [1, -1, -1], y=y[ordered])
    assert "the numbers of this page are too good" not in hints(mirrored)


def test_a_column_that_decides_alone_and_rare_classes_are_told(rng):
    y = np.repeat(["a", "b", "c"], [200, 180, 20])
    X = pd.DataFrame({"leak": pd.factorize(y)[0] + 0.01 * rng.random(400), "u": rng.random(400)})
    X.loc[::3, "u"] = np.nan
    even = np.arange(400) % 2 == 0
    clf = search(X[even], y[even], max_evals=4)
    told = hints(clf.report_dict(X=X[~even], y=y[~even]))
    assert "Column 'leak' alone has" in told
    assert "Not one answer is wrong" in told
    assert "Classes with few rows in the fit, of which little is certain: 'c' (10)" in told
    assert "Columns with many missing cells in the fit: 'u' (34%)" in told
