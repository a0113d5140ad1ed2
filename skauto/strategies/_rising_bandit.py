"""Rising bandit: optimise every algorithm by itself and give up those that cannot win any more."""

from collections.abc import Iterator
from numbers import Integral

import numpy as np
from sklearn.base import clone

from skauto.history import History, Proposal
from skauto.strategies._base import GeneratorStrategy, Strategy
from skauto.strategies._checks import check_number
from skauto.strategies._forest_bo import ForestBO
from skauto.utils import BoolArray, FloatArray


class RisingBandit(GeneratorStrategy):
    r"""Rising bandit: optimise every algorithm by itself, dropping those that fall behind.

    Each algorithm of a step is an arm with an optimiser of its own. In every round each arm is
    pulled ``n_pulls`` times. The best loss :math:`b` of an arm only falls, and the slower the
    longer it has been pulled, so that what it can still reach is bounded by its recent slope,

    .. math:: b_t - \frac{b_{t - \alpha} - b_t}{\alpha} (T - t),

    T - t being the number of trials left. An arm whose bound is worse than what another has
    reached is dropped after the round.

    Parameters
    ----------
    alpha : int, default=3
        Number of pulls that the slope is taken over.
    n_pulls : int, default=5
        Number of trials of each arm in a round.
    step : str, default=None
        Step whose algorithms are the arms; None takes the last one.
    strategy : Strategy, default=None
        Optimiser of each arm; None takes :class:`ForestBO` with as many initial trials as there
        are pulls in a round.

    Attributes
    ----------
    survivors_ : list of str
        Algorithms that were not dropped.

    Notes
    -----
    Where time alone bounds the search, it is taken to be half over.

    References
    ----------
    .. [1] Y. Li, J. Jiang, J. Gao, Y. Shao, C. Zhang, B. Cui, "Efficient Automatic CASH via Rising
       Bandits", AAAI 2020, section 4.

    Examples
    --------
    >>> from skauto import minimize
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> from skauto.strategies import RisingBandit
    >>> space = make_artificial_space(n_steps=1)
    >>> objective = make_artificial_objective(space)
    >>> result = minimize(objective, space, strategy=RisingBandit(), max_evals=30, random_state=0)
    >>> len(result.history)
    30
    """

    def __init__(
        self,
        *,
        alpha: int = 3,
        n_pulls: int = 5,
        step: str | None = None,
        strategy: Strategy | None = None,
    ) -> None:
        self.alpha = alpha
        self.n_pulls = n_pulls
        self.step = step
        self.strategy = strategy

    def _start(self) -> None:
        check_number(self, "alpha", 1, Integral)
        check_number(self, "n_pulls", 1, Integral)
        step = self._space.steps[-1] if self.step is None else self.step
        components = self._space.components(step)  # names the steps that there are
        self._column = self._space.steps.index(step)
        reachable = np.unique(self._space.structures[:, self._column])
        self._arms: dict[int, Strategy] = {}
        for k in reachable.tolist():
            name = components[k].name
            strategy = ForestBO(n_initial=self.n_pulls) if self.strategy is None else self.strategy
            child = self._rng.spawn(1)[0]
            self._arms[k] = clone(strategy).start(self._space.subspace({step: name}), child)
        self._names = {k: components[k].name for k in self._arms}
        self.survivors_ = list(self._names.values())

    def _run(self, history: History) -> Iterator[Proposal]:
        alive = list(self._arms)
        while alive:
            proposed = False
            for arm in alive:
                for _ in range(self.n_pulls):
                    proposal = self._arms[arm].suggest(history, self._pending_of(arm))
                    if proposal is None:  # nothing new is left
                        break
                    proposed = True
                    yield proposal
            if not proposed:
                break
            alive = self._eliminate(history, alive)
            self.survivors_ = [self._names[arm] for arm in alive]
        while (configuration := self._sample_new()) is not None:  # what dropped arms have left
            yield Proposal(configuration, origin="random")

    def _pending_of(self, arm: int) -> list[Proposal]:
        step = self._space.steps[self._column]
        return [p for p in self._pending if p.configuration[step] == self._names[arm]]

    def _eliminate(self, history: History, alive: list[int]) -> list[int]:
        """Arms whose optimistic loss is not worse than what another arm has reached."""
        observations = self._observations(history)
        left = history.remaining_evals
        if left is None:
            left = len(history)
        arms = observations.vectors[:, self._column].astype(np.intp)
        losses = np.where(observations.ok, observations.y, np.inf)
        curves = {arm: _best_so_far(losses, arms == arm) for arm in alive}
        reached = {
            arm: float(curve[-1]) if len(curve) else np.inf for arm, curve in curves.items()
        }
        hopes = {arm: optimistic(curve, self.alpha, left) for arm, curve in curves.items()}
        best = min(reached.values())
        return [arm for arm in alive if hopes[arm] <= best]


def optimistic(curve: FloatArray, alpha: int, n_left: int) -> float:
    """Best loss that an arm may still reach, by the slope of its last pulls.

    Parameters
    ----------
    curve : ndarray of shape (n_pulls,)
        Best loss after each pull.
    alpha : int
        Number of pulls that the slope is taken over.
    n_left : int
        Number of pulls that are left.

    Returns
    -------
    loss : float
        Minus infinity for an arm that was not pulled often enough to tell; infinity for one that
        was, without any success.
    """
    if len(curve) <= alpha:
        return -np.inf
    if not np.isfinite(curve[-1 - alpha]):
        return -np.inf if np.isfinite(curve[-1]) else np.inf
    slope = (curve[-1 - alpha] - curve[-1]) / alpha
    return float(curve[-1] - slope * n_left)


def _best_so_far(losses: FloatArray, chosen: BoolArray) -> FloatArray:
    best: FloatArray = np.minimum.accumulate(losses[chosen])
    return best
