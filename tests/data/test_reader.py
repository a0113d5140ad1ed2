"""The table reader on every kind of column, in fit and in transform."""

import datetime
import functools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from skauto.data import TableReader, _dates, _numbers
from skauto.exceptions import UnreadableCellsWarning
from tests.data.columns import first_output

# Two moments that cannot be compared.
NAIVE = datetime.datetime(2000, 1, 1)
AWARE = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    "values, expected",
    [
        ([1, 2, 3], [1, 2, 3]),
        ([True, False, True], [1, 0, 1]),
        (["b", "a", "b"], [1, 0, 1]),
        (["b", None, "a"], [1, np.nan, 0]),
        (pd.Categorical(["x", None, "y"], categories=["y", "x"]), [0, np.nan, 1]),
        (pd.Categorical([10, 2, 10]), [1, 0, 1]),
        (pd.Series([AWARE, NAIVE, AWARE], dtype=object).astype("category"), [1, 0, 1]),
        (pd.array([1, None, 3], dtype="Int64"), [1, np.nan, 3]),
        (pd.array([True, None, False], dtype="boolean"), [1, np.nan, 0]),
        (pd.array(["u", None, "t"], dtype="string"), [1, np.nan, 0]),
        (pd.array([0.5, None, 2.5], dtype="Float32"), [0.5, np.nan, 2.5]),
        (np.array([1, None, 2.5], dtype=object), [1, np.nan, 2.5]),
        (pd.to_timedelta([1, 2, None], unit="h"), [3600, 7200, np.nan]),
        (np.array([10**10, 1], dtype="timedelta64[s]"), [1e10, 1]),  # too long for nanoseconds
    ],
    ids=lambda v: str(getattr(v, "dtype", type(v).__name__)),
)
def test_kinds_of_columns(values, expected):
    np.testing.assert_array_equal(first_output(values), expected)


def test_numbers_beyond_single_precision_are_clipped():
    largest = float(np.finfo(np.float32).max)
    np.testing.assert_array_equal(first_output([1e300, 2.0, -1e300]), [largest, 2, -largest])


def test_rows_of_a_mixed_table_as_an_array():
    X = pd.DataFrame(
        {
            "day": pd.to_datetime(["2024-01-01", "2024-03-02", None]),
            "wait": pd.to_timedelta([90, None, 60], unit="s"),
            "word": ["b", "a", "b"],
            "number": [1, 2, 3],
        }
    )
    reader = TableReader().fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the array has no names
        np.testing.assert_array_equal(reader.transform(X.to_numpy()), reader.transform(X))


def test_uninformative_columns_are_left_out():
    X = pd.DataFrame({"constant": [1, 1], "missing": [None, None], "kept": [1, 2]})
    reader = TableReader().fit(X)
    assert list(reader.get_feature_names_out()) == ["kept"]
    np.testing.assert_array_equal(reader.transform(X), [[1], [2]])
    half_missing = pd.DataFrame({"a": [7, None]}, dtype=float)
    assert TableReader().fit_transform(half_missing).shape == (2, 1)


def test_a_table_without_information_still_has_a_column():
    np.testing.assert_array_equal(TableReader().fit_transform(np.ones((3, 2))), np.zeros((3, 1)))


def _named(X):
    return pd.DataFrame(X).add_prefix("x")


