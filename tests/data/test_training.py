"""Labels and groups: in kind, exact, or refused by name."""

import decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from skauto import AutoClassifier
from skauto.data import TableReader
from skauto.data._training import read_training_data

X = np.arange(90.0)[:, None]
THIRDS = np.arange(90) // 30


def classes_of(y):
    return read_training_data(X, y, {}, TableReader()).classes


@pytest.mark.parametrize("dtype", ["uint64", "UInt64", "uint64[pyarrow]", "object", "category"])
def test_labels_beyond_signed_integers_stay_different(dtype):
    labels = [1, 2**64 - 2, 2**64 - 1]
    y = pd.Series(np.array(labels, dtype=np.uint64)[THIRDS]).astype(dtype)
    assert classes_of(y).tolist() == labels


@pytest.mark.parametrize("dtype", ["int64", "Int64", "int64[pyarrow]", "category"])
def test_large_integers_stay_different_classes(dtype):
    labels = np.array([7, 2**60 + 1, 2**60 + 2])
    classes = classes_of(pd.Series(labels[THIRDS]).astype(dtype))
    assert classes.dtype == np.int64 and classes.tolist() == labels.tolist()


@pytest.mark.parametrize("dtype", ["bool", "boolean", "bool[pyarrow]"])
def test_booleans_are_predicted_as_booleans(dtype):
    y = pd.Series(THIRDS > 0, dtype=dtype)
    predicted = AutoClassifier(max_evals=1, cv=2, random_state=0).fit(X, y).predict(X)
    assert predicted.dtype == bool


def test_labels_of_polars():
    pl = pytest.importorskip("polars")
    assert classes_of(pl.Series([2**60 + int(k) for k in THIRDS])).tolist() == [
        2**60,
        2**60 + 1,
        2**60 + 2,
    ]


@pytest.mark.parametrize(
    "y",
    [
        pd.Series([None, *THIRDS[1:]], dtype="Int64"),
        np.ma.masked_array(THIRDS, mask=X[:, 0] == 89.0),
    ],
    ids=["Int64", "masked array"],
)
def test_missing_and_masked_labels_are_counted(y):
    with pytest.raises(ValueError, match="Input y contains 1 missing"):
        classes_of(y)


def test_sparse_labels_are_refused():
    with pytest.raises(ValueError, match=r"Got a sparse matrix; use y.toarray"):
        classes_of(sparse.csr_array(np.ones((3, 1))))


@pytest.mark.parametrize(
    "levels",
    [
        [(0, 0), (0, 1), (0, 2)],
        [decimal.Decimal(k) for k in range(3)],
        list(pd.period_range("2020", periods=3, freq="Y")),
        [2**70, 2**70 + 1, 2**70 + 2],
    ],
    ids=["tuples", "decimals", "periods", "integers of 71 bits"],
)
def test_other_labels_are_refused_with_what_to_do(levels):
    y = pd.Series([levels[k] for k in THIRDS], dtype=object)
    with pytest.raises(ValueError, match=r"y must hold strings, booleans.*astype\(str\)"):
        classes_of(y)


def test_groups_can_be_a_column_of_an_array():
    table = np.column_stack([X, THIRDS])
    read = read_training_data(table, THIRDS, {"groups": "x1"}, TableReader({"x1": "drop"}))
    assert read.groups.tolist() == THIRDS.tolist()
    assert read.Z.shape == (90, 1)


def test_warnings_about_labels_name_the_line_of_the_caller():
    for y in (THIRDS[:, None], np.arange(90)):
        with pytest.warns(UserWarning, match="column-vector|unique classes") as caught:
            classes_of(y)
        assert {Path(warning.filename).name for warning in caught} == {"test_training.py"}


def test_the_name_of_a_column_is_no_target():
    with pytest.raises(ValueError, match="Got the str 'class'; pass the column"):
        classes_of("class")


def test_labels_that_are_arrays_are_refused():
    with pytest.raises(ValueError, match="Got ndarray such as"):
        classes_of(pd.Series([np.array([k, k]) for k in THIRDS]))


def test_groups_of_several_types_are_refused():
    groups = pd.Series([i if i % 2 else str(i) for i in range(90)], dtype=object)
    with pytest.raises(ValueError, match="'groups' must hold values of one type. Got int and str"):
        read_training_data(X, THIRDS, {"groups": groups}, TableReader())


@pytest.mark.parametrize(
    "name, values, message",
    [
        (
            "sample_weight",
            "balanced",
            "array-like.*Got 'balanced' instead.*compute_sample_weight",
        ),
        ("sample_weight", {0: 1.0, 1: 5.0, 2: 1.0}, "Got {0: 1.0.*compute_sample_weight"),
        ("groups", 3, "'groups' must be array-like.*Got 3 instead; pass the name of a column"),
        ("sensitive_features", "sex", "'sensitive_features' must be.*Got 'sex' instead; pass the"),
    ],
)
def test_a_word_or_a_dict_is_no_value_for_each_row(name, values, message):
    with pytest.raises(ValueError, match=message):
        read_training_data(X, THIRDS, {name: values}, TableReader())


def test_masked_weights_are_refused():
    weight = np.ma.masked_array(np.ones(90), mask=THIRDS == 0)
    with pytest.raises(ValueError, match="'sample_weight' contains masked"):
        read_training_data(X, THIRDS, {"sample_weight": weight}, TableReader())


def test_columns_with_and_without_names_are_refused():
    table = pd.DataFrame(np.ones((90, 2)), columns=pd.Index(["a", None], dtype=object))
    with pytest.raises(TypeError, match="columns without one: (None|nan)"):
        read_training_data(table, THIRDS, {}, TableReader())


def test_a_row_as_a_series_is_refused_with_what_to_do():
    table = pd.DataFrame({"a": X[:, 0]})
    reader = TableReader().fit(table)
    with pytest.raises(ValueError, match=r"X.iloc\[\[0\]\]"):
        reader.transform(table.iloc[0])
