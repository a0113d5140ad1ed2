"""Parameters of estimators are adapted to the data."""

import pytest

from skauto.space import FitContext, get_space


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


def test_encoders_name_their_columns():
    for name in ("one_hot", "target"):
        parameters = adapted("default", "encoder", name, {}, categorical=(1, 4))
        assert parameters["columns"] == [1, 4]
