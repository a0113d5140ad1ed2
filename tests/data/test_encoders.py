"""What the columns of each kind become, in fit and later."""

import io

import numpy as np
import pandas as pd
import pytest

from skauto.data import TableReader
from skauto.exceptions import UnreadableCellsWarning
from tests.data.columns import fitted, read

RNG = np.random.default_rng(0)


def kinds(**columns):
    report = TableReader().fit(pd.DataFrame(columns)).table_report()
    return dict(zip(report["column"], report["kind"], strict=True))


def test_tags_are_indicators():
    lists = ["b; a", "a", "c;a", "b;c", None, "a;b;c"] * 10
    reader = TableReader()
    Z = reader.fit_transform(pd.DataFrame({"a": lists}))
    assert list(reader.get_feature_names_out()) == ["a_n_tags", "a_a", "a_b", "a_c"]
    expected = [[2, 1, 1, 0], [1, 1, 0, 0], [2, 1, 0, 1], [2, 0, 1, 1], [0, 0, 0, 0], [3, 1, 1, 1]]
    np.testing.assert_array_equal(Z[:6], expected)


def test_strings_and_numbers_of_a_column_may_change_places_later():
    """A file without any "?" is read as numbers, one with it as strings."""
    numbers, strings = pd.DataFrame({"a": [1.0, 2.0, 4.0]}), pd.DataFrame({"a": ["1", "?", "4"]})
    np.testing.assert_array_equal(TableReader().fit(numbers).transform(strings)[:, 0], [1, 2, 4])
    np.testing.assert_array_equal(TableReader().fit(strings).transform(numbers)[:, 0], [1, 2, 4])
    with pytest.warns(UnreadableCellsWarning, match="1 of 2 cells of column 'a', such as 'word'"):
        later = TableReader().fit(strings).transform(pd.DataFrame({"a": ["$9", "word", None]}))
    np.testing.assert_array_equal(later[:, 0], [9, np.nan, np.nan])


NUMBERS = [3.0, 1.0, np.nan, 2.0]
CATEGORIES = {
    "numbers": NUMBERS,
    "categories of numbers": pd.Categorical(NUMBERS),
    "strings": ["c", "a", None, "b"],
    "categories of strings": pd.Categorical(["c", "a", None, "b"]),
    "dates": pd.to_datetime(["2024-03-01", "2024-01-01", None, "2024-02-01"]),
    "categories of intervals": pd.cut(NUMBERS, 3),
}


@pytest.mark.parametrize("first", CATEGORIES)
@pytest.mark.parametrize("later", CATEGORIES)
def test_categories_must_keep_their_type(first, later):
    known, other = pd.DataFrame({"a": CATEGORIES[first]}), pd.DataFrame({"a": CATEGORIES[later]})
    reader = TableReader({"a": "categorical"}).fit(known)
    if first.removeprefix("categories of ") == later.removeprefix("categories of "):
        np.testing.assert_array_equal(reader.transform(other)[:, 0], [2, 0, np.nan, 1])
    elif first.endswith(("numbers", "dates")):
        with pytest.raises(ValueError, match="Column 'a' of X must hold levels.* in fit. Got"):
            reader.transform(other)
    else:  # any value has a text, which may be a new level
        with pytest.warns(UnreadableCellsWarning, match="3 of 3 cells of column 'a'"):
            reader.transform(other)
    nothing = other.iloc[[2, 2]]  # without a value, but with categories
    np.testing.assert_array_equal(reader.transform(nothing)[:, 0], [np.nan, np.nan])


@pytest.mark.parametrize("known", [NUMBERS, pd.Categorical(NUMBERS)], ids=["float", "category"])
@pytest.mark.parametrize("dtype", [object, "str", "category"])
def test_categories_of_numbers_may_come_as_strings(known, dtype):
    reader = TableReader({"a": "categorical"}).fit(pd.DataFrame({"a": known}))
    texts = pd.Series(["2", "3.0", "n/a", None, "7", "1 "], dtype=dtype)
    Z = reader.transform(texts.to_frame("a"))
    np.testing.assert_array_equal(Z[:, 0], [1, 2, np.nan, np.nan, 3, 0])
    for text in ("True", "a", "2024-01-01"):
        with pytest.warns(UnreadableCellsWarning, match=f"1 of 2 cells.*'{text}'"):
            Z = reader.transform(pd.DataFrame({"a": ["2", text]}, dtype=dtype))
        np.testing.assert_array_equal(Z[:, 0], [1, np.nan])


@pytest.mark.parametrize("null", ["", "NA", "None"])
@pytest.mark.parametrize("dtype", [object, "category"])
def test_a_level_that_a_csv_reader_takes_for_missing(null, dtype):
    texts = pd.DataFrame({"a": [null, "brick", "stone", null]}, dtype=dtype)
    gaps = pd.DataFrame({"a": [None, "brick", "stone", "n/a"]}, dtype=dtype)
    missing = pd.DataFrame({"a": [None, "brick", "stone", None]}, dtype=dtype)
    for known, new in ((texts, gaps), (missing, texts)):
        reader = TableReader().fit(known)
        np.testing.assert_array_equal(reader.transform(new), reader.transform(known))
    both = pd.DataFrame({"a": [null, "brick", None, "stone"]})
    file = pd.read_csv(io.StringIO(both.to_csv(index=False)), skip_blank_lines=False)
    reader, doubts = fitted(both["a"])
    assert (f"'{null}' are missing, as are other cells" in doubts) == bool(null)
    np.testing.assert_array_equal(reader.transform(file), reader.transform(both))
    np.testing.assert_array_equal(TableReader().fit_transform(file), reader.transform(both))


