"""Rising bandit: optimize each algorithm separately and eliminate dominated algorithms."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from skauto.history import History, Proposal
from skauto.strategies._base import GeneratorStrategy, Strategy
from skauto.strategies._bayesian import clone_or
from skauto.strategies._checks import check_integers
from skauto.strategies._forest_bo import ForestBO
from skauto.utils import BoolArray, FloatArray


@dataclass(kw_only=True, eq=False, repr=False)
class RisingBandit(GeneratorStrategy):
    r"""Rising bandit: optimize each algorithm separately and eliminate dominated algorithms.

    Each algorithm of the last step is an arm with its own optimizer. In every round each arm makes
    one *action* of ``n_pulls`` trials. The best loss :math:`b_t` after t actions decreases at a
    decreasing rate, so that the final loss of the arm is bounded below by its recent slope,

    .. math:: b_t - \frac{b_{t - \alpha + 1} - b_t}{\alpha} (T - t),

    where T - t is the number of remaining actions. After a round, an arm is eliminated if it has
    made at least :math:`\alpha` actions and its bound is above the best loss of another arm.

    Parameters
    ----------
    alpha : int, default=3
        Number of actions for the slope.
    n_pulls : int, default=5
        Number of trials of an action.
    strategy : Strategy, default=None
        Optimizer of each arm; None means :class:`ForestBO` with ``n_initial=n_pulls``.

    Attributes
    ----------
    survivors_ : list of str
        Algorithms that were not eliminated.

    Notes
    -----
    As in the authors' code, the difference over :math:`\alpha - 1` actions is divided by
    :math:`\alpha`. An action with pending evaluations counts as complete. Without ``max_evals``,
    as many actions are assumed to remain as were made. Trials made before the first proposal count
    as trials of their arm, because its optimizer learns from them. When no arm has a new
    configuration left, random ones of the whole space follow.

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

    alpha: int = 3
    n_pulls: int = 5
    strategy: Strategy | None = None

    def _start(self) -> None:
        check_integers(self, alpha=1, n_pulls=1)
        step = self.space.steps[-1]
        components = self.space.components(step)
        self._column = len(self.space.steps) - 1
        reachable = np.unique(self.space.structures[:, self._column])
        self._arms: dict[int, Strategy] = {}
        for k in reachable.tolist():
            name = components[k].name
            strategy = clone_or(self.strategy, ForestBO(n_initial=self.n_pulls))
            child = self.rng.spawn(1)[0]
            self._arms[k] = strategy.start(self.space.subspace({step: name}), child)
        self._names = {k: components[k].name for k in self._arms}
        self.survivors_ = list(self._names.values())

    def _run(self, history: History) -> Iterator[Proposal]:
        alive, step = list(self._arms), self.space.steps[-1]
        while alive:
            proposed = False
            for arm in alive:
                for _ in range(self.n_pulls):
                    own = [p for p in self.pending if p.configuration[step] == self._names[arm]]
                    proposal = self._arms[arm].ask(history, own)
                    if proposal is None:  # the arm is exhausted
                        break
                    proposed = True
                    yield proposal
            if not proposed:
                break
            alive = self._eliminate(history, alive)
            self.survivors_ = [self._names[arm] for arm in alive]
        while (configuration := self.sample_new()) is not None:  # of eliminated arms
            yield Proposal(configuration, origin="random")

    def _eliminate(self, history: History, alive: list[int]) -> list[int]:
        """Arms whose lower bound is not above the best loss of another arm."""
        observations = self.observations(history)
        left = history.remaining_evals
        n_actions = (len(history) if left is None else left) / self.n_pulls
        arms = observations.vectors[:, self._column].astype(np.intp)
        losses = np.where(observations.ok, observations.y, np.inf)
        curves = [best_by_action(losses[arms == arm], self.n_pulls) for arm in alive]
        stay = survivors(curves, self.alpha, n_actions)
        return [arm for arm, stays in zip(alive, stay, strict=True) if stays]


def best_by_action(losses: FloatArray, n_pulls: int) -> FloatArray:
    """Best loss of an arm after each action, of which the last may be incomplete."""
    best: FloatArray = np.minimum.accumulate(losses)
    if not len(best):
        return best
    return np.append(best[n_pulls - 1 : -1 : n_pulls], best[-1])


def lower_bound(curve: FloatArray, alpha: int, n_left: float) -> float:
    """Lower bound of the final loss of an arm by the slope of its last `alpha` actions.

    It is minus infinity for fewer than `alpha` actions, and infinity if all trials failed.
    """
    if len(curve) < alpha:
        return -np.inf
    if not np.isfinite(curve[-alpha]):
        return -np.inf if np.isfinite(curve[-1]) else np.inf
    slope = (curve[-alpha] - curve[-1]) / alpha
    return float(curve[-1] - slope * n_left)


def survivors(curves: Sequence[FloatArray], alpha: int, n_left: float) -> BoolArray:
    """Which arms may still reach the best loss of all arms, given their best-loss curves."""
    reached = min((float(curve[-1]) for curve in curves if len(curve)), default=np.inf)
    return np.array([lower_bound(curve, alpha, n_left) <= reached for curve in curves])
