"""The named spaces: counts against the papers, and what holds for each of them."""

import pytest

from skauto.data import DataFacts
from skauto.space import get_space
from tests.space.catalog.counts import n_components, n_parameters

STEPS = ("encoder", "imputer", "balancer", "scaler", "transformer", "selector", "classifier")
NAMES = [
    "default",
    "admm_small",
    "admm_large",
    "mosaic",
    "flash",
    "divbo",
    "fang_mlp",
    "fang_gbm",
]


@pytest.mark.parametrize("name", NAMES)
def test_every_space_has_the_same_steps(name):
    space = get_space(name)
    assert space.name == name
    assert space.steps == STEPS
    assert space is not get_space(name)
    space.validate(space.default())
    for step, choice in space.default_choices.items():
        assert space.default()[step] == choice


@pytest.mark.parametrize(
    ("name", "components", "n_structures"),
    [
        ("admm_small", (1, 1, 1, 6, 3, 1, 6), 108),  # Table A3: 6 x 3 x 6
        ("admm_large", (1, 1, 1, 8, 11, 7, 11), 6776),  # Table A2: 8 x 11 x 7 x 11
        ("mosaic", (2, 3, 2, 6, 13, 1, 16), 12384),
        ("flash", (1, 1, 2, 4, 13, 1, 14), 1456),  # Table 5: 1,456 paths
        ("divbo", (1, 1, 2, 6, 16, 1, 11), 2112),
        ("fang_mlp", (1,) * 7, 1),
        ("fang_gbm", (1,) * 7, 1),
    ],
)
def test_number_of_structures(name, components, n_structures):
    space = get_space(name)
    assert n_components(space) == components
    assert len(space.structures) == n_structures


@pytest.mark.parametrize(
    ("name", "printed", "imputer", "gone", "ours"),
    [
        # without: criterion of gradient boosting
        ("admm_small", 36, 1, 1, 0),
        # without: criterion of gradient boosting, algorithm of AdaBoost
        ("admm_large", 92, 1, 2, 0),
        # printed: non-constant hyper-parameters of the public file. Without: algorithm of
        # AdaBoost, criterion of gradient boosting, n_components of LDA, loss of the linear SVM and
        # of the selector built on it, epsilon of SGD, normalize_type of XGBoost, bootstrap of
        # the trees embedding
        ("mosaic", 124, 0, 8, 0),
        # without: algorithm of AdaBoost, n_components of LDA, epsilon of SGD
        ("flash", 102, 0, 3, 0),
        # without: algorithm of AdaBoost, criterion of gradient boosting, n_components of LDA,
        # bootstrap of the trees embedding, three constants of the linear selector
        ("divbo", 101, 0, 7, 0),
        ("fang_mlp", 10, 0, 0, 0),
        ("fang_gbm", 7, 0, 0, 0),
        ("default", 0, 0, 0, 57),
    ],
)
def test_number_of_hyper_parameters(name, printed, imputer, gone, ours):
    space = get_space(name)
    assert n_parameters(space, *STEPS) == printed + imputer - gone + ours
    assert space.n_dimensions == 7 + n_parameters(space, *STEPS)


FACTS = [
    DataFacts(n_samples=500, n_features=10),
    DataFacts(n_samples=500, n_features=10, has_missing=True),
    DataFacts(n_samples=500, n_features=10, has_missing=True, has_categories=True),
    DataFacts(n_samples=500, n_features=10, sparse=True),
    DataFacts(n_samples=500, n_features=10, weighted=True),
    DataFacts(n_samples=10**6, n_features=10_000),
]


@pytest.mark.parametrize("facts", FACTS, ids=repr)
@pytest.mark.parametrize("name", NAMES)
def test_every_space_has_a_part_for_all_data(name, facts, rng):
    part = get_space(name).for_data(facts)
    for configuration in part.default_configurations():
        part.validate(configuration)
    used = {step: set() for step in STEPS}
    for row in part.structures:
        for step, j in zip(STEPS, row, strict=True):
            used[step].add(int(j))
    assert [len(used[step]) for step in STEPS] == list(n_components(part))
    assert len(part.sample(20, rng)) == 20


@pytest.mark.parametrize("name", NAMES)
def test_estimators_have_one_thread_and_no_seed(name):
    space = get_space(name)
    for step in STEPS:
        for component in space.components(step):
            estimator = component.make(component.default_values())
            if estimator is None:
                continue
            for key, value in estimator.get_params().items():
                parameter = key.rpartition("__")[2]
                if parameter == "n_jobs" and "logistic" not in component.name:
                    assert value == 1, (component, key)
                if parameter == "random_state":
                    assert value is None, (component, key)
