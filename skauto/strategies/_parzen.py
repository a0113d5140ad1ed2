"""Parzen estimator over the vectors of a conditional search space (the model of TPE)."""

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri

from skauto.space import SearchSpace
from skauto.utils import FloatArray, IntArray

# Standard deviation of the kernel of a single observation, on the unit interval.
_SCALE = 0.2


class ParzenEstimator:
    r"""Mixture of one kernel an observation and of the prior, all of the same weight.

    A kernel is a product over the choices of a configuration. In a numeric hyper-parameter it is
    a normal distribution around the observed value, truncated to the unit interval; in a
    categorical one, and in the choice of an algorithm, it prefers the observed choice. Where a
    hyper-parameter is inactive in the observation, the kernel is the prior, so that the estimator
    covers the whole space whatever was observed.

    Parameters
    ----------
    space : SearchSpace
        The space.
    observed : ndarray of shape (n, n_dimensions)
        Vectors of the observations, perhaps none.

    References
    ----------
    .. [1] J. Bergstra, R. Bardenet, Y. Bengio, B. Kegl, "Algorithms for Hyper-Parameter
       Optimization", NeurIPS 2011, section 4.
    .. [2] S. Falkner, A. Klein, F. Hutter, "BOHB: Robust and Efficient Hyperparameter Optimization
       at Scale", ICML 2018, section 3.2 (kernels over all hyper-parameters at once).
    """

    def __init__(self, space: SearchSpace, observed: FloatArray) -> None:
        self.space = space
        self.layout = space.layout
        self.observed = observed
        n = len(observed)
        self.n_kernels = n + 1
        # Scott's rule over the choices of an observation, with the bounds that Optuna has too.
        choices = ~np.isnan(observed[:, self.layout.n_choices != 1])
        d = float(choices.sum(axis=1).mean()) if n else 1.0
        scott = _SCALE * max(n, 1) ** (-1.0 / (d + 4.0))
        self.bandwidth = max(scott, 1.0 / min(100, self.n_kernels + 1))
        # What a choice has besides its own share: the prior counts as one observation.
        self.smoothing = 1.0 / self.n_kernels

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draw configurations.

        Parameters
        ----------
        n : int
            How many.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        vectors : ndarray of shape (n, n_dimensions)
            Legal, complete and snapped.
        """
        layout, n_steps = self.layout, self.layout.n_steps
        kernels = rng.integers(self.n_kernels, size=n)
        drawn = self.space.sample(n, rng)  # the last kernel is the prior
        around = np.flatnonzero(kernels < len(self.observed))
        centres = self.observed[kernels[around]]
        vectors = np.full((len(centres), layout.n_columns), np.nan)
        vectors[:, :n_steps] = self._draw_structures(centres[:, :n_steps].astype(np.intp), rng)
        owners = zip(layout.owner_step, layout.owner_component, strict=True)
        for k, (step, algorithm) in enumerate(owners, start=n_steps):
            rows = np.flatnonzero(vectors[:, step] == algorithm)
            vectors[rows, k] = self._draw(k, centres[rows, k], rng)
        layout.deactivate(vectors)
        drawn[around] = vectors
        return drawn

    def log_density(self, vectors: FloatArray) -> FloatArray:
        """Logarithm of the density, up to a constant that all estimators of a space share.

        Parameters
        ----------
        vectors : ndarray of shape (n, n_dimensions)
            Configurations.

        Returns
        -------
        log_density : ndarray of shape (n,)
            Of each configuration.
        """
        kernels = np.zeros((len(vectors), self.n_kernels))
        for k in range(vectors.shape[1]):
            rows = np.flatnonzero(~np.isnan(vectors[:, k]))
            if len(rows) and self.layout.n_choices[k] != 1:
                kernels[rows] += self._log_kernels(k, vectors[rows, k])
        density: FloatArray = logsumexp(kernels, axis=1) - np.log(self.n_kernels)
        return density

    def _log_kernels(self, column: int, values: FloatArray) -> FloatArray:
        """Logarithm of every kernel in one column, at every value."""
        n_choices = int(self.layout.n_choices[column])
        prior = -np.log(n_choices) if n_choices else 0.0
        result = np.full((len(values), self.n_kernels), prior)
        centres = self.observed[:, column]
        known = np.flatnonzero(~np.isnan(centres))
        if n_choices:
            total = 1.0 + n_choices * self.smoothing
            own, theirs = (self._choices(column, units) for units in (values, centres[known]))
            same = own[:, None] == theirs
            result[:, known] = np.log((same + self.smoothing) / total)
        else:
            z = (values[:, None] - centres[known]) / self.bandwidth
            low, high = self._tails(centres[known])
            norm = np.sqrt(2 * np.pi) * self.bandwidth * (high - low)
            result[:, known] = -0.5 * z**2 - np.log(norm)
        return result

    def _draw_structures(self, centres: IntArray, rng: np.random.Generator) -> IntArray:
        """One structure near each observed one, which stands in for a forbidden draw."""
        drawn = [self._draw_choices(k, row, rng) for k, row in enumerate(centres.T)]
        structures = np.column_stack(drawn)
        return np.where(self.space.is_legal(structures)[:, None], structures, centres)

    def _draw_choices(self, column: int, centres: IntArray, rng: np.random.Generator) -> IntArray:
        """Each observed choice, or any with the weight that the prior has."""
        n_choices = int(self.layout.n_choices[column])
        others = rng.integers(n_choices, size=len(centres))
        kept = rng.random(len(centres)) < 1.0 / (1.0 + n_choices * self.smoothing)
        return np.where(kept, centres, others)

    def _draw(self, column: int, centres: FloatArray, rng: np.random.Generator) -> FloatArray:
        """One value of a hyper-parameter around each centre, of the prior where that is NaN."""
        units = rng.random(len(centres))
        known = np.flatnonzero(~np.isnan(centres))
        centres = centres[known]
        if n_choices := int(self.layout.n_choices[column]):
            choices = self._choices(column, centres)
            units[known] = (self._draw_choices(column, choices, rng) + 0.5) / n_choices
        else:
            low, high = self._tails(centres)
            deviates = ndtri(low + (high - low) * units[known])
            units[known] = np.clip(centres + self.bandwidth * deviates, 0.0, 1.0)
        return self.layout.parameter(column).snap(units)

    def _choices(self, column: int, units: FloatArray) -> IntArray:
        """Choices that the entries of a categorical column stand for."""
        if column < self.layout.n_steps:
            return units.astype(np.intp)
        n = int(self.layout.n_choices[column])
        return np.minimum((units * n).astype(np.intp), n - 1)

    def _tails(self, centres: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Distribution function of each kernel, not yet truncated, at 0 and at 1."""
        low, high = -centres / self.bandwidth, (1.0 - centres) / self.bandwidth
        return ndtr(low), ndtr(high)
