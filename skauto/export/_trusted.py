"""Types in the skops file of a fitted estimator."""

import importlib
import inspect
import pkgutil

from sklearn.metrics import get_scorer_names

from skauto.selection._scores import scorer_of
from skauto.utils import scorer_function

# Packages whose classes are parts of a fitted estimator.
_OWN_PACKAGES = (
    "skauto.acquisition",
    "skauto.constraints",
    "skauto.data",
    "skauto.estimators",
    "skauto.history",
    "skauto.metalearning",
    "skauto.model",
    "skauto.selection",
    "skauto.space",
    "skauto.strategies",
    "skauto.surrogates",
)
# Functions that split texts in a fitted reader; they can do nothing else.
_ANALYZERS = tuple(
    f"skauto.data._text.{name}"
    for name in ("ngrams", "parts", "whole", "words", "words_and_pairs")
)
# Types of other packages in fitted components that skops does not trust by default.
_OTHER_PACKAGES = (
    "catboost.core.CatBoostClassifier",
    "collections.OrderedDict",
    "collections.defaultdict",
    "imblearn.over_sampling._random_over_sampler.RandomOverSampler",
    "imblearn.over_sampling._smote.base.SMOTE",
    "imblearn.pipeline.Pipeline",
    "lightgbm.basic.Booster",
    "lightgbm.sklearn.LGBMClassifier",
    "numpy.dtype",
    "numpy.mean",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
    "sklearn._loss.loss.HalfBinomialLoss",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "sklearn.feature_selection._univariate_selection.chi2",
    "sklearn.feature_selection._univariate_selection.f_classif",
    "sklearn.feature_selection._mutual_info.mutual_info_classif",
    "sklearn.gaussian_process._gpc._BinaryGaussianProcessClassifierLaplace",
    "sklearn.gaussian_process.kernels.ConstantKernel",
    "sklearn.gaussian_process.kernels.Product",
    "sklearn.gaussian_process.kernels.RBF",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.metrics._dist_metrics.ManhattanDistance64",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.metrics._scorer._Scorer",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.preprocessing._label.LabelBinarizer",
    "sklearn.tree._tree.Tree",
    "sklearn.utils.validation.check_array",
)


def trusted_types() -> list[str]:
    """List the types in the skops file of a fitted estimator, for ``skops.io.load(trusted=...)``.

    The list has the classes of skauto that a fitted estimator contains, its functions that split
    texts, the functions of scikit-learn's scorers, and types of scikit-learn, imbalanced-learn,
    LightGBM, CatBoost, SciPy and NumPy in the components of the catalog. Your own types, such as
    an estimator in your search space, are not in the list.

    Returns
    -------
    names : list of str
        Full names, sorted.

    Notes
    -----
    scikit-learn does not check the arrays of a tree when it predicts. A malicious file can crash
    the process, but it cannot run code.

    Examples
    --------
    >>> from skauto.export import trusted_types
    >>> "skauto.estimators._classifier.AutoClassifier" in trusted_types()
    True
    >>> "builtins.eval" in trusted_types()
    False
    """
    names = {*_OTHER_PACKAGES, *_ANALYZERS}
    for package in _OWN_PACKAGES:
        paths = importlib.import_module(package).__path__
        for info in pkgutil.walk_packages(paths, prefix=f"{package}."):
            module = importlib.import_module(info.name)
            for name, value in vars(module).items():
                if inspect.isclass(value) and value.__module__ == module.__name__:
                    names.add(f"{module.__name__}.{name}")
    for scorer_name in get_scorer_names():
        function = scorer_function(scorer_of(scorer_name))
        names.add(f"{function.__module__}.{function.__name__}")
    return sorted(names)
