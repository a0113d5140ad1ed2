"""Operator splitting: hyper-parameters and algorithms optimised in turns (ADMM)."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from skauto.acquisition import (
    log_expected_improvement,
    log_improvement_with_gradient,
    maximize_log_improvement,
)
from skauto.history import History, Proposal, Trial
from skauto.space import Configuration, SearchSpace
from skauto.strategies._bandit import ThompsonSampling, continuous_reward
from skauto.strategies._base import GeneratorStrategy
from skauto.strategies._joint_gp import cap_outliers
from skauto.surrogates import GaussianProcess
from skauto.utils import BoolArray, FloatArray, IntArray

# How often another point is drawn when the one proposed is known.
_MAX_DRAWS = 10
# theta-min is solved when no point promises more than this share of the spread of its losses. The
# share is halved in every iteration: fine tuning is wasted on structures that are soon left.
_FIRST_GAIN, _SMALLEST_GAIN = 0.1, 1e-3
# It is solved too when so many results in a row are the same: its hyper-parameters have no effect.
_PLATEAU = 5
# Structures looked at when the structure is chosen by a Gaussian process.
_MAX_STRUCTURES = 2000


class ADMM(GeneratorStrategy):
    r"""Alternating direction method of multipliers over hyper-parameters and algorithms.

    The mixed problem, algorithms ``z``, continuous hyper-parameters and integers, is split. One
    iteration solves, with the number of evaluations that the budget gives to each,

    1. *theta-min*: the hyper-parameters of the present structure, integers relaxed to reals and
       drawn towards legal values by a quadratic penalty;
    2. *delta-min*: the nearest legal integers, in closed form;
    3. *z-min*: the structure, at the present hyper-parameters of every algorithm;
    4. the multipliers of the integers, and of the constraints if there are any.

    Limits of the history (``history.limits``) are black-box constraints, as in Algorithm 2: a
    quadratic penalty with multipliers is added to the loss, in both sub-problems. What is known
    from earlier iterations is used again with its penalties computed anew, never evaluated again.

    Parameters
    ----------
    theta_solver : {"bo", "random"}, default="bo"
        Solves theta-min: Bayesian optimisation with a Gaussian process, or random search.
    structure_solver : {"bandit", "bo", "random"}, default="bandit"
        Solves z-min: combinatorial Thompson sampling, Bayesian optimisation on the numbers of the
        algorithms, or random search.
    budget : int, default=16
        Evaluations of each sub-problem in the first iteration.
    growth : int, default=16
        What the budget grows by in every iteration; 0 keeps it fixed.
    max_budget : int, default=128
        Largest budget.
    rho : float, default=1.0
        Weight of the quadratic penalties.
    f_hat : float or None, default=None
        Loss from which on a structure is not rewarded in Thompson sampling, 0.7 in the paper.
        None fits the scale to the losses seen: the best gives reward 1, the median 1/2.
    alpha0, delta0 : float, default=2.0
        Parameters of the Beta prior of each algorithm in Thompson sampling. With the paper's 10
        each, an algorithm must be pulled some twenty times before its rewards outweigh the prior.
    reset_bandit : bool, default=False
        Whether Thompson sampling forgets its pulls after every iteration.
    first : mapping of str to str, default=None
        Algorithms of the first structure, for some of the steps. None starts from the best trial
        made before the search, or from the default of the space.
    n_initial : int, default=4
        Number of known points that a Gaussian process needs to take over from random draws.

    Attributes
    ----------
    residuals_ : list of dict
        One record an iteration: ``iteration``, ``n_trials`` made by then, ``budget``, ``primal``
        (distance of the relaxed integers from legal ones), ``dual`` (rho times the way of the
        legal ones), ``violation`` of the constraints, ``loss`` and ``structure``.

    See Also
    --------
    JointGP : One Gaussian process over all choices, the baseline of the paper.

    Notes
    -----
    What the paper leaves open is decided so:

    - Hyper-parameters are measured on the unit scale of their ranges and a constraint
      :math:`g \leq \epsilon` as :math:`(g - \epsilon) / |\epsilon|`. In raw units a latency of a
      microsecond or a range of 500 trees would decide everything. Against the penalty of the
      integers, losses are measured in units of their spread, from the best to the median:
      otherwise that penalty freezes the integers where losses differ by a few hundredths.
    - The slack of a constraint is eliminated in closed form, in both sub-problems. It never
      exceeds the paper's bound :math:`\epsilon` when :math:`g \geq 0`, and negative limits (a
      score that must be reached) work too.
    - The quadratic penalty is known, so the Gaussian process learns the loss alone and the
      penalty is added to its mean.
    - z-min returns the best structure that it has tried. A pull whose value is known costs no
      evaluation and is rewarded all the same.
    - theta-min ends early when no point promises a gain, or when five results in a row are the
      same. The gain that counts is halved in every iteration: sub-problems are solved more and
      more precisely, which is what the budget grows for. Where neither sub-problem finds anything
      new to evaluate, the search goes on from a random configuration.
    - Results still missing at the end of a sub-problem are not waited for; they count when they
      arrive.

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
    >>> result = minimize(
    ...     make_artificial_objective(space), space, strategy=ADMM(budget=8), max_evals=24,
    ...     random_state=0,
    ... )
    >>> sorted({trial.origin for trial in result.history})
    ['theta-min', 'z-min']
    """

    def __init__(
        self,
        *,
        theta_solver: str = "bo",
        structure_solver: str = "bandit",
        budget: int = 16,
        growth: int = 16,
        max_budget: int = 128,
        rho: float = 1.0,
        f_hat: float | None = None,
        alpha0: float = 2.0,
        delta0: float = 2.0,
        reset_bandit: bool = False,
        first: Mapping[str, str] | None = None,
        n_initial: int = 4,
    ) -> None:
        self.theta_solver = theta_solver
        self.structure_solver = structure_solver
        self.budget = budget
        self.growth = growth
        self.max_budget = max_budget
        self.rho = rho
        self.f_hat = f_hat
        self.alpha0 = alpha0
        self.delta0 = delta0
        self.reset_bandit = reset_bandit
        self.first = first
        self.n_initial = n_initial

    def _start(self) -> None:
        _check_choice("theta_solver", self.theta_solver, ("bo", "random"))
        _check_choice("structure_solver", self.structure_solver, ("bandit", "bo", "random"))
        if not self.rho > 0:
            raise ValueError(f"The 'rho' of ADMM must be positive. Got {self.rho!r} instead.")
        if not 1 <= self.budget <= self.max_budget:
            raise ValueError(
                "The 'budget' of ADMM must be at least 1 and at most 'max_budget' "
                f"({self.max_budget!r}). Got {self.budget!r} instead."
            )
        self.residuals_: list[dict[str, Any]] = []
        self._n_steps = len(self._space.steps)
        self._integers = {
            k: column.definition
            for k, column in enumerate(self._space.columns)
            if column.definition is not None and column.definition.n_choices is not None
        }
        self._discrete = np.isin(np.arange(self._space.n_dimensions), list(self._integers))
        self._columns = _columns_of_components(self._space)
        self._relaxed: dict[
            Configuration, FloatArray
        ] = {}  # theta~ that a configuration stands for
        self._models: dict[tuple[int, ...], GaussianProcess] = {}  # one process a structure
        self._tried: dict[tuple[int, ...], None] = {}  # structures of the present z-min, in order
        self._unrewarded: list[tuple[IntArray, Configuration]] = []

    def _run(self, history: History) -> Iterator[Proposal]:
        """Algorithm 1, and Algorithm 2 where the history has limits."""
        state = self._state = self._first_state(history)
        self._bandit = self._new_bandit()
        for iteration in count():
            budget = min(self.budget + iteration * self.growth, self.max_budget)
            self._made_progress = False
            self._least_gain = max(_FIRST_GAIN * 0.5**iteration, _SMALLEST_GAIN)
            yield from self._minimize_theta(history, budget)
            before = state.delta
            self._minimize_delta()
            yield from self._minimize_structure(history, budget)
            self._update_multipliers(history)
            self._record(history, iteration, budget, before)
            if not self._made_progress:
                yield from self._restart()
                if not self._made_progress:
                    return  # the space is exhausted

    def _first_state(self, history: History) -> "_State":
        """Iteration 0: no multipliers; the best of what is known, else the defaults."""
        no_multipliers = np.zeros(len(history.limits))
        observations = self._observations(history)
        if self.first is None and observations.ok.any():
            losses = self._augmented_losses(history, no_multipliers)
            vector = observations.vectors[int(np.argmin(losses))]
        else:
            vector = self._space.default_vector(self._space.default_structure(self.first))
        theta = self._space.fill_inactive(vector[None])[0]
        return _State(
            structure=vector[: self._n_steps].astype(np.intp),
            theta=theta,
            delta=theta.copy(),
            multipliers=np.zeros(len(theta)),
            constraint_multipliers=no_multipliers,
        )

    def _restart(self) -> Iterator[Proposal]:
        """Leave a point where neither sub-problem proposes anything new for a random one."""
        configuration = self._sample_new()
        if configuration is not None:
            vector = self._encode([configuration])
            self._state.structure = vector[0, : self._n_steps].astype(np.intp)
            given = ~np.isnan(vector[0])
            self._state.theta[given] = vector[0, given]
            self._made_progress = True
            yield Proposal(configuration, origin="restart")

    # ------------------------------------------------------------------------------- theta-min

    def _minimize_theta(self, history: History, budget: int) -> Iterator[Proposal]:
        """theta-min on the active set (Eq. A19); the inactive set is in closed form (Eq. 9)."""
        state = self._state
        columns = self._active_columns(state.structure)
        inactive = self._discrete.copy()
        inactive[columns] = False
        state.theta[inactive] = np.clip(self._target()[inactive], 0.0, 1.0)
        for _ in range(budget if len(columns) else 1):
            theta = self._next_theta(history, columns)
            if theta is None or self._on_plateau(history, columns):
                break
            yield self._propose(state.structure, theta, "theta-min")
        points, losses = self._known_points(history, columns)
        if len(points):
            values = losses + self._pull(history, columns)(points)[0]
            state.theta[columns] = points[int(np.argmin(values))]

    def _on_plateau(self, history: History, columns: IntArray) -> bool:
        """Whether the latest results of the present structure are all the same."""
        _, losses = self._known_points(history, columns)
        latest = losses[-_PLATEAU:]
        return len(latest) == _PLATEAU and float(np.ptp(latest)) == 0.0

    def _target(self) -> FloatArray:
        """Where the relaxed integers are drawn: b of Eq. A19."""
        return self._state.delta - self._state.multipliers / self.rho

    def _pull(self, history: History, columns: IntArray) -> "_Pull":
        """Penalty of the relaxed integers among some columns, in units of the losses' spread."""
        weight = self.rho * _spread(self._observations(history).y)
        return _Pull(weight, self._target()[columns], self._discrete[columns])

    def _next_theta(self, history: History, columns: IntArray) -> FloatArray | None:
        """Present point first, then what the solver says; None if there is nothing to gain."""
        state = self._state
        theta = state.theta.copy()
        if not self._is_known(self._configuration(state.structure, theta)):
            return theta
        for draw in range(_MAX_DRAWS if len(columns) else 0):
            units = self._rng.random(len(columns))
            if self.theta_solver == "bo" and draw == 0:
                points, losses = self._known_points(history, columns)
                if len(points) >= self.n_initial:
                    units, gain = self._theta_by_bo(points, losses, history, columns)
                    unit = _spread(self._observations(history).y[self._known_rows(history)])
                    if gain < self._least_gain * unit:
                        return None
            theta[columns] = units
            if not self._is_known(self._configuration(state.structure, theta)):
                return theta
        return None

    def _theta_by_bo(
        self, points: FloatArray, losses: FloatArray, history: History, columns: IntArray
    ) -> tuple[FloatArray, float]:
        """Maximise the expected improvement of the loss plus the known penalty (Eq. A37)."""
        key = tuple(self._state.structure)
        model = self._models.setdefault(key, GaussianProcess(n_restarts=0, warm_start=True))
        losses = cap_outliers(losses)
        model.update(points, losses, self._rng)
        running = [
            self._relaxed_vector(proposal.configuration)[columns]
            for proposal in self._pending
            if self._structure_of(proposal.configuration) == key
        ]
        if running:
            believed, _ = model.predict(np.array(running))
            model.condition(np.vstack([points, running]), np.concatenate([losses, believed]))
        pull = self._pull(history, columns)
        values = losses + pull(points)[0]
        near = points[np.argsort(values, kind="stable")[:3]].repeat(20, axis=0)
        near = np.clip(near + self._rng.normal(scale=0.1, size=near.shape), 0.0, 1.0)
        candidates = np.vstack([self._rng.random((300, len(columns))), near])
        best = float(values.min())
        point, _ = maximize_log_improvement(model, best, candidates, known=pull)
        return point, math.exp(log_improvement_with_gradient(model, best, point, pull)[0])

    def _known_points(self, history: History, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """Points (m, n_columns) known for the present structure, and their losses (m,)."""
        observations = self._observations(history)
        rows = self._known_rows(history)
        points = [self._relaxed_vector(observations.trials[row].configuration) for row in rows]
        losses = self._augmented_losses(history)[rows]
        return np.array(points).reshape(len(rows), self._space.n_dimensions)[:, columns], losses

    def _known_rows(self, history: History) -> IntArray:
        """Rows of the observations that have the present structure."""
        structures = self._observations(history).vectors[:, : self._n_steps]
        return np.flatnonzero((structures == self._state.structure).all(axis=1))

    # ------------------------------------------------------------------------------- delta-min

    def _minimize_delta(self) -> None:
        """delta-min (Eq. A23): the legal value nearest to a, for each integer."""
        state = self._state
        a = np.clip(state.theta + state.multipliers / self.rho, 0.0, 1.0)
        delta = state.delta.copy()
        for column, parameter in self._integers.items():
            delta[column] = parameter.snap([a[column]])[0]
        state.delta = delta

    # ----------------------------------------------------------------------------------- z-min

    def _minimize_structure(self, history: History, budget: int) -> Iterator[Proposal]:
        """z-min (Eq. A24) at the present hyper-parameters of every algorithm."""
        state = self._state
        if self.reset_bandit:
            self._bandit = self._new_bandit()
        # structures of this sub-problem, and those whose results were late in the last one
        self._tried = {tuple(structure): None for structure, _ in self._unrewarded}
        for _ in range(budget):
            structure = self._next_structure(history)
            self._tried[tuple(structure)] = None
            self._unrewarded.append((structure, self._configuration(structure, state.theta)))
            yield self._propose(structure, state.theta, "z-min")
            self._reward(history)
        structures, losses = self._known_structures(history)
        if len(structures):
            state.structure = structures[int(np.argmin(losses))]

    def _next_structure(self, history: History) -> IntArray:
        if self.structure_solver == "bandit":
            return self._bandit.pull(self._rng)
        if self.structure_solver == "bo":
            return self._structure_by_bo(history)
        return self._random_structure()

    def _random_structure(self) -> IntArray:
        return self._space.sample(1, self._rng)[0, : self._n_steps].astype(np.intp)

    def _structure_by_bo(self, history: History) -> IntArray:
        """Maximise the expected improvement over structures, coded by their numbers."""
        structures, losses = self._known_structures(history)
        if len(structures) < self.n_initial:
            return self._random_structure()
        legal = self._space.structures
        scale = np.maximum(legal.max(axis=0), 1)
        losses = cap_outliers(losses)
        model = GaussianProcess(n_restarts=0).fit(structures / scale, losses, self._rng)
        candidates = self._rng.permutation(legal)[:_MAX_STRUCTURES]
        known = {tuple(structure) for structure in structures} | set(self._running_structures())
        new = np.array([tuple(structure) not in known for structure in candidates])
        if not new.any():
            return self._random_structure()
        mean, std = model.predict(candidates[new] / scale)
        scores = log_expected_improvement(mean, std, float(losses.min()))
        return candidates[new][int(np.argmax(scores))]

    def _known_structures(self, history: History) -> tuple[IntArray, FloatArray]:
        """Structures whose loss at the present hyper-parameters is known, and these losses."""
        observations = self._observations(history)
        losses = dict(
            zip(
                [trial.configuration for trial in observations.trials],
                self._augmented_losses(history),
                strict=True,
            )
        )
        tried = list(self._tried)
        configurations = [self._configuration(np.array(z), self._state.theta) for z in tried]
        known = [k for k, configuration in enumerate(configurations) if configuration in losses]
        structures = np.array([tried[k] for k in known], dtype=np.intp).reshape(-1, self._n_steps)
        return structures, np.array([losses[configurations[k]] for k in known])

    def _reward(self, history: History) -> None:
        """Reward the pulls whose trial is there (Algorithm A1, lines 9 to 13)."""
        observations = self._observations(history)
        losses = self._augmented_losses(history)
        row_of = {trial.configuration: row for row, trial in enumerate(observations.trials)}
        low, high = self._reward_range(losses[observations.ok])
        waiting = []
        for structure, configuration in self._unrewarded:
            row = row_of.get(configuration)
            if row is None:
                waiting.append((structure, configuration))
            else:
                chance = 0.0
                if observations.ok[row]:
                    chance = continuous_reward(float(losses[row]), low, high)
                self._bandit.reward(structure, chance, self._rng)
        self._unrewarded = waiting

    def _reward_range(self, losses: FloatArray) -> tuple[float, float]:
        """Losses with reward 1 and with reward 0 (Eq. A39)."""
        if self.f_hat is not None:
            return 0.0, self.f_hat
        if not len(losses):
            return 0.0, 1.0
        low = float(losses.min())
        return low, low + 2.0 * _spread(losses)

    # ----------------------------------------------------------------------------- multipliers

    def _update_multipliers(self, history: History) -> None:
        """Update lambda (Eq. A28), and mu where the constraints were measured (Eq. A29)."""
        state = self._state
        gap = np.where(self._discrete, state.theta - state.delta, 0.0)
        state.multipliers = state.multipliers + self.rho * gap
        trial = self._trial_of(history, self._configuration(state.structure, state.theta))
        if trial is not None and history.limits:
            violation = _violations(history, (trial,))[0]
            slack = best_slack(violation, state.constraint_multipliers, self.rho)
            state.constraint_multipliers = state.constraint_multipliers + self.rho * (
                violation + slack
            )

    def _augmented_losses(
        self, history: History, multipliers: FloatArray | None = None
    ) -> FloatArray:
        """Losses of the observations plus the penalty of the constraints (Algorithm 2)."""
        observations = self._observations(history)
        if not history.limits:
            return observations.y
        if multipliers is None:
            multipliers = self._state.constraint_multipliers
        violations = _violations(history, observations.trials)
        return observations.y + constraint_penalty(violations, multipliers, self.rho)

    def _record(self, history: History, iteration: int, budget: int, before: FloatArray) -> None:
        state = self._state
        trial = self._trial_of(history, self._configuration(state.structure, state.theta))
        gap = (state.theta - state.delta)[self._discrete]
        step = (state.delta - before)[self._discrete]
        self.residuals_.append(
            {
                "iteration": iteration,
                "n_trials": len(history),
                "budget": budget,
                "primal": float(np.linalg.norm(gap)),
                "dual": float(self.rho * np.linalg.norm(step)),
                "violation": float("nan") if trial is None else history.violation(trial),
                "loss": float("nan") if trial is None else trial.loss,
                "structure": self._configuration(state.structure, state.theta).structure,
            }
        )

    # ---------------------------------------------------------- between vectors and proposals

    def _configuration(self, structure: IntArray, theta: FloatArray) -> Configuration:
        """Configuration at relaxed values: f~ is f at the nearest legal ones (Eq. 4)."""
        steps = {}
        for i, (step, j) in enumerate(zip(self._space.steps, structure, strict=True)):
            component = self._space.components(step)[j]
            columns = self._columns[i, int(j)]
            values = {
                name: parameter.from_unit([theta[column]])[0]
                for (name, parameter), column in zip(
                    component.parameters.items(), columns, strict=True
                )
            }
            active = {name: values[name] for name in component.active(values)}
            steps[step] = (component.name, active)
        return Configuration(steps)

    def _propose(self, structure: IntArray, theta: FloatArray, origin: str) -> Proposal:
        configuration = self._configuration(structure, theta)
        self._made_progress |= not self._is_known(configuration)
        self._relaxed.setdefault(configuration, theta.copy())
        return Proposal(configuration, origin=origin)

    def _relaxed_vector(self, configuration: Configuration) -> FloatArray:
        """The theta~ that led to a configuration; its own values if it came from elsewhere."""
        if configuration not in self._relaxed:
            vector = self._encode([configuration])
            self._relaxed[configuration] = self._space.fill_inactive(vector)[0]
        return self._relaxed[configuration]

    def _active_columns(self, structure: IntArray) -> IntArray:
        """Columns of the hyper-parameters of the algorithms of a structure."""
        return np.array(
            [c for i, j in enumerate(structure) for c in self._columns[i, int(j)]], dtype=np.intp
        )

    def _structure_of(self, configuration: Configuration) -> tuple[int, ...] | None:
        vectors = self._encode([configuration])
        return tuple(vectors[0, : self._n_steps].astype(int)) if len(vectors) else None

    def _running_structures(self) -> Iterator[tuple[int, ...] | None]:
        return (self._structure_of(proposal.configuration) for proposal in self._pending)

    def _new_bandit(self) -> ThompsonSampling:
        return ThompsonSampling(self._space.structures, self.alpha0, self.delta0)


@dataclass
class _State:
    """Iterate of ADMM: vectors over the columns of the space, of which choices are not used."""

    structure: IntArray  # z
    theta: FloatArray  # theta^c and the relaxed theta~^d
    delta: FloatArray  # legal copies of theta~^d
    multipliers: FloatArray  # lambda
    constraint_multipliers: FloatArray  # mu


@dataclass(frozen=True)
class _Pull:
    """The penalty (rho/2) ||theta~^d - b||^2 of Eq. A19 with its gradient, at points (n, d)."""

    rho: float
    target: FloatArray
    discrete: BoolArray

    def __call__(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        gap = np.where(self.discrete, points - self.target, 0.0)
        return 0.5 * self.rho * (gap**2).sum(axis=1), self.rho * gap


def _spread(losses: FloatArray) -> float:
    """Unit of the losses: from the best to the median; 1 where these are the same."""
    if not len(losses):
        return 1.0
    low, median = np.quantile(losses, [0.0, 0.5])
    return float(median - low) or 1.0


def best_slack(violation: FloatArray, multipliers: FloatArray, rho: float) -> FloatArray:
    """Slack u >= 0 that minimises the penalty of g - epsilon + u (closed form)."""
    return np.maximum(-violation - multipliers / rho, 0.0)


def constraint_penalty(violations: FloatArray, multipliers: FloatArray, rho: float) -> FloatArray:
    """Sum of (rho/2) (g - epsilon + u + mu/rho)^2 over the constraints, at the best slack."""
    slack = best_slack(violations, multipliers, rho)
    return 0.5 * rho * ((violations + slack + multipliers / rho) ** 2).sum(axis=-1)


def _violations(history: History, trials: tuple[Trial, ...]) -> FloatArray:
    """Scaled (g - epsilon) of shape (n, n_limits); what was not measured is as the worst."""
    limits = np.array(list(history.limits.values()))
    values = np.array([[t.constraints.get(m, np.nan) for m in history.limits] for t in trials])
    values = values.reshape(len(trials), len(limits))
    violations = (values - limits) / np.where(limits == 0.0, 1.0, np.abs(limits))
    measured = np.isfinite(violations)
    worst = np.max(violations, axis=0, initial=1.0, where=measured)
    return np.where(measured, violations, worst)


def _columns_of_components(space: SearchSpace) -> dict[tuple[int, int], IntArray]:
    """For each (step, algorithm), the columns of its hyper-parameters, in their order."""
    keys = {(c.step, c.component, c.parameter): k for k, c in enumerate(space.columns)}
    return {
        (i, j): np.array([keys[step, component.name, n] for n in component.parameters], np.intp)
        for i, step in enumerate(space.steps)
        for j, component in enumerate(space.components(step))
    }


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"The '{name}' of ADMM must be one of {choices}. Got {value!r} instead.")
