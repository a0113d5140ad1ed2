"""Reading single columns."""

import warnings

import pandas as pd

from skauto.data import TableReader
from skauto.exceptions import ColumnKindWarning


def first_output(values, **kwargs):
    return TableReader(**kwargs).fit_transform(pd.DataFrame({"a": values}))[:, 0]


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
