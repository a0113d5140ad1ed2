"""Numeric features of strings: frequent terms, latent semantic analysis, scores of classes."""

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold

FloatMatrix = NDArray[np.float64]

_WORD = re.compile(r"\w+")
_NGRAM_SIZES = (2, 3, 4)
# Maximum number of distinct strings and terms of a column, and minimum document frequency.
_MAX_TEXTS = 10_000
_MAX_TERMS = 10_000
_MIN_TEXTS = 2
# Ridge regression on terms: penalties, maximum numbers of strings that choose one and that are
# fitted, and of classes; the minimum t statistic of its gain, and the minimum share of the
# variance that it explains.
_PENALTIES = (1.0, 3.0, 10.0, 30.0)
_MAX_COMPARED, _MAX_FITTED, _MAX_CLASSES = 2_000, 20_000, 10
_MIN_GAIN = 2.0
_MIN_EXPLAINED = 0.01
_N_FOLDS = 5


def words(text: str) -> list[str]:
    """Split a text into lower-case words."""
    return _WORD.findall(text.lower())


def words_and_pairs(text: str) -> list[str]:
    """Return the words of a text, and each two neighbors, separated by a space."""
    found = words(text)
    return found + [f"{a} {b}" for a, b in itertools.pairwise(found)]


def parts(text: str) -> list[str]:
    """Split a text at whitespace, in lower case."""
    return text.lower().split()


def whole(token: str) -> list[str]:
    """Return the token as its only term."""
    return [token]


def ngrams(token: str) -> list[str]:
    """Return the character n-grams of a token padded with spaces, n = 2, 3, 4; none of a pair."""
    if " " in token:
        return []
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

    def weigh(self, counts: Any, tokens: Sequence[str]) -> Any:
        """Return the tf-idf weights of all terms, a CSR array of shape (n_texts, n_terms)."""
        if self.tfidf_ is None or not counts.shape[0]:
            return sparse.csr_array((counts.shape[0], len(self.terms_)))
        in_tokens, _ = count_terms(map(self.terms_of, tokens), self.terms_)
        return self.tfidf_.transform(counts @ in_tokens)

    def transform(self, weights: Any) -> FloatMatrix:
        """Return tf-idf weights of single terms, then SVD components, (n_texts, n_columns_)."""
        if self.svd_ is None:
            return np.asarray(weights.toarray())
        if not weights.shape[0]:
            return np.zeros((0, self.n_columns_))
        return np.hstack([weights[:, : self.n_terms].toarray(), self.svd_.transform(weights)])

    def names_out(self) -> list[str]:
        """Return the names of the columns: terms, then numbers of SVD components."""
        terms = list(self.terms_)
        if self.svd_ is None:
            return terms
        return terms[: self.n_terms] + [str(i) for i in range(self.n_columns_ - self.n_terms)]


