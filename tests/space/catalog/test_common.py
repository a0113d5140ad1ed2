"""Every component of the catalog fits and predicts, by default and at random.

Default configurations are fitted on two classes, random ones on three.
``SKAUTO_TEST_CONFIGURATIONS`` is the number of random configurations of each component. Numbers of
trees, members, rounds and iterations are the least that the space allows: they change the time,
not what can fail. Components that can fail by their own mathematics are listed with the reason.
"""

import os
import re
import warnings
from functools import cache

import numpy as np
import pytest

from skauto.evaluation import PipelineBuilder
from skauto.model._pipeline import predict_probabilities
from skauto.space import get_space

space_called = cache(get_space)  # these tests change none

N_CONFIGURATIONS = int(os.environ.get("SKAUTO_TEST_CONFIGURATIONS", "1"))
ROUNDS = {
    "n_estimators", "n_epochs", "n_members", "max_iter", "max_rounds", "n_restarts_optimizer"
}  # fmt: skip
NO_COLUMN = "No column was left"

# Errors that components may raise for legal hyper-parameters, for mathematical reasons. They are
# failed trials of a search.
KNOWN_FAILURES = {
    # the iteration diverges, most often with fun="cube"
    "fast_ica": ["array must not contain infs or NaNs", "Input X contains (NaN|infinity)"],
    # the cosine distance of a zero column is undefined
    "feature_agglomeration": ["Cosine affinity cannot be used when X contains zero vectors"],
    # sigmoid kernels, and polynomial ones with a negative offset, are not positive definite
    "kernel_pca": ["significant negative eigenvalues", NO_COLUMN],
    # singular covariance of a class, because reg_param is 0 by default
    "qda": ["covariance matrix of class . is not full rank"],
    # the kernel chi2 (in FLASH and DivBO) refuses negative values
    "nystroem_sampler": ["X contains negative values"],
    # no column passes the test or threshold
    "select_rates": [NO_COLUMN],
    "select_fpr": [NO_COLUMN],
    "select_fdr": [NO_COLUMN],
    "select_fwe": [NO_COLUMN],
    "select_l1": [NO_COLUMN],
    "variance_threshold": ["No feature in X meets the variance threshold"],
}


def make_data(n_classes):
    """A small table with two columns of category codes and missing values."""
    rng = np.random.default_rng(n_classes)
    n_samples = 30 * n_classes
    y = np.repeat(np.arange(n_classes), 30)
    X = rng.normal(size=(n_samples, 5)) + y[:, None] * rng.normal(size=5)
    codes = np.column_stack(
        [
            rng.integers(0, 4, n_samples),
            np.where(rng.random(n_samples) < 0.7, y, rng.integers(0, 3, n_samples)),
        ]
    )
    Z = np.hstack([X, codes])
    Z[rng.random(Z.shape) < 0.03] = np.nan
    return Z, y


def cases():
    """Return each different component once, with its space."""
    seen = {}  # with the estimators, so that no address in a key is used again
    for name in (
        "default",
        "mosaic",
        "flash",
        "divbo",
        "admm_large",
        "admm_small",
        "fang_mlp",
        "fang_gbm",
    ):
        space = space_called(name)
        for step in space.steps:
            for component in space.components(step):
                if component.passthrough:
                    continue
                estimator = component.make(component.default_values())
                settings = repr(estimator.get_params()), repr(component.parameters)
                key = (step, component.name, type(estimator), *settings)
                if key not in seen:
                    seen[key] = estimator
                    yield pytest.param(name, step, component.name, id=f"{name}-{component.name}")


# In order of preference: cheap classifiers that accept the output of any transformer.
COMPANIONS = ("gaussian_nb", "sgd", "k_nearest_neighbors", "logistic_regression", "mlp")


def companions(space, step, name):
    """Return a structure with the component and cheap algorithms in the other steps."""
    choices = {step: name}
    if step == "classifier":
        return space.default_structure(choices)
    if space.name == "default" and step != "encoder":
        choices |= {"encoder": "one_hot"}
    known = {component.name for component in space.components("classifier")}
    for classifier in (*(c for c in COMPANIONS if c in known), *sorted(known)):
        try:
            return space.default_structure({**choices, "classifier": classifier})
        except ValueError:
            continue
    raise AssertionError(f"{name} goes with no classifier")


def cheap(space, vectors):
    """Set the numbers of rounds of the vectors to the minimum of the space."""
    for k, column in enumerate(space.columns):
        if column.parameter in ROUNDS:
            active = ~np.isnan(vectors[:, k])
            vectors[active, k] = column.definition.snap([0.0])[0]
    return vectors


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("name", "step", "component"), list(cases()))
def test_component_fits_and_predicts(name, step, component, n_classes):
    space = space_called(name)
    Z, y = make_data(n_classes)
    builder = PipelineBuilder(space, categorical=(5, 6), n_levels=(4, n_classes))
    structure = space.encode([space.default(companions(space, step, component))])[:, :7]
    if n_classes == 2:
        vectors = space.default_vector(structure[0].astype(int))[None]
    else:
        vectors = space.sample(N_CONFIGURATIONS, np.random.default_rng(0), structures=structure)
    state = np.random.get_state()
    for vector in cheap(space, vectors):
        configuration = space.decode(vector)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                warnings.simplefilter("error", FutureWarning)
                warnings.simplefilter("error", DeprecationWarning)
                steps = builder.fit(configuration, Z, y)
                probabilities = predict_probabilities(steps, Z, np.arange(n_classes))
        except Exception as error:
            known = KNOWN_FAILURES.get(component, ())
            text = f"{type(error).__name__}: {error}"
            if not any(re.search(pattern, text) for pattern in known):
                raise AssertionError(f"{configuration} failed: {text}") from error
        else:
            assert probabilities.shape == (len(y), n_classes)
            np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-4)
    np.testing.assert_equal(np.random.get_state(), state)  # all random numbers are seeded


def test_known_failures_name_components():
    names = {
        component.name
        for case in cases()
        for component in [space_called(case.values[0]).component(*case.values[1:])]
    }
    assert set(KNOWN_FAILURES) <= names
