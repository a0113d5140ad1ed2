"""Every form of a column at prediction gives the features of `fit`, an error or a warning."""

import datetime
import decimal
import io
import re
import uuid
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skauto.data import TableReader
from skauto.exceptions import ColumnKindWarning, UnreadableCellsWarning

N = 60
RNG = np.random.default_rng(0)
DAYS = [
    datetime.datetime(2020, 1, 1) + datetime.timedelta(int(i)) for i in RNG.integers(999, size=N)
]

REALS = [round(x, 2) for x in RNG.uniform(0, 100, N).tolist()]
WORDS = ["red", "green", "dark blue", "Old", "new", "round", "flat", "soft", "long"]

# Words of a language with few shared n-grams, as in names and texts.
PHRASES = [" ".join(RNG.choice(WORDS, 6)) for _ in range(N)]


def pick(*levels):
    return [levels[i] for i in RNG.integers(len(levels), size=N)]


def with_gaps(cells, word=None):
    """Replace two cells."""
    return [word if i in (5, 17) else cell for i, cell in enumerate(cells)]


# Name of the kind in the report, and cells.
COLUMNS = {
    "reals": ("numeric", REALS),
    "reals with gaps": ("numeric", with_gaps(REALS)),
    "integers": ("numeric", RNG.integers(1000, size=N).tolist()),
    "integers with gaps": ("numeric", with_gaps(RNG.integers(1000, size=N).tolist())),
    "integers beyond 2**53": ("numeric", (2**60 + RNG.integers(2**50, size=N)).tolist()),
    "zero and one": ("numeric", RNG.integers(2, size=N).tolist()),
    "booleans": ("numeric", pick(True, False)),
    "booleans with gaps": ("numeric", with_gaps(pick(True, False))),
    "decimals": ("numeric", [decimal.Decimal(str(x)) for x in REALS]),
    "numbers as strings": ("numeric", [f"{x:.2f}" for x in REALS]),
    "numbers and n/a": ("numeric", with_gaps([f"{x:.2f}" for x in REALS], "n/a")),
    "prices": ("numeric", [f"${1000 * x:,.2f}" for x in REALS]),
    "decimal commas": ("numeric", [f"{x:.2f}".replace(".", ",") for x in REALS]),
    "one unit": ("numeric", [f"{x} kmpl" for x in REALS]),
    "percents": ("numeric", [f"{x}%" for x in REALS]),
    "percents and zeros": ("numeric", [f"{x}%" if i % 4 else "0" for i, x in enumerate(REALS)]),
    "groups": (
        "numeric",
        [f"{i % 7 + 1}.{100 + i}.{101 + 3 * i}" for i in range(N - 1)] + ["950"],
    ),
    "notes": ("numeric", [f"~{x}[a]" if i % 4 else f"{x} (est.)" for i, x in enumerate(REALS)]),
    "ratios": ("compound", [f"{i % 40 / 10}/5" for i in range(N)]),
    "years among dates": (
        "date",
        [str(day.date())[: 10 if i % 4 else 4] for i, day in enumerate(DAYS)],
    ),
    "magnitudes": ("numeric", [f"{x}M" if x > 20 else f"{x}k" for x in REALS]),
    "lengths": ("numeric", [f"{4 + i % 3}'{i % 12}\"" for i in range(N)]),
    "bounds": ("numeric", with_gaps([f"{100 * i}+" for i in range(N)], "Free")),
    "bands": ("numeric", pick("under 18", "18-30", "31-50", "51+")),
    "hours": ("numeric", [f"{i % 24}:{7 * i % 60:02d}" for i in range(N)]),
    "spans": ("numeric", pick("2 weeks", "3 months", "1 year", "10 days")),
    "mixed marks": (
        "numeric",
        [f"{x:.1f}".replace(".", ".,"[i % 2]) for i, x in enumerate(REALS)],
    ),
    "numbers and a word": (
        "numeric",
        [f"{x:.2f}" if i % 4 else "unknown" for i, x in enumerate(REALS)],
    ),
    "answers": ("ordinal", pick("never", "rarely", "sometimes", "often", "always")),
    "compounds": ("compound", [f"{'ABC'[i % 3]}/{i * 7}/{'PS'[i % 2]}" for i in range(N)]),
    "log dates": ("date", [day.strftime("%d/%b/%Y:10:30:00 +0200") for day in DAYS]),
    "compact dates": ("date", [day.strftime("%Y%m%d") for day in DAYS]),
    "yes and no": ("boolean", pick("yes", "no")),
    "true and false": ("boolean", with_gaps(pick("true", "false"))),
    "durations": ("numeric", [datetime.timedelta(seconds=7 * i, days=i % 3) for i in range(N)]),
    "dates": ("date", with_gaps([day.date() for day in DAYS])),
    "moments": ("date", [day + datetime.timedelta(seconds=i) for i, day in enumerate(DAYS)]),
    "moments with a zone": ("date", [day.replace(tzinfo=datetime.UTC) for day in DAYS]),
    "ISO strings": ("date", [str(day.date()) for day in DAYS]),
    "day first": ("date", with_gaps([day.strftime("%d/%m/%Y") for day in DAYS])),
    "month first": ("date", [day.strftime("%m/%d/%Y") for day in DAYS]),
    "levels": ("categorical", pick("red", "green", "dark blue")),
    "levels with gaps": ("categorical", with_gaps(pick("red", "Green ", "dark blue"))),
    "levels with digits": ("categorical", pick("113783", "A/5", "2649", "PC 1")),
    "codes": ("categorical", pick("007", "012", "123", "350")),
    "versions": ("categorical", pick("1.10", "2.0", "3.5.1", "x")),
    "tickets": ("name", [f"PC {i * 7919}" if i % 2 else str(i * 7919) for i in range(N)]),
    "names": ("name", [f"{WORDS[i % 9]}{i} {WORDS[i % 7]}" for i in range(N)]),
    "texts": ("text", with_gaps(PHRASES)),
    "tags": ("tags", [";".join(RNG.choice(["a", "b", "7", "c"], 2).tolist()) for _ in range(N)]),
    "numbers and strings": ("categorical", pick(113783, "A/5", 2, "PC 17")),
    "many numbers and strings": ("name", [i * 7919 if i % 2 else f"PC {i}" for i in range(N)]),
    "numbers and words": ("numeric", with_gaps(RNG.integers(1000, size=N).tolist(), "n/a")),
    "dates and n/a": ("date", with_gaps(DAYS, "n/a")),
    "booleans and strings": ("categorical", pick(True, False, "maybe")),
    "times": ("numeric", [datetime.time(i % 24, 30) for i in range(N)]),
    "periods": ("date", [pd.Period("2020-01", "M") + i for i in range(N)]),
    "bytes": ("categorical", pick(b"red", b"green", b"7")),
    "hashes": ("categorical", [uuid.UUID(int=i % 5) for i in range(N)]),
    "mixed booleans": ("boolean", pick("Y", "no", "Yes", "N")),
}

