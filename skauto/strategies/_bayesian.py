"""Base class and helper functions of Bayesian optimization."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.base import clone

from skauto.acquisition import log_expected_improvement, maximize_acquisition
from skauto.acquisition._maximize import Acquisition
from skauto.history import History, Proposal
from skauto.space import Configuration
from skauto.strategies._base import Observations, Strategy
from skauto.surrogates import GaussianProcess, Surrogate
from skauto.surrogates._kriging_believer import condition_on_pending
from skauto.utils import FloatArray

# Maximum fraction of the trials, or of the time, for an initial design.
DESIGN_SHARE = 0.25

Estimator = TypeVar("Estimator")
Model = TypeVar("Model", bound=Surrogate)


class BayesianStrategy(Strategy):
    """Base class of strategies with an initial design and a surrogate model.

    The initial design is the default configuration, unless the attribute ``default_first`` is
    False, and random ones. It has ``n_initial`` trials,
    including those made before the first proposal, at most a quarter of ``max_evals``, and is
    extended until a trial succeeds. After it, a proposal is random with probability
    ``random_fraction``. Otherwise the hook ``_suggest_by_model`` chooses it; if the hook returns
    None, the proposal is random.

    Failed trials have the worst observed loss, and pending evaluations their predicted mean
    (kriging believer). Known configurations are not proposed again.

    A subclass has the setting ``n_initial`` and implements ``_suggest_by_model(history,
    observations)``. Tools, besides those of :class:`Strategy`:

    - ``self._inputs(vectors)``: inputs of the surrogate (a hook);
    - ``self._fitted(model, observations, y)``: a model fitted to targets ``y`` and pending
      evaluations;
    - ``self._maximizer(acquisition, starts)``: the new configuration with the largest
      acquisition among random candidates and those of a local search;
    - ``self._most_improving(model, observations, y)``: both, with the expected improvement.

    See Also
    --------
    ForestBO : Bayesian optimization with a random forest.

    Examples
    --------
    The lower confidence bound of a Gaussian process:

    >>> from skauto import minimize
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> from skauto.strategies import BayesianStrategy
    >>> from skauto.surrogates import GaussianProcess
    >>> class LowerBound(BayesianStrategy):
    ...     def __init__(self, *, n_initial=2):
    ...         self.n_initial = n_initial
    ...     def _suggest_by_model(self, history, observations):
    ...         model = self._fitted(GaussianProcess(), observations, observations.y)
    ...         def acquisition(vectors):
    ...             mean, std = model.predict(self._inputs(vectors))
    ...             return 2 * std - mean
    ...         best = self._maximizer(acquisition, observations.vectors[:0])
    ...         return self.proposal(best, "bound")
    >>> space = make_artificial_space(n_steps=1)
    >>> result = minimize(make_artificial_objective(space), space, strategy=LowerBound(),
    ...                   max_evals=8, random_state=0)
    >>> [trial.origin for trial in result.history][1:3]
    ['initial', 'bound']
    """

    n_initial: int | None
    default_first: bool = True
    random_fraction: float = 0.0
    n_candidates: int = 1000
    n_starts: int = 10

    def suggest(self, history: History, pending: tuple[Proposal, ...]) -> Proposal | None:
        observations = self.observations(history)
        n_begun = len(observations) + len(pending)
        if n_begun < self._n_design(history) or not observations.ok.any():
            return self.proposal(self._next_of_design(), "initial")
        if self.random_fraction and self.rng.random() < self.random_fraction:
            return self.proposal(self.sample_new(), "random")
        proposal = self._suggest_by_model(history, observations)
        return proposal or self.proposal(self.sample_new(), "random")

    @abstractmethod
    def _suggest_by_model(self, history: History, observations: Observations) -> Proposal | None:
        """Hook for subclasses: propose by a surrogate; None if no new configuration is found."""

    def _inputs(self, vectors: FloatArray) -> FloatArray:
        """Hook for subclasses: inputs of the surrogate; inactive parameters have defaults."""
        return self.space.fill_inactive(vectors)

    def _n_design(self, history: History) -> int:
        assert self.n_initial is not None
        return design_size(self.n_initial, history)

    def _next_of_design(self) -> Configuration | None:
        """Return the default configuration, if it comes first, then random ones."""
        default = self.space.default()
        if self.default_first and not self.is_known(default):
            return default
        return self.sample_new()

    def _fitted(self, model: Model, observations: Observations, y: FloatArray) -> Model:
        """Fit a model to targets, with pending evaluations at their predicted mean."""
        X, pending = self._inputs(observations.vectors), self._inputs(self.pending_vectors())
        return condition_on_pending(model.fit(X, y, self.rng), X, y, pending, self.rng)

    def _most_improving(
        self, model: Surrogate, observations: Observations, y: FloatArray
    ) -> Configuration | None:
        """Return the new configuration with the largest expected improvement on targets `y`."""
        starts = observations.vectors[np.argsort(y, kind="stable")[: self.n_starts]]
        model = self._fitted(model, observations, y)
        best = float(y[observations.ok].min())
        return self._maximizer(improvement_of(model, best, self._inputs), starts)

    def _maximizer(
        self, acquisition: Acquisition, starts: FloatArray, **options: Any
    ) -> Configuration | None:
        """Return the new configuration with the largest acquisition."""
        return self.first_new(self._ranked(acquisition, starts, **options))

    def _ranked(self, acquisition: Acquisition, starts: FloatArray, **options: Any) -> FloatArray:
        """Return candidates as vectors, in decreasing order of acquisition."""
        ranked, _ = maximize_acquisition(
            acquisition,
            self.space,
            self.rng,
            starts=starts,
            n_random=self.n_candidates,
            n_random_starts=self.n_starts,
            **options,
        )
        return ranked


def design_size(n_initial: int, history: History, share: float = DESIGN_SHARE) -> int:
    """Size of an initial design: ``n_initial``, but at most a share of ``max_evals``."""
    if history.goal.max_evals is None:
        return n_initial
    return min(n_initial, max(1, int(share * history.goal.max_evals)))


def improvement_of(
    model: Surrogate, best: float, inputs: Callable[[FloatArray], FloatArray]
) -> Acquisition:
    """Log expected improvement of a model on the best target, as a function of vectors."""
    return lambda vectors: log_expected_improvement(*model.predict(inputs(vectors)), best)


def clone_or(model: Estimator | None, default: Estimator) -> Estimator:
    """Clone a model; return the default for None."""
    return default if model is None else clone(model)


def rank_scores(losses: FloatArray) -> FloatArray:
    """Normal scores: quantiles of the normal distribution at the ranks of the losses."""
    return ndtri((rankdata(losses) - 0.5) / len(losses))


def log_scores(losses: FloatArray) -> FloatArray:
    """Logarithms of the losses minus an offset (SMAC).

    The best loss minus the offset is the 5% quantile of the losses minus the best loss.
    """
    low = losses.min() - max(np.quantile(losses, 0.05) - losses.min(), 1e-10)
    return np.log(losses - low)


def targets_of(losses: FloatArray, robust: bool) -> FloatArray:
    """Targets of a Gaussian process: losses, for a robust one without outliers.

    Outliers would otherwise determine the scale of a stationary process. They are clipped at the
    third quartile plus three times its distance from the best loss.
    """
    best, quartile = np.quantile(losses, [0.0, 0.75])
    if not robust or quartile == best:
        return losses
    return np.minimum(losses, quartile + 3.0 * (quartile - best))


def process_of(robust: bool) -> GaussianProcess:
    """Return a Gaussian process with priors that is rarely refitted, or that of the ADMM paper."""
    if robust:
        return GaussianProcess(n_restarts=0, warm_start=True)
    return GaussianProcess(priors=False, refit_growth=0.0)


def spread(losses: FloatArray) -> float:
    """Distance from the best loss to the median loss; 1 if it is 0 or there are no losses."""
    if not len(losses):
        return 1.0
    low, median = np.quantile(losses, [0.0, 0.5])
    return float(median - low) or 1.0


def performance_unit(losses: FloatArray) -> float:
    """Scale of the losses: 1 if all lie in [0, 1], as error rates do; else twice their spread."""
    if losses.min() >= 0.0 and losses.max() <= 1.0:
        return 1.0
    return 2.0 * spread(losses)
