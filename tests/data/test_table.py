"""Tables of pandas, polars and pyarrow give the same matrix."""

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

from skauto import AutoClassifier, ConstrainedAutoClassifier, SearchOptions
from skauto.constraints import StatisticalParity
from skauto.data import TableReader
from skauto.space import SearchSpace
from tests.data.columns import first_output

# Seconds of a mean year of the Gregorian calendar.
YEAR = 365.2425 * 86_400


@pytest.mark.parametrize("n_rows", [5, 1500])
def test_durations_of_any_type(n_rows):
    durations = [
        datetime.timedelta(hours=1),
        np.timedelta64(2, "h"),
        pd.Timedelta(1500, "ns"),
        np.timedelta64(1, "Y"),
        None,
    ]
    column = pd.Series(durations * (n_rows // 5), dtype=object)
    expected = [3600, 7200, 1.5e-6, YEAR, np.nan] * (n_rows // 5)
    np.testing.assert_array_equal(first_output(column), expected)


@pytest.mark.parametrize("dtype", [float, object])
def test_masked_cells_are_missing(dtype):
    X = np.array([[1.0, 5.0], [2.0, 7.0], [3.0, 6.0]], dtype=dtype)
    masked = np.ma.masked_array(X, mask=X == 3.0)
    expected = [[1, 5], [2, 7], [np.nan, 6]]
    np.testing.assert_array_equal(TableReader().fit_transform(masked), expected)
    np.testing.assert_array_equal(TableReader().fit(X).transform(masked)[2], [2, 6])  # median


@pytest.mark.parametrize("missing", [[pd.NaT, pd.NaT], pd.Categorical([None, None], [1, 2])])
def test_missing_cells_of_any_type_are_missing_numbers(missing):
    reader = TableReader().fit(pd.DataFrame({"a": [1, 2]}))
    np.testing.assert_array_equal(reader.transform(pd.DataFrame({"a": missing}))[:, 0], 1.5)


N = 60
RNG = np.random.default_rng(0)
COLUMNS = {
    "number": [None, *RNG.random(N - 1).tolist()],
    "integer": RNG.integers(9, size=N).tolist(),
    "flag": RNG.integers(2, size=N).astype(bool).tolist(),
    "color": [None, *RNG.choice(["red", "green"], N - 1).tolist()],
    "price": [f"${x}" for x in RNG.integers(99, size=N)],
    "day": [datetime.date(2024, 1, 1) + datetime.timedelta(int(i)) for i in range(N)],
    "time": [datetime.datetime(2024, 1, 1, i % 24, tzinfo=datetime.UTC) for i in range(N)],
}


def polars_table():
    return pytest.importorskip("polars").DataFrame(COLUMNS)


def pyarrow_table():
    return pytest.importorskip("pyarrow").table(COLUMNS)


@pytest.mark.parametrize("make", [polars_table, pyarrow_table])
def test_read_as_pandas_is(make):
    expected = TableReader().fit(pd.DataFrame(COLUMNS))
    reader = TableReader().fit(make())
    assert list(reader.feature_names_in_) == list(COLUMNS)
    assert reader.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
    Z = expected.transform(pd.DataFrame(COLUMNS))
    np.testing.assert_allclose(reader.transform(make()), Z)
    np.testing.assert_allclose(expected.transform(make()), Z)


def test_declared_categories():
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    texts = ["b", "a", None, "b"]
    tables = [
        polars.DataFrame({"a": polars.Series(texts, dtype=polars.Categorical)}),
        polars.DataFrame({"a": polars.Series(texts, dtype=polars.Enum(["a", "b"]))}),
        pyarrow.table({"a": pyarrow.array(texts).dictionary_encode()}),
        polars.DataFrame({"a": polars.Series(texts, dtype=polars.Categorical)}).to_arrow(),
    ]
    for table in tables:
        reader = TableReader().fit(table)
        assert reader.table_report()["why"].tolist() == ["categorical dtype"]
        np.testing.assert_array_equal(reader.transform(table)[:, 0], [1, 0, np.nan, 1])


def column_of(kind, texts):
    """A table with one column "a" of strings, None where missing."""
    if kind == "array":
        return np.array(texts, dtype=object)[:, None]
    if kind in ("polars", "pyarrow"):
        library = pytest.importorskip(kind)
        if kind == "polars":
            return library.DataFrame({"a": texts}, schema={"a": library.String})
        return library.table({"a": library.array(texts, library.string())})
    if kind == "unused":  # categories in another order, some of which do not occur
        dtype = pd.CategoricalDtype(["z", "unseen", "c", "b", "a", "y"])
    else:
        dtype = kind
    return pd.DataFrame({"a": pd.Series(texts, dtype=dtype)})


KINDS_OF_STRINGS = ["object", "str", "string", "category", "unused", "polars", "pyarrow", "array"]


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
@pytest.mark.parametrize("missing_in_fit", [True, False])
@pytest.mark.parametrize("later", KINDS_OF_STRINGS)
@pytest.mark.parametrize("first", KINDS_OF_STRINGS)
def test_codes_for_any_type_of_strings(first, later, missing_in_fit):
    """Few rows, many rows and a single row; levels that `fit` has not seen are unknown."""
    known = [*"bacca", None] if missing_in_fit else list("bacca")
    reader = TableReader().fit(column_of(first, known))
    code = {"a": 0.0, "b": 1.0, "c": 2.0, "unseen": 3.0, None: np.nan if missing_in_fit else 3.0}
    for n_rows in (1, 50, 1500):
        texts = np.random.default_rng(0).choice(["b", "unseen", None, "c", "a"], n_rows).tolist()
        Z = reader.transform(column_of(later, texts))
        expected = [[code[text]] for text in texts]
        np.testing.assert_array_equal(Z, expected)


@pytest.mark.parametrize("missing", [None, np.nan, float("nan"), pd.NA, pd.NaT])
@pytest.mark.parametrize("n_rows", [6, 1206])
def test_missing_strings_of_any_type(missing, n_rows):
    texts = pd.Series(["b", "a", missing] * (n_rows // 3), dtype=object)
    Z = TableReader().fit_transform(texts.to_frame("a"))
    np.testing.assert_array_equal(Z[:, 0], [1, 0, np.nan] * (n_rows // 3))


@pytest.mark.parametrize("make", [polars_table, pyarrow_table])
def test_constraints_of_tables_in_worker_processes(make):
    """Threads of polars do not survive a fork."""
    space = SearchSpace(["classifier"]).add("classifier", "tree", DecisionTreeClassifier())
    model = ConstrainedAutoClassifier(
        [StatisticalParity("flag")],
        space=space,
        max_evals=1,
        cv=2,
        options=SearchOptions(trial_time_limit=30),
    )
    model.fit(make(), np.arange(N) % 2)
    assert model.history_.counts() == {"ok": 1}


@pytest.mark.parametrize("zone", [None, "Europe/Vienna"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_any_unit(unit, zone):
    """A count of nanoseconds is not a whole number of microseconds."""
    pyarrow = pytest.importorskip("pyarrow")
    counts = [-1_600_000_000_000_000_001, None, 1_700_000_000_000_000_007]
    divisor = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[unit]
    times = pyarrow.array([n and n // divisor for n in counts], pyarrow.timestamp(unit, zone))
    table = pyarrow.table({"a": times})
    Z = TableReader().fit_transform(table)
    np.testing.assert_allclose(Z[:, 0], [n / 86_400e9 if n else np.nan for n in counts])
    frame = table.to_pandas(types_mapper=pd.ArrowDtype)
    np.testing.assert_array_equal(TableReader().fit(frame).transform(table), Z)
    if unit != "s":  # polars has no seconds
        polars_table = pytest.importorskip("polars").from_arrow(table)
        np.testing.assert_array_equal(TableReader().fit(polars_table).transform(table), Z)


def test_types_of_pyarrow_in_pandas():
    pyarrow = pytest.importorskip("pyarrow")
    days = pd.DataFrame({"a": pd.Series(COLUMNS["day"], dtype=pd.ArrowDtype(pyarrow.date32()))})
    expected = TableReader().fit_transform(pd.DataFrame({"a": COLUMNS["day"]}))
    np.testing.assert_array_equal(TableReader().fit_transform(days), expected)


def test_durations_too_long_for_nanoseconds():
    pyarrow, polars = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    table = pyarrow.table({"a": pyarrow.array([10**10, None, 1], pyarrow.duration("s"))})
    frames = (table, table.to_pandas(types_mapper=pd.ArrowDtype), polars.from_arrow(table))
    for frame in frames:
        np.testing.assert_array_equal(TableReader().fit_transform(frame)[:, 0], [1e10, np.nan, 1])


@pytest.mark.parametrize("n_rows", [6, 1500])
def test_run_ends(n_rows):
    compute = pytest.importorskip("pyarrow.compute")
    pyarrow = pytest.importorskip("pyarrow")
    columns = {"a": [1.5, None, 2.5] * (n_rows // 3), "b": ["u", "v", None] * (n_rows // 3)}
    plain = pyarrow.table(columns)
    table = pyarrow.table(
        {k: compute.run_end_encode(pyarrow.array(v)) for k, v in columns.items()}
    )
    expected = TableReader().fit_transform(plain)
    for X in (table, table.to_pandas(types_mapper=pd.ArrowDtype)):
        np.testing.assert_array_equal(TableReader().fit_transform(X), expected)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("train.csv", r"the str 'train.csv'; read the file"),
        (Path("train.csv"), r"the \w*Path 'train.csv'; read the file"),
        ({"a": [1, 2]}, r"a dict; pass pandas.DataFrame\(X\)"),
        ([{"a": 1}, {"a": 2}], r"a list of dicts; pass pandas.DataFrame\(X\)"),
    ],
)
def test_other_objects_are_refused_with_what_to_do(X, message):
    with pytest.raises(ValueError, match=f"X must be a table. Got {message}"):
        TableReader().fit(X)


def test_tables_that_cannot_be_read():
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match="in memory. Got a LazyFrame instead; call its 'collect'"):
        TableReader().fit(polars.LazyFrame(COLUMNS))
    for n_rows in (2, 1500):
        table = pyarrow.table({"a": [[1]] * n_rows})
        for X in (table, table.to_pandas(types_mapper=pd.ArrowDtype)):
            with pytest.raises(TypeError, match="Column 'a' holds a list; join its items"):
                TableReader().fit(X)


@pytest.mark.parametrize("make", [polars_table, pyarrow_table])
def test_fit_predict_and_cross_validation(make):
    space = SearchSpace(["classifier"]).add("classifier", "tree", DecisionTreeClassifier())
    table = make().drop(["number", "color"]) if make is pyarrow_table else make()[:, [1, 2, 4, 5]]
    model = AutoClassifier(space=space, max_evals=1, cv=2, random_state=0)
    scores = cross_val_score(model, table, COLUMNS["flag"], cv=2)
    np.testing.assert_array_equal(scores, [1, 1])
    model.fit(table, COLUMNS["flag"], sample_weight=np.arange(N) > 3)
    assert model.predict(table).tolist() == COLUMNS["flag"]
