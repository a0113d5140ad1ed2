"""A table with a text, a price and a date that are written as strings."""

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauto import AutoClassifier
from skauto.data import TableReader
from skauto.data._text import ClassShares, LatentTerms, TextFeatures, whole

LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def invented_words(n, rng):
    return np.array(["".join(rng.choice(LETTERS, rng.integers(3, 9))) for _ in range(n)])


def reviews(n_neutral, n_signal, n_in_text, n_samples=1500, seed=0):
    """Draw nine words, ``n_in_text`` of them from the words of the class."""
    rng = np.random.default_rng(seed)
    neutral, *of_class = (invented_words(n, rng) for n in (n_neutral, n_signal, n_signal))
    y = rng.integers(2, size=n_samples)
    texts = []
    for label in y:
        found = [*rng.choice(neutral, 9 - n_in_text), *rng.choice(of_class[label], n_in_text)]
        texts.append(" ".join(rng.permutation(found)))
    days = np.datetime64("2024-03-01") + rng.integers(300, size=n_samples)
    price = [f"${x:,.2f}" for x in rng.uniform(5, 2000, size=n_samples)]
    return pd.DataFrame({"review": texts, "price": price, "day": days.astype(str)}), y


@pytest.mark.parametrize("words", [(20, 5, 1), (1000, 20, 1)], ids=str)
def test_words_tell_the_class(words):
    X, y = reviews(*words)
    reader = TableReader().fit(X[:1000])
    assert reader.table_report()["kind"].tolist() == ["text", "numeric", "date"]
    train, test = reader.transform(X[:1000]), reader.transform(X[1000:])
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    trees = LGBMClassifier(n_estimators=60, verbose=-1, n_jobs=1, random_state=0)
    scores = [model.fit(train, y[:1000]).score(test, y[1000:]) for model in (linear, trees)]
    assert max(scores) >= 0.99
    assert min(scores) >= 0.95


def texts_of_rare_words(seed=0):
    """Texts and classes: 100 words beyond rank 300 of a Zipf-like vocabulary add to the odds."""
    rng = np.random.default_rng(seed)
    vocabulary, weights = invented_words(3000, rng), np.zeros(3000)
    weights[300:400] = rng.choice([-1, 1], 100)
    shares = 1 / np.arange(10, 3010)
    picks = rng.choice(3000, size=(3000, 15), p=shares / shares.sum())
    signal = weights[picks].sum(axis=1)
    y = rng.random(3000) < expit(2 * signal / signal.std())
    return np.array([" ".join(row) for row in vocabulary[picks]], dtype=object)[:, None], y


def test_rare_words_tell_as_much_as_all_words_by_tfidf():
    texts, y = texts_of_rare_words()
    reader = TableReader().fit(texts[:1500])
    ours = make_pipeline(StandardScaler(), LogisticRegression(C=0.001))
    ours.fit(reader.transform(texts[:1500]), y[:1500])
    theirs = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts[:1500, 0], y[:1500])
    score = roc_auc_score(y[1500:], ours.predict_proba(reader.transform(texts[1500:]))[:, 1])
    tfidf = roc_auc_score(y[1500:], theirs.predict_proba(texts[1500:, 0])[:, 1])
    assert tfidf > 0.63
    assert score > tfidf - 0.02
    scored = TableReader().fit(texts[:1500], y[:1500]).transform(texts[1500:])[:, -1]
    assert abs(roc_auc_score(y[1500:], scored) - 0.5) > tfidf - 0.5 - 0.01


def ridge(A, B, n_rows, penalty):
    """Coefficients of the weighted ridge regression, by its normal equations."""
    gram = A.T @ (n_rows[:, None] * A) + penalty * np.eye(A.shape[1])
    return np.linalg.solve(gram, A.T @ (n_rows[:, None] * B))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_those_of_a_ridge_regression_on_other_strings(n_classes, rng):
    """Strings of one to four rows, one string without a row, and two rows without a string."""
    weights = rng.random((80, 5)) * (rng.random((80, 5)) < 0.5)
    codes = np.concatenate([np.arange(79), rng.integers(79, size=80), [-1, -1]])
    y = np.argmax(weights[codes][:, :n_classes] + 0.3 * rng.random((161, n_classes)), axis=1)
    shares = ClassShares.of(codes, y, 80, 10)
    frequent = np.argsort(-np.bincount(y[:-2]), kind="stable")[: 1 if n_classes == 2 else 3]
    np.testing.assert_array_equal(shares.n_rows, np.bincount(codes[:-2], minlength=80))
    for share, c in zip(shares.centered.T, frequent, strict=True):
        of_class = [np.mean(y[codes == i] == c) for i in range(79)]
        np.testing.assert_allclose(share[:79], of_class - np.mean(y[:-2] == c))
    assert shares.choose_penalty(sparse.csr_array(weights)) == 1.0
    scores, coefficients = shares.cross_fit(sparse.csr_array(weights), 1.0)
    expected, mean = np.zeros_like(scores), 0.0
    for train, test in KFold(5, shuffle=True, random_state=0).split(scores):
        fold = ridge(weights[train], shares.centered[train], shares.n_rows[train], 1.0)
        expected[test], mean = weights[test] @ fold, mean + fold / 5
    np.testing.assert_allclose(scores, expected, atol=0.15 * np.abs(expected).max())
    np.testing.assert_allclose(coefficients, mean, atol=0.15 * np.abs(mean).max())


