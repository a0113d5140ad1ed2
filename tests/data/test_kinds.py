"""The kind of a column: inferred from its values, or set by column_kinds."""

import uuid
import warnings

import numpy as np
import pandas as pd
import pytest

from skauto.data import TableReader
from skauto.exceptions import ColumnKindWarning, UnreadableCellsWarning

N = 200
RNG = np.random.default_rng(0)


def kinds(**columns):
    report = TableReader().fit(pd.DataFrame(columns)).table_report()
    return dict(zip(report["column"], report["kind"], strict=True))


def read(values, **kwargs):
    return TableReader(**kwargs).fit_transform(pd.DataFrame({"a": values}))[:, 0]


@pytest.mark.parametrize(
    "texts, expected",
    [
        (["1", "2.5", "-3e2"], [1, 2.5, -300]),
        (["$1,234.50", "($12.00)", "US$ 3"], [1234.5, -12, 3]),
        (["1.234,56 €", "2,5 €", "1.000 €"], [1234.56, 2.5, 1000]),
        (["12%", "3.5 %", "n/a"], [0.12, 0.035, np.nan]),
        (["1 234", "?", "-", "7"], [1234, np.nan, np.nan, 7]),
        (["1'000", "null", "None", "", "2"], [1000, np.nan, np.nan, np.nan, 2]),
        ([1, "2", "?"], [1, 2, np.nan]),
        (["Yes", "no", "YES ", "n/a"], [1, 0, 1, np.nan]),
        (["f", "t", "t", None], [0, 1, 1, np.nan]),
        (["007", "08", "007"], [0, 1, 0]),  # codes stay categories
        (["1.2.3", "4.5.6", "1.2.3"], [0, 1, 0]),
        (["1_2", "12", "1_2"], [1, 0, 1]),  # Python's float reads both as 12
    ],
    ids=lambda v: str(v[0]),
)
def test_numbers_and_booleans_written_as_strings(texts, expected):
    np.testing.assert_allclose(read(pd.Series(texts, dtype=object)), expected)


@pytest.mark.parametrize(
    "texts, expected",
    [
        (["2024-03-01", "2024-03-02 12:00"], ["2024-03-01", "2024-03-02T12"]),
        (
            ["2024-03-01T12:00:00Z", "2024-03-01T12:00+05:30"],
            ["2024-03-01T12", "2024-03-01T06:30"],
        ),
        (["13/02/2024", "01/02/2024"], ["2024-02-13", "2024-02-01"]),
        (["02/13/2024 3:30 PM", "01/02/24"], ["2024-02-13T15:30", "2024-01-02"]),
        (["1.2.2024", "3.4.1999"], ["2024-02-01", "1999-04-03"]),
        (["1 March 2024", "Mar 2, 2024", "03-Mar-24"], ["2024-03-01", "2024-03-02", "2024-03-03"]),
        (
            ["Fri, 01 Mar 2024 10:00:00 +0100", "n/a", "3 May 2024"],
            ["2024-03-01T09", "NaT", "2024-05-03"],
        ),
    ],
    ids=lambda v: str(v[0]),
)
def test_dates_written_as_strings(texts, expected):
    days = np.array(expected, dtype="datetime64[s]")
    number = np.where(np.isnat(days), np.nan, days.astype(float) / 86400)
    np.testing.assert_allclose(read(texts), number)


def test_kinds_that_are_found():
    words = np.array(["red", "green", "blue"])
    vocabulary = np.array([f"word{chr(97 + i)}{chr(97 + j)}" for i in range(9) for j in range(9)])
    found = kinds(
        number=RNG.random(N),
        price=[f"${x:,.2f}" for x in 1e4 * RNG.random(N)],
        color=words[RNG.integers(3, size=N)],
        constant="x",
        empty=[None] * N,
        uuid=[str(uuid.UUID(int=int(i))) for i in RNG.integers(2**62, size=N)],
        customer=[f"C-{i:05d}" for i in range(N)],
        row=[str(i) for i in range(N)],
        review=[" ".join(RNG.choice(vocabulary, 7)) for _ in range(N)],
        company=[f"{a} {b} Ltd" for a, b in RNG.choice(vocabulary, (N, 2))],
        tags=[";".join(RNG.choice(list("abcdef"), RNG.integers(1, 4))) for _ in range(N)],
        day=[f"{d}/{m}/2024" for d, m in RNG.integers(1, [29, 13], (N, 2))],
        zip=[f"0{i}" for i in RNG.integers(1000, 9999, size=N)],
    )
    assert found == {
        "number": "numeric",
        "price": "numeric",
        "color": "categorical",
        "constant": "constant",
        "empty": "constant",
        "uuid": "identifier",
        "customer": "identifier",
        "row": "identifier",
        "review": "text",
        "company": "name",
        "tags": "tags",
        "day": "date",
        "zip": "name",
    }


def test_report_counts_levels_missing_and_outputs():
    X = pd.DataFrame({"a": ["$1", "$2", "n/a"], "b": ["x", None, "y"], "c": [1.0, 2.0, np.nan]})
    report = TableReader().fit(X).table_report().set_index("column")
    assert report["missing"].tolist() == [1, 1, 1]
    assert report["levels"].tolist() == [3, 2, pd.NA]
    assert report["n_outputs"].tolist() == [1, 1, 1]
    assert report.loc["a", "why"] == "numbers written as strings"


