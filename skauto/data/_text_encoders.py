"""Encoders of names and texts."""

from dataclasses import dataclass

import numpy as np

from skauto.data._encoder import Block, Encoder, TextLearning, by_level, known_strings
from skauto.data._table import Cells
from skauto.data._text import (
    ClassShares,
    LatentTerms,
    TextFeatures,
    ngrams,
    parts,
    whole,
    words,
    words_and_pairs,
)

# SVD components and single n-grams of a name column.
_NAME_COMPONENTS, _NAME_TERMS = 30, 100
# Maximum number of scores of classes of a name or text column.
_MAX_SCORES = 10
# SVD components of the words and of the n-grams of a text column.
_WORD_COMPONENTS, _NGRAM_COMPONENTS = 30, 20


@dataclass
class TextEncoder(Encoder):
    """Encoder of strings as text features; 0 if missing."""

    features: TextFeatures

    def encode(self, cells: Cells, name: str) -> Block:
        strings = known_strings(cells)
        return by_level(self.features.transform(strings.levels), strings, 0.0)

    def encode_fit(self, cells: Cells, name: str, learning: TextLearning) -> Block | None:
        strings, labels, n_scores = known_strings(cells), learning.labels, self.features.max_scores
        shares = None
        if labels is not None:
            shares = ClassShares.of(strings.codes, labels, len(strings.levels), n_scores)
        values = self.features.fit_transform(
            strings.levels, shares, scored=learning.scored, required=learning.required
        )
        return None if values is None else by_level(values, strings, 0.0)

    @property
    def n_scores(self) -> int:
        return self.features.n_scores

    def names_out(self, name: str) -> list[str]:
        return [f"{name}_{feature}" for feature in self.features.names_out()]


@dataclass
class NameEncoder(Encoder):
    """Encoder of short strings as a column of category codes, then text features."""

    category: Encoder
    text: TextEncoder

    def encode(self, cells: Cells, name: str) -> Block:
        return self._with_codes(self.text.encode(cells, name), cells, name)

    def encode_fit(self, cells: Cells, name: str, learning: TextLearning) -> Block | None:
        features = self.text.encode_fit(cells, name, learning)
        return None if features is None else self._with_codes(features, cells, name)

    def _with_codes(self, features: Block, cells: Cells, name: str) -> Block:
        codes = self.category.encode(known_strings(cells), name)
        return Block(np.hstack([codes.values, features.values]), features.codes)

    @property
    def n_scores(self) -> int:
        return self.text.n_scores

    def names_out(self, name: str) -> list[str]:
        return [*self.category.names_out(name), *self.text.names_out(name)]

    def category_outputs(self) -> dict[int, int]:
        return self.category.category_outputs()


def name_features(max_columns: int) -> TextFeatures:
    """Return unfitted features of a column of names, at most `max_columns` of terms."""
    n_components = min(_NAME_COMPONENTS, max_columns)
    view = LatentTerms(ngrams, n_components, min(_NAME_TERMS, max_columns - n_components))
    max_scores = min(max_columns, _MAX_SCORES)
    return TextFeatures(parts, [view] if max_columns else [], max_scores)


def text_features(max_columns: int) -> TextFeatures:
    """Return unfitted features of a column of texts, at most `max_columns` of terms."""
    if not max_columns:
        return TextFeatures(words, [])
    n_components = min(_WORD_COMPONENTS, max(1, max_columns // 2))
    n_ngrams = min(_NGRAM_COMPONENTS, max(1, max_columns // 3))
    n_words = max(0, max_columns - n_components - n_ngrams)
    views = [LatentTerms(whole, n_components, n_words), LatentTerms(ngrams, n_ngrams)]
    return TextFeatures(words_and_pairs, views, min(max_columns, _MAX_SCORES))
