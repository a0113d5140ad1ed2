"""Further settings of a search."""

import pytest

from skauto import AutoClassifier, SearchOptions
from tests.estimators.quick import quick


def test_refit_false_keeps_the_fold_models(iris):
    clf = quick(cv=3, options=SearchOptions(refit=False)).fit(*iris)
    assert len(clf.ensemble_) == 3 * len(clf.member_weights_)
    assert not hasattr(clf, "best_estimator_")
    assert clf.score(*iris) > 0.9


def test_a_pool_of_no_trial_is_refused():
    with pytest.raises(ValueError, match="The 'pool' parameter of SearchOptions must be"):
        AutoClassifier(options=SearchOptions(pool=0)).fit([[0.0], [1.0]] * 10, [0, 1] * 10)


@pytest.mark.parametrize("options", [None, {"refit": False}, SearchOptions(refit=False)])
def test_nested_options_are_set_whatever_holds_them(options):
    clf = AutoClassifier(options=options).set_params(options__patience=5)
    assert clf.options.patience == 5
    assert clf.options.refit is (options is None)


def test_nested_settings_of_a_named_strategy_are_set():
    clf = AutoClassifier().set_params(strategy="tpe", strategy__gamma=0.5)
    assert clf.strategy.gamma == 0.5
    with pytest.raises(ValueError, match="Invalid parameter 'gama' for estimator TPE"):
        clf.set_params(strategy__gama=0.5)


def test_options_may_be_a_dict():
    X, y = [[i] for i in range(40)], [i % 2 for i in range(40)]
    clf = AutoClassifier(max_evals=2, cv=2, initial=None, options={"refit": False}).fit(X, y)
    assert len(clf.ensemble_.pipelines) >= 2
    with pytest.raises(TypeError, match="SearchOptions.*'refits'. Did you mean 'refit'"):
        AutoClassifier(max_evals=1, options={"refits": False}).fit(X, y)
