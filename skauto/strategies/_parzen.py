"""Parzen estimator over the vectors of a conditional search space, the model of TPE."""

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri

from skauto.space import SearchSpace
from skauto.utils import FloatArray, IntArray


class ParzenEstimator:
    """Mixture of one kernel per observation and the prior, with equal weights.

    A kernel is a product over hyper-parameters and choices of algorithms. For a numeric
    hyper-parameter it is a normal distribution around the observed value, truncated to [0, 1]. For
    a categorical one, or an algorithm, it is the smoothed indicator of the observed value. For a
    hyper-parameter that is inactive in the observation, it is the prior. The bandwidth is the
    standard deviation of the kernel of a single observation. `TPE` has the references.
    """

    def __init__(self, space: SearchSpace, observed: FloatArray, bandwidth: float = 0.2) -> None:
        self.space = space
        self.layout = space.layout
        self.observed = observed
        n = len(observed)
        self.n_kernels = n + 1
        # Scott's rule for d choices per observation, with the lower bound of Optuna.
        choices = ~np.isnan(observed[:, self.layout.n_choices != 1])
        d = float(choices.sum(axis=1).mean()) if n else 1.0
        scott = bandwidth * max(n, 1) ** (-1.0 / (d + 4.0))
        self.bandwidth = max(scott, 1.0 / min(100, self.n_kernels + 1))
        # Additive smoothing of categorical kernels.
        self.smoothing = 1.0 / self.n_kernels

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Sample legal vectors of shape (n, n_dimensions), snapped to legal values."""
        layout, n_steps = self.layout, self.layout.n_steps
        kernels = rng.integers(self.n_kernels, size=n)
        drawn = self.space.sample(n, rng)  # the last kernel is the prior
        around = np.flatnonzero(kernels < len(self.observed))
        centers = self.observed[kernels[around]]
        vectors = np.full((len(centers), layout.n_columns), np.nan)
        observed = centers[:, :n_steps].astype(np.intp)
        choices = [self._draw_choices(k, row, rng) for k, row in enumerate(observed.T)]
        structures = np.column_stack(choices)
        forbidden = ~self.space.is_legal(structures)
        structures[forbidden] = observed[forbidden]
        vectors[:, :n_steps] = structures
        owners = zip(layout.owner_step, layout.owner_component, strict=True)
        for k, (step, algorithm) in enumerate(owners, start=n_steps):
            rows = np.flatnonzero(vectors[:, step] == algorithm)
            vectors[rows, k] = self._draw(k, centers[rows, k], rng)
        layout.deactivate(vectors)
        drawn[around] = vectors
        return drawn

    def log_density(self, vectors: FloatArray) -> FloatArray:
        """Log density of vectors (n, n_dimensions), up to a constant of the space."""
        kernels = np.zeros((len(vectors), self.n_kernels))
        for k in range(vectors.shape[1]):
            rows = np.flatnonzero(~np.isnan(vectors[:, k]))
            if len(rows) and self.layout.n_choices[k] != 1:
                kernels[rows] += self._log_kernels(k, vectors[rows, k])
        return logsumexp(kernels, axis=1) - np.log(self.n_kernels)

    def _log_kernels(self, column: int, values: FloatArray) -> FloatArray:
        """Log density of every kernel in one column, of shape (n_values, n_kernels)."""
        n_choices = int(self.layout.n_choices[column])
        prior = -np.log(n_choices) if n_choices else 0.0
        result = np.full((len(values), self.n_kernels), prior)
        centers = self.observed[:, column]
        known = np.flatnonzero(~np.isnan(centers))
        if n_choices:
            total = 1.0 + n_choices * self.smoothing
            own, theirs = (self._choices(column, units) for units in (values, centers[known]))
            same = own[:, None] == theirs
            result[:, known] = np.log((same + self.smoothing) / total)
        else:
            z = (values[:, None] - centers[known]) / self.bandwidth
            low, high = self._tails(centers[known])
            norm = np.sqrt(2 * np.pi) * self.bandwidth * (high - low)
            result[:, known] = -0.5 * z**2 - np.log(norm)
        return result

    def _draw_choices(self, column: int, centers: IntArray, rng: np.random.Generator) -> IntArray:
        """Keep each observed choice, or replace it by a uniform one with the smoothing weight."""
        n_choices = int(self.layout.n_choices[column])
        others = rng.integers(n_choices, size=len(centers))
        kept = rng.random(len(centers)) < 1.0 / (1.0 + n_choices * self.smoothing)
        return np.where(kept, centers, others)

    def _draw(self, column: int, centers: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Sample a hyper-parameter around each center; from the prior if the center is NaN."""
        units = rng.random(len(centers))
        known = np.flatnonzero(~np.isnan(centers))
        centers = centers[known]
        if n_choices := int(self.layout.n_choices[column]):
            choices = self._choices(column, centers)
            units[known] = (self._draw_choices(column, choices, rng) + 0.5) / n_choices
        else:
            low, high = self._tails(centers)
            deviates = ndtri(low + (high - low) * units[known])
            units[known] = np.clip(centers + self.bandwidth * deviates, 0.0, 1.0)
        return self.layout.parameter(column).snap(units)

    def _choices(self, column: int, units: FloatArray) -> IntArray:
        """Choices of the entries of a categorical column."""
        if column < self.layout.n_steps:
            return units.astype(np.intp)
        n = int(self.layout.n_choices[column])
        return np.minimum((units * n).astype(np.intp), n - 1)

    def _tails(self, centers: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Distribution function of each kernel before truncation, at 0 and at 1."""
        low, high = -centers / self.bandwidth, (1.0 - centers) / self.bandwidth
        return ndtr(low), ndtr(high)
