"""Encoders from the cells of one column to numeric output columns, one class per kind."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skauto.data._dates import DATE_PARTS, DateFormat, date_parts
from skauto.data._kinds import BooleanWords, Kind, split_tags
from skauto.data._numbers import NumberFormat, is_null_word
from skauto.data._table import (
    Cells,
    Dates,
    Levels,
    Numbers,
    as_levels,
    common_type,
    distinct_strings,
)
from skauto.data._text import (
    LatentTerms,
    TextFeatures,
    ngrams,
    parts,
    predicts_other_levels,
    whole,
    words,
)

FloatMatrix = NDArray[np.float64]

_MAX_TAGS = 50
# SVD components and single n-grams of a name column.
_NAME_COMPONENTS, _NAME_TERMS = 30, 100
# SVD components of the words and of the n-grams of a text column.
_WORD_COMPONENTS, _NGRAM_COMPONENTS = 30, 20


@dataclass(frozen=True)
class Block:
    """Numeric output columns, with one row per sample or one row per level.

    With ``codes``, the row of ``values`` of each sample (-1 where missing), there is one row per
    level and a last row for missing cells.
    """

    values: NDArray[Any]
    codes: NDArray[np.signedinteger] | None = None

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Return the output of the samples from `start` to `stop`."""
        rows: Any = slice(start, stop) if self.codes is None else self.codes[start:stop]
        return self.values[rows]

    def select(self, columns: NDArray[np.bool_]) -> "Block":
        """Return a block of some of the columns."""
        return self if columns.all() else Block(self.values[:, columns], self.codes)


class Encoder(ABC):
    """Encoder that was fitted on one column."""

    @abstractmethod
    def encode(self, cells: Cells, name: str) -> Block:
        """Encode cells; ``name`` is used in error messages."""

    def names_out(self, name: str) -> list[str]:
        """Return the names of the output columns."""
        return [name]


@dataclass
class NumericEncoder(Encoder):
    """Encoder of numbers, booleans, and strings that are parsed as such.

    Without a parser (the column held no strings in ``fit``), every string must be a number.
    """

    parser: NumberFormat | BooleanWords | None = None

    def encode(self, cells: Cells, name: str) -> Block:
        """Return one column; with a parser, strings that are not numbers are missing."""
        if isinstance(cells, Numbers):
            return Block(cells.values[:, None])
        texts = _strings_of(cells, name, "numeric values")
        values = (self.parser or NumberFormat()).parse(texts)
        if self.parser is None and not _all_null_words(texts, ~np.isfinite(values)):
            raise _type_error(name, "numeric values", cells)
        return _by_level(values[:, None], cells, np.nan)


@dataclass
class DateEncoder(Encoder):
    """Encoder of dates as `DATE_PARTS`.

    Without a parser (the column held no strings in ``fit``), every string must be a date.
    """

    parser: DateFormat | None = None

    def encode(self, cells: Cells, name: str) -> Block:
        """Return one column per part; with a parser, strings that are not dates are missing."""
        if isinstance(cells, Dates):
            return Block(date_parts(cells.values))
        texts = _strings_of(cells, name, "dates")
        dates = (self.parser or DateFormat()).parse(texts)
        if self.parser is None and not _all_null_words(texts, np.isnat(dates)):
            raise _type_error(name, "dates", cells)
        return _by_level(date_parts(dates), cells, np.nan)

    def names_out(self, name: str) -> list[str]:
        return [f"{name}_{part}" for part in DATE_PARTS]


def _sorted(levels: set[Any]) -> list[Any]:
    """Sort levels: strings last, and by their text if they cannot be compared."""
    try:
        return sorted(levels, key=lambda level: (isinstance(level, str), level))
    except TypeError:  # such as datetimes with and without a time zone
        return sorted(levels, key=str)


def _types_of(levels: Sequence[Any]) -> list[str]:
    """Return the types of levels, such as "numbers", in alphabetical order."""
    types = set(map(type, levels))
    return sorted({common_type(kind) or f"{kind.__name__} objects" for kind in types})


class CategoryEncoder(Encoder):
    """Ordinal encoding: codes 0, 1, 2, ... of sorted levels, NaN for missing and unknown levels.

    The reader replaces NaN by one more code if no entry was missing in ``fit``.
    """

    def __init__(self, cells: Levels) -> None:
        present = set(cells.levels)
        if cells.declared:
            counts = np.bincount(cells.codes[cells.codes >= 0])
            present = {cells.levels[code] for code in np.flatnonzero(counts).tolist()}
        ordered = _sorted(present)
        self.code_of = {level: float(code) for code, level in enumerate(ordered)}
        self.of_strings = set(map(type, ordered)) <= {str}
        self.types = _types_of(ordered)

    def encode(self, cells: Cells, name: str) -> Block:
        """Return one column of codes; strings are parsed if all levels were numbers in ``fit``."""
        coded = as_levels(cells)
        levels, texts = coded.levels, distinct_strings(coded)
        known = not coded.missing.all()
        if known and texts is not None and self.types == ["numbers"]:
            values = NumberFormat().parse(texts)
            if not _all_null_words(texts, ~np.isfinite(values)):
                raise _type_error(name, "numbers", cells)
            levels = values.tolist()
        elif known and set(self.types).isdisjoint(_types_of(levels)):
            raise _type_error(name, " or ".join(self.types), cells)
        codes = [self.code_of.get(level, np.nan) for level in levels]
        return Block(np.array([*codes, np.nan])[:, None], coded.codes)


