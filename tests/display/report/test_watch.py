"""What to watch."""

import numpy as np
import pandas as pd

from tests.display.report.customers import held_out, hints, search


def test_nothing_is_told_of_rows_like_those_of_the_fit(fitted, customers):
    topics = [hint["topic"] for hint in fitted.report_dict(**held_out(customers))["watch"]]
    assert topics == ["columns"]  # the identifier that is left out


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
