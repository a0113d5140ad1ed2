"""The content of the report: verdict, drivers, errors, operating points and what to watch."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import confusion_matrix, precision_score, recall_score

from skauto import AutoClassifier
from skauto.display._predictions import Predictions
from skauto.display._report._drivers import direction_of
from skauto.display._report._quality import operating_points
from skauto.exceptions import NoBetterThanGuessingWarning, UnreadableCellsWarning
from tests.display.fitted import small_space


def search(X, y, **settings):
    settings = {"max_evals": 3, "cv": 2, "random_state": 0, "verbose": 0, **settings}
    return AutoClassifier("random", space=small_space(), ensemble_size=5, **settings).fit(X, y)


@pytest.fixture(scope="module")
def customers():
    """Two of five columns decide: a number against "yes", and a word for it."""
    rng = np.random.default_rng(0)
    n = 600
    age, plan = rng.integers(18, 80, n), rng.choice(["basic", "full"], n)
    score = -0.12 * (age - 49) + 5.0 * (plan == "full") - 2.5 + rng.logistic(size=n)
    X = pd.DataFrame(
        {
            "age": age,
            "plan": plan,
            "city": rng.choice(["Bonn", "Kiel", "Ulm"], n),
            "noise": rng.normal(size=n),
            "customer_id": np.arange(n),
        }
    )
    y = pd.Series(np.where(score > 0, "yes", "no"), name="renews")
    return X, y


@pytest.fixture(scope="module")
def fitted(customers):
    X, y = customers
    return search(X[:400], y[:400])


def held_out(customers):
    X, y = customers
    return {"X": X[400:].reset_index(drop=True), "y": y[400:].reset_index(drop=True)}


def hints(report):
    return " ".join(hint["text"] for hint in report["watch"])


def test_the_verdict_without_rows_is_that_of_the_attributes(fitted):
    verdict = fitted.report_dict()["verdict"]
    assert verdict["score"] == fitted.ensemble_score_
    assert (verdict["low"], verdict["high"]) == fitted.ensemble_score_interval_
    assert verdict["majority_score"] == fitted.majority_score_
    assert verdict["measured_on"] == "out-of-fold predictions"
    low, high = fitted.ensemble_score_interval_
    assert verdict["sentence"] == (
        f"On new rows, expect {fitted.ensemble_score_:.0%} right, {100 * low:.0f} to {high:.0%}; "
        f"always answering '{verdict['majority_class']}' would be right in "
        f"{fitted.majority_score_:.0%}."
    )


def test_the_verdict_with_rows_is_that_of_the_rows(fitted, customers):
    rows = held_out(customers)
    report = fitted.report_dict(**rows)
    scores = fitted.score_report(**rows).loc["ensemble"]
    verdict = report["verdict"]
    assert verdict["score"] == pytest.approx(fitted.score(**rows))
    assert verdict["score"] == scores["held_out"]
    assert (verdict["low"], verdict["high"]) == (scores["held_out_low"], scores["held_out_high"])
    assert verdict["n_rows"] == 200
    assert report["data"]["target"] == "renews"
    assert report["data"]["n_rows"] == 400


@pytest.mark.parametrize(
    ("scoring", "words"),
    [
        ("balanced_accuracy", "of the rows of a class right, on average over the classes"),
        ("roc_auc", "a row of class 'yes' to get a higher probability than a row of class 'no'"),
        ("f1_macro", " (f1); answering by the class frequencies alone would reach 0."),
    ],
)
def test_the_verdict_says_what_the_score_counts(scoring, words, customers):
    X, y = customers
    clf = search(X[:200], y[:200], scoring=scoring)
    verdict = clf.report_dict()["verdict"]
    assert words in verdict["sentence"]
    assert verdict["score"] == clf.ensemble_score_
    known = Predictions.out_of_fold(clf)
    assert verdict["share_right"] == np.mean(known.truth == known.labels)


def test_losses_are_positive_in_the_verdict(customers):
    X, y = customers
    clf = search(X[:200], y[:200], scoring="neg_log_loss")
    low, high = clf.ensemble_score_interval_
    sentence = clf.report_dict()["verdict"]["sentence"]
    assert f"a loss of {-clf.ensemble_score_:.3g}, {-high:.3g} to {-low:.3g} (log" in sentence
    assert "(log loss, smaller is better)" in sentence


def test_a_model_that_guesses_is_called_so(rng):
    X, y = rng.normal(size=(200, 3)), (rng.random(200) < 0.1).astype(int)
    with pytest.warns(NoBetterThanGuessingWarning):
        clf = search(X, y)
    verdict = clf.report_dict()["verdict"]
    assert verdict["no_better_than_guessing"]
    assert "which is no better than always answering '0' (" in verdict["sentence"]


def test_the_content_is_json_and_the_same_twice(fitted, customers):
    first, second = (fitted.report_dict(**held_out(customers)) for _ in range(2))
    assert first == second
    assert json.loads(json.dumps(first, allow_nan=False)) == first


def test_drivers_are_the_columns_that_decide_with_their_directions(fitted, customers):
    drivers = fitted.report_dict(**held_out(customers))["drivers"]
    assert {row["column"] for row in drivers["columns"][:2]} == {"age", "plan"}
    assert (drivers["n_rows"], drivers["measured_on"]) == (200, "held-out rows")
    by_name = {row["column"]: row for row in drivers["columns"]}
    assert by_name["age"]["direction"]["trend"] == "falling"
    assert by_name["age"]["direction"]["class"] == "yes"
    plan = by_name["plan"]["direction"]
    assert (plan["low_value"], plan["high_value"], plan["trend"]) == ("basic", "full", "rising")
    assert by_name["city"]["direction"] is None
    assert by_name["customer_id"]["importance"] == 0.0
    assert by_name["customer_id"]["changed_answers"] == 0.0


def test_rows_without_classes_show_what_moves_the_probabilities(fitted, customers):
    X = customers[0]
    report = fitted.report_dict(X=X)
    assert report["verdict"] == fitted.report_dict()["verdict"]
    drivers = report["drivers"]
    assert (drivers["n_rows"], drivers["measured_on"]) == (600, "rows without classes")
    by_name = {row["column"]: row for row in drivers["columns"]}
    assert {row["column"] for row in drivers["columns"][:2]} == {"age", "plan"}
    assert by_name["plan"]["direction"]["trend"] == "rising"
    assert by_name["customer_id"]["importance"] == 0.0
    # A column that is shuffled moves the probabilities by as much as new rows differ in it.
    moved = X.assign(age=np.random.default_rng(1).permutation(X["age"]))
    change = np.abs(fitted.predict_proba(moved) - fitted.predict_proba(X)).sum(axis=1).mean() / 2
    assert by_name["age"]["importance"] == pytest.approx(change, rel=0.15)


def test_the_report_names_the_target_of_fit(fitted, customers):
    report = fitted.report_dict()
    assert report["data"]["target"] == customers[1].name
    assert report["title"] == f"How well can {customers[1].name} be predicted?"


def arrow(X):
    return pa.Table.from_pandas(pd.DataFrame(X))


@pytest.mark.parametrize(
    "form", [np.asarray, pl.DataFrame, arrow, sparse.csr_array, pd.DataFrame, np.ndarray.tolist]
)
def test_drivers_of_tables_of_any_type(form):
    X, y = make_classification(
        300,
        4,
        n_informative=1,
        n_redundant=0,
        n_clusters_per_class=1,
        shuffle=False,
        random_state=0,
    )
    mixed = np.random.default_rng(0).permutation(300)
    X, y = X[mixed], y[mixed]
    clf = search(form(X[:200]), y[:200])
    drivers = clf.report_dict(X=form(X[200:]), y=y[200:])["drivers"]
    first = drivers["columns"][0]
    assert first["column"] in ("x0", "column_0", "0", 0)
    assert first["direction"]["trend"] == "rising"
    assert first["importance"] > 0.2


def test_the_importance_of_many_columns_is_that_of_the_most_related(rng):
    X = rng.normal(size=(400, 130))
    y = (X[:, 77] + 0.3 * rng.normal(size=400) > 0).astype(int)
    clf = search(X[:200], y[:200])
    drivers = clf.report_dict(X=X[200:], y=y[200:])["drivers"]
    assert drivers["n_columns"] == 130
    assert len(drivers["columns"]) <= 100
    assert drivers["columns"][0]["column"] == "x77"


def test_a_direction_is_a_change_in_one_way_only():
    rising = np.column_stack([[0.9, 0.6, 0.2], [0.1, 0.4, 0.8]])
    found = direction_of(rising, ["1", "2", "3"], np.array(["no", "yes"]))
    assert (found["class"], found["trend"]) == ("yes", "rising")
    assert (found["share_at_low"], found["share_at_high"]) == (0.1, 0.8)
    bent = np.column_stack([[0.9, 0.2, 0.6], [0.1, 0.8, 0.4]])
    assert direction_of(bent, ["1", "2", "3"], np.array(["no", "yes"])) is None
    flat = np.full((3, 2), 0.5)
    assert direction_of(flat, ["1", "2", "3"], np.array(["no", "yes"])) is None


def test_errors_are_those_of_scikit_learn(fitted, customers):
    rows = held_out(customers)
    errors = fitted.report_dict(**rows)["errors"]
    predicted = fitted.predict(rows["X"])
    assert errors["confusion_matrix"] == confusion_matrix(rows["y"], predicted).tolist()
    yes = next(row for row in errors["by_class"] if row["class"] == "yes")
    assert yes["precision"] == pytest.approx(
        precision_score(rows["y"], predicted, pos_label="yes")
    )
    assert yes["recall"] == pytest.approx(recall_score(rows["y"], predicted, pos_label="yes"))
    assert yes["support"] == (rows["y"] == "yes").sum()


def test_operating_points_of_two_classes():
    positive = np.array([0.1, 0.2, 0.3, 0.6, 0.7, 0.9])
    truth = np.array([0, 1, 0, 0, 1, 1])
    known = Predictions(
        np.column_stack([1 - positive, positive]),
        (positive >= 0.5).astype(int),
        truth,
        np.array(["no", "yes"]),
    )
    points = {point["threshold"]: point for point in operating_points(known, 0.5)}
    low, in_use, high = sorted(points)
    assert (low, in_use, high) == pytest.approx((0.15, 0.5, 0.65))
    assert (points[low]["recall"], points[low]["precision"]) == (1.0, 3 / 5)
    assert (points[high]["recall"], points[high]["precision"]) == (2 / 3, 1.0)
    assert (points[0.5]["recall"], points[0.5]["share_flagged"]) == (2 / 3, 0.5)
    assert [threshold for threshold, point in points.items() if point["in_use"]] == [0.5]


def test_the_operating_point_in_use_is_that_of_predict(fitted, customers):
    rows = held_out(customers)
    points = fitted.report_dict(**rows)["probabilities"]["operating_points"]
    in_use = next(point for point in points if point["in_use"])
    assert in_use["threshold"] == fitted.decision_threshold_
    assert in_use["share_flagged"] == np.mean(fitted.predict(rows["X"]) == "yes")


def test_a_chosen_operating_point_is_in_the_report(customers):
    X, y = customers
    clf = search(X[:400], y[:400]).choose_operating_point(recall=0.95)
    report = clf.report_dict()
    in_use = next(p for p in report["probabilities"]["operating_points"] if p["in_use"])
    assert in_use["threshold"] == pytest.approx(clf.operating_point_["threshold"])
    assert in_use["recall"] == pytest.approx(clf.operating_point_["recall"])
    assert report["verdict"]["score"] == clf.ensemble_score_
    by_costs = clf.choose_operating_point(costs=[[0, 1], [3, 0]]).report_dict()
    in_use = next(p for p in by_costs["probabilities"]["operating_points"] if p["in_use"])
    assert in_use["threshold"] is None


def test_nothing_is_told_of_rows_like_those_of_the_fit(fitted, customers):
    topics = [hint["topic"] for hint in fitted.report_dict(**held_out(customers))["watch"]]
    assert topics == ["columns"]  # the identifier that is left out


def test_cells_that_cannot_be_read_are_told_once(fitted, customers):
    rows = held_out(customers)
    rows["X"] = rows["X"].assign(city="Rom")
    for call in (fitted.report_dict, fitted.score_report):
        with pytest.warns(UnreadableCellsWarning) as told:
            call(**rows)
        assert [w.filename for w in told] == [__file__]


def test_drift_of_the_rows_given_is_told(fitted, customers):
    rows = held_out(customers)
    X = rows["X"].assign(age=rows["X"]["age"] + 40, city="Rom")
    X.loc[:99, "noise"] = np.nan
    told = hints(fitted.report_dict(X=X, y=rows["y"]))
    assert "'age' (100% above" in told
    assert "never seen, and that count as unknown: 'city' (100%)" in told
    assert "'noise' (0% then, 50% now)" in told
    assert "is below what the fit promised" in told


def test_another_mix_of_classes_is_told(fitted, customers):
    rows = held_out(customers)
    kept = np.flatnonzero(rows["y"] == "no")[:60]
    told = hints(fitted.report_dict(X=rows["X"].iloc[kept], y=rows["y"].iloc[kept]))
    assert "Class 'no' is 100% of the rows given" in told


def test_rows_of_the_fit_are_recognized(rng):
    X = rng.normal(size=(300, 12))
    y = rng.permutation(np.repeat([0, 1], 150))
    X[:, 0] += 0.8 * y
    clf = AutoClassifier("random", max_evals=3, cv=2, random_state=1, verbose=0)
    clf.set_params(space=small_space(classifier=["k_nearest_neighbors"])).fit(X, y)
    report = clf.report_dict(X=X, y=y)
    assert report["verdict"]["score"] > clf.ensemble_score_interval_[1]
    assert "the numbers of this page are too good" in hints(report)


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


def test_verbose_writes_one_line_on_the_standard_error(fitted, customers, capsys):
    fitted.report_dict(**held_out(customers))
    assert capsys.readouterr() == ("", "")
    fitted.set_params(verbose=1).report_dict(**held_out(customers))
    out, err = capsys.readouterr()
    fitted.set_params(verbose=0)
    assert out == ""
    assert err.startswith("report: predictions, scores, importance")
    assert err.count("\n") == 1


def test_a_title_can_be_given(fitted):
    assert fitted.report_dict(title="Renewals")["title"] == "Renewals"


def test_content_needs_a_fitted_estimator_and_the_rows_of_classes(fitted, customers):
    with pytest.raises(NotFittedError):
        AutoClassifier().report_dict()
    with pytest.raises(ValueError, match=r"report_dict needs the rows 'X'.*only y"):
        fitted.report_dict(y=customers[1])
