"""Numeric features of strings: frequent terms and latent semantic analysis."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.preprocessing import StandardScaler

FloatMatrix = NDArray[np.float64]

_WORD = re.compile(r"\w+")
_NGRAM_SIZES = (2, 3, 4)
# Maximum number of distinct strings and terms of a column, and minimum document frequency.
_MAX_TEXTS = 10_000
_MAX_TERMS = 5_000
_MIN_TEXTS = 2
# Maximum number of features and classes of the ridge regression on text features, its
# penalties, the minimum t statistic of its gain, and the minimum share of the variance that it
# explains.
_MAX_FEATURES, _MAX_CLASSES = 100, 50
_PENALTIES = np.logspace(0, 5, 6)
_MIN_GAIN = 2.0
_MIN_EXPLAINED = 0.01
_N_FOLDS = 5


def words(text: str) -> list[str]:
    """Split a text into lower-case words."""
    return _WORD.findall(text.lower())


def parts(text: str) -> list[str]:
    """Split a text at whitespace, in lower case."""
    return text.lower().split()


def whole(token: str) -> list[str]:
    """Return the token as its only term."""
    return [token]


def ngrams(token: str) -> list[str]:
    """Return the character n-grams of a token padded with spaces, n = 2, 3, 4."""
    padded = f" {token} "
    return [
        padded[start : start + size]
        for size in _NGRAM_SIZES
        for start in range(max(1, len(padded) - size + 1))
    ]


@dataclass(eq=False)
class LatentTerms:
    """Tf-idf weights of terms and their truncated SVD (latent semantic analysis).

    Deerwester et al., "Indexing by Latent Semantic Analysis", 1990. ``terms_of`` maps a token to
    its terms. The features are the weights of the ``n_terms`` most frequent terms and
    ``n_components`` SVD components; with at most that many terms, the weights of all terms.
    """

    terms_of: Callable[[str], list[str]]
    n_components: int
    n_terms: int = 0

    def fit(self, counts: Any, tokens: Sequence[str]) -> Self:
        """Learn terms, tf-idf weights and SVD components from token counts (n_texts, n_tokens)."""
        in_tokens, terms = count_terms(map(self.terms_of, tokens))
        in_texts = counts @ in_tokens
        frequent = _most_frequent(in_texts, terms)
        self.terms_ = {terms[column]: i for i, column in enumerate(frequent)}
        self.tfidf_ = self.svd_ = None
        self.n_columns_ = len(self.terms_)
        if self.n_columns_:
            weights = in_texts[:, frequent]
            self.tfidf_ = TfidfTransformer(sublinear_tf=True).fit(weights)
            if self.n_columns_ > self.n_components + self.n_terms:
                svd = TruncatedSVD(self.n_components, random_state=0)
                self.svd_ = svd.fit(self.tfidf_.transform(weights))
                # Fewer texts than components have one component each.
                self.n_columns_ = self.n_terms + len(self.svd_.components_)
        return self

    def transform(self, counts: Any, tokens: Sequence[str]) -> FloatMatrix:
        """Return tf-idf weights of single terms, then SVD components, (n_texts, n_columns_)."""
        if self.tfidf_ is None or not counts.shape[0]:
            return np.zeros((counts.shape[0], self.n_columns_))
        in_tokens, _ = count_terms(map(self.terms_of, tokens), self.terms_)
        weights = self.tfidf_.transform(counts @ in_tokens)
        if self.svd_ is None:
            return np.asarray(weights.toarray())
        return np.hstack([weights[:, : self.n_terms].toarray(), self.svd_.transform(weights)])

    def names_out(self) -> list[str]:
        """Return the names of the columns: terms, then numbers of SVD components."""
        terms = list(self.terms_)
        if self.svd_ is None:
            return terms
        return terms[: self.n_terms] + [str(i) for i in range(self.n_columns_ - self.n_terms)]


@dataclass(eq=False)
class TextFeatures:
    """Lengths of texts and one or more sets of latent terms.

    ``tokenize`` maps a text to its tokens, and ``views`` are unfitted features of the tokens.
    """

    N_LENGTHS: ClassVar[int] = 2

    tokenize: Callable[[str], list[str]]
    views: Sequence[LatentTerms]

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn terms from distinct texts, of which about 10,000 evenly spaced ones are used."""
        step = max(1, len(texts) // _MAX_TEXTS)
        counts, tokens = count_terms(map(self.tokenize, texts[::step]))
        for view in self.views:
            view.fit(counts, tokens)
        return self

    def transform(self, texts: Sequence[str]) -> FloatMatrix:
        """Return the numbers of characters and tokens, then the views, (n_texts, n_columns)."""
        counts, tokens = count_terms(map(self.tokenize, texts))
        lengths = np.fromiter(map(len, texts), dtype=np.float64, count=len(texts))
        blocks = [lengths[:, None], counts.sum(axis=1)[:, None]]
        return np.hstack([*blocks, *(view.transform(counts, tokens) for view in self.views)])

    def names_out(self) -> list[str]:
        """Return the names of the columns."""
        views = [f"{view.terms_of.__name__}_{n}" for view in self.views for n in view.names_out()]
        return ["n_characters", "n_tokens", *views]


def predicts_other_levels(
    features: FloatMatrix, codes: NDArray[np.signedinteger], y: NDArray[np.integer]
) -> bool:
    """Whether features of the levels predict the classes of other strings.

    The frequency of each class among the rows of a level is the target of a ridge regression with
    one row per level, weighted by the rows. Its 5-fold errors are compared with those of the mean
    frequency by a paired t test over the levels, and it must explain 1% of the variance. The last
    100 features, which are the components and some terms, and the 50 most frequent classes are
    used. The `codes` of missing strings are negative.
    """
    known = codes >= 0
    codes, y = codes[known], y[known]
    rows = np.bincount(codes, minlength=len(features))
    used = np.flatnonzero(rows)
    if len(used) < _N_FOLDS:
        return False
    weight = rows[used].astype(np.float64)
    classes = np.argsort(-np.bincount(y), kind="stable")[:_MAX_CLASSES]
    counts = [np.bincount(codes[y == c], minlength=len(features))[used] for c in classes]
    target = np.transpose(counts) / weight[:, None]
    target -= np.average(target, axis=0, weights=weight)
    predicted = cross_val_predict(
        RidgeCV(_PENALTIES),
        StandardScaler().fit_transform(features[used, -_MAX_FEATURES:], sample_weight=weight),
        target,
        cv=KFold(_N_FOLDS, shuffle=True, random_state=0),
        params={"sample_weight": weight},
    )
    gain = weight * (target**2 - (target - predicted) ** 2).sum(axis=1)
    enough = gain.sum() >= _MIN_EXPLAINED * np.sum(weight[:, None] * target**2)
    return bool(enough and gain.sum() > _MIN_GAIN * np.sqrt(np.sum((gain - gain.mean()) ** 2)))


def count_terms(
    documents: Iterable[Iterable[str]], vocabulary: dict[str, int] | None = None
) -> tuple[Any, list[str]]:
    """Count the terms of documents: CSR array of shape (n_documents, n_terms), and the terms.

    Terms that are not in the `vocabulary` (term to column) are ignored; None counts all terms.
    """
    known = {} if vocabulary is None else vocabulary
    columns: list[int] = []
    ends = [0]
    for document in documents:
        if vocabulary is None:
            columns.extend([known.setdefault(term, len(known)) for term in document])
        else:
            columns.extend([known[term] for term in document if term in known])
        ends.append(len(columns))
    shape = (len(ends) - 1, len(known))
    counts = sparse.csr_array((np.ones(len(columns)), columns, ends), shape=shape)
    counts.sum_duplicates()
    return counts, list(known)


def _most_frequent(counts: Any, terms: Sequence[str]) -> list[int]:
    """Columns of the terms in at least two texts, sorted by decreasing document frequency."""
    frequency = np.bincount(counts.indices, minlength=len(terms))
    enough = np.flatnonzero(frequency >= _MIN_TEXTS).tolist()
    enough.sort(key=lambda column: (-frequency[column], terms[column]))
    return enough[:_MAX_TERMS]
