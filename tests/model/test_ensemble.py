"""One type of fitted model, from the trials of a search to its exports."""

import numpy as np
import pytest
from scipy import sparse

from skauto import AutoClassifier, ConstrainedAutoClassifier
from skauto.constraints import Constraint
from skauto.model import PipelineEnsemble
from skauto.model._ensemble import quick_ensemble

SEEN = []


class Observed(Constraint):
    """A limit that records the models that it measures."""

    additive = True

    def measure(self, evidence):
        if evidence.model is not None:
            SEEN.append(type(evidence.model))
            assert len(evidence.model.predict(evidence.X)) == len(evidence.y)
        return 1.0


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


def test_an_ensemble_made_by_hand_may_leave_it_open():
    ensemble = PipelineEnsemble(None, [], [], np.array([0, 1]))
    assert ensemble.diversity_ is None
    assert ensemble.disagreement_ is None


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("shape", [(3, 2), (2000, 3), (300, 5000)])
def test_a_quick_ensemble_fits_any_matrix(container, shape, rng):
    Z, y = rng.normal(size=shape), np.array(["no", "yes"])[np.arange(shape[0]) % 2]
    Z[:, 1] += 4 * (y == "yes")
    Z[0, 0] = np.nan
    ensemble = quick_ensemble(None, np.unique(y), container(Z), y, rng.uniform(1, 2, shape[0]))
    probabilities = ensemble._average(container(Z))
    assert probabilities.min() > 0.0
    if shape[0] > 100:
        assert np.mean((probabilities[:, 1] > 0.5) == (y == "yes")) > 0.9
