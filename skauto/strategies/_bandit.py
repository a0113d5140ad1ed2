"""Combinatorial Thompson sampling: one arm an algorithm, one arm pulled in every step."""

from collections.abc import Sequence

import numpy as np

from skauto.space import SearchSpace
from skauto.utils import FloatArray, IntArray


class ThompsonSampling:
    """Thompson sampling over structures with probabilistic rewards (Algorithm A1).

    Parameters
    ----------
    space : SearchSpace
        Its algorithms are the arms.
    alpha0, delta0 : float, default=10
        Parameters of the Beta prior of every arm.

    Attributes
    ----------
    pulls, rewards : list of ndarray of shape (n_algorithms,)
        For each step, how often each arm was pulled and rewarded: n_j and r_j.

    References
    ----------
    .. [1] S. Liu, P. Ram et al., "An ADMM Based Framework for AutoML Pipeline Configuration",
       AAAI 2020, Appendix 4.
    """

    def __init__(self, space: SearchSpace, alpha0: float = 10.0, delta0: float = 10.0) -> None:
        self.space = space
        self.alpha0 = alpha0
        self.delta0 = delta0
        self.pulls = [np.zeros(size) for size in space.layout.n_algorithms]
        self.rewards = [np.zeros(size) for size in space.layout.n_algorithms]

    def pull(self, rng: np.random.Generator) -> IntArray:
        """Draw a structure.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of all randomness.

        Returns
        -------
        structure : ndarray of int of shape (n_steps,)
        """
        # line 5 and 6: omega_j ~ Beta(alpha0 + r_j, delta0 + n_j - r_j)
        omegas = [
            rng.beta(self.alpha0 + r, self.delta0 + n - r)
            for n, r in zip(self.pulls, self.rewards, strict=True)
        ]
        return self._best(omegas)

    def reward(self, structure: IntArray, chance: float, rng: np.random.Generator) -> None:
        """Reward the arms of a structure, or not, by the toss of a coin (lines 10 to 13).

        Parameters
        ----------
        structure : ndarray of int of shape (n_steps,)
            The arms that were pulled.
        chance : float
            Continuous reward in [0, 1], the probability of the binary one.
        rng : numpy.random.Generator
            Source of all randomness.
        """
        reward = float(rng.random() < chance)
        for pulls, rewards, arm in zip(self.pulls, self.rewards, structure, strict=True):
            pulls[arm] += 1.0
            rewards[arm] += reward

    def _best(self, omegas: Sequence[FloatArray]) -> IntArray:
        """Legal structure with the largest sum of omegas (Eq. A38)."""
        structure = np.array([omega.argmax() for omega in omegas], dtype=np.intp)
        if self.space.is_legal(structure[None])[0]:
            return structure
        structures = self.space.structures
        sums = sum(omega[arms] for omega, arms in zip(omegas, structures.T, strict=True))
        return structures[int(np.argmax(sums))]


def continuous_reward(loss: float, low: float, high: float) -> float:
    """Reward in [0, 1] that falls linearly in the loss (Eq. A39, with a lower bound).

    Parameters
    ----------
    loss : float
        The loss of a pull.
    low : float
        Loss with reward 1.
    high : float
        Loss with reward 0, above ``low``.

    Returns
    -------
    reward : float
    """
    return 1.0 - min(max((loss - low) / (high - low), 0.0), 1.0)
