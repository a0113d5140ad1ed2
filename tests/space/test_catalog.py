"""The named spaces: counts against the papers, and the estimators of their components."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from lightgbm import LGBMClassifier
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import chi2
from sklearn.metrics import log_loss
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import TargetEncoder
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skauto.data import DataFacts
from skauto.space import FitContext, get_space
from skauto.space.catalog import (
    CrossFittedTargetEncoder,
    LightGBMClassifier,
    ScaledGammaSVC,
)
from skauto.space.catalog._classifiers import node_bytes
from skauto.space.catalog._preprocessors import chi2_of_positive_part
from skauto.space.catalog._rounds import max_patience
from skauto.space.catalog.papers._auto_sklearn_classifiers import ClippedMultinomialNB
from skauto.space.catalog.papers._divbo import CrossFeatures

QUIET = {"n_jobs": 1, "verbose": -1}
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


def n_components(space):
    return tuple(len(space.components(step)) for step in space.steps)


def n_parameters(space, *steps):
    return sum(len(c.parameters) for step in steps for c in space.components(step))


# ----------------------------------------------------------------------------------------- counts


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


def test_admm_counts_by_module():
    space = get_space("admm_large")
    assert n_parameters(space, "scaler") == 8
    assert n_parameters(space, "transformer") == 31
    assert n_parameters(space, "selector") == 5
    assert n_parameters(space, "classifier") == 48 - 2
    small = get_space("admm_small")
    assert [n_parameters(small, s) for s in ("scaler", "transformer", "classifier")] == [6, 5, 24]
    # the first structure tried is naive Bayes with nothing in the optional steps
    assert space.default().structure[3:] == ("none", "none", "none", "gaussian_nb")


def test_mosaic_pairs():
    space = get_space("mosaic")
    pairs, counts = np.unique(space.structures[:, [4, 6]], axis=0, return_counts=True)
    assert len(pairs) == 172
    assert (counts == 2 * 3 * 2 * 6).all()
    assert len(space.subspace({"balancer": "none"}).structures) == 6192
    names = [component.name for component in space.components("classifier")]
    partners = dict(zip(names, np.bincount(pairs[:, 1]).tolist(), strict=True))
    assert partners == {
        "adaboost": 10,
        "bernoulli_nb": 13,
        "decision_tree": 10,
        "extra_trees": 10,
        "gaussian_nb": 9,
        "gradient_boosting": 9,
        "k_nearest_neighbors": 10,
        "lda": 12,
        "liblinear_svc": 13,
        "libsvm_svc": 10,
        "multinomial_nb": 8,
        "passive_aggressive": 13,
        "qda": 12,
        "random_forest": 10,
        "sgd": 13,
        "xgradient_boosting": 10,
    }
    assert space.default().structure == (
        "one_hot",
        "mean",
        "none",
        "standard",
        "none",
        "none",
        "random_forest",
    )


def test_flash_and_divbo_algorithms():
    flash = get_space("flash")
    assert sum(n for n in n_components(flash) if n > 1) == 33
    divbo = get_space("divbo")
    assert len(divbo.components("classifier")) == 11
    operators = [
        component
        for step in ("scaler", "transformer")
        for component in divbo.components(step)
        if not component.passthrough
    ]
    assert len(operators) == 20


def test_fang_spaces_are_boxes(rng):
    for name, d in (("fang_mlp", 10), ("fang_gbm", 7)):
        space = get_space(name)
        assert not np.isnan(space.sample(100, rng)).any()
        assert space.n_dimensions == 7 + d


# ------------------------------------------------------------------------------- the default space


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


def test_default_configurations_are_sensible_for_each_classifier():
    facts = DataFacts(n_samples=500, n_features=10, has_missing=True, has_categories=True)
    found = get_space("default").for_data(facts).default_configurations()
    chosen = {c["classifier"]: c.structure for c in found}
    assert list(chosen)[0] == "gaussian_nb"
    assert list(chosen)[-1] == "mlp"
    for name in ("logistic_regression", "svm", "lda", "k_nearest_neighbors"):
        assert chosen[name][:4] == ("one_hot", "simple", "none", "standard")
    assert chosen["mlp"][:4] == ("one_hot", "simple", "none", "robust_smooth")
    for name in ("lightgbm", "extra_trees", "random_forest"):
        assert chosen[name][:4] == ("ordinal", "none", "none", "none")
    plain = get_space("default").for_data(DataFacts(n_samples=500, n_features=10))
    chosen = {c["classifier"]: c.structure for c in plain.default_configurations()}
    assert chosen["svm"] == ("ordinal", "none", "none", "standard", "none", "none", "svm")


def test_default_space_draws_classifiers_evenly(rng):
    space = get_space("default").for_data(DataFacts(n_samples=500, n_features=10))
    drawn = np.bincount(space.sample(6000, rng)[:, 6].astype(int))
    weights = np.array([c.weight for c in space.components("classifier")])
    assert_allclose(drawn / 6000, weights / weights.sum(), atol=0.02)


def test_large_data_drop_what_is_too_slow():
    part = get_space("default").for_data(DataFacts(n_samples=300_000, n_features=5000))
    names = {component.name for component in part.components("classifier")}
    assert names == {
        "lightgbm",
        "extra_trees",
        "random_forest",
        "logistic_regression",
        "mlp",
        "gaussian_nb",
    }


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


# ---------------------------------------------------------------------------------------- adapting


def adapted(space, step, name, values, **context):
    component = get_space(space).component(step, name)
    estimator = component.make({**component.default_values(), **values})
    facts = {"n_samples": 100, "n_features": 10, "n_classes": 2, **context}
    component.adapt(estimator, FitContext(**facts))
    return estimator.get_params()


@pytest.mark.parametrize(
    ("space", "step", "name", "values", "context", "expected"),
    [
        ("mosaic", "scaler", "quantile", {"n_quantiles": 500}, {}, {"n_quantiles": 100}),
        ("mosaic", "scaler", "standard", {}, {"sparse": True}, {"with_mean": False}),
        ("mosaic", "scaler", "robust", {}, {"sparse": True}, {"with_centering": False}),
        (
            "mosaic",
            "scaler",
            "robust",
            {"q_min": 0.1, "q_max": 0.9},
            {},
            {"quantile_range": (10.0, 90.0)},
        ),
        ("mosaic", "classifier", "random_forest", {}, {"n_features": 100}, {"max_features": 10}),
        ("mosaic", "classifier", "extra_trees", {"max_features": 0.0}, {}, {"max_features": 1}),
        ("mosaic", "classifier", "extra_trees", {"max_features": 1}, {}, {"max_features": 10}),
        ("mosaic", "classifier", "decision_tree", {"max_depth": 0.0}, {}, {"max_depth": 1}),
        ("mosaic", "classifier", "decision_tree", {"max_depth": 1.26}, {}, {"max_depth": 13}),
        (
            "mosaic",
            "classifier",
            "k_nearest_neighbors",
            {"n_neighbors": 90},
            {"n_samples": 30},
            {"n_neighbors": 30},
        ),
        (
            "mosaic",
            "transformer",
            "fast_ica",
            {"whiten": True, "n_components": 50},
            {},
            {"n_components": 10, "whiten": "arbitrary-variance"},
        ),
        ("mosaic", "transformer", "fast_ica", {}, {}, {"n_components": None, "whiten": False}),
        ("mosaic", "transformer", "feature_agglomeration", {}, {}, {"n_clusters": 10}),
        ("mosaic", "transformer", "kernel_pca", {"n_components": 400}, {}, {"n_components": 100}),
        (
            "mosaic",
            "transformer",
            "extra_trees_preproc",
            {},
            {"n_features": 25},
            {"estimator__max_features": 5},
        ),
        (
            "mosaic",
            "classifier",
            "xgradient_boosting",
            {"subsample": 0.01},
            {},
            {"subsample": 0.1},
        ),
        ("divbo", "transformer", "truncated_svd", {}, {}, {"n_components": 9}),
        ("divbo", "transformer", "truncated_svd", {}, {"n_features": 1}, {"n_components": 1}),
        (
            "divbo",
            "transformer",
            "random_trees_embedding",
            {"max_depth": 9},
            {"n_samples": 6000},
            {"max_depth": 6},
        ),
        ("admm_large", "selector", "select_k_best", {}, {"n_features": 4}, {"k": 4}),
        (
            "admm_large",
            "classifier",
            "gradient_boosting",
            {"loss": "exponential"},
            {"n_classes": 3},
            {"loss": "log_loss"},
        ),
        (
            "default",
            "classifier",
            "lightgbm",
            {},
            {"categorical": (2, 3)},
            {"categorical_features": [2, 3]},
        ),
        (
            "default",
            "classifier",
            "random_forest",
            {},
            {"n_samples": 900},
            {"n_estimators": 100, "max_leaf_nodes": None},
        ),
        (
            "default",
            "classifier",
            "random_forest",
            {},
            {"n_samples": 8000},  # 16 MB / (50 trees * 2 * 80 bytes)
            {"n_estimators": 50, "max_leaf_nodes": 2000},
        ),
        ("default", "classifier", "mlp", {}, {}, {"max_rounds": 64, "batch_size": 32}),
        (
            "default",
            "classifier",
            "mlp",
            {},
            {"n_samples": 64_000},
            {"max_rounds": 16, "batch_size": 1024},
        ),
        ("default", "classifier", "lightgbm", {}, {"n_samples": 80_000}, {"max_rounds": 500}),
        ("default", "transformer", "polynomial", {}, {"n_features": 100}, {"degree": 1}),
        ("default", "encoder", "one_hot", {}, {"categorical": (1,)}, {"sparse_threshold": 0.0}),
        (
            "default",
            "encoder",
            "one_hot",
            {},
            {"categorical": (1,), "n_levels": (200,), "n_samples": 10**6},
            {"sparse_threshold": 0.3},
        ),
    ],
)
def test_adapt(space, step, name, values, context, expected):
    parameters = adapted(space, step, name, values, **context)
    assert {key: parameters[key] for key in expected} == expected


@pytest.mark.parametrize("n_classes", [2, 20])
def test_size_of_a_node(rng, n_classes):
    tree = DecisionTreeClassifier().fit(rng.random((2000, 3)), rng.integers(0, n_classes, 2000))
    size = tree.tree_.node_count * node_bytes(n_classes)
    assert size < len(pickle.dumps(tree)) < 1.02 * size


def test_encoders_name_their_columns():
    for name in ("one_hot", "target"):
        parameters = adapted("default", "encoder", name, {}, categorical=(1, 4))
        assert parameters["columns"] == [1, 4]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"penalty": "l2", "loss": "hinge"}, ("l2", "hinge", True)),
        (
            {"penalty": "l2", "loss": "squared_hinge", "dual": False},
            ("l2", "squared_hinge", False),
        ),
        ({"penalty": "l1"}, ("l1", "squared_hinge", False)),
    ],
)
def test_linear_svm_of_divbo_is_legal(values, expected):
    component = get_space("divbo").component("classifier", "liblinear_svc")
    complete = {"C": 1.0, "tol": 1e-3, **values}
    assert set(component.active({**complete})) == set(complete)
    estimator = component.make(complete)
    assert (estimator.penalty, estimator.loss, estimator.dual) == expected


# -------------------------------------------------------------------------------------- estimators


def test_lightgbm_uses_native_categories(rng):
    codes = rng.integers(0, 60, 3000).astype(float)
    codes[::50] = np.nan
    y = np.where(np.isnan(codes), 0, (rng.random(60) < 0.5)[np.nan_to_num(codes).astype(int)])
    X = np.column_stack([rng.normal(size=3000), codes])
    settings = {
        "n_estimators": 3,
        "learning_rate": 0.1,
        "num_leaves": 4,
        "min_child_samples": 5,
        **QUIET,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        native = LightGBMClassifier(categorical_features=[1], **settings).fit(X, y)
        copy = pickle.loads(pickle.dumps(native))
        assert_array_equal(copy.predict_proba(X), native.predict_proba(X))
        assert_array_equal(clone(native).fit(X, y).predict_proba(X), native.predict_proba(X))
        numeric = LightGBMClassifier(**settings).fit(X, y)
    assert native.score(X, y) == 1.0
    assert numeric.score(X, y) < 0.9
    assert native.get_params()["categorical_features"] == [1]
    assert native.set_params(num_leaves=7).get_params()["num_leaves"] == 7


@pytest.mark.parametrize("n_classes", [2, 3])
def test_lightgbm_predicts_with_the_best_round(n_classes):
    X, y = make_classification(
        600, 8, n_informative=4, n_classes=n_classes, flip_y=0.2, random_state=n_classes
    )
    labels = np.array(["a", "b", "c"])[y]
    train, test = (X[:400], labels[:400]), (X[400:], labels[400:])
    stopped = LightGBMClassifier(max_rounds=200, **QUIET).fit(*train, eval_set=test)
    losses = [
        log_loss(test[1], stopped.predict_proba(test[0], num_iteration=n))
        for n in range(1, stopped.n_rounds_ + 1)
    ]
    assert 1 < stopped.n_rounds_ < 200
    assert_allclose(losses[-1], min(losses), atol=2e-4)
    fixed = LightGBMClassifier(**QUIET).set_rounds(stopped.n_rounds_).fit(*train)
    assert fixed.n_rounds_ == stopped.n_rounds_
    assert_allclose(fixed.predict_proba(test[0]), stopped.predict_proba(test[0]))
    checked = LGBMClassifier.predict_proba(stopped, test[0])  # with the checks of LightGBM
    assert_array_equal(stopped.predict_proba(test[0]), checked)
    assert_array_equal(stopped.predict_proba(test[0].tolist()), checked)
    with pytest.raises(ValueError, match="7 features"):
        stopped.predict_proba(test[0][:, :7])


def test_lightgbm_drops_validation_rows_of_unknown_classes():
    X, y = make_classification(300, 8, flip_y=0.3, random_state=0)
    X_val, y_val = X[200:], y[200:].copy()
    model = LightGBMClassifier(**QUIET)
    expected = clone(model).fit(X[:200], y[:200], eval_set=(X_val[30:], y_val[30:]))
    y_val[:30] = 7
    partly = clone(model).fit(X[:200], y[:200], eval_set=(X_val, y_val))
    assert_array_equal(partly.predict_proba(X), expected.predict_proba(X))
    y_val[:] = 7
    assert clone(model).fit(X[:200], y[:200], eval_set=(X_val, y_val)).n_rounds_ == 100
    assert clone(model).fit(X[:200], y[:200]).n_rounds_ == 100


def test_hyper_parameters_of_categories_rest_without_categories():
    numbers = DataFacts(n_samples=500, n_features=10)
    names = {"cat_smooth", "cat_l2", "max_cat_to_onehot", "min_data_per_group"}
    for facts in (numbers, replace(numbers, has_categories=True)):
        lightgbm = get_space("default").for_data(facts).component("classifier", "lightgbm")
        assert (names <= set(lightgbm.parameters)) == facts.has_categories
        assert lightgbm.make(lightgbm.default_values()).get_params()["cat_smooth"] == 10.0


def test_scaled_gammas_agree_with_scikit_learn(rng):
    X = rng.normal(size=(80, 5)) * 3 + 1
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    ours = ScaledGammaSVC(gamma=2.0).fit(X, y)
    theirs = SVC(gamma=2.0 / (5 * X.var())).fit(X, y)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X))
    assert ours.gamma == 2.0
    component = get_space("default").component("transformer", "nystroem")
    nystroem = component.make({"gamma": 2.0, "n_components": 100})
    component.adapt(nystroem, FitContext(n_samples=80, n_features=5, n_classes=2))
    assert (nystroem.gamma, nystroem.n_components) == (0.4, 80)


@pytest.mark.parametrize("space, name", [("default", "svm"), ("mosaic", "libsvm_svc")])
def test_kernel_machines_come_to_an_end(rng, space, name):
    X = rng.normal(size=(300, 5)) * 10.0 ** np.arange(5)
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    component = get_space(space).component("classifier", name)
    machine = component.make({"C": 1000.0, "kernel": "poly", "degree": 4, "coef0": 0.0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = machine.fit(X, y)
    svc = fitted.calibrated_classifiers_[0].estimator if name == "svm" else fitted
    assert svc.n_iter_.max() == 100_000


def test_target_encoder_agrees_with_scikit_learn(rng):
    codes = rng.integers(0, 5, (300, 2)).astype(float)
    codes[0, 0] = np.nan
    y = (rng.random(300) < (codes[:, 1] + 1) / 7).astype(int)
    ours = CrossFittedTargetEncoder(random_state=3).fit(codes, y)
    assert_allclose(ours.transform(codes), TargetEncoder().fit(codes, y).transform(codes))
    again = CrossFittedTargetEncoder(random_state=3).fit_transform(codes, y)
    assert_array_equal(again, CrossFittedTargetEncoder(random_state=3).fit_transform(codes, y))
    assert not np.array_equal(again, ours.transform(codes))
    assert ours.get_feature_names_out(["a", "b"]).tolist() == ["a", "b"]


def test_target_encoder_makes_do_with_small_classes():
    codes = np.arange(6.0)[:, None] % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoded = CrossFittedTargetEncoder(random_state=0).fit_transform(codes, [0, 0, 0, 1, 1, 2])
    assert encoded.shape == (6, 3)
    assert np.isfinite(encoded).all()


def test_negative_values_count_as_zero(rng):
    X = rng.normal(size=(60, 4))
    y = rng.integers(0, 3, 60)
    ours = ClippedMultinomialNB(alpha=0.5).fit(X, y)
    theirs = MultinomialNB(alpha=0.5).fit(X.clip(0), y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X.clip(0)))
    assert_array_equal(ours.predict(X), theirs.predict(X.clip(0)))
    assert_allclose(chi2_of_positive_part(X, y), chi2(X.clip(0), y))


def test_cross_features_limit_their_pairs(rng):
    X = (rng.random((50, 30)) < 0.5).astype(float)
    crossed = CrossFeatures(max_columns=5, seed=2).fit(X)
    assert len(crossed.pairs_) == 10
    assert crossed.transform(X).shape == (50, 40)
    i, j = crossed.pairs_[3]
    assert_array_equal(crossed.transform(X)[:, 33], X[:, i] * X[:, j])
    assert CrossFeatures().fit(rng.normal(size=(50, 3))).pairs_.shape == (0, 2)
    assert crossed.get_feature_names_out()[30] == "x{} x{}".format(*crossed.pairs_[0])


def test_patience_is_shorter_for_many_rows():
    assert [max_patience(n) for n in (1_000, 20_000, 10**6)] == [150.0, 75.0, 20.0]


def test_smote_respects_small_classes(rng):
    X, y = rng.normal(size=(30, 3)), np.repeat([0, 1], [27, 3])
    component = get_space("default").component("balancer", "smote")
    sampler = component.make({"k_neighbors": 10})
    component.adapt(sampler, FitContext(30, 3, 2, smallest_class=3))
    assert sampler.k_neighbors == 2
    assert np.bincount(sampler.fit_resample(X, y)[1]).tolist() == [27, 27]