@dataclass(eq=False)
class TextFeatures:
    """Lengths of texts, one or more sets of latent terms, and scores of classes.

    ``tokenize`` maps a text to its tokens, and ``views`` are unfitted features of the tokens.
    The scores are those of a ridge regression from all terms of all views to the classes.
    """

    tokenize: Callable[[str], list[str]]
    views: Sequence[LatentTerms]
    max_scores: int = 1

    def fit(self, texts: Sequence[str]) -> Self:
        """Learn terms from distinct texts, of which about 10,000 evenly spaced ones are used."""
        self.coefficients_: FloatMatrix | None = None
        step = max(1, len(texts) // _MAX_TEXTS)
        counts, tokens = count_terms(map(self.tokenize, texts[::step]))
        for view in self.views:
            view.fit(counts, tokens)
        return self

    def fit_transform(
        self, texts: Sequence[str], codes: NDArray[np.signedinteger], y: NDArray[np.integer]
    ) -> FloatMatrix | None:
        """Learn the scores of classes from fitted terms; return all features.

        The scores are cross-fitted. The result is None if the terms do not predict the classes of
        other texts. `codes` has the text of each row, negative if it is missing.
        """
        shares, n_rows = class_shares(codes, y, len(texts), self.max_scores)
        step = max(1, len(texts) // _MAX_COMPARED)
        _, weights = self._read(texts[::step])
        penalty = choose_penalty(weights, shares[::step], n_rows[::step])
        if penalty is None:
            return None
        features, weights = self._read(texts)
        scores, self.coefficients_ = cross_fit(weights, shares, n_rows, penalty)
        return np.hstack([features, scores])

    def transform(self, texts: Sequence[str]) -> FloatMatrix:
        """Return the numbers of characters and tokens, the views, and the scores."""
        features, weights = self._read(texts)
        if self.coefficients_ is None:
            return features
        return np.hstack([features, weights @ self.coefficients_])

    def _read(self, texts: Sequence[str]) -> tuple[FloatMatrix, Any]:
        """Return the features without scores, and the weights of all terms (n_texts, n_terms)."""
        counts, tokens = count_terms(map(self.tokenize, texts))
        lengths = np.fromiter(map(len, texts), dtype=np.float64, count=len(texts))
        weights = [view.weigh(counts, tokens) for view in self.views]
        columns = [view.transform(w) for view, w in zip(self.views, weights, strict=True)]
        features = np.hstack([lengths[:, None], counts.sum(axis=1)[:, None], *columns])
        empty = sparse.csr_array((len(texts), 0))
        return features, sparse.hstack([empty, *weights], format="csr")

    @property
    def n_scores(self) -> int:
        """Number of scores, which are the last columns."""
        return 0 if self.coefficients_ is None else self.coefficients_.shape[1]

    def names_out(self) -> list[str]:
        """Return the names of the columns."""
        views = [f"{view.terms_of.__name__}_{n}" for view in self.views for n in view.names_out()]
        scores = [f"score_{i}" for i in range(self.n_scores)]
        return ["n_characters", "n_tokens", *views, *scores]


def class_shares(
    codes: NDArray[np.signedinteger], y: NDArray[np.integer], n_texts: int, max_classes: int
) -> tuple[FloatMatrix, NDArray[np.float64]]:
    """Return the share of each class in the rows of each text, minus its mean, and their numbers.

    There is one class if there are two, else the `max_classes` most frequent, at most ten. `codes`
    has the text of each row, negative if it is missing.
    """
    known = codes >= 0
    codes, y = codes[known], y[known]
    n_rows = np.bincount(codes, minlength=n_texts).astype(np.float64)
    classes = np.argsort(-np.bincount(y), kind="stable")
    classes = classes[: 1 if len(classes) == 2 else min(max_classes, _MAX_CLASSES)]
    counts = [np.bincount(codes[y == c], minlength=n_texts) for c in classes]
    shares = np.transpose(counts) / np.maximum(n_rows, 1.0)[:, None]
    return shares - np.average(shares, axis=0, weights=n_rows), n_rows


def choose_penalty(weights: Any, shares: FloatMatrix, n_rows: NDArray[np.float64]) -> float | None:
    """Return the penalty of the least cross-validated error; None if terms do not predict.

    The errors are compared with those of the mean shares by a paired t test over the texts, and
    the regression must explain 1% of the variance.
    """
    if len(shares) < _N_FOLDS or not weights.shape[1]:
        return None

    def gains(penalty: float) -> NDArray[np.float64]:
        scores, _ = cross_fit(weights, shares, n_rows, penalty)
        return np.asarray(n_rows * (shares**2 - (shares - scores) ** 2).sum(axis=1))

    gain, penalty = max(
        ((gains(penalty), penalty) for penalty in _PENALTIES), key=lambda tried: tried[0].sum()
    )
    enough = gain.sum() >= _MIN_EXPLAINED * np.sum(n_rows[:, None] * shares**2)
    error = np.sqrt(np.sum((gain - gain.mean()) ** 2))
    return penalty if enough and gain.sum() > _MIN_GAIN * error else None


def cross_fit(
    weights: Any, shares: FloatMatrix, n_rows: NDArray[np.float64], penalty: float
) -> tuple[FloatMatrix, FloatMatrix]:
    """Fit ridge regressions from the terms of texts to the shares of classes, on five folds.

    Returns
    -------
    scores : ndarray of shape (n_texts, n_classes)
        Predictions for each text by the model of the other folds, as in stacked generalization
        [1]_. A model has at most about 20,000 texts.
    coefficients : ndarray of shape (n_terms, n_classes)
        Mean coefficients of the five models, for new texts.

    References
    ----------
    .. [1] D. H. Wolpert, "Stacked generalization", Neural Networks 5, 1992.
    """
    scores = np.zeros_like(shares)
    coefficients = np.zeros((weights.shape[1], shares.shape[1]))
    model = Ridge(penalty, fit_intercept=False, solver="sparse_cg", tol=0.1)
    for train, test in KFold(_N_FOLDS, shuffle=True, random_state=0).split(shares):
        rows = train[:: max(1, len(train) // _MAX_FITTED)]
        model.fit(weights[rows], shares[rows], n_rows[rows])
        fold = np.reshape(model.coef_, (shares.shape[1], -1)).T
        scores[test] = weights[test] @ fold
        coefficients += fold / _N_FOLDS
    return scores, coefficients


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
