"""Sensitive groups: their names, codes and weights."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skauto.data._table import column_of, names_or_numbers
from skauto.utils import FloatArray, IntArray

# A sensitive feature with more values is probably a number that should be binned.
MAX_GROUPS = 50


def group_names(values: ArrayLike, name: str) -> list[str]:
    """Names of the groups of a sensitive feature, in alphabetical order.

    The position of a name is the code of the group. Missing values are a group of their own, named
    "". A ValueError is raised if there are more than 50 groups, or only one.
    """
    _check_types(values, name)
    groups = sorted(set(_texts(values)))
    if not 2 <= len(groups) <= MAX_GROUPS:
        raise ValueError(
            f"The sensitive feature {name!r} must have 2 to {MAX_GROUPS} groups. Got "
            f"{len(groups)} instead; bin numeric values, for instance with pandas.cut."
        )
    return groups


def group_codes(values: ArrayLike, name: str, groups: Sequence[str] | None = None) -> IntArray:
    """Encode the groups (n_samples,) of a sensitive feature as integers from 0.

    The codes are positions in `groups`, names in alphabetical order; None means those of
    `group_names`. A ValueError is raised if a value is not in `groups`.
    """
    if groups is None:
        groups = group_names(values, name)
    texts = _texts(values)
    if unknown := set(texts) - set(groups):
        raise ValueError(
            f"The sensitive feature {name!r} must hold groups of fit, {list(groups)}. Got "
            f"{min(unknown)!r} instead. Missing values are the group ''."
        )
    return np.searchsorted(groups, texts)


def _check_types(values: ArrayLike, name: str) -> None:
    """Raise a ValueError if a string is the text of a value of another type, such as 1 and "1"."""
    cells = np.asarray(values, dtype=object).ravel()
    distinct = {(isinstance(value, str), _text(value)): value for value in cells}
    for (is_string, text), value in distinct.items():
        if not is_string and (True, text) in distinct and text:
            raise ValueError(
                f"The sensitive feature {name!r} holds {value!r} and {text!r}, which have the "
                "same text. Give its values one type, for instance with .astype(str)."
            )


def _texts(values: ArrayLike) -> list[str]:
    """Values as strings; missing ones are empty."""
    return [_text(value) for value in np.asarray(values, dtype=object).tolist()]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))  # a column of integers with missing values has floats
    return "" if str(value) in ("None", "nan", "NaN", "NaT", "<NA>") else str(value)


def crossed_codes(codes: Sequence[NDArray[np.integer[Any]]]) -> IntArray:
    """Encode combinations of the group codes (n_samples,) of some features as integers."""
    return np.ravel_multi_index(tuple(codes), (MAX_GROUPS,) * len(codes))


def groups_of(tables: Sequence[Any], names: Sequence[str]) -> Mapping[str, IntArray]:
    """Group codes of sensitive features, which are columns of one of the tables."""
    return {name: group_codes(_column(tables, name), name) for name in names}


def _column(tables: Sequence[Any], name: str) -> Any:
    for table in tables:
        if name in names_or_numbers(table):
            return column_of(table, name)
    raise ValueError(
        f"The weights of this pipeline depend on the sensitive feature {name!r}, which must be a "
        "column of X or of fit(..., sensitive_features=...). Got neither."
    )


def group_weights(
    groups: IntArray, y: IntArray, strength: float, sample_weight: FloatArray | None = None
) -> FloatArray:
    r"""Reweight rows so that sensitive groups and classes become independent.

    A row of group :math:`g` and class :math:`c` is weighted by

    .. math:: \left(\frac{P(g) \, P(c)}{P(g, c)}\right)^s

    with weighted frequencies for the probabilities, and the strength :math:`s`. With :math:`s =
    1`, groups and classes are independent [1]_; 0 changes nothing. A classifier that predicts the
    group from other columns may require a larger strength.

    The result is the product with given sample weights, scaled to the same sum. The exponent and
    the scaling are deviations from [1]_.

    References
    ----------
    .. [1] F. Kamiran and T. Calders, "Data preprocessing techniques for classification without
       discrimination", Knowledge and Information Systems 33, 2012.
    """
    known = np.ones(len(y)) if sample_weight is None else sample_weight
    cells = np.zeros((groups.max() + 1, y.max() + 1))
    np.add.at(cells, (groups, y), known)
    expected = cells.sum(axis=1)[groups] * cells.sum(axis=0)[y] / cells.sum()
    weights = known * (expected / cells[groups, y]) ** strength
    return weights * (known.sum() / weights.sum())
