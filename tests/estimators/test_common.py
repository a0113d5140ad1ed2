"""scikit-learn's own estimator checks, without an expected failure.

They run with settings that cost little. With ``SKAUTO_TEST_MAX_EVALS`` in the environment they run
with all defaults and this number of trials a search (50 is the default).
"""

import os

import pytest
import sklearn
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from skauto import AutoClassifier, ConstrainedAutoClassifier
from skauto.constraints import ModelSize
from tests.strategy_settings import N_OBJECTIVES, STRATEGY_NAMES, make_strategy, quick_space

# The checks in which the strategy takes part: it is a parameter, is cloned, pickled with the
# estimator, and must give the same trials again. In predict it has no part.
STRATEGY_CHECKS = (
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_set_params,
    estimator_checks.check_fit_idempotent,
    estimator_checks.check_estimators_overwrite_params,
    estimator_checks.check_estimators_pickle,
)


def quick(strategy="alternating_bo", **settings):
    """Searches a part of the space that is fitted within milliseconds."""
    few = {"max_evals": 2, "cv": 0.5, "ensemble_size": 5}
    settings = {"space": quick_space(), "random_state": 0, **few, **settings}
    return AutoClassifier(strategy, **settings)


def quick_constrained(strategy):
    """The same within a limit; all trials are those of the strategy."""
    return ConstrainedAutoClassifier(
        [ModelSize(1e9)],
        make_strategy(strategy),
        space=quick_space(),
        initial=None,
        max_evals=3,
        cv=0.5,
        ensemble_size=5,
        random_state=0,
    )


def checked():
    if "SKAUTO_TEST_MAX_EVALS" not in os.environ:
        return [quick(), quick_constrained("admm")]
    max_evals = int(os.environ["SKAUTO_TEST_MAX_EVALS"])
    return [
        AutoClassifier(max_evals=max_evals),
        ConstrainedAutoClassifier([ModelSize(1e9)], max_evals=max_evals),
    ]


@parametrize_with_checks(checked())
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", STRATEGY_NAMES)
@pytest.mark.parametrize("check", STRATEGY_CHECKS, ids=lambda check: check.__name__)
def test_scikit_learn_checks_of_strategies(name, check):
    if N_OBJECTIVES.get(name, 1) > 1:
        check("ConstrainedAutoClassifier", quick_constrained(name))
    else:
        check("AutoClassifier", quick(make_strategy(name), initial=None, max_evals=3))


def check_name(check):
    return getattr(check, "func", check).__name__


@pytest.mark.parametrize(
    "check",
    [
        check
        for _, check in estimator_checks_generator(quick())
        if any(word in check_name(check) for word in ("weight", "train", "pipeline", "clone"))
    ],
    ids=check_name,
)
def test_scikit_learn_checks_with_metadata_routing(check):
    with sklearn.config_context(enable_metadata_routing=True):
        check(quick())
