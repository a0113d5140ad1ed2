"""What `fit` learned of the notation of a column, and cells that cannot be read with it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from skauto.data._notations import folded, is_null_word
from skauto.data._table import Cells, Levels, as_strings, text_of
from skauto.exceptions import UnreadableCellsWarning
from skauto.utils import warn

# Strings that a CSV reader may convert to a number or a boolean.
_PLAIN = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*|true|false", re.IGNORECASE)
# Number of cells that an error quotes.
_EXAMPLES = 3


@dataclass(frozen=True)
class StringForm:
    """How a column of strings writes numbers, to undo what a CSV reader makes of them.

    ``texts`` maps the usual text of a number or boolean to its text in ``fit``: "7" to "007"; and
    "2.0" to itself, if it was in ``fit``. Numbers that ``fit`` has not seen get ``width`` digits
    and ``decimals``, if all numbers had them.
    """

    texts: dict[str, str] = field(default_factory=dict)
    width: int = 0
    decimals: int = 0

    @classmethod
    def of(cls, levels: Iterable[str]) -> Self:
        """Learn the form of the numbers among distinct strings."""
        plain = sorted(filter(_PLAIN.fullmatch, levels))
        usual = [(usual_text(text), text) for text in plain]
        known = set(plain)
        texts = {new: text for new, text in usual if new != text and new not in known}
        texts |= {text: text for text in plain if text.endswith(".0")}
        digits = [text for text in plain if text.isdigit()]
        lengths = set(map(len, digits))
        padded = len(lengths) == 1 and any(text[0] == "0" for text in digits)
        decimals = {len(text.partition(".")[2]) for text in plain if text[-1].isdigit()}
        fixed = len(decimals) == 1 and "e" not in "".join(plain).lower()
        return cls(texts, lengths.pop() if padded else 0, decimals.pop() if fixed else 0)

    def restore(self, cells: Cells) -> Levels:
        """Return a column as strings, its numbers in the form that they had in ``fit``."""
        strings = as_strings(cells)
        return Levels(list(map(self._write, strings.levels)), strings.codes)

    def _write(self, text: str) -> str:
        if text not in self.texts and text.endswith(".0") and text[:-2].isdigit():
            text = text[:-2]  # an integer that was a float
        if text in self.texts:
            return self.texts[text]
        if self.width and text.isdigit():
            return text.zfill(self.width)
        n_decimals = len(text.partition(".")[2])
        if n_decimals < self.decimals and _PLAIN.fullmatch(text):
            longer = f"{float(text):.{self.decimals}f}"
            return longer if float(longer) == float(text) else text
        return text


def usual_text(text: str) -> str:
    """Return a string of a number or boolean as `text_of` writes it."""
    word = text.strip().lower()
    if word in ("true", "false"):
        return word.capitalize()
    return word if word.isdigit() and word[0] != "0" else text_of(float(word))


@dataclass(frozen=True)
class Unread:
    """Strings of a column that are not read as in ``fit``, and the number of rows of each.

    ``n_cells`` is the number of cells that are not missing. ``contradicts``: the strings show
    another notation, in which cells that are read now have another meaning. ``may_be_new``: they
    may be levels that did not occur in ``fit``.
    """

    texts: list[str]
    rows: list[int]
    n_cells: int
    contradicts: bool = False
    may_be_new: bool = False

    @classmethod
    def of(
        cls, cells: Levels, unread: NDArray[np.bool_], *, may_be_new: bool = False
    ) -> "Unread | None":
        """Count the levels in the mask `unread` but for null words; None if no cell has one."""
        if not unread.any():
            return None
        levels = cells.levels
        counts = np.bincount(cells.codes + 1, minlength=len(levels) + 1)[1:]
        known = (counts > 0) & ~np.array(list(map(is_null_word, levels)))
        chosen = np.flatnonzero(known & unread).tolist()
        if not chosen:
            return None
        texts, n_cells = [levels[i] for i in chosen], int(counts[known].sum())
        return cls(texts, counts[chosen].tolist(), n_cells, may_be_new=may_be_new)

    def without(self, known: Mapping[str, bool]) -> "Unread | None":
        """Leave out strings that are known but for case and spaces; None if no other is left."""
        pairs = zip(self.texts, self.rows, strict=True)
        rest = {text: n for text, n in pairs if folded(text) not in known}
        return replace(self, texts=list(rest), rows=list(rest.values())) if rest else None

    @property
    def n_unread(self) -> int:
        """Number of cells."""
        return sum(self.rows)

    @property
    def most_cells(self) -> bool:
        """Whether more than half of the cells are unread."""
        return 2 * self.n_unread > self.n_cells

    @property
    def is_told(self) -> bool:
        """Whether these are no rare new levels: one fills a tenth of the cells, or all do half."""
        frequent = max(self.rows) >= max(2, self.n_cells / 10)
        return not self.may_be_new or self.most_cells or frequent

    @property
    def refused(self) -> bool:
        """Whether the column holds another notation than in ``fit``, and not single errors."""
        return not self.may_be_new and self.n_cells > 1 and (self.contradicts or self.most_cells)

    @property
    def examples(self) -> str:
        """The most frequent strings."""
        order = sorted(range(len(self.texts)), key=lambda i: (-self.rows[i], i))[:_EXAMPLES]
        return ", ".join(repr(self.texts[i][:50]) for i in order)


# The name of a column, what was expected of its cells, and the cells that are not so.
Problem = tuple[str, str, Unread]


def report(problems: Sequence[Problem]) -> None:
    """Raise or warn of cells that are not read.

    A ValueError names all columns most of whose cells are unread; else one warning names all
    columns. A single row is never refused: its cell is missing, as it is in a batch.
    """
    refused = [
        f"Column {name!r} of X must hold {expected}, as it did in fit. Got {unread.examples} "
        f"instead ({unread.n_unread} of {unread.n_cells} cells)."
        for name, expected, unread in problems
        if unread.refused
    ]
    if refused:
        raise ValueError(
            " ".join(refused) + " Write the cells as in fit, or pass None where they are missing."
        )
    if problems:
        told = [
            f"{unread.n_unread} of {unread.n_cells} cells of column {name!r}, such as "
            f"{unread.examples} (expected {expected})"
            for name, expected, unread in problems
        ]
        new = any(unread.may_be_new for _, _, unread in problems)
        warn(
            f"Cells that cannot be read as in fit are missing values{' or unknown levels' * new}: "
            f"{'; '.join(told)}.",
            UnreadableCellsWarning,
        )
