"""The named search spaces."""

from collections.abc import Callable, Iterable

from skauto.space._component import Component
from skauto.space._space import SearchSpace, known_names
from skauto.space.catalog import (
    _balancers,
    _encoders,
    _imputers,
    _paper_classifiers,
    _paper_transformers,
    _scalers,
    _selectors,
    _transformers,
)
from skauto.space.catalog._default import default
from skauto.space.catalog._steps import STEPS


def _paper_space(
    name: str,
    default: dict[str, str],
    *,
    scalers: Iterable[Component],
    transformers: Iterable[Component],
    classifiers: Iterable[Component],
    encoders: Iterable[Component] | None = None,
    imputers: Iterable[Component] | None = None,
    balancers: Iterable[Component] | None = None,
    selectors: Iterable[Component] | None = None,
) -> SearchSpace:
    """Build a space of all steps; those that a paper does not choose in have one algorithm."""
    space = SearchSpace(STEPS, name, default=default)
    families = {
        "encoder": encoders or [_encoders.one_hot_fixed()],
        "imputer": imputers or [_imputers.fixed("median")],
        "balancer": balancers or [_balancers.none()],
        "scaler": scalers,
        "transformer": transformers,
        "selector": selectors or [_selectors.none()],
        "classifier": classifiers,
    }
    for step, components in families.items():
        for component in components:
            space.add(step, component)
    return space


def admm_small() -> SearchSpace:
    """Build ADMM's smaller space (Table A3): 6 x 3 x 6 = 108 pipelines.

    Returns
    -------
    SearchSpace
        Without the dead ``criterion`` of gradient boosting it has 35 hyper-parameters and the
        strategy of the imputer; the paper counts 36 and the imputer's.

    References
    ----------
    .. [1] Liu et al., "An ADMM based framework for AutoML pipeline configuration", AAAI 2020.
    """
    names = {
        "gaussian_nb",
        "qda",
        "gradient_boosting",
        "k_nearest_neighbors",
        "random_forest",
        "extra_trees",
    }
    return _paper_space(
        "admm_small",
        {"classifier": "gaussian_nb"},
        imputers=[_imputers.simple(["mean", "median", "most_frequent"])],
        scalers=_admm_scalers()[:6],
        transformers=[_transformers.none(), _transformers.pca(), _paper_transformers.polynomial()],
        classifiers=[c for c in _paper_classifiers.admm_classifiers() if c.name in names],
    )


def admm_large() -> SearchSpace:
    """Build ADMM's larger space (Table A2): 8 x 11 x 7 x 11 = 6,776 pipelines.

    Returns
    -------
    SearchSpace
        Without the dead ``criterion`` of gradient boosting and ``algorithm`` of AdaBoost it has 90
        hyper-parameters and the strategy of the imputer; the paper counts 92. Its seventh
        selector is ours.

    References
    ----------
    .. [1] Liu et al., "An ADMM based framework for AutoML pipeline configuration", AAAI 2020.
    """
    return _paper_space(
        "admm_large",
        {"classifier": "gaussian_nb"},
        imputers=[_imputers.simple(["mean", "median", "most_frequent"])],
        scalers=_admm_scalers(),
        transformers=_paper_transformers.admm_transformers(),
        selectors=_paper_transformers.admm_selectors(),
        classifiers=_paper_classifiers.admm_classifiers(),
    )


def _admm_scalers() -> list[Component]:
    return [
        _scalers.none(),
        _scalers.normalize(),
        _scalers.quantile(),
        _scalers.min_max(),
        _scalers.standard(),
        _scalers.robust_admm(),
        _scalers.binarize(),
        _scalers.bins(),
    ]


def mosaic() -> SearchSpace:
    """Build MOSAIC's space: auto-sklearn's of 2019 on dense data.

    Returns
    -------
    SearchSpace
        172 of the 208 pairs of classifier and preprocessor are legal, so that there are 6,192
        structures without balancing (the paper prints 6,048), 12,384 with it. It has 116
        hyper-parameters; the public file has 124 that are not constant, besides the 6 choices.
        Gone are ``algorithm`` of AdaBoost, ``criterion`` of gradient boosting, ``n_components`` of
        LDA, ``loss`` of the linear support vector machine and of the selector built on it,
        ``epsilon`` of SGD, ``normalize_type`` of XGBoost and ``bootstrap`` of the trees embedding.
        The paper prints 147 dimensions.

    References
    ----------
    .. [1] Rakotoarison, Schoenauer and Sebag, "Automated machine learning with Monte-Carlo tree
       search", IJCAI 2019.
    """
    space = _paper_space(
        "mosaic",
        {
            "encoder": "one_hot",
            "imputer": "mean",
            "scaler": "standard",
            "classifier": "random_forest",
        },
        encoders=[_encoders.none(), _encoders.one_hot_auto_sklearn()],
        imputers=[_imputers.fixed(s) for s in ("mean", "median", "most_frequent")],
        balancers=[_balancers.none(), _balancers.weights()],
        scalers=[
            _scalers.none(),
            _scalers.min_max(),
            _scalers.normalize(),
            _scalers.standard(),
            _scalers.quantile(),
            _scalers.robust(),
        ],
        transformers=_paper_transformers.mosaic_transformers(),
        classifiers=_paper_classifiers.mosaic_classifiers(),
    )
    # too costly together
    space.forbid(
        {"transformer": ["kernel_pca", "kitchen_sinks", "nystroem_sampler"]},
        {
            "classifier": [
                "adaboost",
                "decision_tree",
                "extra_trees",
                "gaussian_nb",
                "gradient_boosting",
                "k_nearest_neighbors",
                "libsvm_svc",
                "random_forest",
                "xgradient_boosting",
            ]
        },
    )
    # negative values behind which multinomial naive Bayes learns nothing
    space.forbid(
        {
            "transformer": [
                "fast_ica",
                "kernel_pca",
                "kitchen_sinks",
                "nystroem_sampler",
                "pca",
            ]
        },
        {"classifier": "multinomial_nb"},
    )
    # the embedding is sparse
    space.forbid(
        {"transformer": "random_trees_embedding"},
        {"classifier": ["gaussian_nb", "gradient_boosting", "lda", "qda"]},
    )
    return space


