"""Numeric features of strings: frequent terms, latent semantic analysis, scores of classes."""

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

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
# fitted; the minimum t statistic of its gain, and the minimum share of the variance that it
# explains.
_PENALTIES = (1.0, 3.0, 10.0, 30.0)
_MAX_COMPARED, _MAX_FITTED = 2_000, 20_000
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

    def learn(self, counts: Any, tokens: Sequence[str]) -> Any:
        """Learn terms from token counts (n_texts, n_tokens), and return their tf-idf weights."""
        in_tokens, terms = count_terms(map(self.terms_of, tokens))
        frequent = _most_frequent(counts @ in_tokens, terms)
        self.terms_ = {terms[column]: i for i, column in enumerate(frequent)}
        self.tfidf_ = None
        self.svd_: Any = None
        self.n_columns_ = len(self.terms_)
        if not self.n_columns_:
            return self.weigh(counts, tokens)
        in_tokens = in_tokens[:, frequent]
        in_tokens.sort_indices()  # the order of sums, as in `weigh`
        in_texts = counts @ in_tokens
        self.tfidf_ = TfidfTransformer(sublinear_tf=True).fit(in_texts)
        return self.tfidf_.transform(in_texts)

    def fit_components(self, weights: Any) -> None:
        """Learn SVD components of the weights (n_texts, n_terms), if there are too many terms."""
        if self.n_columns_ > self.n_components + self.n_terms:
            with np.errstate(invalid="ignore"):  # the variance of equal texts is 0
                self.svd_ = TruncatedSVD(self.n_components, random_state=0).fit(weights)
            # Fewer texts than components have one component each.
            self.n_columns_ = self.n_terms + len(self.svd_.components_)

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


