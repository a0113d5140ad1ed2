"""The search space of MOSAIC: the space of auto-sklearn in 2019 for dense data.

H. Rakotoarison, M. Schoenauer, M. Sebag, "Automated machine learning with Monte-Carlo tree
search", IJCAI 2019.
"""

from skauto.space._component import Component
from skauto.space._parameters import Real
from skauto.space._space import SearchSpace
from skauto.space.catalog._category_columns import CategoryColumns
from skauto.space.catalog._preprocessors import CLASS_WEIGHTS, ONE_HOT, make_one_hot
from skauto.space.catalog.papers._auto_sklearn_classifiers import CLASSIFIERS
from skauto.space.catalog.papers._auto_sklearn_transformers import SCALERS, TRANSFORMERS
from skauto.space.catalog.papers._base import IMPUTERS, NONE, paper_space


def make_one_hot_with_fraction(
    use_minimum_fraction: bool = True, minimum_fraction: float | None = None
) -> CategoryColumns:
    """Build a one-hot encoder that may group categories below a minimum fraction of the rows."""
    return make_one_hot(min_frequency=minimum_fraction if use_minimum_fraction else None)


_ENCODERS = [
    Component("none", keeps_categories=False),  # later steps use the codes as numbers
    ONE_HOT.vary(
        {
            "use_minimum_fraction": [True, False],
            "minimum_fraction": Real(1e-4, 0.5, log=True, default=0.01),
        },
        conditions={"minimum_fraction": ("use_minimum_fraction", [True])},
        estimator=make_one_hot_with_fraction,
    ),
]

# forbidden pairs of transformers and classifiers, by reason
_TOO_COSTLY = (
    ["kernel_pca", "kitchen_sinks", "nystroem_sampler"],
    [
        "adaboost",
        "decision_tree",
        "extra_trees",
        "gaussian_nb",
        "gradient_boosting",
        "k_nearest_neighbors",
        "libsvm_svc",
        "random_forest",
        "xgradient_boosting",
    ],
)
_NEGATIVE_VALUES = (
    ["fast_ica", "kernel_pca", "kitchen_sinks", "nystroem_sampler", "pca"],
    ["multinomial_nb"],
)
_SPARSE_OUTPUT = (["random_trees_embedding"], ["gaussian_nb", "gradient_boosting", "lda", "qda"])


def mosaic() -> SearchSpace:
    """Build MOSAIC's space: the space of auto-sklearn in 2019 for dense data.

    172 of the 208 pairs of classifier and preprocessor are legal, which gives 6,192 structures
    without balancing (the paper prints 6,048) and 12,384 with it. The space has 116
    hyper-parameters. The public file has 124 that are not constant: also ``algorithm`` of
    AdaBoost, ``criterion`` of gradient boosting, ``n_components`` of LDA, ``loss`` of the linear
    support vector machine and of its selector, ``epsilon`` of SGD, ``normalize_type`` of XGBoost
    and ``bootstrap`` of the trees embedding. The paper prints 147 dimensions.
    """
    space = paper_space(
        "mosaic",
        default={
            "encoder": "one_hot",
            "imputer": "mean",
            "scaler": "standard",
            "classifier": "random_forest",
        },
        encoder=_ENCODERS,
        imputer=list(IMPUTERS.values()),
        balancer=[NONE, CLASS_WEIGHTS],
        scaler=[
            SCALERS[name]
            for name in ("none", "min_max", "normalize", "standard", "quantile", "robust")
        ],
        transformer=list(TRANSFORMERS.values()),
        classifier=list(CLASSIFIERS.values()),
    )
    for transformers, classifiers in (_TOO_COSTLY, _NEGATIVE_VALUES, _SPARSE_OUTPUT):
        space.forbid({"transformer": transformers}, {"classifier": classifiers})
    return space
