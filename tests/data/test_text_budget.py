"""Texts have as many columns as they earn, and as the rows and the limits of the reader allow."""

import numpy as np
import pandas as pd
import pytest

from skauto.data import TableReader
from skauto.data._table import Levels
from skauto.data._text_budget import text_widths

LETTERS = list("abcdefghijklmnopqrstuvwxyz")


def strings(n_levels, length=10):
    return Levels(["x" * length] * n_levels, np.arange(n_levels))


def random_words(rng, n):
    return ["".join(rng.choice(LETTERS, 7)) for _ in range(n)]


def test_the_columns_of_the_table_are_shared():
    assert text_widths([strings(10)] * 2, 1_000, None, None) == [250, 250]
    assert text_widths([strings(10)] * 2, 10**6, None, None) == [10, 10]
    assert text_widths([strings(10)] * 400, 1_000, None, None) == [2] * 400
    assert text_widths([], 1_000, 3, 500_000) == []


def test_fewer_columns_of_fewer_cells():
    assert text_widths([strings(10)], 10_000, None, 1_000_000) == [100]
    assert text_widths([strings(10)], 10_000, None, 2_000_000) == [200]
    assert text_widths([strings(10)], 10_000, None, 1e12) == [500]


def test_the_cheaper_columns_are_read_if_time_is_short():
    """0.02 s for each short column, and 20 s for 10 million characters."""
    columns = [strings(10, 10**6), *[strings(10)] * 100]
    assert text_widths(columns, 100, 4 / 3, None) == [0, *[7] * 64, *[0] * 36]
    assert text_widths(columns, 100, 333, None) == [4] * 101


def test_columns_that_the_user_asks_for_are_read_first():
    assert text_widths([strings(10), strings(10, 10**6)], 100, 4 / 3, None, [False, True]) == [
        0,
        500,
    ]


def test_short_strings_of_many_columns_are_categories_or_lengths():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"c{j}": rng.choice(random_words(rng, 40), 100) for j in range(90)})
    X["unique"] = [" ".join(random_words(rng, 2)) for _ in range(100)]
    reader = TableReader({"c89": "name"}, text_seconds=2 / 3).fit(X)
    report = reader.table_report().set_index("column")
    is_short = report["why"].str.contains("the time limit is too short")
    assert (report["kind"][is_short].drop("unique") == "categorical").all()
    assert is_short["unique"] and report["n_outputs"]["unique"] <= 2
    assert 0 < (~is_short).sum() <= 30
    assert not is_short["c89"] and report["n_outputs"]["c89"] > 3  # its kind was asked for


@pytest.mark.parametrize("n_words", [2, 8])
@pytest.mark.parametrize("signal", [False, True])
def test_strings_without_relation_to_the_class_have_only_lengths(n_words, signal):
    rng, n = np.random.default_rng(0), 400
    y = rng.integers(2, size=n)
    texts = [" ".join(random_words(rng, n_words)) for _ in range(n)]
    if signal:
        texts = [text + (" ok" if label else " no") for text, label in zip(texts, y, strict=True)]
    X = pd.DataFrame({"a": texts, "b": 0})
    reader = TableReader({"b": "drop"}).fit(X, y)
    assert ("a_ngrams_score_0" in reader.get_feature_names_out()) == signal
    assert reader.table_report()["n_outputs"][0] <= 4
    asked = TableReader({"a": "text"}).fit(pd.DataFrame({"a": texts}), y)
    assert asked.table_report()["n_outputs"][0] >= 20 or signal
    without = TableReader({"b": "drop"}, text_scores=False).fit(X, y)
    assert (without.table_report()["n_outputs"][0] > 20) == signal
