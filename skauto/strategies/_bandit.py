"""Combinatorial Thompson sampling: one arm per algorithm, one pull per step."""

from collections.abc import Sequence

import numpy as np

from skauto.space import SearchSpace
from skauto.utils import FloatArray, IntArray


class ThompsonSampling:
    """Thompson sampling over structures with probabilistic rewards (Algorithm A1).

    Every arm has a Beta prior with alpha0 = delta0 = `prior`, and counts of its pulls n_j and
    rewards r_j, which are arrays by step. See S. Liu, P. Ram et al., "An ADMM Based Framework for
    AutoML Pipeline Configuration", AAAI 2020, Appendix 4.
    """

    def __init__(self, space: SearchSpace, prior: float = 10.0) -> None:
        self.space = space
        self.prior = prior
        self.pulls = [np.zeros(size) for size in space.layout.n_algorithms]
        self.rewards = [np.zeros(size) for size in space.layout.n_algorithms]

    def pull(self, rng: np.random.Generator) -> IntArray:
        """Sample a structure of shape (n_steps,)."""
        # lines 5 and 6: omega_j ~ Beta(alpha0 + r_j, delta0 + n_j - r_j)
        omegas = [
            rng.beta(self.prior + r, self.prior + n - r)
            for n, r in zip(self.pulls, self.rewards, strict=True)
        ]
        return self._best(omegas)

    def reward(self, structure: IntArray, chance: float, rng: np.random.Generator) -> None:
        """Update the arms of a structure by a Bernoulli reward (lines 10 to 13)."""
        reward = float(rng.random() < chance)
        for pulls, rewards, arm in zip(self.pulls, self.rewards, structure, strict=True):
            pulls[arm] += 1.0
            rewards[arm] += reward

    def _best(self, omegas: Sequence[FloatArray]) -> IntArray:
        """Return the legal structure with the largest sum of omegas (Eq. A38)."""
        structure = np.array([omega.argmax() for omega in omegas], dtype=np.intp)
        if self.space.is_legal(structure[None])[0]:
            return structure
        structures = self.space.structures
        sums = sum(omega[arms] for omega, arms in zip(omegas, structures.T, strict=True))
        return structures[int(np.argmax(sums))]


def continuous_reward(loss: float, low: float, high: float) -> float:
    """Reward in [0, 1], linear in the loss: 1 at `low`, 0 at `high` (Eq. A39 has `low` = 0).

    If both are equal, because large losses absorb their distance, only `low` has reward 1.
    """
    share = (loss - low) / (high - low) if high > low else float(loss > low)
    return 1.0 - min(max(share, 0.0), 1.0)
