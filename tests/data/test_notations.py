"""Notations of numbers, dates, levels and identifiers in files as people export them."""

import warnings

import numpy as np
import pandas as pd
import pytest

from skauto.data import TableReader
from skauto.exceptions import ColumnKindWarning

N = 120
RNG = np.random.default_rng(0)
DAY, MONTH, YEAR = 86_400.0, 2_626_560.0, 31_557_600.0


def fitted(values, name="a", **kwargs):
    """Fit a reader of one column; return it and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ColumnKindWarning)
        reader = TableReader(**kwargs).fit(pd.DataFrame({name: pd.Series(values, dtype=object)}))
    return reader, " ".join(str(warning.message) for warning in caught)


def read(values, **kwargs):
    frame = pd.DataFrame({"a": pd.Series(values, dtype=object)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnKindWarning)
        return TableReader(**kwargs).fit_transform(frame)


def kind(values, name="a"):
    reader, doubts = fitted(values, name)
    return reader.columns_[0].kind.name, doubts


@pytest.mark.parametrize(
    "texts, expected",
    [
        (["23.4 kmpl", "18 kmpl", "9,5 kmpl"], [23.4, 18, 9.5]),
        (["1248 CC", "998 CC", "1,197 CC"], [1248, 998, 1197]),
        (["8GB", "512 MB", "1 TB"], [8e9, 512e6, 1e12]),
        (["18.8 \u00b0C", "-3 \u00b0C", "20 \u00b0C"], [18.8, -3, 20]),
        (["19M", "201k", "1.5M", "Varies with device"], [19e6, 201e3, 1.5e6, np.nan]),
        (["$1.2M", "$300K", "$950"], [1.2e6, 3e5, 950]),
        (["2 months", "3 years", "10 days"], [2 * MONTH, 3 * YEAR, 10 * DAY]),
        (["1h 30m", "45m", "2h"], [5400, 2700, 7200]),
        (["14:30", "2:05", "23:59"], [52_200, 7500, 86_340]),
        (["3:45", "65:00", "0:30"], [225, 3900, 30]),
        (["2:30 PM", "12:15 am", "9:00 a.m."], [52_200, 900, 32_400]),
        (["5'11\"", "6'", "5'2"], [71 * 0.0254, 72 * 0.0254, 62 * 0.0254]),
        (["10,000+", "500+", "1,000,000+"], [1e4, 500, 1e6]),
        (["<5", "7.5", "12"], [5, 7.5, 12]),
        (["2.5", "1,5", "3.25", "0,75"], [2.5, 1.5, 3.25, 0.75]),
        (["0,637", "0,112", "0,950"], [0.637, 0.112, 0.95]),
        (["under 18", "18-30", "31 to 50", "51+"], [18, 24, 40.5, 51]),
        (["$50,000-$74,999", "$75,000-$99,999", "$100,000+"], [62_499.5, 87_499.5, 1e5]),
        (["[0-10)", "[10-20)", "[20-30)"], [5, 15, 25]),
        (["(20, 30]", "(30, 40]", "(40, inf]"], [25, 35, 40]),
        (["Under 18 years old", "18-24 years old", "65 years or older"], [18, 21, 65]),
        (["10 to 19 employees", "20 to 99 employees", "100 or more employees"], [14.5, 59.5, 100]),
        (["1,23,456", "12,34,567", "4,567"], [123_456, 1_234_567, 4567]),
        (["32-", "15", "7-"], [-32, 15, -7]),
    ],
    ids=lambda value: str(value[0]),
)
def test_numbers(texts, expected):
    np.testing.assert_allclose(read(texts)[:, 0], expected, rtol=2e-5)


def test_open_ends_are_beyond_their_bounds():
    values = read(["<5", "5", "5+", "4.9", ">5"])[:, 0]
    assert values[3] < values[0] < values[1] < values[2]
    assert values[2] == values[4]


@pytest.mark.parametrize(
    "texts",
    [
        ["1-2", "3-1", "0-0", "2-2"],  # results of matches, not intervals
        ["3 red", "4 blue", "5 green", "6 old"],
        ["A1", "B2", "C3", "A1"],
        ["1.2.3", "4.5.6", "1.2.4", "7.0.0"],
    ],
    ids=lambda value: value[0],
)
def test_strings_that_are_not_numbers(texts):
    assert kind(texts * 5)[0] in ("categorical", "compound")


@pytest.mark.parametrize("word", ["unknown", "#REF!", "\\N", "not available", "0000-00-00"])
@pytest.mark.parametrize("values", ["numbers", "dates"])
def test_one_word_among_numbers_or_dates_is_missing(word, values):
    cells = [f"{i}.5" if values == "numbers" else f"2020-03-{i % 31 + 1:02d}" for i in range(N)]
    cells[::3] = [word] * len(cells[::3])  # a third of the cells
    reader, doubts = fitted(cells)
    assert reader.columns_[0].kind.name == ("numeric" if values == "numbers" else "date")
    assert repr(word) in doubts and "read as missing" in doubts
    assert reader.columns_[0].n_missing == N // 3


def test_a_comma_with_three_decimals_is_doubtful():
    assert "decimal comma" in kind(["1,234", "5,678", "2,500"])[1]
    assert kind(["$1,234", "$5,678", "$2,500"])[1] == ""


@pytest.mark.parametrize(
    "texts, expected",
    [
        (["10/Oct/2000:13:55:36 -0700"], "2000-10-10T20:55:36"),
        (["Fri Mar  1 10:00:00 2024"], "2024-03-01T10"),
        (["Fri, 01 Mar 2024 10:00:00 GMT"], "2024-03-01T10"),
        (["2024-03-01 10:00:00 CET"], "2024-03-01T09"),
        (["Jan-19"], "2019-01-01"),
        (["2019-01"], "2019-01-01"),
        (["03/2019"], "2019-03-01"),
        (["Q2 2019"], "2019-04-01"),
        (["20190131T093000Z"], "2019-01-31T09:30"),
        (["3. M\u00e4rz 2024"], "2024-03-03"),
        (["14 f\u00e9vrier 2023"], "2023-02-14"),
        (["5 de enero de 2021"], "2021-01-05"),
    ],
    ids=lambda value: str(value[0]) if isinstance(value, list) else value,
)
def test_dates(texts, expected):
    days = np.datetime64(expected, "s").astype(float) / DAY
    assert read([*texts, "2001-01-01"])[0, 0] == days


def test_a_first_number_beyond_12_in_every_row_does_not_show_the_order():
    cells = [f"{year}/{month:02d}/{day:02d}" for year, month, day in zip(
        RNG.integers(13, 25, N), RNG.integers(1, 13, N), RNG.integers(1, 29, N), strict=True
    )]  # fmt: skip
    reader, doubts = fitted(cells)
    assert "the year is read first" in doubts
    year = reader.transform(pd.DataFrame({"a": ["14/02/03"]}))[0, 0]
    assert year == np.datetime64("2014-02-03").astype(float)


@pytest.mark.parametrize("filler", ["1900-01-01", "9999-12-31"])
def test_frequent_filler_dates_are_missing(filler):
    days = [f"2020-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(N)]
    reader, doubts = fitted([filler if i % 10 == 0 else day for i, day in enumerate(days)])
    assert reader.columns_[0].n_missing == N // 10 and filler in doubts
    months = reader.transform(pd.DataFrame({"a": [filler, "2020-05-01"]}))[:, 1]
    assert np.isnan(months[0]) and months[1] == 5
    assert fitted([*days, "1900-01-01"])[0].columns_[0].n_missing == 0  # one old date is a date


NAMES = ["PassengerId", "CustomerID", "EmployeeNumber", "RespondentID", "OBJECTID", "rownames"]
NAMES += ["S.No", "customerid", "order_id", "Unnamed: 0", "UUID", "id"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cells", ["integers", "strings", "with a gap and a duplicate"])
def test_identifiers_by_their_name(name, cells):
    values = RNG.choice(10**6, N, replace=False).tolist()
    if cells == "strings":
        values = [f"{value:07d}" for value in values]
    if cells.startswith("with"):
        values[3], values[7] = None, values[8]
    found, doubts = kind(values, name)
    assert found == "identifier"
    assert f"column_kinds={{{name!r}: " in doubts
    assert kind(RNG.integers(5, size=N).tolist(), name)[0] == "numeric"


@pytest.mark.parametrize("name", ["paid", "valid", "humid", "Width", "amount", "n_rooms"])
def test_other_names_are_not_those_of_identifiers(name):
    assert kind(RNG.choice(10**6, N, replace=False).tolist(), name)[0] == "numeric"


@pytest.mark.parametrize("as_cell", [int, str])
def test_only_a_count_is_an_identifier_by_its_values(as_cell):
    count = RNG.permutation(N) + 1000
    assert kind(list(map(as_cell, count.tolist())))[0] == "identifier"
    for values in (2 * count, np.where(count == 1005, 5000, count), count // 2):
        in_order, shuffled = sorted(values.tolist()), values.tolist()
        assert kind(list(map(as_cell, in_order)))[0] == "numeric"
        assert kind(list(map(as_cell, shuffled)))[0] == "numeric"


def test_answers_bands_and_requested_levels_keep_their_order():
    answers = ["often", "Never", "sometimes", "always", "rarely", "never"]
    assert read(answers)[:, 0].tolist() == [3, 0, 2, 4, 1, 0]
    frame = pd.DataFrame({"a": ["lo", "hi", "mid", "hi"]})
    reader = TableReader({"a": ["lo", "mid", "hi"]}).fit(frame)
    assert reader.transform(frame)[:, 0].tolist() == [0, 2, 1, 2]
    assert reader.categorical_indices_ == ()
    levels = pd.Categorical(frame["a"], ["lo", "mid", "hi"], ordered=True)
    reader = TableReader().fit(pd.DataFrame({"a": levels}))
    assert reader.transform(frame)[:, 0].tolist() == [0, 2, 1, 2]
    with pytest.raises(ValueError, match="levels of column 'a'.*the column also holds 'mid'"):
        TableReader({"a": ["lo", "hi"]}).fit(frame)
    with pytest.raises(ValueError, match=r"pass the levels in their order, column_kinds={'a': "):
        TableReader({"a": "ordinal"}).fit(frame)


def test_levels_that_differ_by_case_or_spaces_are_one():
    reader, doubts = fitted(["Red", "red ", "blue", "RED", "blue"] * 10)
    assert reader.n_levels_ == (2,)
    assert "differ only by case or spaces" in doubts
    declared = pd.DataFrame({"a": pd.Categorical(["Red", "red", "blue"])})
    assert TableReader().fit(declared).n_levels_ == (3,)


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
        ([f"{i % 29}x{i % 31}" for i in range(N)], [[77 % 29, 77 % 31]]),
        ([f"{i % 37} x {i % 31} x 9{i % 7} cm" for i in range(N)], [[3, 15, 90]]),
        ([f"{i % 41 / 10}/5" for i in range(N)], [[3.6]]),
        ([f"{100 + i % 53}/{60 + i % 37}" for i in range(N)], [[124, 63]]),
    ],
    ids=lambda value: str(value[-1]),
)
def test_compounds_of_numbers(texts, expected):
    np.testing.assert_allclose(read(texts)[77:78], expected, atol=1e-3)


def test_a_unique_number_after_a_constant_is_an_identifier():
    codes = [f"user_{i}" for i in RNG.choice(10**6, N, replace=False)]
    assert kind(codes)[0] in ("identifier", "name")


def test_tags_of_lists_written_as_text():
    lists = [str(list(map(str, RNG.choice(list("abc"), 2)))) for _ in range(N)]
    reader, _ = fitted(lists)
    assert sorted(reader.get_feature_names_out()) == ["a_a", "a_b", "a_c", "a_n_tags"]
