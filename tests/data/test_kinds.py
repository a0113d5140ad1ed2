"""The kind of a column: inferred from its values, or set by column_kinds."""

import uuid
import warnings

import numpy as np
import pandas as pd
import pytest

from skauto.data import TableReader
from skauto.exceptions import ColumnKindWarning
from tests.data.columns import first_output, fitted, read

N = 200
RNG = np.random.default_rng(0)


def kinds(**columns):
    report = TableReader().fit(pd.DataFrame(columns)).table_report()
    return dict(zip(report["column"], report["kind"], strict=True))


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
        (["Y", "no", "Yes", "N", "TRUE"], [1, 0, 1, 0, 1]),
        (["sim", "n\u00e3o", "Sim"], [1, 0, 1]),
        (["Nee", "ja", "nee"], [0, 1, 0]),
        (["Tak", "nie", "tak"], [1, 0, 1]),
        (["Evet", "Hayır", "EVET"], [1, 0, 1]),
        (["007", "08", "007"], [0, 1, 0]),  # codes stay categories
        (["1.2.3", "4.5.6", "1.2.3"], [0, 1, 0]),
        (["1_2", "12", "1_2"], [0, 1, 0]),  # Python's float reads both as 12
    ],
    ids=lambda v: str(v[0]),
)
def test_numbers_and_booleans_written_as_strings(texts, expected):
    np.testing.assert_allclose(first_output(pd.Series(texts, dtype=object)), expected)


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
        "uuid": "identifier",  # by its name
        "customer": "identifier",
        "row": "identifier",
        "review": "text",
        "company": "name",
        "tags": "tags",
        "day": "date",
        "zip": "name",
    }


@pytest.mark.parametrize(
    "counts, expected",
    [
        ({"1": 50, "2": 40, "3": 40, "4": 40, "5": 40, "ERROR": 4, "UNKNOWN": 4}, "numeric"),
        ({"zero": 50, "one": 50, "two or more": 4}, "categorical"),
        ({"1 year": 9, "3 months": 9, "6 months": 9, "unlimited": 90}, "categorical"),
        ({"1 stop": 30, "2 stops": 30, "3 stops": 9, "non-stop": 30}, "numeric"),
        ({**{f"{i} ft": 1 for i in range(30)}, "FALSE": 90}, "numeric"),
        ({**{f"{i} ft": 1 for i in range(30)}, "FALSE": 900}, "numeric"),
        (dict.fromkeys(["back", "forward", "goal"], 90) | {f"{i} cm": 1 for i in range(12)}, "*"),
    ],
    ids=lambda value: next(iter(value)),
)
def test_words_beside_numbers(counts, expected):
    found = kinds(a=[text for text, n in counts.items() for _ in range(n)])["a"]
    assert found == expected.replace("*", "categorical")


@pytest.mark.parametrize(
    "others, is_parsed",
    [(["unknown"] * 60, True), (["unknown 5"] * 60, False), (["unknown 5"] * 6, True)]
    + [([f"word {'abcdefgh'[i % 8]}" for i in range(60)], False)],
    ids=["a word", "digits", "few cells", "eight words"],
)
@pytest.mark.parametrize("form", ["{} kg", "{0}/03/2024", "10:00:{0}"])
def test_strings_before_the_first_value(others, is_parsed, form):
    values = [form.format(f"{10 + i % 20}") for i in range(140)]
    found = kinds(x=[*others, *values])["x"]
    assert (found in ("numeric", "date")) == is_parsed


def test_zeros_in_quotes_of_spreadsheets_are_codes():
    assert kinds(a=['="007"', '="012"', '="113"'] * 20, b=["'007", "'113"] * 30) == {
        "a": "categorical",
        "b": "categorical",
    }


