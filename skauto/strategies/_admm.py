"""ADMM: operator splitting into hyper-parameters, integers and algorithms."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count, product
from typing import Any, Self

import numpy as np

from skauto.acquisition import log_expected_improvement
from skauto.acquisition._continuous import log_improvement_with_gradient, maximize_log_improvement
from skauto.history import History, Proposal
from skauto.space import Configuration
from skauto.strategies._bandit import ThompsonSampling, continuous_reward
from skauto.strategies._base import GeneratorStrategy
from skauto.strategies._bayesian import process_of, spread, targets_of
from skauto.strategies._checks import check_integers, check_numbers, check_options, check_positive
from skauto.surrogates import GaussianProcess
from skauto.surrogates._kriging_believer import condition_on_pending
from skauto.utils import BoolArray, FloatArray, IntArray

# Maximum number of points to try in theta-min until one is not known.
_MAX_DRAWS = 10
# Solvers of theta-min and of z-min.
_SOLVERS = tuple(product(("bo", "random"), ("bandit", "bo", "random")))
# Maximum number of candidate structures of z-min by a Gaussian process.
_MAX_STRUCTURES = 2000
# Upper bounds of a violation in Eq. (A29), and of its multiplier, for robust=True.
_MAX_VIOLATION, _MAX_MULTIPLIER = 1.0, 10.0
# Distance of the relaxed integers from the bounds of their rounding cells.
_MARGIN = 1e-9


@dataclass(kw_only=True, eq=False, repr=False)
class ADMM(GeneratorStrategy):
    r"""Alternating direction method of multipliers over hyper-parameters and algorithms.

    The problem over algorithms ``z``, continuous hyper-parameters ``theta^c`` and integers
    ``theta^d`` is split. Each iteration of Algorithm 1 of [1]_ solves

    1. *theta-min* (Eq. A19): the hyper-parameters of the current structure, with integers relaxed
       to reals and a quadratic penalty of their distance from legal values;
    2. *delta-min* (Eq. A23): the nearest legal integers, in closed form;
    3. *z-min* (Eq. A24): the structure, at the current hyper-parameters of every algorithm;
    4. the update of the multipliers of the integers and constraints (Eqs. A28, A29).

    The limits of the search are black-box constraints (Algorithm 2): a quadratic penalty with
    multipliers is added to the loss in theta-min and z-min. Known configurations are not evaluated
    again; their penalties are recomputed.

    Parameters
    ----------
    solvers : tuple of two str, default=("bo", "bandit")
        Solvers of theta-min and of z-min, as in the paper's "ADMM(BO, Bandit)". That of theta-min
        is "bo" (Bayesian optimization) or "random" (random search). That of z-min is "bandit"
        (combinatorial Thompson sampling), "bo" (on integer codes of the algorithms) or "random".
    budget : int, default=16
        Number of evaluations of each sub-problem in the first iteration.
    growth : int, default=16
        Increase of the budget in every iteration; 0 keeps it fixed.
    max_budget : int, default=128
        Maximum budget.
    rho : float, default=1.0
        Penalty parameter.
    f_hat : float or None, default=None
        Loss with reward 0 in Thompson sampling (Eq. A39), 0.7 in the paper. None adapts the reward
        to the observed losses: 1 for the best, 1/2 for the median.
    prior : float, default=2.0
        Both parameters of the Beta prior of each algorithm in Thompson sampling, 10 in the paper.
    keep_counts : bool, default=True
        Whether the counts of Thompson sampling are kept for the next iteration. In the paper
        Algorithm A1 begins anew in every z-min.
    first : mapping of str to str, default=None
        Algorithms of the first structure, for some of the steps. None starts from the best trial
        made before the search, or from the default of the space.
    n_initial : int, default=4
        Number of known points that a Gaussian process requires; with fewer, points are random.
    tolerance : float, default=0.1
        theta-min ends when the largest expected improvement is below this fraction of the spread
        of its losses, or when the last ``n_initial`` losses are equal. The fraction is halved in
        every iteration, down to a hundredth. With 0 (the paper) theta-min uses its whole budget.
    robust : bool, default=True
        Whether the search adapts to the scale and the outliers of the losses. Then penalties are
        multiplied by the spread of the losses, the median minus the best; a violation counts at
        most 1 in the update of its multiplier mu, which is at most 10; losses are clipped at the
        third quartile plus three times its distance from the best loss before a Gaussian process
        is fitted; and the process has weak priors and is fitted again after 10% more observations.
        False (the paper) has no bounds, and fits by maximum likelihood after every evaluation.

    Attributes
    ----------
    residuals_ : list of dict
        One record per iteration: ``iteration``, ``n_trials`` so far, ``budget``, ``primal``
        residual (distance of the relaxed integers from legal ones), ``dual`` residual (rho times
        the change of the legal ones), ``violation`` of the constraints, ``loss`` and
        ``structure``.

    See Also
    --------
    JointGP : One Gaussian process over the joint space, the baseline of the paper.

    Notes
    -----
    The page :doc:`/user_guide/papers` has every setting and step beside the paper's.

    References
    ----------
    .. [1] S. Liu, P. Ram et al., "An ADMM Based Framework for AutoML Pipeline Configuration",
       AAAI 2020, Algorithms 1, 2 and A1, Eqs. (A15)-(A39).

    Examples
    --------
    >>> from skauto import minimize
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> from skauto.strategies import ADMM
    >>> space = make_artificial_space(n_steps=2)
    >>> objective = make_artificial_objective(space)
    >>> result = minimize(objective, space, strategy=ADMM(budget=4), max_evals=12, random_state=0)
    >>> sorted({trial.origin for trial in result.history})
    ['theta-min', 'z-min']
    """

    solvers: tuple[str, str] = ("bo", "bandit")
    budget: int = 16
    growth: int = 16
    max_budget: int = 128
    rho: float = 1.0
    f_hat: float | None = None
    prior: float = 2.0
    keep_counts: bool = True
    first: Mapping[str, str] | None = None
    n_initial: int = 4
    tolerance: float = 0.1
    robust: bool = True

    @classmethod
    def paper(cls) -> Self:
        """Settings of the paper, Appendices 4 and 10, for adaptive ADMM(BO, Bandit)."""
        return cls(
            f_hat=0.7, prior=10.0, keep_counts=False, n_initial=10, tolerance=0.0, robust=False
        )

    def _start(self) -> None:
        check_options(self, solvers=_SOLVERS)
        check_integers(self, budget=1, growth=0, max_budget=self.budget, n_initial=1)
        check_positive(self, "rho", "prior", "f_hat")
        check_numbers(self, tolerance=(0.0, math.inf))
        self.residuals_: list[dict[str, Any]] = []
        self._layout = self.space.layout
        self._n_steps = self._layout.n_steps
        self._discrete = self._layout.is_discrete
        self._models: dict[tuple[int, ...], GaussianProcess] = {}  # by structure
        self._tried: dict[tuple[int, ...], Configuration] = {}  # structures of the current z-min
        self._unrewarded: list[tuple[IntArray, Configuration]] = []

    def _run(self, history: History) -> Iterator[Proposal]:
        """Algorithm 1, or Algorithm 2 if the history has limits."""
        self._set_first_iterate(history)
        self._bandit = ThompsonSampling(self.space, self.prior)
        for iteration in count():
            budget = min(self.budget + iteration * self.growth, self.max_budget)
            self._made_progress = False
            self._least_gain = self.tolerance * max(0.5**iteration, 0.01)
            yield from self._minimize_theta(history, budget)
            before = self._delta
            self._minimize_delta()
            yield from self._minimize_structure(history, budget)
            self._update_multipliers(history)
            self._record(history, iteration, budget, before)
            if not self._made_progress:
                yield from self._restart()
                if not self._made_progress:
                    return  # the space is exhausted

    def _set_first_iterate(self, history: History) -> None:
        """Start at the best trial of least violation, or at the default, with multipliers 0."""
        observations = self.observations(history)
        if self.first is None and observations.ok.any():
            total = np.zeros(len(observations))
            if history.goal.search_limits:
                total = np.maximum(self._violations(history), 0.0).sum(axis=1)
            vector = observations.vectors[np.lexsort((observations.y, total))[0]]
        else:
            vector = self.space.default_vector(self.space.default_structure(self.first))
        # Vectors have one entry per column of the space.
        self._structure = vector[: self._n_steps].astype(np.intp)  # z
        self._theta = self.space.fill_inactive(vector[None])[0]  # theta^c, relaxed theta~^d
        self._delta = self._theta.copy()  # legal copies of theta~^d
        self._multipliers = np.zeros(len(vector))  # lambda
        self._constraint_multipliers = np.zeros(len(history.goal.search_limits))  # mu

    def _restart(self) -> Iterator[Proposal]:
        """Continue from a new random configuration."""
        configuration = self.sample_new()
        if configuration is not None:
            vector = self.encode([configuration])
            self._structure = vector[0, : self._n_steps].astype(np.intp)
            given = ~np.isnan(vector[0])
            self._theta[given] = vector[0, given]
            self._made_progress = True
            yield Proposal(configuration, origin="restart")

    def _minimize_theta(self, history: History, budget: int) -> Iterator[Proposal]:
        """theta-min on the active set (Eq. A19); in closed form on the inactive set (Eq. 9)."""
        columns = self._layout.columns_of(self._structure)
        inactive = self._discrete.copy()
        inactive[columns] = False
        self._theta[inactive] = np.clip(self._penalty_center()[inactive], 0.0, 1.0)
        for _ in range(budget if len(columns) else 1):
            configuration = self._next_point(history, columns)
            if configuration is None or self._on_plateau(history, columns):
                break
            yield self._propose(configuration, "theta-min")
        points, losses = self._known_points(history, columns)
        if len(points):
            relaxed = self._nearest_in_cells(points, columns)
            values = losses + self._penalty(history, columns)(relaxed)[0]
            self._theta[columns] = relaxed[int(np.argmin(values))]

    def _on_plateau(self, history: History, columns: IntArray) -> bool:
        """Whether the latest losses of the current structure are equal."""
        _, losses = self._known_points(history, columns)
        latest = losses[-max(self.n_initial, 2) :]
        enough = self.tolerance > 0 and len(latest) == max(self.n_initial, 2)
        return enough and float(np.ptp(latest)) == 0.0

    def _penalty_center(self) -> FloatArray:
        """Center of the penalty of the relaxed integers: b of Eq. A19."""
        return self._delta - self._multipliers / self.rho

    def _penalty(self, history: History, columns: IntArray) -> "_Penalty":
        """Penalty of the relaxed integers in some columns, times the spread of the losses."""
        weight = self.rho * self._penalty_unit(history)
        return _Penalty(weight, self._penalty_center()[columns], self._discrete[columns])

    def _next_point(self, history: History, columns: IntArray) -> Configuration | None:
        """Return the current point if it is new, else that of the solver; None to end."""
        theta = self._theta.copy()
        configuration = self._configuration(self._structure, theta)
        if not self.is_known(configuration):
            return configuration
        for draw in range(_MAX_DRAWS if len(columns) else 0):
            units: FloatArray = self.rng.random(len(columns))
            if draw == 0:
                points, losses = self._known_points(history, columns)
                if self.solvers[0] == "bo" and len(points) >= self.n_initial:
                    units, gain = self._theta_by_bo(points, losses, history, columns)
                    unit = spread(self.observations(history).y[self._known_rows(history)])
                    if self.tolerance and gain < self._least_gain * unit:
                        return None
            theta[columns] = units
            configuration = self._configuration(self._structure, theta)
            if not self.is_known(configuration):
                return configuration
        return None

    def _theta_by_bo(
        self, points: FloatArray, losses: FloatArray, history: History, columns: IntArray
    ) -> tuple[FloatArray, float]:
        """Maximize the expected improvement of the loss plus the known penalty (Eq. A37)."""
        key = tuple(self._structure)
        model = self._models.setdefault(key, process_of(self.robust))
        losses = targets_of(losses, self.robust)
        model.update(points, losses, self.rng)
        pending = self.pending_vectors()
        pending = pending[(pending[:, : self._n_steps] == key).all(axis=1)]
        condition_on_pending(
            model, points, losses, self.space.fill_inactive(pending)[:, columns], self.rng
        )
        penalty = self._penalty(history, columns)
        values = losses + penalty(self._nearest_in_cells(points, columns))[0]
        near = points[np.argsort(values, kind="stable")[:3]].repeat(20, axis=0)
        near = np.clip(near + self.rng.normal(scale=0.1, size=near.shape), 0.0, 1.0)
        candidates = np.vstack([self.rng.random((300, len(columns))), near])
        best = float(values.min())
        point, _ = maximize_log_improvement(model, best, candidates, known=penalty)
        return point, math.exp(log_improvement_with_gradient(model, best, point, penalty)[0])

    def _nearest_in_cells(self, points: FloatArray, columns: IntArray) -> FloatArray:
        """Projection of b on the rounding cells of known points: f~ is constant on a cell."""
        relaxed, target = points.copy(), np.clip(self._penalty_center()[columns], 0.0, 1.0)
        for k, column in enumerate(columns):
            if self._discrete[column]:
                low, high = self._layout.parameter(int(column)).cells(points[:, k])
                nearest = np.clip(target[k], low + _MARGIN, high - _MARGIN)
                relaxed[:, k] = np.clip(nearest, 0.0, 1.0)
        return relaxed

    def _known_points(self, history: History, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """Points (m, n_columns) of the current structure, and their losses (m,)."""
        rows = self._known_rows(history)
        vectors = self.space.fill_inactive(self.observations(history).vectors[rows])
        return vectors[:, columns], self._augmented_losses(history)[rows]

    def _known_rows(self, history: History) -> IntArray:
        """Rows of the observations with the current structure."""
        structures = self.observations(history).vectors[:, : self._n_steps]
        return np.flatnonzero((structures == self._structure).all(axis=1))

    def _minimize_delta(self) -> None:
        """delta-min (Eq. A23): the legal value nearest to a, for each integer."""
        a = np.clip(self._theta + self._multipliers / self.rho, 0.0, 1.0)
        self._delta = self._delta.copy()
        for column in np.flatnonzero(self._discrete).tolist():
            self._delta[column] = self._layout.parameter(column).snap([a[column]])[0]

    def _minimize_structure(self, history: History, budget: int) -> Iterator[Proposal]:
        """z-min (Eq. A24) at the current hyper-parameters of every algorithm."""
        if not self.keep_counts:
            self._bandit = ThompsonSampling(self.space, self.prior)
        # structures of this sub-problem, and pending ones of the last one
        late = [structure for structure, _ in self._unrewarded]
        self._tried = {tuple(z): self._configuration(z, self._theta) for z in late}
        for _ in range(budget):
            structure = self._next_structure(history)
            key = tuple(structure)
            if key not in self._tried:
                self._tried[key] = self._configuration(structure, self._theta)
            self._unrewarded.append((structure, self._tried[key]))
            yield self._propose(self._tried[key], "z-min")
            self._reward(history)
        structures, losses = self._known_structures(history)
        if len(structures):
            self._structure = structures[int(np.argmin(losses))]

    def _next_structure(self, history: History) -> IntArray:
        if self.solvers[1] == "bandit":
            return self._bandit.pull(self.rng)
        structure = None
        if self.solvers[1] == "bo":
            structure = self._structure_by_bo(history)
        if structure is None:
            structure = self.space.sample(1, self.rng)[0, : self._n_steps].astype(np.intp)
        return structure

    def _structure_by_bo(self, history: History) -> IntArray | None:
        """Maximize the expected improvement over integer codes; None for a random structure."""
        structures, losses = self._known_structures(history)
        if len(structures) < self.n_initial:
            return None
        legal = self.space.structures
        scale = np.maximum(legal.max(axis=0), 1)
        losses = targets_of(losses, self.robust)
        model = process_of(self.robust).fit(structures / scale, losses, self.rng)
        candidates = self.rng.permutation(legal)[:_MAX_STRUCTURES]
        known = {tuple(structure) for structure in structures} | {
            tuple(row) for row in self.pending_vectors()[:, : self._n_steps].astype(int)
        }
        new = np.array([tuple(structure) not in known for structure in candidates])
        if not new.any():
            return None
        mean, std = model.predict(candidates[new] / scale)
        scores = log_expected_improvement(mean, std, float(losses.min()))
        return candidates[new][int(np.argmax(scores))]

    def _known_structures(self, history: History) -> tuple[IntArray, FloatArray]:
        """Structures evaluated at the current hyper-parameters, and their losses."""
        losses = self._augmented_losses(history)
        rows = [self._row_of(configuration) for configuration in self._tried.values()]
        known = [(z, row) for z, row in zip(self._tried, rows, strict=True) if row is not None]
        structures = np.array([z for z, _ in known], dtype=np.intp).reshape(-1, self._n_steps)
        return structures, losses[[row for _, row in known]]

    def _reward(self, history: History) -> None:
        """Reward the pulls whose trial is complete (Algorithm A1, lines 9 to 13)."""
        observations = self.observations(history)
        losses = self._augmented_losses(history)
        low, high = self._reward_range(losses[observations.ok])
        waiting = []
        for structure, configuration in self._unrewarded:
            row = self._row_of(configuration)
            if row is None:
                waiting.append((structure, configuration))
            else:
                chance = 0.0
                if observations.ok[row]:
                    chance = continuous_reward(float(losses[row]), low, high)
                self._bandit.reward(structure, chance, self.rng)
        self._unrewarded = waiting

    def _reward_range(self, losses: FloatArray) -> tuple[float, float]:
        """Losses with reward 1 and with reward 0 (Eq. A39)."""
        if self.f_hat is not None:
            return 0.0, self.f_hat
        if not len(losses):
            return 0.0, 1.0
        low = float(losses.min())
        return low, low + 2.0 * spread(losses)

    def _update_multipliers(self, history: History) -> None:
        """Update lambda (Eq. A28), and mu if the constraints were measured (Eq. A29)."""
        gap = np.where(self._discrete, self._theta - self._delta, 0.0)
        self._multipliers = self._multipliers + self.rho * gap
        row = self._row_of(self._configuration(self._structure, self._theta))
        if row is not None and history.goal.search_limits:
            violation = self._violations(history)[row]
            if self.robust:
                violation = np.minimum(violation, _MAX_VIOLATION)
            slack = best_slack(violation, self._constraint_multipliers, self.rho)
            raised = self._constraint_multipliers + self.rho * (violation + slack)
            bound = _MAX_MULTIPLIER if self.robust else math.inf
            self._constraint_multipliers = np.clip(raised, 0.0, bound)

    def _augmented_losses(self, history: History) -> FloatArray:
        """Losses of the observations plus the penalty of the constraints (Algorithm 2)."""
        observations = self.observations(history)
        if not history.goal.search_limits:
            return observations.y
        multipliers = self._constraint_multipliers
        penalty = constraint_penalty(self._violations(history), multipliers, self.rho)
        return observations.y + self._penalty_unit(history) * penalty

    def _penalty_unit(self, history: History) -> float:
        """Loss of a penalty of 1: the spread of the losses, or 1 as in the paper."""
        return spread(self.observations(history).y) if self.robust else 1.0

    def _violations(self, history: History) -> FloatArray:
        """Scaled (g - epsilon) of shape (n, n_limits); missing values are imputed by the worst."""
        trials = self.observations(history).trials
        limits = np.array(list(history.goal.search_limits.values()))
        scale = np.where(limits == 0.0, 1.0, np.abs(limits))
        values = [
            [t.constraints.get(m, np.nan) for m in history.goal.search_limits] for t in trials
        ]
        violations = (np.array(values).reshape(len(trials), len(limits)) - limits) / scale
        measured = np.isfinite(violations)
        worst = np.max(violations, axis=0, initial=1.0, where=measured)
        return np.where(measured, violations, worst)

    def _record(self, history: History, iteration: int, budget: int, before: FloatArray) -> None:
        trial = self.trial_of(history, self._configuration(self._structure, self._theta))
        gap = (self._theta - self._delta)[self._discrete]
        step = (self._delta - before)[self._discrete]
        self.residuals_.append(
            {
                "iteration": iteration,
                "n_trials": len(history),
                "budget": budget,
                "primal": float(np.linalg.norm(gap)),
                "dual": float(self.rho * np.linalg.norm(step)),
                "violation": float("nan") if trial is None else history.violation(trial),
                "loss": float("nan") if trial is None else trial.loss,
                "structure": self._configuration(self._structure, self._theta).structure,
            }
        )

    def _configuration(self, structure: IntArray, theta: FloatArray) -> Configuration:
        """Configuration at the legal values nearest to relaxed ones (Eq. 4)."""
        vector = np.full((1, self._layout.n_columns), np.nan)
        vector[0, : self._n_steps] = structure
        for column in self._layout.columns_of(structure).tolist():
            vector[0, column] = self._layout.parameter(column).snap([theta[column]])[0]
        self._layout.deactivate(vector)
        return self.space.decode(vector[0])

    def _propose(self, configuration: Configuration, origin: str) -> Proposal:
        self._made_progress |= not self.is_known(configuration)
        return Proposal(configuration, origin=origin)

    def _row_of(self, configuration: Configuration) -> int | None:
        """Row of a configuration in the observations; None if it is not complete."""
        return self._memory.record(1.0).rows.get(configuration)


@dataclass(frozen=True)
class _Penalty:
    """The penalty (rho/2) ||theta~^d - b||^2 of Eq. A19 with its gradient, at points (n, d)."""

    rho: float
    target: FloatArray
    discrete: BoolArray

    def __call__(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        gap = np.where(self.discrete, points - self.target, 0.0)
        return 0.5 * self.rho * (gap**2).sum(axis=1), self.rho * gap


def best_slack(violation: FloatArray, multipliers: FloatArray, rho: float) -> FloatArray:
    """Slack u >= 0 that minimizes the penalty of g - epsilon + u (closed form)."""
    return np.maximum(-violation - multipliers / rho, 0.0)


def constraint_penalty(violations: FloatArray, multipliers: FloatArray, rho: float) -> FloatArray:
    """Sum of (rho/2) (g - epsilon + u + mu/rho)^2 over the constraints, at the best slack."""
    slack = best_slack(violations, multipliers, rho)
    return 0.5 * rho * ((violations + slack + multipliers / rho) ** 2).sum(axis=-1)
