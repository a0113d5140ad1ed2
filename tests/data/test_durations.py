"""Durations that are written as strings."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest

from skauto.data import TableReader


def reader_of(**columns):
    return TableReader().fit(pd.DataFrame(columns))


@pytest.mark.parametrize(
    "text, seconds",
    [
        ("1 days 02:03:04.5", 93784.5),
        ("-1 days +23:59:59", -1),
        ("1 day, 2:00:00", 93600),
        ("0:00:07", 7),
        ("P1DT2H", 93600),
        ("-PT1.5S", -1.5),
        ("3 days", 259200),
        ("days", np.nan),
        ("", np.nan),
        ("7", np.nan),
    ],
)
def test_durations_as_strings(text, seconds):
    reader = reader_of(a=[datetime.timedelta(1), None])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(reader.transform([[text]]), [[seconds]])