def test_a_number_after_a_constant_word_is_a_code():
    numbers = RNG.integers(150, size=3 * N)
    found = kinds(
        city=[f"city_{i}" for i in numbers],
        line=[f"Line-{i}" for i in numbers],
        tract=[f"Census Tract {i}" for i in numbers],
        score=[f"{i / 30}_10" for i in numbers],
    )
    asked = TableReader({"a": "compound"}).fit(pd.DataFrame({"a": [f"city_{i}" for i in numbers]}))
    assert asked.get_feature_names_out().tolist() == ["a_2"]
    assert found == {"city": "name", "line": "name", "tract": "compound", "score": "compound"}


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


@pytest.mark.parametrize(
    "answers",
    [
        ["stimme gar nicht zu", "Stimme eher nicht zu", "teils/teils", "stimme eher zu"],
        ["sehr schlecht", "mittelmäßig", "gut", "sehr gut"],
        ["pas du tout d'accord", "plutôt d'accord", "tout à fait d'accord"],
        ["nunca", "a veces", "siempre"],
        ["baja", "media", "alta"],
        ["not at all likely", "somewhat likely", "likely", "very likely", "extremely likely"],
        ["very unimportant", "unimportant", "neither important nor unimportant", "important"],
        ["très insatisfait", "plutôt insatisfait", "plutôt satisfait", "très satisfait"],
        ["muy insatisfecho", "ni satisfecho ni insatisfecho", "satisfecho", "muy satisfecho"],
        ["not at all", "not much", "some", "a lot"],
        ["high school", "some college", "bachelor's degree", "master's degree"],
        ["low", "average", "high"],
        ["Low-income", "Lower-middle-income", "Upper-middle-income", "High-income"],
        ["very_little", "little", "avg", "high", "very_high"],
        ["Bad", "Medium", "Good"],
        ["Small", "Medium", "High"],
        ["Daily", "Weekly", "once a month", "Rarely", "Never"],
        ["within an hour", "within a few hours", "within a day", "a few days or more"],
    ],
    ids=lambda answers: answers[0],
)
def test_answers_on_a_scale(answers):
    order = RNG.permutation(len(answers))
    assert read([answers[i] for i in order])[:, 0].tolist() == order.tolist()


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


def test_tags_of_lists_written_as_text():
    lists = [str(list(map(str, RNG.choice(list("abc"), 2)))) for _ in range(N)]
    reader, _ = fitted(lists)
    assert sorted(reader.get_feature_names_out()) == ["a_a", "a_b", "a_c", "a_n_tags"]


def test_lists_of_as_many_numbers_are_compounds():
    seasons = [f"{1 + i % 6} seasons, {5 + i % 40} episodes" for i in range(N)]
    points = [f"POINT({-70 - i % 7 / 8} {40 + i % 9 / 8})" for i in range(N)]
    assert read(seasons)[:2].tolist() == [[1, 5], [2, 6]]
    assert read(points)[:2].tolist() == [[-70, 40], [-70.125, 40.125]]


def test_long_options_of_a_survey_are_tags():
    options = [f"I {verb} it at work or at home" for verb in ("like", "use", "buy", "sell")]
    answers = ["; ".join(RNG.choice(options, 1 + i % 3, replace=False)) for i in range(N)]
    assert kinds(a=answers)["a"] == "tags"
    assert kinds(a=[answer.replace(";", ",") for answer in answers])["a"] != "tags"


@pytest.mark.parametrize(
    "kind", ["text", "name", "date", "boolean", "tags", "compound", "ordinal"]
)
@pytest.mark.parametrize("dtype", [object, "string", "Int64", "category"])
def test_a_column_without_a_value_is_constant_whatever_kind_is_set(kind, dtype):
    """As in a fold of a column with few values."""
    X = pd.DataFrame({"a": pd.Series([None] * 5, dtype=dtype), "b": range(5)})
    reader = TableReader({"a": kind}).fit(X)
    assert reader.table_report()["kind"].tolist() == ["constant", "numeric"]
    assert reader.transform(X.assign(a="word")).shape == (5, 1)
