"""Rows that are given to a report."""

import pytest
from sklearn.datasets import load_iris


def test_classes_of_held_out_rows_are_those_of_fit(random_search, tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    with pytest.raises(ValueError, match="must hold classes of fit.*Got 7."):
        random_search.save_report(tmp_path / "report.html", X=X, y=y.replace(2, 7))


@pytest.mark.parametrize("method", ["score_report", "report_dict"])
def test_rows_and_classes_are_as_many(random_search, method):
    X, y = load_iris(return_X_y=True, as_frame=True)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[20, 150\]"):
        getattr(random_search, method)(X=X[:20], y=y)
