"""Rising bandit: optimise every algorithm by itself and give up those that cannot win any more."""

from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.base import clone

from skauto.history import History, Proposal
from skauto.strategies._base import GeneratorStrategy, Strategy
from skauto.strategies._checks import check_integers
from skauto.strategies._forest_bo import ForestBO
from skauto.utils import BoolArray, FloatArray


class RisingBandit(GeneratorStrategy):
    r"""Rising bandit: optimise every algorithm by itself, dropping those that fall behind.

    Each algorithm of a step is an arm with an optimiser of its own. In every round each arm makes
    one *action* of ``n_pulls`` trials. The best loss :math:`b_t` after t actions only falls, and
    the slower the more actions were made, so that what the arm can still reach is bounded by its
    recent slope,

    .. math:: b_t - \frac{b_{t - \alpha + 1} - b_t}{\alpha} (T - t),

    T - t being the number of actions that the remaining trials are enough for. An arm whose bound
    is worse than what another has reached is dropped after the round, but none before it has made
    :math:`\alpha` actions.

    Parameters
    ----------
    alpha : int, default=3
        Number of actions that the slope is taken over.
    n_pulls : int, default=5
        Number of trials of an action.
    step : str, default=None
        Step whose algorithms are the arms; None takes the last one.
    strategy : Strategy, default=None
        Optimiser of each arm; None takes :class:`ForestBO` with as many initial trials as an
        action has.

    Attributes
    ----------
    survivors_ : list of str
        Algorithms that were not dropped.

    Notes
    -----
    As in the authors' code, the slope is taken between the last :math:`\alpha` actions and divided
    by :math:`\alpha`, although there are one fewer steps between them. An action whose last trials
    are still being evaluated counts. Where time alone bounds the search, it is taken to be half
    over.

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
        check_integers(self, alpha=1, n_pulls=1)
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
        n_actions = (len(history) if left is None else left) / self.n_pulls
        arms = observations.vectors[:, self._column].astype(np.intp)
        losses = np.where(observations.ok, observations.y, np.inf)
        curves = [best_by_action(losses[arms == arm], self.n_pulls) for arm in alive]
        stay = survivors(curves, self.alpha, n_actions)
        return [arm for arm, stays in zip(alive, stay, strict=True) if stays]


def best_by_action(losses: FloatArray, n_pulls: int) -> FloatArray:
    """Best loss of an arm after each of its actions.

    Parameters
    ----------
    losses : ndarray of shape (n_trials,)
        Losses of its trials, oldest first.
    n_pulls : int
        Number of trials of an action; the last action may have fewer.

    Returns
    -------
    curve : ndarray of shape (n_actions,)
        Never rising.
    """
    best: FloatArray = np.minimum.accumulate(losses)
    if not len(best):
        return best
    return np.append(best[n_pulls - 1 : -1 : n_pulls], best[-1])


def optimistic(curve: FloatArray, alpha: int, n_left: float) -> float:
    """Best loss that an arm may still reach, by the slope of its last actions.

    Parameters
    ----------
    curve : ndarray of shape (n_actions,)
        Best loss after each action.
    alpha : int
        Number of actions that the slope is taken over.
    n_left : float
        Number of actions that are left.

    Returns
    -------
    loss : float
        Minus infinity for an arm that has made too few actions to tell; infinity for one that has
        made enough, without any success.
    """
    if len(curve) < alpha:
        return -np.inf
    if not np.isfinite(curve[-alpha]):
        return -np.inf if np.isfinite(curve[-1]) else np.inf
    slope = (curve[-alpha] - curve[-1]) / alpha
    return float(curve[-1] - slope * n_left)


def survivors(curves: Sequence[FloatArray], alpha: int, n_left: float) -> BoolArray:
    """Tell which arms may still reach what the best of them has reached.

    Parameters
    ----------
    curves : sequence of ndarray
        Best loss of each arm after each of its actions.
    alpha : int
        Number of actions that slopes are taken over.
    n_left : float
        Number of actions that are left.

    Returns
    -------
    stay : ndarray of bool of shape (n_arms,)
        At least one is True.
    """
    reached = min((float(curve[-1]) for curve in curves if len(curve)), default=np.inf)
    return np.array([optimistic(curve, alpha, n_left) <= reached for curve in curves])
