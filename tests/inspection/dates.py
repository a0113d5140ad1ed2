"""A table in which the month of a date decides, and a search on it."""

import numpy as np
import pandas as pd

from skauto import AutoClassifier
from skauto.space import SearchSpace


def month_decides():
    """A date decides, by its month; a number says nothing."""
    rng = np.random.default_rng(0)
    day = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, 160), unit="D")
    X = pd.DataFrame({"noise": rng.normal(size=160), "day": day})
    return X, np.where(X["day"].dt.month <= 6, "early", "late")


def fit(data, classifier):
    space = SearchSpace(["classifier"]).add("classifier", "only", classifier)
    return AutoClassifier(space=space, max_evals=1, cv=2, random_state=0).fit(*data)
