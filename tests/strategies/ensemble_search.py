"""A search whose trials have predictions, without fitting anything."""

import numpy as np

from skauto.history import History, Trial
from skauto.space import Configuration, SearchSpace

N_ROWS = 60


class ArtificialClassifiers:
    """Predictions that a configuration decides: what is near predicts alike.

    The configurations of a space are cut in groups by their algorithms; each group errs in rows of
    its own, and a numeric hyper-parameter says how many.
    """

    def __init__(self, space: SearchSpace, seed: int = 0) -> None:
        self.space = space
        rng = np.random.default_rng(seed)
        self.targets = rng.integers(0, 2, N_ROWS)
        n_columns = space.one_hot(space.default_vector()[None]).shape[1]
        self.weights = rng.normal(size=(n_columns, N_ROWS))

    def __call__(self, configuration: Configuration) -> dict:
        """Fields of the trial of a configuration."""
        features = self.space.one_hot(self.space.encode([configuration]))[0]
        certainty = 1 / (1 + np.exp(-(1.0 + features @ self.weights)))
        predictions = np.empty((N_ROWS, 2), dtype=np.float32)
        predictions[np.arange(N_ROWS), self.targets] = certainty
        predictions[np.arange(N_ROWS), 1 - self.targets] = 1 - certainty
        return {"losses": (float(np.mean(certainty < 0.5)),), "predictions": predictions}

    def history(self, n_trials: int, seed: int = 0, **options: object) -> History:
        """Random trials."""
        history = History(targets=self.targets, **options)
        vectors = self.space.sample(n_trials, np.random.default_rng(seed))
        for number, vector in enumerate(vectors):
            configuration = self.space.decode(vector)
            fields = self(configuration)
            history.append(Trial(number=number, configuration=configuration, **fields))
        return history