for name in ("names", "texts", "tags"):
    COLUMNS[f"{name} and words"] = (COLUMNS[name][0], with_gaps(COLUMNS[name][1], "n/a"))

# Other notations of columns, which are read or told.
NOTATIONS = {
    "reals": lambda cells: [f"{x:.2f}".replace(".", ",") for x in cells],
    "integers": lambda cells: [f"{x} kg" for x in cells],
    "zero and one": lambda cells: ["yes" if x else "no" for x in cells],
    "booleans": lambda cells: ["Y" if x else "n" for x in cells],
    "numbers as strings": lambda cells: [x.replace(".", ",") for x in cells],
    "numbers and n/a": lambda cells: [f"{x} kg" for x in cells],
    "decimal commas": lambda cells: [x.replace(",", ".") for x in cells],
    "yes and no": lambda cells: ["1" if x == "yes" else "0" for x in cells],
    "true and false": lambda cells: [x and x[0].upper() for x in cells],
    "durations": lambda cells: [x.total_seconds() for x in cells],
    "dates": lambda cells: [x and x.strftime("%d/%m/%Y") for x in cells],
    "moments": lambda cells: [x.timestamp() for x in cells],
    "one unit": lambda cells: [x.replace("kmpl", "mpg") for x in cells],
    "percents": lambda cells: [float(x[:-1]) for x in cells],
    "bands": lambda cells: [x.replace("-", " to ") for x in cells],
    "hours": lambda cells: [f"{x}:00" for x in cells],
    "spans": lambda cells: [x.upper() for x in cells],
    "answers": lambda cells: [x.title() for x in cells],
    "compounds": lambda cells: [x.replace("/", "-") for x in cells],
    "compact dates": lambda cells: [f"{x[:4]}-{x[4:6]}-{x[6:]}" for x in cells],
    "ISO strings": lambda cells: [x.replace("-", "") for x in cells],
    "day first": lambda cells: [x and f"{x[3:6]}{x[:3]}{x[6:]}" for x in cells],
    "month first": lambda cells: [f"{x[3:6]}{x[:3]}{x[6:]}" for x in cells],
    "levels": lambda cells: [x.upper() + " " for x in cells],
    "levels with gaps": lambda cells: [x and x[0] for x in cells],
    "codes": lambda cells: [float(x) for x in cells],
    "tags": lambda cells: [x.replace(";", "|") for x in cells],
}


