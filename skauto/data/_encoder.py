"""The base class of encoders from the cells of one column to numeric output columns."""

import itertools
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skauto.data._contract import Unread
from skauto.data._notations import is_null_word
from skauto.data._table import Cells, Levels, as_strings

FloatMatrix = NDArray[np.float64]


@dataclass(frozen=True)
class Block:
    """Numeric output columns, with one row per sample or one row per level.

    With ``codes``, the row of ``values`` of each sample (-1 where missing), there is one row per
    level and a last row for missing cells. ``unread`` are the cells that could not be read.
    """

    values: NDArray[Any]
    codes: NDArray[np.signedinteger] | None = None
    unread: Unread | None = None

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return the output of the samples from `start` to `stop`."""
        rows: Any = slice(start, stop) if self.codes is None else self.codes[start:stop]
        return self.values[rows]

    def select(self, columns: NDArray[np.bool_]) -> "Block":
        """Return a block of some of the columns."""
        return self if columns.all() else Block(self.values[:, columns], self.codes, self.unread)


@dataclass(frozen=True)
class TextLearning:
    """How text features are learned.

    With class codes ``labels`` and ``scored`` they are scores of the classes, if the terms predict
    these. Otherwise they are latent terms, or none unless they are ``required``.
    """

    labels: NDArray[np.integer] | None
    scored: bool
    required: bool


class Encoder(ABC):
    """Encoder that was fitted on one column."""

    @abstractmethod
    def encode(self, cells: Cells, name: str) -> Block:
        """Encode cells; ``name`` is used in error messages."""

    def encode_fit(self, cells: Cells, name: str, learning: TextLearning) -> Block | None:
        """Encode the cells of ``fit``, from which text features are learned.

        The result is None if the terms do not predict the labels, unless features are required.
        """
        return self.encode(cells, name)

    @property
    def n_scores(self) -> int:
        """Number of the last outputs that were learned from the labels."""
        return 0

    def names_out(self, name: str) -> list[str]:
        """Return the names of the output columns."""
        return [name]

    def category_outputs(self) -> dict[int, int]:
        """Return the positions of the outputs that are category codes, and their levels."""
        return {}


def known_strings(cells: Cells) -> Levels:
    """Return a column as strings, in which words for missing values are missing."""
    strings = as_strings(cells)
    known = ~np.array(list(map(is_null_word, strings.levels)), dtype=bool)
    codes = np.append(np.where(known, np.cumsum(known) - 1, -1), -1)[strings.codes]
    return replace(strings, levels=list(itertools.compress(strings.levels, known)), codes=codes)


def by_level(
    values: FloatMatrix, cells: Levels, missing: float, unread: Unread | None = None
) -> Block:
    last = np.full((1, values.shape[1]), missing)
    return Block(np.vstack([values, last]), cells.codes, unread)
