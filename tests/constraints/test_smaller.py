"""Variants of trials that exceed a limit on seconds or bytes, against the linear prediction."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from skauto import ConstrainedAutoClassifier
from skauto.constraints import ModelSize, PredictionLatency
from skauto.constraints._smaller import SmallerVariants
from skauto.history import History, Trial
from skauto.space import Categorical, Configuration, Integer, Real, SearchSpace, get_space

SIZE = "model_size"


@pytest.fixture(scope="module")
def space():
    return get_space("default", vary_size=True)


@pytest.fixture
def history():
    return History(limits={SIZE: 1000.0, "false_negative_rate": 0.1})


@pytest.fixture
def variants(space):
    return SmallerVariants(space, [ModelSize(1000.0), PredictionLatency()])


def add(history, configuration, loss, size, rate=0.0, **fields):
    """Append a trial with a size in bytes and a false negative rate."""
    values = {SIZE: size, "false_negative_rate": rate}
    settings = {"losses": (loss,), "constraints": values} | fields
    history.append(Trial(number=len(history), configuration=configuration, **settings))


def classify(space, name, **parameters):
    return space.complete({"classifier": (name, parameters)})


def settings_of(variant):
    return variant.parameters("classifier")


def test_the_size_of_a_forest_is_scaled_to_nine_tenths_of_the_limit(space, variants, history):
    add(history, classify(space, "gaussian_nb"), 0.5, 100.0)
    forest = classify(space, "random_forest", n_estimators=80, min_samples_leaf=3)
    add(history, forest, 0.2, 2100.0)
    # 100 bytes, and 2000 for 80 trees: 900 bytes have 32
    expected = forest.to_dict()
    expected["classifier"]["n_estimators"] = 32
    assert variants(history) == Configuration.from_dict(expected)
    assert variants(history) is None


def test_fewer_boosting_rounds_have_a_larger_learning_rate(space, variants, history):
    add(history, classify(space, "gaussian_nb"), 0.5, 100.0)
    boosted = classify(space, "lightgbm", learning_rate=0.05, num_leaves=20)
    add(history, boosted, 0.2, 2100.0, rounds=(190, 210))
    found = settings_of(variants(history))
    assert found["max_rounds"] == 80
    assert found["learning_rate"] == pytest.approx(0.05 * 200 / 80)
    assert found["num_leaves"] == 20
    slow = classify(space, "lightgbm", learning_rate=0.2)
    add(history, slow, 0.1, 8100.0, rounds=(1000, 1000))
    found = settings_of(variants(history))
    assert found["max_rounds"] == 100
    assert found["learning_rate"] == 0.3  # the end of its range


def test_the_members_of_a_network_are_fewer_and_its_epochs_stay(space, variants, history):
    add(history, classify(space, "gaussian_nb"), 0.5, 100.0)
    network = classify(space, "mlp", n_members=8, learning_rate=0.05)
    add(history, network, 0.2, 2100.0, rounds=(60, 60))
    found = settings_of(variants(history))
    assert (found["n_members"], found["learning_rate"]) == (2, 0.05)  # 3.2 members


def test_only_trials_better_than_all_that_keep_the_limits_have_variants(space, variants, history):
    add(history, classify(space, "random_forest", n_estimators=90), 0.3, 2000.0)
    add(history, classify(space, "random_forest", n_estimators=80), 0.1, 2000.0)
    add(history, classify(space, "gaussian_nb"), 0.2, 100.0)
    assert settings_of(variants(history))["n_estimators"] == 33  # of the second
    assert variants(history) is None


@pytest.mark.parametrize(
    "name, fields",
    [
        ("k_nearest_neighbors", {}),  # has no size parameter
        ("random_forest", {"rate": 0.2}),  # exceeds another limit
        ("random_forest", {"fidelity": 0.5}),
        ("random_forest", {"status": "failed"}),
        ("random_forest", {"size": np.nan}),
    ],
)
def test_no_variant(space, variants, history, name, fields):
    add(history, classify(space, "gaussian_nb"), 0.5, 100.0)
    add(history, classify(space, name), 0.1, **{"size": 2000.0} | fields)
    assert variants(history) is None


def test_no_variant_if_the_smallest_trial_exceeds_the_limit(space, variants, history):
    add(history, classify(space, "gaussian_nb"), 0.5, 1500.0)
    add(history, classify(space, "random_forest"), 0.1, 2000.0)
    assert variants(history) is None


def test_the_first_trial_has_a_variant_when_a_smaller_trial_is_known(space, variants, history):
    add(history, classify(space, "random_forest", n_estimators=80), 0.2, 2100.0)
    assert variants(history) is None
    add(history, classify(space, "gaussian_nb"), 0.5, 100.0)
    assert settings_of(variants(history))["n_estimators"] == 32


def test_a_variant_that_exceeds_the_limit_has_a_variant(space, variants, history):
    add(history, classify(space, "gaussian_nb"), 0.5, 100.0)
    add(history, classify(space, "random_forest", n_estimators=80), 0.2, 2100.0)
    first = variants(history)
    add(history, first, 0.25, 1700.0)  # has 32 trees: half of them are predicted to fit
    assert settings_of(variants(history))["n_estimators"] == 16


def test_a_trial_that_was_stopped_at_its_first_fold_has_a_variant(space, variants, history):
    add(history, classify(space, "gaussian_nb"), 0.5, 100.0)
    forest = classify(space, "random_forest", n_estimators=80)
    add(history, forest, 0.2, 2100.0, status="stopped")
    assert settings_of(variants(history))["n_estimators"] == 32


def test_a_known_configuration_is_not_proposed_again(space, variants, history):
    add(history, classify(space, "gaussian_nb"), 0.5, 100.0)
    add(history, classify(space, "random_forest", n_estimators=32), 0.4, 1100.0, status="timeout")
    add(history, classify(space, "random_forest", n_estimators=80), 0.2, 2100.0)
    assert variants(history) is None


def one_forest(parameters, size_parameter, **options):
    """A space with one algorithm, and the values of its variant, or None without one.

    The trial has the given values and 2100 bytes, and a tiny trial has 100. The limit is 1000.
    """
    space = SearchSpace()
    options["size_parameter"] = size_parameter
    space.add("classifier", "forest", RandomForestClassifier(), parameters, **options)
    space.add("classifier", "tiny")
    history = History(limits={SIZE: 1000.0})
    add(history, classify(space, "tiny"), 0.5, 100.0)

    def variant_of(rounds=(), **values):
        add(history, classify(space, "forest", **values), 0.2, 2100.0, rounds=rounds)
        variant = SmallerVariants(space, [ModelSize(1000.0)])(history)
        if variant is None:
            return None
        space.validate(variant)
        return settings_of(variant)

    return variant_of


def test_the_size_parameter_may_be_continuous():
    variant_of = one_forest({"max_samples": Real(0.1, 1.0)}, "max_samples")
    assert variant_of(max_samples=0.8) == {"max_samples": pytest.approx(0.32)}
    variant_of = one_forest({"max_samples": Real(0.5, 1.0)}, "max_samples")
    assert variant_of(max_samples=0.8) is None


@pytest.mark.parametrize(
    "choices, value, smaller",
    [
        ([None, 5, 50], None, None),
        ([None, 5, 50], 50, 5),
        (["sqrt", 0.2, 1.0], "sqrt", None),
        (["sqrt", 0.2, 1.0], 1.0, 0.2),
        ([-1, 5, 50], -1, None),
        ([-1, 40, 50], 50, None),
    ],
)
def test_only_positive_numbers_are_sizes(choices, value, smaller):
    found = one_forest({"max_leaf_nodes": choices}, "max_leaf_nodes")(max_leaf_nodes=value)
    assert found == (None if smaller is None else {"max_leaf_nodes": smaller})


def test_an_inactive_size_parameter_gives_no_variant():
    variant_of = one_forest(
        {"bootstrap": [True, False], "n_estimators": Integer(1, 100)},
        "n_estimators",
        conditions={"n_estimators": ("bootstrap", [True])},
    )
    assert variant_of(bootstrap=False) is None
    assert variant_of(n_estimators=50) == {"bootstrap": True, "n_estimators": 20}


def test_a_variant_has_the_hyper_parameters_that_its_size_activates():
    variant_of = one_forest(
        {"n_estimators": [5, 50], "max_depth": [2, 3], "max_features": [0.5, 1.0]},
        "n_estimators",
        conditions={"max_depth": ("n_estimators", [50]), "max_features": ("n_estimators", [5])},
    )
    assert variant_of(n_estimators=50) == {"n_estimators": 5, "max_features": 0.5}


@pytest.mark.parametrize(
    "learning_rate, expected",
    [([0.1], {}), (Categorical([0.05, 0.1, 0.3], 0.1), {"learning_rate": 0.1})],
)
def test_fewer_rounds_keep_the_learning_rate_in_the_space(learning_rate, expected):
    variant_of = one_forest(
        {"max_rounds": Integer(4, 500), "learning_rate": learning_rate}, "max_rounds"
    )
    assert variant_of(rounds=(200, 200)) == {"max_rounds": 80} | expected


def test_the_rounds_of_lightgbm_keep_a_limit_on_the_size(space):
    X = np.random.default_rng(0).normal(size=(600, 2))
    y = np.sin(4.0 * X[:, 0]) > 0
    only_two = space.subspace({"classifier": ["lightgbm", "gaussian_nb"]})
    settings = {"cv": 2, "random_state": 0, "initial": "defaults"}
    free = ConstrainedAutoClassifier([ModelSize()], space=only_two, max_evals=2, **settings)
    free.fit(X, y)
    settings["initial"] = [trial.configuration for trial in free.history_]
    limit = 0.5 * max(trial.constraints[SIZE] for trial in free.history_)
    model = ConstrainedAutoClassifier([ModelSize(limit)], max_evals=6, **settings).fit(X, y)
    variant = next(trial for trial in model.history_ if trial.origin == "variant")
    assert variant.constraints[SIZE] <= limit
    assert max(variant.rounds) <= variant.configuration.parameters("classifier")["max_rounds"]
    assert model.feasible_


def test_initial_configurations_of_a_search_without_limits(space):
    X = np.random.default_rng(0).normal(size=(100, 2))
    y = X[:, 0] > 0
    settings = {"initial": "defaults", "max_evals": 1, "cv": 2, "random_state": 0}
    part = get_space("default").subspace({"classifier": ["random_forest"]})
    free = ConstrainedAutoClassifier(space=part, **settings).fit(X, y)
    settings["initial"] = [free.history_[0].configuration]
    model = ConstrainedAutoClassifier([ModelSize(1e9)], **settings).fit(X, y)
    assert settings_of(model.history_[0].configuration)["n_estimators"] == 100
    assert model.history_[0].loss == free.history_[0].loss
