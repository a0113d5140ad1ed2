"""Levels with few rows are pooled, with those that fit has not seen."""

import numpy as np
import pandas as pd
import pytest

from skauto import AutoClassifier
from skauto.data import TableReader
from skauto.data._rare_levels import min_rows_of_level


def word(i):
    return "".join("bdfgklmnprstvz"[i // 14**k % 14] + "aeiou"[i // 5**k % 5] for k in range(3))


def leave_one_out(codes, y, m):
    """Brier score of each row by the smoothed class frequencies of the other rows of its level."""
    classes = np.eye(y.max() + 1)[y]
    scores = []
    for i, own in enumerate(classes):
        others = (codes == codes[i]) & (np.arange(len(y)) != i)
        predicted = (classes[others].sum(0) + m * classes.mean(0)) / (others.sum() + m)
        scores.append(((predicted - own) ** 2).sum())
    return np.array(scores)


@pytest.mark.parametrize("strength", [0.0, 0.5, 1.0, 4.0])
def test_the_number_of_rows_has_the_smallest_leave_one_out_error_or_is_50(strength):
    rng = np.random.default_rng(int(2 * strength))
    codes = np.sort(rng.geometric(0.03, size=500)) - 1
    logits = strength * rng.normal(size=(codes.max() + 1, 3))
    y = np.argmax(logits[codes] + rng.gumbel(size=(500, 3)), axis=1)
    n_rows = np.bincount(codes)[codes]

    def scores(k):
        pooled = np.where(n_rows < k, codes.max() + 1, codes)
        return min((leave_one_out(pooled, y, m) for m in (1, 3, 10, 30, 100)), key=np.sum)

    best = min((2, 5, 10, 20), key=lambda k: scores(k).sum())
    gain = scores(50) - scores(best)
    variance = 1 - (np.bincount(y) ** 2).sum() / 500**2
    earned = gain.mean() > 0.01 * variance and gain.mean() > 2 * gain.std() / 500**0.5
    assert earned == (strength > 0)
    missing = np.append(codes, [-1, -1])
    expected = best if earned else 50
    assert min_rows_of_level(missing, np.append(y, [0, 1])) == expected


def test_levels_that_predict_nothing_need_more_rows():
    rng = np.random.default_rng(0)
    codes = rng.integers(200, size=2000)
    chosen = [
        min_rows_of_level(codes, y) for y in (rng.integers(2, size=2000), (codes % 2).astype(int))
    ]
    assert chosen == [50, 2]
    assert min_rows_of_level(codes % 20, rng.integers(2, size=2000)) == 0  # few levels
    assert min_rows_of_level(codes) == 2  # without classes


@pytest.mark.parametrize("dtype", [object, "str", "category"])
def test_rare_and_new_levels_have_one_code_that_is_not_missing(dtype):
    rng = np.random.default_rng(0)
    frequent = [word(i) for i in rng.integers(30, size=3000)]
    names = [*frequent, *(word(i) for i in range(100, 200)), *[None] * 100]
    y = np.arange(len(names)) % 2
    reader = TableReader()
    Z = reader.fit_transform(pd.DataFrame({"name": pd.Series(names, dtype=dtype)}), y)
    assert reader.n_levels_ == (31,)
    np.testing.assert_array_equal(Z[3000:3100, 0], np.full(100, 30.0))
    assert np.isnan(Z[3100:]).all()
    new = pd.DataFrame({"name": pd.Series(["new", word(107), min(frequent), None, "n/a"])})
    np.testing.assert_array_equal(reader.transform(new)[:, 0], [30, 30, 0, np.nan, np.nan])
    why = reader.table_report()["why"][0]
    assert why.endswith("100 levels of fewer than 50 rows are one level")


def test_a_column_without_a_level_that_predicts_is_left_out_unless_it_was_asked_for():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"city": [word(i) for i in rng.integers(300, size=3000)]})
    y = rng.integers(2, size=3000)
    reader = TableReader().fit(X, y)
    assert reader.table_report().loc[0, ["kind", "n_outputs"]].tolist() == ["categorical", 0]
    assert "300 levels of fewer than 50 rows" in reader.table_report()["why"][0]
    asked = TableReader({"city": "categorical"}).fit(X, y)
    assert asked.n_levels_ == (300,)


def test_a_new_name_is_predicted_as_a_rare_one_and_not_as_a_missing_one():
    """Half of the rows have no name, and these are of the other class."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"name": [f"n{i}{i * i}" for i in range(400)], "x": rng.normal(size=400)})
    X.loc[::2, "name"] = None
    X.loc[1:100:2, "name"] = "frequent"
    y = X["name"].notna().to_numpy().astype(int)
    model = AutoClassifier(max_evals=4, random_state=0, column_kinds={"name": "categorical"})
    new = pd.DataFrame({"name": ["someone", None], "x": [0.0, 0.0]})
    np.testing.assert_array_equal(model.fit(X, y).predict(new), [1, 0])
