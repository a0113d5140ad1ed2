"""Augmented Gaussian process for multiple information sources."""

from collections.abc import Sequence
from copy import copy
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from skauto.surrogates._base import Surrogate
from skauto.surrogates._gaussian_process import GaussianProcess
from skauto.surrogates._kriging_believer import condition_on_pending
from skauto.utils import BoolArray, FloatArray


class AugmentedGaussianProcess(BaseEstimator):
    """Surrogate of an expensive function that also uses cheap approximations of it.

    One model is fitted to each source. An observation of a cheap source is *reliable* if the means
    of the models of its source and of the ground truth differ there by at most ``alpha`` standard
    deviations of the latter, Eq. (8) of the paper of `FanGHPO`. The augmented model is fitted to
    the observations of the ground truth and the reliable observations.

    The surrogate is cloned for each source and for the augmented set; None means a Gaussian
    process with a Matern 3/2 kernel and a constant trend.
    """

    def __init__(self, surrogate: Surrogate | None = None, *, alpha: float = 1.0) -> None:
        self.surrogate = surrogate
        self.alpha = alpha

    def fit(
        self, observations: Sequence[tuple[FloatArray, FloatArray]], rng: np.random.Generator
    ) -> Self:
        """Fit the models to points (n_s, n_features) and values (n_s,) of each source s."""
        truth = self._fitted(*observations[0], rng)
        cheap = [self._fitted(X, y, rng) if len(y) else None for X, y in observations[1:]]
        self.sources_ = [truth, *cheap]
        self.reliable_ = [self.is_reliable(X)[s] for s, (X, _) in enumerate(observations)]
        self.n_augmenting_ = np.array([mask.sum() for mask in self.reliable_])
        if self.n_augmenting_[1:].any():
            # Eqs. (9), (10)
            pairs = list(zip(observations, self.reliable_, strict=True))
            X = np.concatenate([X[mask] for (X, _), mask in pairs])
            y = np.concatenate([y[mask] for (_, y), mask in pairs])
            self.augmented_ = self._fitted(X, y, rng)
        else:
            X, y = observations[0]
            self.augmented_ = copy(truth)
        self._augmented_set = X, y
        return self

    def condition_on_pending(self, X: FloatArray, rng: np.random.Generator) -> Self:
        """Condition the augmented model on running evaluations (kriging believer)."""
        condition_on_pending(self.augmented_, *self._augmented_set, X, rng)
        return self

    def predict(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predict the ground truth by the augmented model; see `Surrogate.predict`."""
        return self.augmented_.predict(X)

    def is_reliable(self, X: FloatArray) -> BoolArray:
        """Mask (n_sources, n_samples) of where a source and the ground truth agree, Eq. (8)."""
        truth, *cheap = self.sources_
        assert truth is not None
        reliable = np.zeros((len(self.sources_), len(X)), dtype=bool)
        reliable[0] = True
        if len(X):
            mean, std = truth.predict(X)
            for row, model in zip(reliable[1:], cheap, strict=True):
                if model is not None:
                    row[:] = np.abs(mean - model.predict(X)[0]) <= self.alpha * std
        return reliable

    def discrepancy(self, X: FloatArray) -> FloatArray:
        """Distance (n_sources, n_samples) of the augmented mean and a source's, Eq. (12)."""
        mean, _ = self.predict(X)
        distances = np.full((len(self.sources_), len(mean)), np.inf)
        for row, model in zip(distances, self.sources_, strict=True):
            if model is not None:
                row[:] = np.abs(mean - model.predict(X)[0])
        return distances

    def _fitted(self, X: FloatArray, y: FloatArray, rng: np.random.Generator) -> Surrogate:
        if self.surrogate is None:
            return GaussianProcess(nu=1.5, trend="constant").fit(X, y, rng)
        return clone(self.surrogate).fit(X, y, rng)
