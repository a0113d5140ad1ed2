"""Searches that several displays are drawn from, and what any plot must keep."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, make_classification

from skauto import AutoClassifier, ConstrainedAutoClassifier, minimize
from skauto.constraints import FalseNegativeRate, ModelSize, ScoreBound
from skauto.exceptions import TrialFailedWarning
from tests.display.fitted import curve_space, fit, small_space, trade
from tests.display.pages import Broken


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def random_search():
    return fit("random", max_evals=15, initial=None)


@pytest.fixture(scope="session")
def limited_history():
    """25 trials of two objectives, some failed and some beyond the limit of 0.2."""
    result = minimize(
        trade,
        curve_space(),
        strategy="random",
        objectives=("left", "right"),
        limits={"weight": 0.2},
        max_evals=25,
        random_state=0,
    )
    counts = result.history.counts()
    assert counts["failed"] >= 2
    assert 2 <= sum(result.history.feasible(t) for t in result.history) < counts["ok"]
    return result.history


@pytest.fixture(scope="session")
def constrained():
    X, y = load_breast_cancer(return_X_y=True)
    constraints = [ModelSize(25_000), FalseNegativeRate(0.2), ScoreBound("recall", lower=0.5)]
    return ConstrainedAutoClassifier(
        constraints, "random", max_evals=12, cv=2, space=small_space(), random_state=0
    ).fit(X, y)


@pytest.fixture(scope="session")
def table_of_two():
    """Two classes that are named, and a column whose name is HTML."""
    X, y = make_classification(300, 5, n_informative=3, flip_y=0.1, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d", "<script>alert(1)</script>"])
    return frame, np.where(y == 1, "yes", "no")


@pytest.fixture(scope="session")
def of_two(table_of_two):
    X, y = (part[:200] for part in table_of_two)
    space = small_space().add("classifier", "broken", Broken())
    with pytest.warns(TrialFailedWarning):
        return AutoClassifier(
            "random", space=space, max_evals=7, cv=2, ensemble_size=5, random_state=0
        ).fit(X, y)


@pytest.fixture(scope="session")
def report(of_two, table_of_two, tmp_path_factory):
    X, y = (part[200:] for part in table_of_two)
    path = tmp_path_factory.mktemp("report") / "report.html"
    of_two.save_report(path, X=X, y=pd.Series(y, name="<b>churn</b>"))
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def content(of_two, table_of_two):
    X, y = (part[200:] for part in table_of_two)
    return of_two.report_dict(X=X, y=pd.Series(y, name="<b>churn</b>"))