@pytest.mark.parametrize("kind", [np.asarray, _named])
def test_few_rows_of_numbers_are_read_as_many_rows_are(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    X[:, 1] = 1.0  # constant
    X[0, 0] = np.nan
    reader = TableReader().fit(kind(X))
    X[1, 2], X[2, 3] = np.nan, 1e300
    Z = reader.transform(kind(X))
    assert Z.shape == (3000, 3)
    for few in (X[:5], pd.DataFrame(X[:5]).convert_dtypes()):
        np.testing.assert_array_equal(reader.transform(kind(few)), Z[:5])
    X[3, 2] = np.inf
    with pytest.raises(ValueError, match="infinity.*'x2'"):
        reader.transform(kind(X[:5]))


def test_declared_categories():
    X = np.array([[3.0, 1.0], [7.0, 2.0], [3.0, 3.0]])
    for declared in ([0], np.array([True, False]), {0: "categorical"}):
        reader = TableReader(declared).fit(X)
        assert reader.categorical_indices_ == (0,)
        assert reader.n_levels_ == (2,)
        np.testing.assert_array_equal(reader.transform([[7, 1], [5, 1]])[:, 0], [1, 2])
    frame = pd.DataFrame(X, columns=["code", "amount"])
    dropped = TableReader({"amount": "drop"}).fit(frame)
    assert list(dropped.get_feature_names_out()) == ["code"]
    with pytest.raises(ValueError, match="'column_kinds'.*among.*'sound' for column 'code'"):
        TableReader({"code": "sound"}).fit(frame)
    assert TableReader(["code"]).fit(frame).categorical_indices_ == (0,)
    with pytest.raises(ValueError, match="'column_kinds'.*names or positions.*'cod'"):
        TableReader(["cod"]).fit(frame)


@pytest.mark.parametrize("labels", [[0, 2, 3], [1, 0, 2], [0.0, 2.0, 3.0], [5, 6, 7]], ids=str)
def test_labels_that_may_be_positions(labels):
    X = pd.DataFrame([[3.0, 1.0, 4.0], [7.0, 2.0, 5.0]], columns=labels)
    for ambiguous in ([2], [0, 2], {2: "drop"}, {-1: "drop"}, {3: "drop"}):
        with pytest.raises(ValueError, match="'column_kinds'.*label or a position.*astype"):
            TableReader(ambiguous).fit(X)
    assert TableReader([False, False, True]).fit(X).categorical_indices_ == (2,)
    X.columns = X.columns.astype(str)
    reader = TableReader({str(labels[1]): "drop"}).fit(X)
    assert reader.table_report()["kind"].tolist() == ["numeric", "drop", "numeric"]
    X.columns = range(3)
    for positions in ({1: "drop"}, {-2: "drop"}):
        reader = TableReader(positions).fit(X)
        assert reader.table_report()["kind"].tolist() == ["numeric", "drop", "numeric"]


def test_indices_of_categories_count_output_columns():
    X = pd.DataFrame(
        {
            "date": pd.to_datetime(["2020-01-01", "2021-01-02", "2022-03-03"]),
            "constant": 1,
            "color": ["r", "g", "r"],
        }
    )
    reader = TableReader().fit(X)
    (index,) = reader.categorical_indices_
    assert reader.get_feature_names_out()[index] == "color"


def test_large_numbers_are_clipped_in_sparse_and_dense_tables():
    X = np.array([[0.0, 1e200], [-1e200, np.nan], [1.5, 0.0]])
    matrix = sparse.csr_array(X)
    dense = TableReader().fit_transform(X, [0, 1, 0])
    reader = TableReader()
    for Z in (reader.fit_transform(matrix, [0, 1, 0]), reader.transform(matrix)):
        np.testing.assert_array_equal(Z.toarray(), dense)
    np.testing.assert_array_equal(matrix.toarray(), X)  # the table of the user is as before


def test_sparse_stays_sparse():
    dense = np.random.default_rng(0).random((20, 5))
    X = sparse.coo_array(np.where(dense < 0.3, dense, 0.0))
    Z = TableReader().fit_transform(X)
    assert sparse.issparse(Z)
    np.testing.assert_array_equal(Z.toarray(), X.toarray())


def test_a_matrix_is_read_as_an_array():
    X = np.array([[1.0, 5.0], [2.0, 7.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy.matrix is pending deprecation
        np.testing.assert_array_equal(TableReader().fit_transform(np.matrix(X)), X)


def test_lists_with_strings():
    X = [[1.5, "a"], [2.5, "b"]]
    np.testing.assert_array_equal(TableReader().fit_transform(X), [[1.5, 0], [2.5, 1]])


@pytest.mark.parametrize(
    "X, error, message",
    [
        (
            pd.DataFrame({"a": [[1], [2]], "b": 1, "c": [{}, 2], "d": [1j, 2]}),
            TypeError,
            "'a' holds a list; join.*'c' holds a dict; make columns.*'d' holds a complex; pass",
        ),
        (pd.DataFrame({"a": [{}, 1]}), TypeError, "string or a number.*'a' holds a dict"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "different names.*a more than"),
        (np.array([[np.inf], [1.0]]), ValueError, "infinity.*'x0'"),
        (np.array([1.0, 2.0]), ValueError, "Expected 2D array, got 1D"),
        (np.array([[1j]]), ValueError, "Complex data"),
        (np.array([[10**400], [1]], dtype=object), ValueError, "too large.*'x0'"),
    ],
)
def test_bad_tables(X, error, message):
    with pytest.raises(error, match=message):
        TableReader().fit(X)


def test_pickle_reads_alike():
    X = pd.DataFrame({"a": ["x", "y", None], "b": [1.0, None, 3.0]})
    reader = TableReader().fit(X)
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(reader)).transform(X), reader.transform(X)
    )


def test_texts_are_read_on_one_thread_of_linear_algebra(monkeypatch):
    """Threads that wait for busy cores make the small matrices of texts many times slower."""
    from threadpoolctl import threadpool_info

    from skauto.data._text import ClassShares

    seen = []
    choose_penalty = ClassShares.choose_penalty

    def watched(*arguments):
        seen.extend(p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas")
        return choose_penalty(*arguments)

    monkeypatch.setattr(ClassShares, "choose_penalty", watched)
    before = [pool["num_threads"] for pool in threadpool_info()]
    words = [f"order {i} of {'red' if i % 2 else 'blue'} pencils and paper" for i in range(60)]
    TableReader().fit(pd.DataFrame({"text": words}), np.arange(60) % 2)
    assert set(seen) == {1}
    assert [pool["num_threads"] for pool in threadpool_info()] == before


def test_columns_of_another_type_or_order_than_in_fit():
    table = pd.DataFrame({"word": ["b", "a"] * 5, "number": np.arange(10.0), "same": 1})
    reader = TableReader().fit(table)
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        reader.transform(table[["number", "word", "same"]])
    with pytest.warns(UnreadableCellsWarning, match="10 of 10 cells of column 'word', .* '1'"):
        reader.transform(table.assign(word=1))
    with pytest.raises(ValueError, match="Column 'number' of X must hold numbers.* Got 'a'"):
        reader.transform(table.assign(number="a"))
    expected = reader.transform(table)
    for number in (table["number"].astype(str), table["number"].astype("Int64"), range(10)):
        np.testing.assert_array_equal(reader.transform(table.assign(number=number)), expected)
    np.testing.assert_array_equal(reader.transform(table.assign(same="a")), expected)


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        (lambda X: X[["b", "Age"]], r"fit\.\nPass the columns of fit in their order: X"),
        (lambda X: X.assign(id=1), r"- id\nPass .* order: X\[list"),
        (lambda X: X[["b"]], "- Age\nAdd the missing columns, of None"),
        (lambda X: X.rename(columns={"Age": "age "}), "Rename 'age ' to 'Age'.\nPass"),
        (
            lambda X: pd.DataFrame(X.to_numpy()[:, :1], columns=[("b", "Age")]),
            "1 features.*2 feat",
        ),
        (lambda X: X.to_numpy()[:, :1], r"1 features.* 2 features.*\nPass .* in their order\.$"),
    ],
)
def test_other_columns_than_in_fit_are_named_with_advice(change, advice):
    X = pd.DataFrame({"Age": [1, 2, 3], "b": [2, 1, 2]})
    with pytest.raises(ValueError, match=advice):
        TableReader().fit(X).transform(change(X))


def test_unsupported_columns_may_be_left_out():
    X = pd.DataFrame({"a": [[1], [2]], "b": [1, 2], "c": [{}, None]})
    reader = TableReader({"a": "drop", "c": "drop"}).fit(X)
    np.testing.assert_array_equal(reader.transform(X), [[1], [2]])
    with pytest.raises(TypeError, match="'c' holds a dict; make columns of its keys"):
        TableReader({"a": "drop"}).fit(X)


def test_days_between_columns_of_dates():
    rng = np.random.default_rng(0)
    ordered = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 60), unit="D")
    days = rng.integers(0, 8, 60)
    X = pd.DataFrame(
        {
            "ordered": ordered.strftime("%m/%d/%y"),
            "amount": rng.random(60),
            "shipped": ordered + pd.to_timedelta(days, unit="D"),
            "copied": ordered,  # always 0 days after the first column
        }
    )
    reader = TableReader()
    Z = reader.fit_transform(X)
    names = list(reader.get_feature_names_out())
    assert names[-2:] == ["shipped_days_after_ordered", "copied_days_after_shipped"]
    np.testing.assert_array_equal(Z[:, -2:], np.column_stack([days, -days]))
    assert reader.table_report()["n_outputs"].sum() == len(names) == Z.shape[1]
    assert reader.table_report()["why"][2] == "the values are dates; days after 'ordered'"
    alone = X.iloc[[7]].assign(shipped=None)  # imputed like the date, since none was missing
    assert np.isfinite(reader.transform(alone)).all()
    np.testing.assert_array_equal(reader.transform(X.iloc[[7]]), Z[[7]])


