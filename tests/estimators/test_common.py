"""scikit-learn's own estimator checks, for every strategy, without an expected failure."""

import pytest
import sklearn
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from skauto import AutoClassifier
from tests.instances import N_OBJECTIVES, STRATEGY_NAMES, make_strategy

ESTIMATORS = [
    AutoClassifier(make_strategy(name), max_evals=3, random_state=0)
    for name in STRATEGY_NAMES
    if N_OBJECTIVES.get(name, 1) == 1
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "check",
    [check for _, check in estimator_checks_generator(AutoClassifier(max_evals=3))],
    ids=lambda check: getattr(check, "func", check).__name__,
)
def test_scikit_learn_checks_with_metadata_routing(check):
    with sklearn.config_context(enable_metadata_routing=True):
        check(AutoClassifier(max_evals=3, random_state=0))
