"""Counts of the space of MOSAIC."""

import numpy as np

from skauto.space import get_space


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