def test_only_doubtful_columns_warn_once():
    X = pd.DataFrame(
        {
            "id": RNG.integers(N // 2, size=N),
            "row": np.arange(N),
            "when": ["1/2/2024", "3/4/2024"] * (N // 2),
            "size": [*map(str, range(N - 4)), *["unknown"] * 4],
            "plain": RNG.random(N),
        }
    )
    with pytest.warns(ColumnKindWarning) as caught:
        Z = TableReader().fit_transform(X)
    (warning,) = caught
    for part in (
        "4 of 5",
        "'id': its name",
        "'row': it is left out as an identifier (its integers count the rows)",
        "column_kinds={'row': 'numeric'}",
        "'when': the order of day",
        "such as 'unknown'",
    ):
        assert part in str(warning.message)
    assert np.isnan(Z[:, -2]).sum() == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TableReader({"id": "drop", "row": "drop", "when": "date", "size": "numeric"}).fit(X)


def test_kinds_that_are_asked_for():
    X = pd.DataFrame(
        {"zip": ["12", "34", "12"], "size": ["007", "008", "x"], "note": ["a b", "a c", "b b"]}
    )
    reader = TableReader({"zip": "categorical", "size": "numeric", "note": "text"})
    Z = reader.fit_transform(X)
    np.testing.assert_array_equal(Z[:, 0], [0, 1, 0])
    np.testing.assert_array_equal(Z[:, 1], [7, 8, np.nan])
    assert "note_whole_a" in reader.get_feature_names_out()
    assert reader.categorical_indices_ == (0,)
    with pytest.raises(ValueError, match="'note' of X cannot be read as 'date'.*such as 'a b'"):
        TableReader({"note": "date"}).fit(X)
    with pytest.raises(ValueError, match="'a' of X cannot be read as 'text'.*numbers"):
        TableReader({"a": "text"}).fit(pd.DataFrame({"a": [1, 2]}))


def test_names_are_codes_and_what_they_share():
    families = np.array(["smithson", "smithers", "petrov", "petrova"])
    family = RNG.integers(4, size=600)
    names = [f"{families[f]}{i % 40}" for i, f in enumerate(family)]
    reader = TableReader().fit(pd.DataFrame({"a": names}))
    assert reader.categorical_indices_ == (0,)
    Z = reader.transform(pd.DataFrame({"a": ["smithson99", "petrova99", "smithson1", "petrova1"]}))
    # not seen before: the code of names of a single row, but their features tell them apart
    count = pd.Series(names).map(pd.Series(names).value_counts())
    codes = reader.fit_transform(pd.DataFrame({"a": names}))[:, 0]
    assert Z[0, 0] == Z[1, 0] == codes.max()
    np.testing.assert_array_equal(codes == codes.max(), count == 1)
    smiths, petrovs = Z[[0, 2], 3:], Z[[1, 3], 3:]
    assert np.linalg.norm(smiths[0] - smiths[1]) < np.linalg.norm(smiths[0] - petrovs[0])


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


@pytest.mark.parametrize(
    "known, start",
    [
        ("$1", "-"),
        ("$1", "("),
        ("$1", "( -$"),
        ("$1", "($1"),
        ("2024-03-01 10:30", "2024-03-01 10:30"),
        ("2024-03-01 10:30", "1 Mar 2024 10:30 pm"),
    ],
)
def test_a_cell_of_many_spaces_takes_no_time(known, start):
    """To try all the ways in which parts of a pattern can share the spaces would take hours."""
    reader = TableReader().fit(pd.DataFrame({"a": [known, None, known.replace("1", "2")]}))
    with pytest.warns(UnreadableCellsWarning, match="1 of 2 cells"):
        Z = reader.transform(pd.DataFrame({"a": [start + " " * 1_000_000 + "x", known]}))
    np.testing.assert_array_equal(np.isnan(Z[:, 0]), [True, False])


def _codes(rng, n_samples=3_000):
    """Columns of two letters and a digit, and a target that depends on the first letter only."""
    first, second = rng.choice(list("ABCDEFGH"), n_samples), rng.choice(list("KLMNOP"), n_samples)
    codes = np.char.add(np.char.add(first, second), rng.integers(0, 10, n_samples).astype(str))
    return codes, np.where(
        np.isin(first, ["A", "D", "G"]) ^ (rng.random(n_samples) < 0.2), "y", "n"
    )


def test_codes_have_text_features_only_if_these_predict_the_classes(rng):
    codes, y = _codes(rng)
    levels, code = np.unique(codes, return_inverse=True)
    X = pd.DataFrame({"ordered": codes, "random": rng.permutation(levels)[code]})
    reader = TableReader()
    Z = reader.fit_transform(X, y)
    assert reader.table_report()["kind"].tolist() == ["name", "categorical"]
    assert "categories, since their terms do not predict" in reader.table_report()["why"][1]
    np.testing.assert_array_equal(Z, reader.transform(X))
    np.testing.assert_array_equal(np.unique(Z[:, -1]), np.arange(reader.n_levels_[-1]))
    for kwargs, target in (
        ({"column_kinds": {"random": "name"}}, y),
        ({}, None),
        ({}, rng.random(len(y))),
    ):
        kinds = TableReader(**kwargs).fit(X, target).table_report()["kind"]
        assert kinds.tolist() == ["name", "name"]
    shuffled = TableReader().fit(X, rng.permutation(y)).table_report()["kind"]
    assert shuffled.tolist() == ["constant", "constant"]  # nor do the levels
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        TableReader().fit(X, y[:-1])