@dataclass(frozen=True)
class ClassShares:
    """Shares of classes among the rows of each string.

    Attributes
    ----------
    centered : ndarray of shape (n_strings, n_classes)
        Shares minus their mean over the rows: of one class if there are two, else of the most
        frequent ones.
    n_rows : ndarray of shape (n_strings,)
        Number of rows of each string.
    """

    centered: FloatMatrix
    n_rows: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        codes: NDArray[np.signedinteger],
        y: NDArray[np.integer],
        n_strings: int,
        max_classes: int,
    ) -> "ClassShares":
        """Count the classes y of the rows whose strings are `codes`, negative where missing."""
        known = codes >= 0
        codes, y = codes[known], y[known]
        n_rows = np.bincount(codes, minlength=n_strings).astype(np.float64)
        classes = np.argsort(-np.bincount(y), kind="stable")
        classes = classes[: 1 if len(classes) == 2 else max_classes]
        counts = [np.bincount(codes[y == c], minlength=n_strings) for c in classes]
        shares = np.transpose(counts) / np.maximum(n_rows, 1.0)[:, None]
        return cls(shares - np.average(shares, axis=0, weights=n_rows), n_rows)

    def every(self, step: int) -> "ClassShares":
        """Return those of evenly spaced strings."""
        return ClassShares(self.centered[::step], self.n_rows[::step])

    def cross_fit(self, weights: Any, penalty: float) -> tuple[FloatMatrix, FloatMatrix]:
        """Fit ridge regressions from the terms of the strings to the shares, on five folds.

        Returns
        -------
        scores : ndarray of shape (n_strings, n_classes)
            Predictions for each string by the model of the other folds, as in stacked
            generalization [1]_. A model has at most about 20,000 strings.
        coefficients : ndarray of shape (n_terms, n_classes)
            Mean coefficients of the five models, for new strings.

        References
        ----------
        .. [1] D. H. Wolpert, "Stacked generalization", Neural Networks 5, 1992.
        """
        scores = np.zeros_like(self.centered)
        coefficients = np.zeros((weights.shape[1], scores.shape[1]))
        model = Ridge(penalty, fit_intercept=False, solver="sparse_cg", tol=0.1)
        for train, test in KFold(_N_FOLDS, shuffle=True, random_state=0).split(scores):
            rows = train[:: max(1, len(train) // _MAX_FITTED)]
            model.fit(weights[rows], self.centered[rows], self.n_rows[rows])
            fold = np.reshape(model.coef_, (scores.shape[1], -1)).T
            scores[test] = weights[test] @ fold
            coefficients += fold / _N_FOLDS
        return scores, coefficients

    def choose_penalty(self, weights: Any) -> float | None:
        """Return the penalty of the least cross-validated error; None if terms do not predict.

        The errors are compared with those of the mean shares by a paired t test over the strings,
        and the regression must explain 1% of the variance. About 2,000 evenly spaced strings are
        used.
        """
        step = max(1, len(self.n_rows) // _MAX_COMPARED)
        if step > 1:
            return self.every(step).choose_penalty(weights[::step])
        if len(self.centered) < _N_FOLDS or not weights.shape[1]:
            return None

        def gains(penalty: float) -> NDArray[np.float64]:
            scores, _ = self.cross_fit(weights, penalty)
            errors = (self.centered - scores) ** 2
            return np.asarray(self.n_rows * (self.centered**2 - errors).sum(axis=1))

        gain, penalty = max(((gains(p), p) for p in _PENALTIES), key=lambda tried: tried[0].sum())
        variance = np.sum(self.n_rows[:, None] * self.centered**2)
        error = np.sqrt(np.sum((gain - gain.mean()) ** 2))
        predicts = gain.sum() >= _MIN_EXPLAINED * variance and gain.sum() > _MIN_GAIN * error
        return penalty if predicts else None


@dataclass(eq=False)
class TextFeatures:
    """Lengths of texts, and scores of classes or one or more sets of latent terms.

    ``tokenize`` maps a text to its tokens, and ``views`` are unfitted features of the tokens. The
    scores, at most ``max_scores`` of a view, are linear in the weights of all its terms. Latent
    terms beside them would show which other texts had a part in a cross-fitted score, and so their
    classes.
    """

    tokenize: Callable[[str], list[str]]
    views: Sequence[LatentTerms]
    max_scores: int = 1
    coefficients_: list[FloatMatrix] = field(default_factory=list, init=False)

    def fit_transform(
        self, texts: Sequence[str], shares: ClassShares | None, *, scored: bool, required: bool
    ) -> FloatMatrix | None:
        """Learn terms and features from distinct texts, and return the features.

        They are cross-fitted scores if they are to be `scored` and the terms predict the `shares`.
        If the terms do not predict these, the result is None unless features are `required`. Terms
        and components are learned from about 10,000 evenly spaced texts.
        """
        self.coefficients_ = []
        step = max(1, len(texts) // _MAX_TEXTS)
        lengths, weights = self._read(texts[::step], learn=True)
        penalty = None
        if shares is not None and weights:
            penalty = shares.every(step).choose_penalty(sparse.hstack(weights, format="csr"))
        if shares is not None and penalty is None and not required:
            return None
        if step > 1:
            lengths, weights = self._read(texts)
        if shares is not None and penalty is not None and scored:
            fitted = [shares.cross_fit(own, penalty) for own in weights]
            self.coefficients_ = [coefficients for _, coefficients in fitted]
            return np.hstack([lengths, *(scores for scores, _ in fitted)])
        for view, own in zip(self.views, weights, strict=True):
            view.fit_components(own[::step])
        return self._features(lengths, weights)

    def transform(self, texts: Sequence[str]) -> FloatMatrix:
        """Return the numbers of characters and tokens, then scores or latent terms."""
        return self._features(*self._read(texts))

    def _read(self, texts: Sequence[str], *, learn: bool = False) -> tuple[FloatMatrix, list[Any]]:
        """Return the numbers of characters and tokens, and the weights of the terms by view."""
        lengths = np.array([len(text) for text in texts], dtype=np.float64)
        if not self.views:
            n_tokens = [len(self.tokenize(text)) for text in texts]
            return np.column_stack([lengths, n_tokens]), []
        counts, tokens = count_terms(map(self.tokenize, texts))
        weights = [(view.learn if learn else view.weigh)(counts, tokens) for view in self.views]
        return np.column_stack([lengths, counts.sum(axis=1)]), weights

    def _features(self, lengths: FloatMatrix, weights: list[Any]) -> FloatMatrix:
        if self.coefficients_:
            pairs = zip(weights, self.coefficients_, strict=True)
            return np.hstack([lengths, *(own @ coefficients for own, coefficients in pairs)])
        columns = [view.transform(own) for view, own in zip(self.views, weights, strict=True)]
        return np.hstack([lengths, *columns])

    @property
    def n_scores(self) -> int:
        """Number of scores, which are the last columns."""
        return sum(own.shape[1] for own in self.coefficients_)

    def names_out(self) -> list[str]:
        """Return the names of the columns."""
        outputs = [view.names_out() for view in self.views]
        if self.coefficients_:
            outputs = [[f"score_{i}" for i in range(own.shape[1])] for own in self.coefficients_]
        pairs = zip(self.views, outputs, strict=True)
        names = [f"{view.terms_of.__name__}_{name}" for view, own in pairs for name in own]
        return ["n_characters", "n_tokens", *names]


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
