"""One type of fitted model, from the trials of a search to its exports."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from skauto import AutoClassifier, ConstrainedAutoClassifier
from skauto.constraints import Constraint
from skauto.model import PipelineEnsemble, WeightedClassifier
from skauto.space import get_space

SEEN = []


class Observed(Constraint):
    """A limit that records the models that it measures."""

    additive = True

    def __init__(self, upper=None):
        self.upper = upper

    def measure(self, evidence):
        if evidence.model is not None:
            SEEN.append(type(evidence.model))
            assert len(evidence.model.predict(evidence.X)) == len(evidence.y)
        return 1.0


@pytest.fixture
def table(rng):
    X = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    X["color"] = rng.choice(["red", "green"], 300)
    return X, (X["a"] + rng.normal(size=300) > 1.0).astype(int).to_numpy()


def test_trials_best_pipeline_ensemble_and_constraints_have_one_type(table):
    SEEN.clear()
    clf = ConstrainedAutoClassifier([Observed(50)], max_evals=4, cv=2, random_state=0).fit(*table)
    assert set(SEEN) == {PipelineEnsemble}
    assert type(clf.ensemble_) is PipelineEnsemble
    assert all(p.steps[0][1] is clf.ensemble_.reader for p in clf.ensemble_.pipelines)


def test_an_ensemble_is_the_weighted_mean_of_its_pipelines(table):
    X, y = table
    clf = AutoClassifier(max_evals=6, cv=2, random_state=0, decision="argmax").fit(X, y)
    members = [pipeline.predict_proba(X) for pipeline in clf.ensemble_.pipelines]
    mean = np.tensordot(clf.ensemble_.weights, members, 1)
    np.testing.assert_allclose(clf.predict_proba(X), clf.ensemble_.decision_.scale(mean), 1e-5)


@pytest.mark.parametrize("classifier", ["gaussian_nb", "mlp", "logistic_regression"])
def test_the_best_pipeline_is_the_whole_recipe(table, classifier):
    X, y = table
    choices = {"balancer": ["weights"], "classifier": [classifier]}
    space = get_space("default").subspace(
        choices | {"transformer": ["none"], "selector": ["none"]}
    )
    clf = AutoClassifier(space=space, initial="defaults", max_evals=1, cv=2, random_state=0)
    best = clf.fit(X, y).best_estimator_
    again = clone(best).fit(X, y)
    np.testing.assert_allclose(again.predict_proba(X), best.predict_proba(X), atol=1e-6)


def test_output_of_the_steps_can_be_a_dataframe(table):
    X, y = table
    best = AutoClassifier(max_evals=2, cv=2, random_state=0).fit(X, y).best_estimator_
    expected = best.predict_proba(X)
    best.set_output(transform="pandas")
    Z = best[:-1].transform(X)
    assert isinstance(Z, pd.DataFrame)
    assert list(Z.columns) == list(best[:-1].get_feature_names_out())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(best.predict_proba(X), expected, atol=1e-6)
        np.testing.assert_allclose(best[-1].predict_proba(Z.to_numpy()), expected, atol=1e-6)
        best.set_output(transform="default")
        assert isinstance(best[:-1].transform(X), np.ndarray)
        np.testing.assert_allclose(best.predict_proba(X), expected, atol=1e-6)


def test_output_of_steps_leaves_the_ensemble_as_it_was(table):
    X, y = table
    automl = AutoClassifier(max_evals=2, cv=2, random_state=0).fit(X, y)
    expected = automl.predict_proba(X)
    automl.best_estimator_.set_output(transform="pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(automl.predict_proba(X), expected)


def test_class_weights_stand_for_repeated_rows(rng):
    X, y = rng.normal(size=(40, 2)), np.repeat([0, 1], [30, 10])
    weighted = WeightedClassifier(GaussianNB(), class_weight={0: 1, 1: 3}).fit(X, y)
    rows = np.concatenate([np.arange(30), np.repeat(np.arange(30, 40), 3)])
    repeated = GaussianNB().fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


def test_weights_of_groups_need_the_groups(rng):
    X, y = rng.normal(size=(40, 2)), np.repeat([0, 1], 20)
    classifier = WeightedClassifier(GaussianNB(), group_weights={"sex": 1.0})
    with pytest.raises(ValueError, match="sensitive_features=.'sex'"):
        classifier.fit(X, y)


def test_a_vote_made_by_hand_may_leave_it_open():
    ensemble = PipelineEnsemble(None, [], [], np.array([0, 1]))
    assert ensemble.diversity_ is None
    assert ensemble.disagreement_ is None