def as_arrow(cells):
    return pytest.importorskip("pyarrow").table({"a": cells})


def as_arrow_in_pandas(cells):
    return as_arrow(cells).to_pandas(types_mapper=pd.ArrowDtype)


def as_polars(cells):
    return pytest.importorskip("polars").DataFrame({"a": cells})


def as_objects(cells):
    return pd.DataFrame({"a": pd.Series(cells, dtype=object)})


def as_file(cells):
    frame = pd.DataFrame({"a": cells, "row": range(len(cells))})
    return pd.read_csv(io.StringIO(frame.to_csv(index=False)))[["a"]]


def as_sheet(cells):
    pytest.importorskip("openpyxl")
    file = io.BytesIO()
    pd.DataFrame({"a": cells, "row": range(len(cells))}).to_excel(file, index=False)
    return pd.read_excel(file)[["a"]]


def as_dtype(dtype):
    return lambda cells: as_objects(cells).astype(dtype)


FORMS = {
    "objects": as_objects,
    "inferred": lambda cells: pd.DataFrame({"a": cells}),
    "nullable": lambda cells: pd.DataFrame({"a": cells}).convert_dtypes(),
    "str": as_dtype("str"),
    "string": as_dtype("string"),
    "category": as_dtype("category"),
    "float": as_dtype("float64"),
    "array": lambda cells: np.array(cells, dtype=object)[:, None],
    "pyarrow": as_arrow,
    "pyarrow in pandas": as_arrow_in_pandas,
    "polars": as_polars,
    "CSV": as_file,
    "xlsx": as_sheet,
}

ROWS = {"rows": lambda cells: as_objects(cells), "rows of CSV": as_file, "rows of xlsx": as_sheet}
ALONE = [0, 5, 8, 13]

# What a file cannot hold, and forms that are another value: the pairs are told.
CANNOT = (TypeError, ValueError, OverflowError, ArithmeticError)


def written(form, cells):
    """Return cells in a form, None if it cannot hold them."""
    try:
        return form(cells)
    except (*CANNOT, AttributeError, NotImplementedError):
        return None


