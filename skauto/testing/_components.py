"""Checks of the components of a search space."""

import json
import pickle
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from skauto.estimators import AutoClassifier
from skauto.space import Configuration, SearchSpace
from skauto.utils import FloatArray, IntArray


def check_component(
    space: SearchSpace, step: str, algorithm: str, *, n_configurations: int = 8
) -> None:
    """Check that an algorithm of a search space can be searched.

    Configurations with default and with random hyper-parameters are fitted on tables of two and of
    three classes. Each fit must succeed and give finite probabilities, the same seed must give the
    same predictions, configurations must convert to JSON and back, and the fitted estimator must
    pickle.

    Parameters
    ----------
    space : SearchSpace
        Space with the algorithm.
    step : str
        Step of the algorithm.
    algorithm : str
        Name of the algorithm.
    n_configurations : int, default=8
        Number of configurations to fit on each table.

    Raises
    ------
    AssertionError
        If the component violates the contract. The message names the configuration.

    Examples
    --------
    >>> from scipy.stats import randint
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skauto.space import SearchSpace
    >>> from skauto.testing import check_component
    >>> space = SearchSpace(["classifier"])
    >>> space = space.add("classifier", "tree", DecisionTreeClassifier(),
    ...                   {"max_depth": randint(1, 9)})
    >>> check_component(space, "classifier", "tree")
    """
    only = space.subspace({step: [algorithm]})
    for name, (X, y) in _tables().items():
        fitted, again = (_fit(only, n_configurations, X, y) for _ in range(2))
        for trial in fitted.history_:
            what = f"{trial.configuration} on the table with {name}"
            assert trial.status in ("ok", "stopped"), f"{what}: {trial.error}"
            text = json.dumps(trial.configuration.to_dict())
            same = Configuration.from_dict(json.loads(text)) == trial.configuration
            assert same, f"{trial.configuration} changes when it is converted to JSON."
        probabilities = fitted.predict_proba(X)
        assert np.isfinite(probabilities).all(), f"{algorithm}: probabilities are not finite."
        assert np.array_equal(probabilities, again.predict_proba(X)), (
            f"{algorithm}: the same seed gives other predictions on the table with {name}."
        )
        loaded = pickle.loads(pickle.dumps(fitted))
        assert np.array_equal(loaded.predict_proba(X), probabilities), (
            f"{algorithm}: predictions differ after pickling."
        )


def _fit(space: SearchSpace, n_configurations: int, X: FloatArray, y: IntArray) -> Any:
    """Evaluate default and random configurations and build the ensemble."""
    estimator = AutoClassifier(
        "random", space=space, initial="defaults", max_evals=n_configurations, cv=2, random_state=0
    )
    return estimator.fit(X, y)


def _tables() -> dict[str, tuple[FloatArray, IntArray]]:
    """Return small tables: two classes, three classes of unequal size."""
    two = make_classification(120, 6, n_informative=4, random_state=0)
    three = make_classification(
        150, 8, n_informative=5, n_classes=3, weights=[0.6, 0.3], random_state=1
    )
    return {"two classes": two, "three classes": three}
