"""Errors and operating points, against scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, precision_score, recall_score

from skauto.display._predictions import LabeledPredictions
from skauto.display._report._quality import operating_points
from tests.display.report.customers import held_out, search


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
    known = LabeledPredictions(
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
    clf = search(X[:400], y[:400]).choose_operating_point(recall=0.95, pos_label="yes")
    report = clf.report_dict()
    in_use = next(p for p in report["probabilities"]["operating_points"] if p["in_use"])
    assert in_use["threshold"] == pytest.approx(clf.operating_point_["threshold"])
    assert in_use["recall"] == pytest.approx(clf.operating_point_["recall"])
    assert report["verdict"]["score"] == clf.ensemble_score_
    by_costs = clf.choose_operating_point(costs=[[0, 1], [3, 0]]).report_dict()
    in_use = next(p for p in by_costs["probabilities"]["operating_points"] if p["in_use"])
    assert in_use["threshold"] is None