def tables_of(cells):
    """Return tables by the name of the form; single rows are a list of tables."""
    tables = {name: written(form, cells) for name, form in FORMS.items()}
    for name, form in ROWS.items():
        rows = [written(form, [cells[i]]) for i in ALONE]
        tables[name] = None if any(row is None for row in rows) else rows
    return {name: table for name, table in tables.items() if table is not None}


def outcome(reader, table, expected):
    """Return "equal", "told" (a documented error or warning) or "silent"."""
    rows = isinstance(table, list)
    wanted = expected[ALONE] if rows else expected
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            Z = (
                np.vstack([reader.transform(t) for t in table])
                if rows
                else reader.transform(table)
            )
        except (TypeError, ValueError) as error:
            assert re.match("Column '(a|x0)' of X must hold", str(error)), error
            return "told"
    told = any(issubclass(w.category, UnreadableCellsWarning) for w in caught)
    same = np.allclose(Z, wanted, rtol=1e-9, atol=1e-9, equal_nan=True)
    return "equal" if same else "told" if told else "silent"


def fitted(table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the kind may be uncertain, and an array has no names
        reader = TableReader().fit(table)
        return reader, reader.transform(table)


def is_another_value(column, first, later):
    """Whether a form cannot hold the values of a column, or holds what is a value in another."""
    in_file = {"CSV", "xlsx"}.intersection([first, later.removeprefix("rows of ")])
    if column == "integers beyond 2**53":  # beyond the digits of Excel
        return "xlsx" in in_file or "float" in (first, later)
    if column == "durations":  # Excel holds days
        return first == "xlsx" and later.startswith("other")
    return bool(in_file) and "category" in (first, later) and "n/a" in COLUMNS[column][1]


# Forms of the same values that are told, because a file has another text than the table.
TOLD = {
    "durations": {"xlsx", "rows of xlsx"},
    "bytes": {"CSV", "rows of CSV", "xlsx", "rows of xlsx"},
}

# Notations that are read, besides the forms.
READ = {"zero and one", "booleans", "yes and no", "true and false", "dates", "levels", "codes"}

READ |= {"bands", "hours", "spans", "answers", "compact dates", "ISO strings"}

FORMS_OF_NOTATIONS = ("objects", "str", "category", "polars", "CSV", "rows of CSV")


@pytest.mark.parametrize("column", COLUMNS)
def test_all_pairs_of_forms(column):
    """Each pair is equal features, or an error or a warning: none is silent."""
    kind, cells = COLUMNS[column]
    tables = tables_of(cells)
    assert set(ROWS) - {"rows of xlsx"} <= set(tables)
    if column in NOTATIONS:
        others = tables_of(NOTATIONS[column](cells))
        tables |= {f"other {name}": others[name] for name in FORMS_OF_NOTATIONS if name in others}
    found = {}
    for first in [name for name in FORMS if name in tables]:
        reader, expected = fitted(tables[first])
        if first == "objects":
            assert reader.columns_[0].kind.name == kind
        for later, table in tables.items():
            if not is_another_value(column, first, later):
                found[first, later] = outcome(reader, table, expected)
    assert [pair for pair, result in found.items() if result == "silent"] == []
    told = [pair for pair, result in found.items() if result == "told" and "other" not in pair[1]]
    assert [pair for pair in told if TOLD.get(column, set()).isdisjoint(pair)] == []
    if column in READ:
        assert found["objects", "other objects"] == "equal"
    elif column in NOTATIONS:
        assert found["objects", "other objects"] == "told"


def table_of(names, forms):
    parts = [as_table_of_pandas(name, form) for name, form in zip(names, forms, strict=True)]
    return pd.concat(parts, axis=1, ignore_index=True).set_axis(names, axis=1)


@cache
def as_table_of_pandas(name, form):
    table = written(FORMS[form], COLUMNS[name][1])
    return as_objects(COLUMNS[name][1]) if table is None else table


PANDAS = [
    "objects",
    "inferred",
    "nullable",
    "str",
    "string",
    "category",
    "pyarrow in pandas",
    "CSV",
]

SETTINGS = settings(
    deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


@settings(SETTINGS, max_examples=100)
@given(data=st.data())
def test_mixed_tables(data):
    """Any rows of a table of several columns, each in a form of its own."""
    names = data.draw(
        st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=6, unique=True)
    )
    forms = st.lists(st.sampled_from(PANDAS), min_size=len(names), max_size=len(names))
    first, later = data.draw(forms), data.draw(forms)
    pairs = zip(names, first, later, strict=True)
    later = [a if is_another_value(name, a, b) else b for name, a, b in pairs]
    reader, expected = fitted(table_of(names, first))
    rows = data.draw(st.lists(st.integers(0, N - 1), min_size=1, max_size=5))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            Z = reader.transform(table_of(names, later).iloc[rows])
        except ValueError as error:
            assert str(error).startswith("Column 'bytes' of X must hold")
            return
    told = " ".join(str(w.message) for w in caught)
    columns = [
        j
        for j, output in enumerate(reader.get_feature_names_out())
        if not any(f"column {name!r}" in told and output.startswith(name) for name in names)
    ]
    np.testing.assert_allclose(Z[:, columns], expected[rows][:, columns], rtol=1e-9, atol=1e-9)


def reader_of(**columns):
    return TableReader().fit(pd.DataFrame(columns))


def test_error_names_all_columns_examples_and_what_was_expected():
    days = ["13/02/2024", "01/03/2024", "28/02/2024"]
    reader = reader_of(price=["12.50", "3.99", "7.25"], sold=days, number=[1.0, 2.0, 3.0])
    new = {"price": ["12,5", "3,9", "7,2"], "sold": ["02/13/2024", "03/01/2024", "02/28/2024"]}
    message = (
        "Column 'price' of X must hold numbers such as '12.50' and '3.99', as it did in fit. Got "
        "'12,5', '3,9', '7,2' instead (3 of 3 cells). Column 'sold' of X must hold dates with the "
        "day first such as '13/02/2024' and '01/03/2024', as it did in fit. Got '02/13/2024', "
        "'02/28/2024' instead (2 of 3 cells). Write the cells as in fit, or pass None where they "
        "are missing."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        reader.transform(pd.DataFrame(new | {"number": [1.0, 2.0, 3.0]}))


def test_one_warning_names_all_columns():
    reader = reader_of(a=[1.0, 2.0, None, 4.0], b=["yes", "no", "yes", "no"])
    with pytest.warns(UnreadableCellsWarning) as caught:
        Z = reader.transform(
            pd.DataFrame({"a": ["1", "oops", "n/a", "5"], "b": ["1", "f", "", "maybe"]})
        )
    np.testing.assert_array_equal(Z, [[1, 1], [np.nan, 0], [np.nan, 0.5], [5, 0.5]])
    assert [str(w.message) for w in caught] == [
        "Cells that cannot be read as in fit are missing values: 1 of 3 cells of column 'a', such "
        "as 'oops' (expected numbers); 1 of 3 cells of column 'b', such as 'maybe' (expected "
        "booleans such as 'yes' and 'no')."
    ]


@pytest.mark.filterwarnings("error")
def test_no_warning_for_missing_cells_and_words_that_fit_left_missing():
    cells = [f"{x}" for x in range(60)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reader = reader_of(a=[*cells, "varies"], b=[*REALS, 5.5], c=[*pick("u", "v"), "w"])
    for new in (["varies"], ["n/a", "varies", None]):
        n = len(new)
        Z = reader.transform(pd.DataFrame({"a": new, "b": [" ?"] * n, "c": [None] * n}))
        assert np.isnan(Z[:, 0]).all()
        np.testing.assert_array_equal(Z[:, 1], np.median([*REALS, 5.5]))
    some = pd.DataFrame({"a": ["1", "2"], "b": [1, 2], "c": ["u", "new level"]})
    np.testing.assert_array_equal(reader.transform(some)[:, 2], [0, 3])


def test_single_rows_are_never_refused():
    reader = reader_of(a=["1.50", "2.50"], b=["13/02/2024", "01/03/2024"])
    with pytest.warns(UnreadableCellsWarning, match="'a'.*'1,50'.*'b'.*'02/13/2024'"):
        reader.transform(pd.DataFrame({"a": ["1,50"], "b": ["02/13/2024"]}))


def test_one_cell_shows_that_day_and_month_have_changed_places():
    """The other cells can be read, with another meaning."""
    reader = reader_of(a=["13/02/2024", "01/03/2024", "28/02/2024"])
    with pytest.raises(ValueError, match="with the day first .* Got '02/28/2024' instead .1 of 3"):
        reader.transform(pd.DataFrame({"a": ["03/02/2024", "03/01/2024", "02/28/2024"]}))
    with pytest.warns(UnreadableCellsWarning, match="1 of 3"):  # not so, if another order has gaps
        reader.transform(pd.DataFrame({"a": ["03/02/2024", "30/01/2024", "02/28/2024"]}))


@pytest.mark.parametrize(
    "known, new",
    [
        ([12.5, 99.25, 3.125], "12,500"),
        (["12.5", "99.25", "3.125"], "12,500"),
        (["12,5", "99,25", "3,5"], "12.500"),
        (["9.743,00", "618,00"], "9,743"),
        (["9743.0", "618.0"], "9.743"),
    ],
)
def test_three_digits_after_a_mark_that_fit_did_not_explain(known, new):
    """They are decimals in one country and a group in another."""
    reader = reader_of(a=known)
    with pytest.raises(ValueError, match=f"must hold numbers.*Got '{new}' instead .2 of 2"):
        reader.transform(pd.DataFrame({"a": [new, new]}))


def test_an_order_of_day_and_month_that_fit_did_not_show():
    """ISO dates in `fit` say nothing of 03/04/2024."""
    for known in (["2024-03-01", "2024-04-02"], ["1 Mar 2024", "2 Apr 2024"]):
        reader = reader_of(a=known)
        day = reader.transform(pd.DataFrame({"a": ["2024-04-03"]}))
        for new in ("03.04.2024", "3.4.2024"):  # points have the day first
            np.testing.assert_array_equal(reader.transform(pd.DataFrame({"a": [new]})), day)
        both = pd.DataFrame({"a": ["03/04/2024", "13/04/2024"]})
        np.testing.assert_array_equal(reader.transform(both)[:1], day)
        with pytest.warns(UnreadableCellsWarning, match="'a', such as '03/04/2024'"):
            reader.transform(pd.DataFrame({"a": ["03/04/2024"]}))


@pytest.mark.parametrize(
    "known",
    [[1200, 15, 980], ["1200", "15", "980"], [1200.0, 15.0, None], [1200.5, 15.25, 980.0]],
    ids=str,
)
def test_points_in_numbers_without_three_decimals_may_be_groups(known):
    reader = reader_of(a=known)
    with pytest.raises(ValueError, match="must hold numbers.*Got '1.200' instead .2 of 3"):
        reader.transform(pd.DataFrame({"a": ["1.200", "1.200", "15"]}))
    with pytest.warns(UnreadableCellsWarning, match="'a', such as '1.200'"):
        reader.transform(pd.DataFrame({"a": ["1.200"]}))
    same = reader.transform(pd.DataFrame({"a": ["1,200", "15.0", "$980.00"]}))
    np.testing.assert_array_equal(same[:, 0], [1200, 15, 980])
    assert reader.transform(pd.DataFrame({"a": [1.234]})) == 1.234


def test_words_that_were_unreadable_in_fit_need_no_warning_in_another_case():
    with pytest.warns(ColumnKindWarning, match="'tbd', which are read as missing"):
        reader = reader_of(a=[*map(str, range(30)), *["tbd"] * 9])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(reader.transform(pd.DataFrame({"a": [" TBD", "7"]}))[0, 0])


def test_dates_whose_order_of_day_and_month_is_not_sure():
    reader = reader_of(a=DAYS)
    with pytest.warns(UnreadableCellsWarning, match="1 of 2 cells.*'03/04/2024'"):
        Z = reader.transform(pd.DataFrame({"a": ["03/04/2024", "05/05/2024"]}))
    assert Z[1, :3].tolist() == [19848, 5, 5]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Z = reader.transform(pd.DataFrame({"a": ["03/04/2024", "13/05/2024"]}))
    assert Z[:, 1:3].tolist() == [[4, 3], [5, 13]]


def test_unknown_answers_and_tags_are_not_replaced_in_silence():
    columns = {"answer": ["never", "often", "always"] * 4, "tags": ["a;b", "b", "a;c"] * 4}
    reader = TableReader({"answer": "ordinal", "tags": "tags"}).fit(pd.DataFrame(columns))
    new = pd.DataFrame({"answer": ["never", "never", "at_times"], "tags": ["a", "c;b", "b|c"]})
    with pytest.warns(UnreadableCellsWarning, match=r"'answer', such as 'at_times'.*'tags', such"):
        Z = reader.transform(new)
    np.testing.assert_array_equal(Z[:2], reader.transform(new[:2]))
    for column, cells in (("answer", "at_times"), ("tags", "a|b")):
        with pytest.raises(ValueError, match=rf"Column '{column}' of X must hold .* Got '"):
            reader.transform(new[:2].assign(**{column: cells}))
    with pytest.warns(UnreadableCellsWarning, match="2 of 3 cells of column 'tags', such as 'd'"):
        reader.transform(new.assign(answer="never", tags=["a", "d", "d;e"]))  # new tags


def test_words_of_another_case_or_notation_in_levels():
    reader = reader_of(a=["Male", "Female", "Male"])
    new = pd.DataFrame({"a": [" male", "FEMALE "]})
    np.testing.assert_array_equal(reader.transform(new)[:, 0], [1, 0])
    with pytest.warns(UnreadableCellsWarning, match="2 of 2 cells.*'M', 'F' .expected levels"):
        reader.transform(pd.DataFrame({"a": ["M", "F"]}))
    kept = TableReader().fit(pd.DataFrame({"a": pd.Categorical(["us", "US", "us"])}))
    new = pd.DataFrame({"a": ["us", "US", "Us"]})  # two levels: neither is meant by "Us"
    np.testing.assert_array_equal(kept.transform(new)[:, 0], [1, 0, 2])


@pytest.mark.parametrize("dtype", ["int64", "float64", "str"])
def test_numbers_in_a_column_of_strings(dtype):
    """Digits as `fit` wrote them: with zeros, with decimals, or as they are."""
    zeros, decimals = ["007", "012", "x"], ["1.00", "2.50", "x"]
    plain = ["7", "12", "x"]
    reader = TableReader(dict.fromkeys("abc", "name")).fit(
        pd.DataFrame({"a": zeros, "b": decimals, "c": plain})
    )
    texts = reader.transform(pd.DataFrame({"a": ["099"], "b": ["3.00"], "c": ["99"]}))
    numbers = pd.DataFrame({"a": [99], "b": [3], "c": [99]}, dtype=dtype)
    np.testing.assert_array_equal(reader.transform(numbers), texts)


LOOKALIKES = {
    "around": lambda text: f"\ufeff\u202a{text}\u202c\u200b ",
    "blanks": lambda text: text.replace(" ", "\xa0\u2009"),
    "quotes": lambda text: f"«{text}»",
    "apostrophe": lambda text: f"'{text}",
    "bytes": lambda text: f"b'{text}'",
    "markup": lambda text: f"<td>{text.replace(' ', '&nbsp;')}</td>",
    "dashes": lambda text: text.replace("-", "\u2011"),
    "full width": lambda text: text.translate({c: c + 0xFEE0 for c in range(0x21, 0x7F)}),
}


@pytest.mark.parametrize("kind", ["name", "tags", "compound", "categorical", "numeric", "date"])
@pytest.mark.parametrize("change", LOOKALIKES)
@pytest.mark.parametrize("dtype", ["object", "category"])
@pytest.mark.filterwarnings("error")
def test_characters_that_look_alike(kind, change, dtype):
    cells = {
        "name": [f"o'neil {pick('ann', 'bob')[i]} {i // 2}-x" for i in range(N)],
        "tags": ["wi-fi; tv", "tv", "bar; wi-fi", "pool"] * (N // 4),
        "compound": [f"{i % 30} - {'PS'[i % 2]}" for i in range(N)],
        "categorical": pick("part-time", "o'neil & co", "full time"),
        "numeric": [f"{(i - 20) * 1234:,} km" for i in range(N)],
        "date": [f"{i % 28 + 1}-Feb-{1990 + i % 9} 10:00:00" for i in range(N)],
    }[kind]
    reader = TableReader({"a": kind}).fit(pd.DataFrame({"a": cells}))
    new = pd.DataFrame({"a": list(map(LOOKALIKES[change], cells))}, dtype=dtype)
    expected = reader.transform(pd.DataFrame({"a": cells}))
    np.testing.assert_allclose(reader.transform(new), expected, atol=1e-12)


def test_parts_of_a_compound_that_change_places():
    reader = reader_of(a=[f"{'BAF'[i % 3]}/{i % 30}/{'PS'[i % 2]}" for i in range(N)])
    with pytest.warns(UnreadableCellsWarning, match="4 of 4 cells of column 'a', such as 'P/0/B'"):
        reader.transform(pd.DataFrame({"a": [f"{'PS'[i % 2]}/{i}/B" for i in range(4)]}))


def test_dates_with_another_mark_or_a_year_that_comes_first():
    reader = reader_of(a=[f"{i % 12 + 1}/{i % 28 + 1}/2021" for i in range(N)])
    day = reader.transform(pd.DataFrame({"a": ["3/4/2021"]}))
    np.testing.assert_array_equal(reader.transform(pd.DataFrame({"a": ["4.3.2021"]})), day)
    with pytest.warns(UnreadableCellsWarning, match="'03-04-2021'"):
        reader.transform(pd.DataFrame({"a": ["03-04-2021"]}))
    reader = reader_of(a=[f"{i % 28 + 1}/{i % 12 + 1}/20{19 + i % 4}" for i in range(N)])
    short = pd.DataFrame(
        {"a": [f"{19 + i % 4}/{i % 12 + 1:02}/{i % 28 + 1:02}" for i in range(N)]}
    )
    with pytest.raises(ValueError, match="'a' of X must hold dates with the day first"):
        reader.transform(short)


@pytest.mark.parametrize("share", [0.08, 0.24])
def test_a_new_level_that_fills_a_tenth_of_the_cells_is_told(share):
    """A level was renamed, as "6-25" becomes "Jun-25"; new ones that are rare are no surprise."""
    reader = TableReader().fit(pd.DataFrame({"a": pick("Jun-25", "26-100", "101-500", "1-5")}))
    n_new = int(share * N)
    renamed = ["2025-06-01 00:00:00"] * n_new + ["1-5"] * (N - n_new)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reader.transform(pd.DataFrame({"a": renamed}))
        other = [f"new {i}" for i in range(n_new)] + ["1-5"] * (N - n_new)
        reader.transform(pd.DataFrame({"a": other}))
    assert len(caught) == (share >= 0.1)
