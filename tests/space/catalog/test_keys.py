"""Keys that rows share: which columns, only where residuals are correlated, and their effect."""

import numpy as np
import pytest

from skauto import AutoClassifier
from skauto.data import DataFacts
from skauto.space import get_space
from skauto.space.catalog import PairFeatures
from skauto.space.catalog._keys import find_keys, join


def people(rng, n_rows=600, n_people=200):
    """Age and height of persons, a column of noise, and an effect of each person."""
    who = rng.integers(0, n_people, n_rows)
    traits = np.column_stack([rng.integers(20, 40, n_people), rng.integers(150, 190, n_people)])
    X = np.column_stack([traits[who], rng.normal(size=n_rows)]).astype(float)
    return X, rng.normal(size=n_people)[who]


def test_equal_rows_have_equal_numbers():
    X = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [np.nan, 0.0], [-np.nan, -0.0], [1.0, 3.0]])
    joined = join(X, [0, 1])
    assert joined[0] == joined[2]
    assert joined[3] == joined[4]
    assert len(np.unique(joined)) == 4


def test_join_does_not_collide(rng):
    X = rng.integers(0, 300, (50_000, 3)).astype(float)
    assert len(np.unique(join(X, [0, 1, 2]))) == len(np.unique(X, axis=0))


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_key_of_people_is_found(rng, n_outputs):
    X, effect = people(rng)
    residuals = rng.normal(size=(600, n_outputs))
    residuals[:, -1] += effect
    keys = find_keys(X, residuals, 4)
    assert keys == [(0, 1)]


@pytest.mark.parametrize("tails", [False, True])
def test_independent_residuals_have_no_key(rng, tails):
    X, _ = people(rng)
    residuals = rng.normal(size=(600, 2))
    if tails:  # a few large residuals, such as those of a rare class
        residuals[:6] *= 100.0
    assert find_keys(X, residuals, 4) == []


def test_second_key_tells_what_the_first_does_not(rng):
    first, second, noise = rng.integers(0, 150, (3, 900))
    effects = rng.normal(size=(2, 150)) * [[2.0], [1.0]]
    residuals = effects[0][first] + effects[1][second] + 0.5 * rng.normal(size=900)
    X = np.column_stack([first, second, noise]).astype(float)
    assert find_keys(X, residuals[:, None], 4) == [(0,), (1,)]
    assert find_keys(X, residuals[:, None], 1) == [(0,)]


def test_pairs_encode_the_key(rng):
    X, effect = people(rng, n_rows=1200)
    y = (effect + 0.3 * rng.normal(size=1200) > 0).astype(int)
    pairs = PairFeatures(n_columns=0, random_state=0).fit(X[:900], y[:900])
    assert pairs.crosses_ == [(0, 1)]
    assert pairs.get_feature_names_out().tolist() == ["x0", "x1", "x2", "x0 x x1"]
    encoded = pairs.transform(X[900:])[:, -1]
    assert np.mean((encoded > 0.5) == y[900:]) > 0.8


@pytest.mark.parametrize("grouped", [False, True])
def test_new_groups_are_not_predicted_by_keys(rng, grouped):
    X, effect = people(rng, n_rows=800)
    space = get_space("default").for_data(DataFacts(n_samples=800, n_features=3))
    paired = space.default_structure({"classifier": "lightgbm", "transformer": "pairs"})
    automl = AutoClassifier(max_evals=1, initial=[space.default(paired)], cv=2, random_state=0)
    automl.fit(X, effect > 0, groups=effect if grouped else None)
    (pipeline,) = automl.ensemble_.members
    assert pipeline.named_steps["transformer"].crosses_ == ([] if grouped else [(0, 1)])