def flash() -> SearchSpace:
    """Build FLASH's space (Table 5): 4 x 2 x 13 x 14 = 1,456 paths over 33 algorithms.

    Returns
    -------
    SearchSpace
        Nothing is forbidden. It has 99 hyper-parameters; the paper counts 102, of which
        ``algorithm`` of AdaBoost, ``n_components`` of LDA and ``epsilon`` of SGD are gone.

    References
    ----------
    .. [1] Zhang et al., "FLASH: fast Bayesian optimization for data analytic pipelines",
       KDD 2016.
    """
    return _paper_space(
        "flash",
        {"classifier": "random_forest"},
        balancers=[_balancers.none(), _balancers.weights()],
        scalers=[
            _scalers.none(),
            _scalers.min_max(),
            _scalers.normalize(),
            _scalers.standard(),
        ],
        transformers=_paper_transformers.flash_transformers(),
        classifiers=_paper_classifiers.flash_classifiers(),
    )


def divbo() -> SearchSpace:
    """Build DivBO's space (Tables 6 and 7): 11 classifiers, 20 operators.

    Returns
    -------
    SearchSpace
        Nothing is forbidden. It has 94 hyper-parameters; the tables sum to 101, of which 7 are
        gone: ``algorithm`` of AdaBoost, ``criterion`` of gradient boosting, ``n_components`` of
        LDA, ``bootstrap`` of the trees embedding, and ``penalty``, ``loss`` and ``dual`` of the
        linear selector, which are constants.

    References
    ----------
    .. [1] Shen et al., "DivBO: diversity-aware CASH for ensemble learning", NeurIPS 2022.
    """
    return _paper_space(
        "divbo",
        {"classifier": "random_forest"},
        balancers=[_balancers.none(), _balancers.weights()],
        scalers=[
            _scalers.none(),
            _scalers.min_max(),
            _scalers.normalize(),
            _scalers.quantile(),
            _scalers.robust(),
            _scalers.standard(),
        ],
        transformers=_paper_transformers.divbo_transformers(),
        classifiers=_paper_classifiers.divbo_classifiers(),
    )


def fang_mlp() -> SearchSpace:
    """Build FanG-HPO's space of neural networks (Table 2): 10 hyper-parameters.

    Returns
    -------
    SearchSpace
        One algorithm a step.

    References
    ----------
    .. [1] Candelieri, Ponti and Archetti, "Fair and green hyperparameter optimization via
       multi-objective and multiple information source Bayesian optimization", 2022.
    """
    return _paper_space(
        "fang_mlp",
        {},
        scalers=[_scalers.none()],
        transformers=[_transformers.none()],
        classifiers=[_paper_classifiers.fang_mlp()],
    )


def fang_gbm() -> SearchSpace:
    """Build FanG-HPO's space of boosted trees (Table 3): 7 hyper-parameters.

    Returns
    -------
    SearchSpace
        One algorithm a step; LightGBM stands in for XGBoost.

    References
    ----------
    .. [1] Candelieri, Ponti and Archetti, "Fair and green hyperparameter optimization via
       multi-objective and multiple information source Bayesian optimization", 2022.
    """
    return _paper_space(
        "fang_gbm",
        {},
        scalers=[_scalers.none()],
        transformers=[_transformers.none()],
        classifiers=[_paper_classifiers.fang_gradient_boosting()],
    )


_SPACES: dict[str, Callable[[], SearchSpace]] = {
    build.__name__: build
    for build in (default, admm_small, admm_large, mosaic, flash, divbo, fang_mlp, fang_gbm)
}


def get_space(name: str, sensitive: Iterable[str] = ()) -> SearchSpace:
    """Build a named search space.

    Parameters
    ----------
    name : str
        One of ``"default"``, ``"admm_small"``, ``"admm_large"``, ``"mosaic"``, ``"flash"``,
        ``"divbo"``, ``"fang_mlp"``, ``"fang_gbm"``.
    sensitive : iterable of str, default=()
        Sensitive features, by which ``"default"`` may weigh the rows. The spaces of the papers
        stay as they are.

    Returns
    -------
    SearchSpace
        A new space, which may be changed.

    Examples
    --------
    >>> from skauto.space import get_space
    >>> get_space("default").default()["classifier"]
    'lightgbm'
    """
    if name not in _SPACES:
        raise ValueError(f"unknown search space {name!r}; {known_names(name, _SPACES)}")
    return default(sensitive) if name == "default" else _SPACES[name]()