class TextEncoder(Encoder):
    """Encoder of strings as text features, which it fits on the levels; 0 where missing."""

    def __init__(self, cells: Levels, features: TextFeatures) -> None:
        self.features = features.fit(cells.levels)

    def encode(self, cells: Cells, name: str) -> Block:
        texts = _strings_of(cells, name)
        return _by_level(self.features.transform(texts), cells, 0.0)

    def names_out(self, name: str) -> list[str]:
        return [f"{name}_{feature}" for feature in self.features.names_out()]


@dataclass
class NameEncoder(Encoder):
    """Encoder of short strings as a column of category codes, then text features."""

    category: CategoryEncoder
    text: TextEncoder

    def encode(self, cells: Cells, name: str) -> Block:
        codes, features = self.category.encode(cells, name), self.text.encode(cells, name)
        return Block(np.hstack([codes.values, features.values]), features.codes)

    def names_out(self, name: str) -> list[str]:
        return [*self.category.names_out(name), *self.text.names_out(name)]


class TagsEncoder(Encoder):
    """Encoder of lists of tags: the number of tags, then one indicator column per frequent tag."""

    def __init__(self, cells: Levels, separator: str) -> None:
        self.separator = separator
        counts = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.levels))
        uses: Counter[str] = Counter()
        for text, n in zip(cells.levels, counts.tolist(), strict=True):
            for tag in split_tags(text, separator):
                uses[tag] += n
        self.tags = sorted(uses, key=lambda tag: (-uses[tag], tag))[:_MAX_TAGS]

    def encode(self, cells: Cells, name: str) -> Block:
        texts = _strings_of(cells, name)
        column = {tag: i for i, tag in enumerate(self.tags, start=1)}
        values = np.zeros((len(texts), 1 + len(column)))
        for row, text in enumerate(texts):
            tags = split_tags(text, self.separator)
            values[row, 0] = len(tags)
            values[row, [column[tag] for tag in tags if tag in column]] = 1.0
        return _by_level(values, cells, 0.0)

    def names_out(self, name: str) -> list[str]:
        return [f"{name}_n_tags", *(f"{name}_{tag}" for tag in self.tags)]


class DropEncoder(Encoder):
    """Encoder without output columns."""

    def encode(self, cells: Cells, name: str) -> Block:
        return Block(np.empty((len(cells.missing), 0)))

    def names_out(self, name: str) -> list[str]:
        return []


def make_encoder(kind: Kind, cells: Cells, max_text_columns: int) -> Encoder:
    """Fit the encoder of a column; a name or text has at most `max_text_columns` outputs."""
    makers: dict[str, Callable[[], Encoder]] = {
        "numeric": lambda: NumericEncoder(kind.parser),
        "boolean": lambda: NumericEncoder(kind.parser),
        "date": lambda: DateEncoder(kind.parser),
        "categorical": lambda: CategoryEncoder(as_levels(cells)),
        "name": lambda: _name_encoder(as_levels(cells), max_text_columns),
        "text": lambda: TextEncoder(as_levels(cells), _text_features(max_text_columns)),
        "tags": lambda: TagsEncoder(as_levels(cells), kind.parser),
    }
    return makers.get(kind.name, DropEncoder)()


def codes_alone(
    encoder: Encoder, block: Block, labels: NDArray[np.intp] | None
) -> CategoryEncoder | None:
    """Return the encoder of the codes of names whose text features do not predict the labels."""
    if labels is None or not isinstance(encoder, NameEncoder) or block.codes is None:
        return None
    features = block.values[:-1, 1:]
    return None if predicts_other_levels(features, block.codes, labels) else encoder.category


def _name_encoder(cells: Levels, max_columns: int) -> Encoder:
    """Encode text features, and category codes too if levels occur twice or more on average."""
    n_components = min(_NAME_COMPONENTS, max_columns)
    view = LatentTerms(ngrams, n_components, min(_NAME_TERMS, max_columns - n_components))
    text = TextEncoder(cells, TextFeatures(parts, [view]))
    if 2 * len(cells.levels) > np.count_nonzero(cells.codes >= 0):
        return text
    return NameEncoder(CategoryEncoder(cells), text)


def _text_features(max_columns: int) -> TextFeatures:
    n_components = min(_WORD_COMPONENTS, max(1, max_columns // 2))
    n_ngrams = min(_NGRAM_COMPONENTS, max(1, max_columns // 3))
    n_words = max(0, max_columns - n_components - n_ngrams)
    return TextFeatures(
        words, [LatentTerms(whole, n_components, n_words), LatentTerms(ngrams, n_ngrams)]
    )


def _strings_of(cells: Cells, name: str, expected: str = "strings") -> Sequence[str]:
    """Return the distinct strings of a column, none if all cells are missing."""
    texts = distinct_strings(cells)
    if texts is not None:
        return texts
    if cells.missing.all():
        return []
    raise _type_error(name, expected, cells)


def _all_null_words(texts: Sequence[str], chosen: NDArray[np.bool_]) -> bool:
    """Whether all chosen strings stand for missing values, such as "n/a"."""
    return all(is_null_word(texts[i]) for i in np.flatnonzero(chosen).tolist())


def _by_level(values: FloatMatrix, cells: Cells, missing: float) -> Block:
    """Return a block with one row per level; cells of another type are all missing."""
    last = np.full((1, values.shape[1]), missing)
    codes = cells.codes if isinstance(cells, Levels) else np.full(len(cells.missing), -1)
    return Block(np.vstack([values, last]), codes)


def _type_error(name: str, expected: str, cells: Cells) -> TypeError:
    if isinstance(cells, Levels):
        got = ("categories of " if cells.declared else "") + " and ".join(_types_of(cells.levels))
    else:
        got = "numeric values" if isinstance(cells, Numbers) else "dates"
    return TypeError(
        f"Column {name!r} of X must hold {expected}, as it did in fit. Got {got} instead."
    )