def test_integers_in_levels_have_their_order():
    levels = ["1", "2", "9 m", "010 m", "10 to 20", "100 to 200", "level 2", "level 10"]
    levels += ["version 1.10", "version 1.9"]
    order = RNG.permutation(len(levels))
    X = pd.DataFrame({"a": pd.Categorical(np.array(levels)[order])})
    np.testing.assert_array_equal(TableReader().fit_transform(X)[:, 0], order)


N = 120


def test_compounds_are_split():
    cabins = [f"{'BFG'[i % 3]}/{i}/{'PS'[i % 2]}" for i in range(N)]
    cabins[4] = None
    reader, _ = fitted(cabins, "Cabin")
    assert reader.columns_[0].kind.name == "compound"
    assert reader.get_feature_names_out().tolist() == ["Cabin_1", "Cabin_2", "Cabin_3"]
    assert reader.categorical_indices_ == (0, 2) and reader.n_levels_ == (3, 2)
    Z = reader.transform(pd.DataFrame({"Cabin": ["G/17/S", None]}))
    assert Z[0].tolist() == [2, 17, 1] and np.isnan(Z[1]).all()
    groups = [f"{i // 2:04d}_{i % 2 + 1:02d}" for i in range(N)]
    assert read(groups)[:3].tolist() == [[0, 1], [0, 2], [1, 1]]


@pytest.mark.parametrize(
    "texts, expected",
    [
        ([f"({i / 10:.4f}, -{i / 7:.4f})" for i in range(N)], [[7.7, -11]]),
        ([f"POINT ({i / 10:.4f} -{i / 7:.4f})" for i in range(N)], [[7.7, -11]]),
        ([f"{i % 29}x{i % 31}" for i in range(N)], [[77 % 29, 77 % 31]]),
        ([f"{i % 37} x {i % 31} x 9{i % 7} cm" for i in range(N)], [[3, 15, 90]]),
        ([f"{i % 41 / 10}/5" for i in range(N)], [[3.6]]),
        ([f"{100 + i % 53}/{60 + i % 37}" for i in range(N)], [[124, 63]]),
        ([f"{10 + i % 30}-{i % 2}" for i in range(3 * N)], [[27, 1]]),  # 60 levels
        ([f"{i % 37} ({i % 29}.5%)" for i in range(N)], [[3, 0.195]]),
        ([f"{i % 37} bhp @ {50 * i} rpm" for i in range(N)], [[3, 3850]]),
        ([f"{i / 10} ({i / 20}-{i / 5})" for i in range(N)], [[7.7, 3.85, 15.4]]),
        ([f"{i / 10} ({i / 20}, {i / 5})" for i in range(N)], [[7.7, 3.85, 15.4]]),
        ([f"{i / 10}±{i / 70:.2f}" for i in range(N)], [[7.7, 1.1]]),
        ([f"{i / 10} +/- {i / 70:.2f}" for i in range(N)], [[7.7, 1.1]]),
        ([f"10.0.{i % 29}.{3 * i}" for i in range(N)], [[19, 231]]),
        (
            [f"48°{i % 60}'N 2°{i % 50}'{'EW'[i % 2]}" for i in range(N)],
            [[48 + 17 / 60, -2 - 27 / 60]],
        ),
        ([f"{i % 11 + 1}:00 AM to {i % 7 + 1}:30 PM" for i in range(N)], [[3600, 48_600]]),
    ],
    ids=lambda value: str(value[-1]),
)
def test_compounds_of_numbers(texts, expected):
    np.testing.assert_allclose(read(texts)[77:78], expected, atol=1e-3)


def test_unseen_categories_without_missing_entries_in_fit_get_one_more_code():
    X = pd.DataFrame({"a": ["x", "y", "z", "x"]})
    new = pd.DataFrame({"a": ["z", "q", None]})
    np.testing.assert_array_equal(TableReader().fit(X).transform(new)[:, 0], [2, 3, 3])


def test_unseen_categories_are_not_missing_and_order_does_not_matter():
    X = pd.DataFrame({"a": pd.Categorical(["x", "y", "z", None])})
    reader = TableReader().fit(X)
    new = pd.DataFrame({"a": pd.Categorical(["z", "q", "x"], categories=["z", "q", "x"])})
    np.testing.assert_array_equal(reader.transform(new)[:, 0], [2, 3, 0])
    np.testing.assert_array_equal(reader.transform(new.astype(object))[:, 0], [2, 3, 0])


def test_numbers_missing_only_later_become_the_median():
    reader = TableReader().fit(np.array([[1.0], [2.0], [9.0]]))
    np.testing.assert_array_equal(reader.transform([[np.nan], [4.0]])[:, 0], [2, 4])
    seen = TableReader().fit(np.array([[1.0], [np.nan], [9.0]]))
    assert np.isnan(seen.transform([[np.nan]])[0, 0])


def test_a_column_must_keep_its_kind():
    reader = TableReader().fit(pd.DataFrame({"a": [1, 2]}))
    with pytest.raises(ValueError, match="'a'.*numbers, as it did in fit. Got 'x', 'y' instead"):
        reader.transform(pd.DataFrame({"a": ["x", "y"]}))
    assert reader.transform(pd.DataFrame({"a": [None, None]}))[0, 0] == 1.5
