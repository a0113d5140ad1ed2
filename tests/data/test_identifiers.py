"""Which columns are identifiers."""

import numpy as np
import pandas as pd
import pytest

from skauto.data import TableReader
from tests.data.columns import kind

N = 120
RNG = np.random.default_rng(0)
NAMES = [
    *("PassengerId", "CustomerID", "EmployeeNumber", "RespondentID", "OBJECTID", "rownames"),
    *("S.No", "customerid", "order_id", "Unnamed: 0", "UUID", "id", "id_student", "SK_ID_CURR"),
    *("Order #", "patient_nbr", "Kundennummer", "pid", "empno"),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "cells", ["integers", "strings", "#", "1,234", "with a gap and a duplicate"]
)
def test_identifiers_by_their_name(name, cells):
    values = RNG.choice(10**6, N, replace=False).tolist()
    if cells == "strings":
        values = [f"{value:07d}" for value in values]
    if cells in ("#", "1,234"):
        values = [f"#{value}" if cells == "#" else f"{value:,}" for value in values]
        values[3] = "unknown"
    if cells.startswith("with"):
        values[3], values[7] = None, values[8]
    found, doubts = kind(values, name)
    assert found == "identifier"
    assert f"column_kinds={{{name!r}: " in doubts
    assert kind(RNG.integers(5, size=N).tolist(), name)[0] == "numeric"


@pytest.mark.parametrize(
    "name",
    ["paid", "valid", "humid", "Width", "amount", "n_rooms", "# rooms", "week_number", "(NO2)"],
)
def test_other_names_are_not_those_of_identifiers(name):
    assert kind(RNG.choice(10**6, N, replace=False).tolist(), name)[0] == "numeric"


@pytest.mark.parametrize("as_cell", [int, str, "C-{:06}".format])
def test_only_a_count_is_an_identifier_by_its_values(as_cell):
    count = RNG.permutation(N) + 1000
    assert kind(list(map(as_cell, count.tolist())))[0] == "identifier"
    other = "numeric" if as_cell in (int, str) else "name"
    for values in (2 * count, np.where(count == 1005, 5000, count), count // 2):
        in_order, shuffled = sorted(values.tolist()), values.tolist()
        assert kind(list(map(as_cell, in_order)))[0] == other
        assert kind(list(map(as_cell, shuffled)))[0] == other


def test_different_strings_are_kept_if_their_terms_predict():
    words = ["".join(letters) for letters in RNG.choice(list("bcdfghklmnprst"), (2 * N, 7))]
    y = RNG.integers(2, size=2 * N)
    names = [word + "ao"[k] for word, k in zip(words, y, strict=True)]
    assert not TableReader().fit(pd.DataFrame({"a": words}), y).columns_[0].keep.any()
    assert TableReader().fit(pd.DataFrame({"a": names}), y).columns_[0].keep.any()
