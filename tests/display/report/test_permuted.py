"""Cells of a column from other rows, in tables of any type."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from tests.display.report.customers import search


def arrow(X):
    return pa.Table.from_pandas(pd.DataFrame(X))


@pytest.mark.parametrize(
    "form", [np.asarray, pl.DataFrame, arrow, sparse.csr_array, pd.DataFrame, np.ndarray.tolist]
)
def test_drivers_of_tables_of_any_type(form):
    X, y = make_classification(
        300,
        4,
        n_informative=1,
        n_redundant=0,
        n_clusters_per_class=1,
        shuffle=False,
        random_state=0,
    )
    mixed = np.random.default_rng(0).permutation(300)
    X, y = X[mixed], y[mixed]
    clf = search(form(X[:200]), y[:200])
    drivers = clf.report_dict(X=form(X[200:]), y=y[200:])["drivers"]
    first = drivers["columns"][0]
    assert first["column"] in ("x0", "column_0", "0", 0)
    assert first["direction"]["trend"] == "rising"
    assert first["importance"] > 0.2
