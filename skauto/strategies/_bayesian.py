"""The toolkit of Bayesian optimisation: what model-based strategies have in common.

The parts are the size of the initial design, the targets of a model, its belief about what is
still being evaluated, and the maximisation of an acquisition over what is not known yet.
Strategies that share them differ by their idea only.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.base import clone

from skauto.acquisition import log_expected_improvement, maximize_acquisition
from skauto.history import History, Proposal
from skauto.space import Configuration
from skauto.strategies._base import Observations, Strategy
from skauto.surrogates import Surrogate, believe
from skauto.utils import FloatArray

# Share of the trials, or of the time, that an initial design may take at most.
DESIGN_SHARE = 0.25

#: Takes vectors of shape (n, n_dimensions) and gives n values.
Acquisition = Callable[[FloatArray], FloatArray]
Model = TypeVar("Model", bound=Surrogate)


class BayesianStrategy(Strategy):
    """Base class of strategies that make an initial design and then follow a model.

    The first ``n_initial`` trials, those made before the strategy's first proposal included, are
    the default configuration and random ones; they take at most a quarter of the trials that the
    search may make. After them, and as long as no trial succeeded, each proposal is random with
    probability ``random_fraction``; else it is what the hook ``_promising`` returns, and random
    where that is None.

    A subclass stores the setting ``n_initial`` and writes ``_promising(history, observations)``.
    For that it has, besides the tools of :class:`Strategy`,

    - ``self._inputs(vectors)``, what its model sees of a configuration (a hook);
    - ``self._fitted(model, observations, y)``, a model of targets ``y``, with what is being
      evaluated believed to be as predicted;
    - ``self._maximizer(acquisition, starts)``, the configuration that is not known and has the
      largest acquisition: random candidates and local search.

    See Also
    --------
    ForestBO : The plain form.

    Examples
    --------
    The lower confidence bound of a Gaussian process:

    >>> from skauto import minimize
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> from skauto.strategies import BayesianStrategy
    >>> from skauto.surrogates import GaussianProcess
    >>> class LowerBound(BayesianStrategy):
    ...     def __init__(self, *, n_initial=5):
    ...         self.n_initial = n_initial
    ...     def _promising(self, history, observations):
    ...         model = self._fitted(GaussianProcess(), observations, observations.y)
    ...         def acquisition(vectors):
    ...             mean, std = model.predict(self._inputs(vectors))
    ...             return 2 * std - mean
    ...         best = self._maximizer(acquisition, observations.vectors[:0])
    ...         return self._proposal(best, "bound")
    >>> space = make_artificial_space(n_steps=1)
    >>> result = minimize(make_artificial_objective(space), space, strategy=LowerBound(),
    ...                   max_evals=20, random_state=0)
    >>> [trial.origin for trial in result.history][4:6]
    ['initial', 'bound']
    """

    n_initial: int | None
    random_fraction: float = 0.0
    n_candidates: int = 1000
    n_starts: int = 10

    def _suggest(self, history: History, pending: tuple[Proposal, ...]) -> Proposal | None:
        observations = self._observations(history)
        n_begun = len(observations) + len(pending)
        if n_begun < self._n_design(history) or not observations.ok.any():
            return self._proposal(self._next_of_design(), "initial")
        if self.random_fraction and self._rng.random() < self.random_fraction:
            return self._proposal(self._sample_new(), "random")
        proposal = self._promising(history, observations)
        return proposal or self._proposal(self._sample_new(), "random")

    @abstractmethod
    def _promising(self, history: History, observations: Observations) -> Proposal | None:
        """Hook for subclasses: what the model promises most of; None where nothing is new."""

    def _inputs(self, vectors: FloatArray) -> FloatArray:
        """Hook for subclasses: features of configurations; defaults where inactive, for trees."""
        return self._space.fill_inactive(vectors)

    def _n_design(self, history: History) -> int:
        """Size of the initial design."""
        assert self.n_initial is not None
        return design_size(self.n_initial, history)

    def _next_of_design(self) -> Configuration | None:
        """Return the default configuration, then random ones."""
        default = self._space.default()
        return self._sample_new() if self._is_known(default) else default

    def _fitted(self, model: Model, observations: Observations, y: FloatArray) -> Model:
        """Fit a model to targets, given what is being evaluated."""
        X, running = self._inputs(observations.vectors), self._inputs(self._running())
        return believe(model.fit(X, y, self._rng), X, y, running, self._rng)

    def _maximizer(
        self, acquisition: Acquisition, starts: FloatArray, **options: Any
    ) -> Configuration | None:
        """Configuration that is not known and has the largest acquisition."""
        ranked, _ = maximize_acquisition(
            acquisition,
            self._space,
            self._rng,
            starts=starts,
            n_random=self.n_candidates,
            n_random_starts=self.n_starts,
            **options,
        )
        return self._first_new(ranked)


def design_size(n_initial: int, history: History) -> int:
    """Size of an initial design: at most a quarter of the trials that the search may make.

    Parameters
    ----------
    n_initial : int
        Wanted size.
    history : History
        Holds the number of trials allowed.

    Returns
    -------
    n : int
        At least 1 unless ``n_initial`` is 0.
    """
    if history.max_evals is None:
        return n_initial
    return min(n_initial, max(1, int(DESIGN_SHARE * history.max_evals)))


def improvement_of(
    model: Surrogate, best: float, inputs: Callable[[FloatArray], FloatArray]
) -> Acquisition:
    """Log expected improvement of a model as a function of vectors of the space.

    Parameters
    ----------
    model : Surrogate
        Fitted.
    best : float
        Target to improve upon.
    inputs : callable
        Turns vectors into features of the model.

    Returns
    -------
    acquisition : callable
        Takes vectors of shape (n, n_dimensions) and gives n values.
    """
    return lambda vectors: log_expected_improvement(*model.predict(inputs(vectors)), best)


def made(model: Surrogate | None, default: Surrogate) -> Surrogate:
    """Clone of a model that was set, or the default where none was."""
    return default if model is None else clone(model)


def rank_scores(losses: FloatArray) -> FloatArray:
    """Normal scores of the ranks of losses: no outlier spoils them, whatever the data set.

    Parameters
    ----------
    losses : ndarray of shape (n,)
        Losses.

    Returns
    -------
    scores : ndarray of shape (n,)
        Quantiles of the normal distribution, in the order of the losses.
    """
    scores: FloatArray = ndtri((rankdata(losses) - 0.5) / len(losses))
    return scores


def log_scores(losses: FloatArray) -> FloatArray:
    """Logarithms of losses that are shifted to be positive, as in SMAC.

    Parameters
    ----------
    losses : ndarray of shape (n,)
        Losses.

    Returns
    -------
    scores : ndarray of shape (n,)
        The best loss lies above zero by the distance from it to the twentieth part of the losses.
    """
    low = losses.min() - max(np.quantile(losses, 0.05) - losses.min(), 1e-10)
    scores: FloatArray = np.log(losses - low)
    return scores


def cap_outliers(losses: FloatArray) -> FloatArray:
    """Losses of which the worst are cut off, so that they do not hide differences of the best.

    Differences above the third quartile that exceed three times its distance from the best loss
    say nothing about where the best loss lies, but decide the scale of a stationary process.

    Parameters
    ----------
    losses : ndarray of shape (n,)
        Losses.

    Returns
    -------
    capped : ndarray of shape (n,)
        Losses, none above that bound.
    """
    best, quartile = np.quantile(losses, [0.0, 0.75])
    if quartile == best:
        return losses
    capped: FloatArray = np.minimum(losses, quartile + 3.0 * (quartile - best))
    return capped


def spread(losses: FloatArray) -> float:
    """Unit of losses: the distance from the best to the median; 1 where these are the same.

    Parameters
    ----------
    losses : ndarray of shape (n,)
        Losses, perhaps none.

    Returns
    -------
    unit : float
        Positive.
    """
    if not len(losses):
        return 1.0
    low, median = np.quantile(losses, [0.0, 0.5])
    return float(median - low) or 1.0


def performance_unit(losses: FloatArray) -> float:
    """Loss that counts as one unit of performance, or as 100 percent.

    Parameters
    ----------
    losses : ndarray of shape (n,)
        Losses.

    Returns
    -------
    unit : float
        1 while all losses lie in [0, 1], as errors do; else twice their spread.
    """
    if losses.min() >= 0.0 and losses.max() <= 1.0:
        return 1.0
    return 2.0 * spread(losses)
