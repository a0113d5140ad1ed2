"""Classifiers of auto-sklearn."""

from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_selection import chi2
from sklearn.naive_bayes import MultinomialNB

from skauto.space.catalog._preprocessors import chi2_of_positive_part
from skauto.space.catalog.papers._auto_sklearn_classifiers import ClippedMultinomialNB


def test_negative_values_count_as_zero(rng):
    X = rng.normal(size=(60, 4))
    y = rng.integers(0, 3, 60)
    ours = ClippedMultinomialNB(alpha=0.5).fit(X, y)
    theirs = MultinomialNB(alpha=0.5).fit(X.clip(0), y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X.clip(0)))
    assert_array_equal(ours.predict(X), theirs.predict(X.clip(0)))
    assert_allclose(chi2_of_positive_part(X, y), chi2(X.clip(0), y))
