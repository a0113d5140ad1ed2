"""Smaller ensembles of fitted members keep their limits, and are the best ones that do."""

import pickle
from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from skauto import AutoClassifier, ConstrainedAutoClassifier, SearchOptions
from skauto.constraints import FalsePositiveRate
from skauto.exceptions import InfeasibleError
from skauto.export import compress, export_code
from skauto.model import PipelineEnsemble
from skauto.space import SearchSpace

SPACE = (
    SearchSpace(["classifier"])
    .add("classifier", "gaussian_nb", GaussianNB())
    .add("classifier", "decision_tree", DecisionTreeClassifier(max_depth=4))
    .add("classifier", "k_nearest_neighbors", KNeighborsClassifier(15))
)


def make(**settings):
    defaults = {"space": SPACE, "max_evals": 3, "cv": 2, "scoring": "neg_log_loss"}
    return AutoClassifier(random_state=0, **defaults | settings)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(400, 6, n_informative=4, flip_y=0.2, random_state=0)
    return train_test_split(X, y, random_state=0)


@pytest.fixture(scope="module")
def fitted(data):
    automl = make().fit(data[0], data[2])
    assert len(automl.ensemble_) == 3
    return automl


def size(model):
    return len(pickle.dumps(model, protocol=pickle.HIGHEST_PROTOCOL))


def too_much_for_all(automl):
    """A size that the whole ensemble exceeds by half of its lightest model."""
    return size(automl.ensemble_) - min(map(size, automl.ensemble_.pipelines)) / 2


def test_every_size_above_the_lightest_member_is_reached(fitted):
    whole = size(fitted.ensemble_)
    for max_size in np.linspace(max(map(size, fitted.ensemble_.pipelines)) + 1500, whole, 6):
        assert size(fitted.compress(max_size=max_size)) <= max_size


def losses_of_pairs(automl, max_size, weight=None):
    """Least out-of-fold log loss of each pair that fits, over shares of a 25th."""
    y = automl.history_.goal.targets
    shares = np.linspace(0, 1, 26)
    losses = {}
    numbered = zip(automl.member_weights_, automl.ensemble_.members, strict=True)
    for (a, first), (b, second) in combinations(numbered, 2):
        if (
            size(
                PipelineEnsemble(
                    automl.ensemble_.reader, [first, second], [0.5, 0.5], automl.classes_
                )
            )
            <= max_size
        ):
            p, q = (automl.history_[number].predictions[:, 1] for number in (a, b))
            losses[id(first), id(second)] = min(
                log_loss(y, share * p + (1 - share) * q, sample_weight=weight) for share in shares
            )
    return losses


def test_the_members_are_the_best_pair_that_fits(fitted):
    max_size = too_much_for_all(fitted)
    losses = losses_of_pairs(fitted, max_size)
    chosen = tuple(map(id, fitted.compress(max_size=max_size).members))
    assert losses[chosen] <= min(losses.values()) + 1e-3


def test_latency_is_measured_on_rows(data, fitted):
    small = fitted.compress(max_latency=10.0, X=data[1])
    assert small is fitted.ensemble_
    message = r"smallest values .* 'prediction_latency\(batch_size=1\)'"
    with pytest.raises(InfeasibleError, match=message):
        fitted.compress(max_latency=1e-9, X=data[1])


def test_an_impossible_size_names_the_smallest(fitted):
    with pytest.raises(InfeasibleError, match=r"for 'model_size' \(limit 10, trial \d\)"):
        compress(fitted, max_size=10)


def test_the_estimator_stays_as_it_is(data, fitted):
    before = fitted.predict_proba(data[1])
    small = fitted.compress(max_size=too_much_for_all(fitted))
    assert len(small) < len(fitted.ensemble_)
    np.testing.assert_array_equal(fitted.predict_proba(data[1]), before)
    np.testing.assert_allclose(small.predict_proba(data[1]).sum(axis=1), 1.0)


def test_models_of_the_folds_stay_together(data):
    automl = make(options=SearchOptions(refit=False)).fit(data[0], data[2])
    assert len(automl.ensemble_) == 2 * len(automl.member_weights_)
    small = automl.compress(max_size=too_much_for_all(automl))
    assert len(small) == 2 * (len(automl.member_weights_) - 1)
    kinds = [type(pipeline[-1]) for pipeline in small.members]
    assert kinds[0::2] == kinds[1::2]


def test_the_members_are_the_best_pair_by_the_weighted_loss(data):
    X, _, y, _ = data
    weights = np.where(y == 1, 1.0, 0.1)
    space = SPACE.subspace({"classifier": ["gaussian_nb", "decision_tree"]})
    # Nearest neighbors take no weights.
    space.add("classifier", "forest", RandomForestClassifier(5, max_depth=3))
    automl = make(space=space).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(automl.history_.goal.sample_weight, weights / weights.mean())
    max_size = too_much_for_all(automl)
    weighted, plain = (losses_of_pairs(automl, max_size, w) for w in (weights, None))
    assert min(weighted, key=weighted.get) != min(plain, key=plain.get)
    chosen = tuple(map(id, automl.compress(max_size=max_size).members))
    assert weighted[chosen] <= min(weighted.values()) + 1e-3


def test_a_small_ensemble_can_be_exported(fitted, tmp_path):
    small = fitted.compress(max_size=too_much_for_all(fitted))
    assert (export_code(small, tmp_path / "small") / "predict.py").exists()


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, "needs a limit"),
        ({"max_size": -1}, "'max_size' of compress must be above 0. Got -1"),
        ({"max_latency": 1e-3}, "pass X as well"),
    ],
)
def test_limits_that_make_no_sense(fitted, limits, message):
    with pytest.raises(ValueError, match=message):
        fitted.compress(**limits)


def test_constraints_on_predictions_are_left_to_fit(data):
    automl = ConstrainedAutoClassifier(
        [FalsePositiveRate(0.9)], "random", space=SPACE, max_evals=2, cv=2, random_state=0
    ).fit(data[0], data[2])
    with pytest.raises(ValueError, match="Fit with ModelSize or"):
        automl.compress(max_size=1e9)


def test_the_ensemble_alone_is_refused(fitted):
    with pytest.raises(TypeError, match="must be the fitted AutoClassifier"):
        compress(fitted.ensemble_, max_size=1e5)
