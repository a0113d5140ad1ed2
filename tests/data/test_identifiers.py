"""Which columns are identifiers."""

import numpy as np
import pytest

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
    "name", ["paid", "valid", "humid", "Width", "amount", "n_rooms", "# rooms"]
)
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


def test_a_unique_number_after_a_constant_is_an_identifier():
    codes = [f"user_{i}" for i in RNG.choice(10**6, N, replace=False)]
    assert kind(codes)[0] in ("identifier", "name")
