"""Pairs of columns: values, crosses without a leak, and their place in the default space."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder

from skauto import AutoClassifier
from skauto.data import DataFacts
from skauto.evaluation import PipelineBuilder
from skauto.metalearning._fit_times import load_fit_time_model
from skauto.space import Configuration, get_space
from skauto.space.catalog import LightGBMClassifier, PairFeatures


def with_pairs(space):
    lightgbm = space.default_structure({"classifier": "lightgbm", "transformer": "pairs"})
    return space.default(lightgbm)


def crossed_table(rng, n_rows=400, n_levels=4):
    """Two columns of codes whose pair decides the class, and a numeric column of noise."""
    codes = rng.integers(0, n_levels, (n_rows, 2)).astype(float)
    X = np.column_stack([codes, rng.normal(size=n_rows)])
    return X, ((codes[:, 0] + codes[:, 1]) % 2).astype(int)


def test_arithmetic_by_hand(rng):
    X = rng.normal(size=(300, 3))
    pairs = PairFeatures(n_columns=2, random_state=0).fit(X, X[:, 0] + X[:, 2] > 0)
    assert pairs.pairs_.tolist() == [[0, 2]]
    new = pairs.transform(
        [[6.0, 5.0, -2.0], [1.0, 5.0, 0.0], [np.nan, 5.0, 2.0], [1e300, 0, 1e300]]
    )
    expected = [[-3.0, 8.0, -12.0], [np.nan, 1.0, 0.0], [np.nan] * 3, [1.0, 0.0, np.nan]]
    assert_allclose(new[:, 3:], expected)
    names = ["x0", "x1", "x2", "x0 / x2", "x0 - x2", "x0 * x2"]
    assert pairs.get_feature_names_out().tolist() == names


def test_important_columns_are_paired(rng):
    X = rng.normal(size=(500, 30))
    pairs = PairFeatures(n_columns=3, random_state=0).fit(X, X[:, [4, 11, 20]].sum(axis=1) > 0)
    assert pairs.pairs_.tolist() == [[4, 11], [4, 20], [11, 20]]


def test_crosses_agree_with_the_target_encoder_of_pairs(rng):
    X, y = crossed_table(rng)
    X[:20, 0] = np.nan
    pairs = PairFeatures([0, 1], random_state=0)
    trained = pairs.fit_transform(X, y)
    assert pairs.crosses_ == [(0, 1)]
    text = np.array([[f"{a} {b}"] for a, b in X[:, :2]], dtype=object)
    expected = TargetEncoder().fit(text, y).transform(text)
    assert_allclose(pairs.transform(X)[:, 3:], expected)
    assert trained.shape == (400, 4)
    assert not np.allclose(trained[:, 3:], expected)  # means of the other folds
    assert pairs.get_feature_names_out(["a", "b", "c"]).tolist() == ["a", "b", "c", "a x b"]


def test_labels_do_not_leak(rng):
    X = np.column_stack([rng.integers(0, 30, (600, 4)), rng.normal(size=(600, 3))]).astype(float)
    y = rng.integers(0, 2, 600)
    lightgbm = LightGBMClassifier(n_estimators=40, num_leaves=7, n_jobs=1, verbose=-1)
    model = make_pipeline(PairFeatures([0, 1, 2, 3], random_state=0), lightgbm)
    predicted = cross_val_predict(model, X, y, method="predict_proba")[:, 1]
    assert abs(roc_auc_score(y, predicted) - 0.5) < 0.08
    # nor do the encoded training rows know their own labels
    encoded = PairFeatures([0, 1, 2, 3], random_state=0).fit_transform(X, y)[:, 7 + 9 :]
    assert max(roc_auc_score(y, column) for column in encoded.T) < 0.6


@pytest.mark.parametrize(("n_classes", "n_crosses"), [(2, 21), (3, 21), (5, 10), (40, 2)])
def test_number_of_encoded_columns(rng, n_classes, n_crosses):
    X = rng.integers(0, 3, (1200, 8)).astype(float)
    y = np.r_[
        np.arange(n_classes), (X @ rng.normal(size=8) * 3)[n_classes:].astype(int) % n_classes
    ]
    pairs = PairFeatures(range(8), random_state=0).fit(X, y)
    assert len(pairs.crosses_) == n_crosses
    new = pairs.transform(X[:5]).shape[1] - 8
    assert new == n_crosses * (1 if n_classes == 2 else n_classes)


def test_repeats_and_pickles(rng):
    X, y = crossed_table(rng)
    pairs = PairFeatures([0, 1], random_state=3)
    first, second = pairs.fit_transform(X, y), clone(pairs).fit_transform(X, y)
    assert_array_equal(first, second)
    assert_array_equal(pickle.loads(pickle.dumps(pairs)).transform(X), pairs.transform(X))
    with pytest.raises(TypeError, match="[Ss]parse"):
        pairs.fit(sparse.csr_array(X), y)


def test_place_in_the_default_space():
    space = get_space("default")
    assert with_pairs(space)["selector"] == "none"
    for choice in ({"classifier": "extra_trees"}, {"selector": "select_percentile"}):
        with pytest.raises(ValueError, match="pairs"):
            space.default_structure({"classifier": "lightgbm", "transformer": "pairs"} | choice)
    facts = DataFacts(n_samples=100_001, n_features=5)
    large = space.for_data(facts)
    assert "pairs" not in [c.name for c in large.components("transformer")]
    sparse_part = space.for_data(DataFacts(n_samples=100, n_features=5, sparse=True))
    assert "pairs" not in [c.name for c in sparse_part.components("transformer")]


def test_categories_stay_categories(rng):
    X, y = crossed_table(rng)
    space = get_space("default")
    builder = PipelineBuilder(space, categorical=(0, 1), n_levels=(4, 4))
    steps = builder.fit(with_pairs(space), X, y).named_steps
    assert steps["classifier"].categorical_features == [0, 1]
    assert steps["classifier"].n_features_in_ == 4


def test_pairs_have_predicted_seconds():
    facts = DataFacts(n_samples=1000, n_features=6)
    paired = with_pairs(get_space("default"))
    plain = Configuration.from_dict(paired.to_dict() | {"transformer": {"name": "none"}})
    time_model = load_fit_time_model()
    assert time_model.seconds(paired, facts) > 1.2 * time_model.seconds(plain, facts)


def test_search_with_pairs_repeats(rng):
    X = rng.uniform(1, 2, size=(200, 3))
    y = np.where(X[:, 0] > X[:, 1], "yes", "no")
    start = [with_pairs(get_space("default").for_data(DataFacts(n_samples=200, n_features=3)))]
    fits = [
        AutoClassifier(max_evals=2, initial=start, cv=2, random_state=0).fit(X, y)
        for _ in range(2)
    ]
    assert fits[0].history_[0].ok
    assert_array_equal(fits[0].predict_proba(X), fits[1].predict_proba(X))