def test_scores_of_new_strings_vary_as_those_of_fit():
    texts, y = texts_of_rare_words()
    reader = TableReader()
    fitted = reader.fit_transform(texts[:1500], y[:1500])[:, -1]
    new = reader.transform(texts[1500:])[:, -1]
    assert 0.9 < new.std() / fitted.std() < 1.1
    # models that have seen the rows would be right in most of them
    assert abs(roc_auc_score(y[:1500], fitted) - roc_auc_score(y[1500:], new)) < 0.05


@pytest.mark.parametrize("n_texts", [500, 25_000])
def test_fit_splits_texts_into_tokens_once_but_for_the_sample_of_many(n_texts, rng):
    read = []

    def tokenize(text):
        read.append(text)
        return text.split()

    y = rng.integers(2, size=n_texts)
    texts = [f"{'good' if label else 'bad'} {i % 50} {i}" for i, label in enumerate(y)]
    shares = ClassShares.of(np.arange(n_texts), y, n_texts, 1)
    features = TextFeatures(tokenize, [LatentTerms(whole, 3, 5)])
    Z = features.fit_transform(texts, shares, scored=False, required=False)
    assert read == (texts if n_texts == 500 else texts[::2] + texts)
    assert Z.shape == (n_texts, 2 + 5 + 3)
    np.testing.assert_array_equal(features.transform(texts), Z)
    assert features.fit_transform(texts, shares, scored=True, required=False).shape[1] == 2 + 1
    random = ClassShares.of(np.arange(n_texts), rng.permutation(y), n_texts, 1)
    assert features.fit_transform(texts, random, scored=True, required=False) is None


def test_no_scores_with_groups_or_an_order():
    X, y = reviews(20, 5, 1, n_samples=300)
    groups = np.arange(300) // 10
    model = AutoClassifier(max_evals=1, cv=2, random_state=0)

    def scores(**metadata):
        names = model.fit(X, y, **metadata).reader_.get_feature_names_out()
        return [name for name in names if "score" in name]

    assert scores() == ["review_whole_score_0", "review_ngrams_score_0"]
    assert scores(groups=groups) == []
    model.set_params(cv=GroupKFold(2))
    assert scores(groups=groups) == []
    again = clone(model.reader_)
    np.testing.assert_array_equal(again.fit_transform(X, y), again.transform(X))


def test_parts_of_codes_tell_the_class():
    """Codes such as "QX123/AB", all different: both groups of letters add to the log odds."""
    rng = np.random.default_rng(0)
    groups = [f"{a}{b}" for a in "QWRTZ" for b in "XYJK"]
    weights, picks = rng.normal(size=(2, 20)), rng.integers(20, size=(2, 2000))
    codes = np.array(
        [f"{groups[i]}{rng.integers(100, 999)}/{groups[j]}" for i, j in picks.T], dtype=object
    )
    signal = weights[0][picks[0]] + weights[1][picks[1]]
    y = rng.random(2000) < expit(2 * signal)
    reader = TableReader(column_kinds={0: "name"}).fit(codes[:1000, None])
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.03, max_iter=500))
    model.fit(reader.transform(codes[:1000, None]), y[:1000])
    found = model.predict_proba(reader.transform(codes[1000:, None]))[:, 1]
    assert roc_auc_score(y[1000:], found) > roc_auc_score(y[1000:], signal[1000:]) - 0.04


def test_a_search_finds_them():
    X, y = reviews(20, 5, 1)
    model = AutoClassifier(max_evals=2, cv=2, random_state=0).fit(X[:1000], y[:1000])
    assert model.score(X[1000:], y[1000:]) >= 0.99
    assert "review_whole_score_0" in model.reader_.get_feature_names_out()