def test_at_most_ten_pairs_of_dates():
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(40) % 17, unit="D")
    X = pd.DataFrame(
        {f"d{j}": days.to_series().sample(40, random_state=j).array for j in range(6)}
    )
    assert len(TableReader().fit(X).intervals_) == 10


def test_fit_parses_each_string_once(monkeypatch):
    parsers = [(_dates, "_read"), (_numbers, "_split")]
    for module, name in parsers:
        small = functools.lru_cache(500)(getattr(module, name).__wrapped__)
        monkeypatch.setattr(module, name, small)
    seconds = np.random.default_rng(0).permutation(3_000) * 70_001
    dates = pd.to_datetime(seconds, unit="s").strftime("[%d/%b/%Y:%H:%M:%S +0000]")
    X = pd.DataFrame(dates.to_numpy().reshape(300, 10)).add_prefix("at ")
    assert set(TableReader().fit(X).table_report()["kind"]) == {"date"}
    n_dates, n_numbers = (getattr(*parser).cache_info().misses for parser in parsers)
    assert n_dates == X.size
    assert n_numbers < 0.1 * X.size  # the first cells of a column are no numbers


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_of_fractions_that_share_an_encoder_are_read_as_each_alone(dtype):
    rng = np.random.default_rng(0)
    few, many = rng.normal(size=(2, 60)), 1e4 * rng.normal(size=(2, 60))
    rounded = np.round(np.vstack([few, many]), 2)
    whole, filled = np.round(many), np.vstack([few, many])
    filled[:, :9] = -999.0
    equal, gaps = np.full((1, 60), 0.123), np.vstack([few, many])
    gaps[1, 5] = gaps[3, :50] = np.nan
    late = np.r_[np.round(many[0, :50]), many[1, :10]]
    X = np.vstack([few, many, rounded, whole, filled, equal, gaps, late]).T.astype(dtype)
    names = [f"x{j}" for j in range(X.shape[1])]
    together = TableReader().fit(pd.DataFrame(X, columns=names))
    for j, column in enumerate(together.columns_):
        (alone,) = TableReader().fit(pd.DataFrame(X[:, [j]], columns=[names[j]])).columns_
        assert vars(column) == vars(alone), column.name
