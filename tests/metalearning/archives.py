"""A small space, and an archive of results on it."""

import numpy as np

from skauto.metalearning import (
    META_FEATURES,
    Archive,
    KnownDataSet,
)
from skauto.space import Integer, Real, SearchSpace


def make_space() -> SearchSpace:
    space = SearchSpace(("imputer", "scaler", "classifier"), name="made_up")
    space.add("imputer", "none").add("imputer", "mean")
    space.add("scaler", "none").add("scaler", "standard")
    space.add("classifier", "tree", parameters={"depth": Integer(1, 10)})
    space.add("classifier", "linear", parameters={"C": Real(0.01, 100, log=True)})
    return space.add("classifier", "bayes")


def make_archive(n_sets=12, n_configurations=10, seed=0) -> Archive:
    """Data sets on a line: what is good changes along it."""
    rng = np.random.default_rng(seed)
    space = make_space()
    vectors = space.sample(200, rng)
    configurations = list(dict.fromkeys(space.decode(v) for v in vectors))[:n_configurations]
    data_sets = []
    for i in range(n_sets):
        place = i / n_sets
        features = {name: place + 0.2 * rng.normal() for name in META_FEATURES}
        features["log_n_features"] = float(i)
        ideal = place * n_configurations
        losses = np.abs(np.arange(n_configurations) - ideal) / n_configurations
        seconds = rng.random(n_configurations) + np.arange(n_configurations)
        data_sets.append(KnownDataSet(f"set_{i}", features, losses, seconds))
    return Archive("made_up", "accuracy", tuple(configurations), tuple(data_sets))
