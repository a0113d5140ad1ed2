"""Warnings name the line of the user."""

import numpy as np
import pandas as pd
import pytest

from skauto.data import TableReader
from skauto.exceptions import UnreadableCellsWarning


def test_warnings_name_the_line_of_the_user():
    from skauto import AutoClassifier
    from skauto.exceptions import ColumnKindWarning

    X = pd.DataFrame({"id": np.arange(40), "size": [f"{i % 7} cm" for i in range(40)]})
    for fit in (TableReader().fit, AutoClassifier("random", max_evals=1, cv=2).fit):
        with pytest.warns(ColumnKindWarning) as told:
            fitted = fit(X, np.arange(40) % 2)
        assert {w.filename for w in told if w.category is ColumnKindWarning} == {__file__}
    with pytest.warns(UnreadableCellsWarning) as told:
        fitted.predict(X.assign(size=X["size"].where(X["id"] > 3, "unknown")))
    assert told[0].filename == __file__
