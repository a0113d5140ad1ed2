import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import chisquare, kstest

from skauto import minimize
from skauto.history import History, Trial
from skauto.objectives import make_artificial_objective, make_artificial_space
from skauto.space import Integer, Real, SearchSpace
from skauto.strategies import ADMM
from skauto.strategies._admm import _Penalty, best_slack, constraint_penalty
from skauto.surrogates import GaussianProcess
from tests.strategies.search_loop import as_measured, drive, rich_space, small_space


def mixed_space():
    """Two structures; a real, an integer and a categorical hyper-parameter of each."""
    space = SearchSpace(["step"], name="mixed")
    for name in ("left", "right"):
        space.add(
            "step",
            name,
            parameters={"x": Real(0, 1), "k": Integer(1, 10), "kind": ["a", "b", "c"]},
        )
    return space


def mixed_loss(configuration):
    """Least, and 0.05, at right, x = 0.3, k = 7, kind b."""
    values = configuration.parameters("step")
    loss = 0.05 + 0.5 * (values["x"] - 0.3) ** 2 + 0.02 * (values["k"] - 7) ** 2 / 9
    loss += 0.1 * (values["kind"] != "b") + 0.2 * (configuration["step"] == "left")
    return loss


def started(space, history=None, **settings):
    strategy = ADMM(**settings).start(space, np.random.default_rng(0))
    strategy.ask(history or History())
    return strategy


def drive_unstopped(strategy, loss_of, n_trials):
    """History of a started search that is not stopped."""
    history = History()
    for number in range(n_trials):
        proposal = strategy.ask(history)
        loss = loss_of(proposal.configuration)
        history.append(
            Trial(
                number=number,
                configuration=proposal.configuration,
                losses=(loss,),
                origin=proposal.origin,
            )
        )
    return history


@pytest.mark.parametrize("settings", [{}, {"robust": False}])
@pytest.mark.parametrize("z_solver", ["bandit", "bo", "random"])
def test_every_solver_nears_a_known_optimum(z_solver, settings):
    strategy = ADMM(solvers=("bo", z_solver), budget=8, **settings)
    history = drive(strategy, mixed_space(), as_measured(mixed_loss), 60)
    best = history.incumbent.configuration
    assert best["step"] == "right"
    assert mixed_loss(best) < 0.08


def test_random_theta_min_is_uniform_and_returns_its_best_point():
    class Watched(ADMM):
        def _theta_by_bo(self, *arguments):
            raise AssertionError("a Gaussian process was fitted")

    strategy = Watched(solvers=("random", "bandit"), budget=30, growth=0, tolerance=0.0)
    space = mixed_space()
    strategy.start(space, np.random.default_rng(0))
    history = drive_unstopped(strategy, mixed_loss, 30)
    assert {trial.origin for trial in history} == {"theta-min"}
    x = [t.configuration.parameters("step")["x"] for t in history[1:]]
    assert kstest(x, "uniform").pvalue > 0.01
    strategy.ask(history)  # ends theta-min; lambda = 0 and delta = default
    points, losses = strategy._known_points(history, strategy._layout.columns_of(np.array([0])))
    continuous = ~strategy._discrete[strategy._layout.columns_of(np.array([0]))]
    penalty = strategy._penalty(history, strategy._layout.columns_of(np.array([0])))
    relaxed = strategy._nearest_in_cells(points, strategy._layout.columns_of(np.array([0])))
    best = (losses + penalty(relaxed)[0]).argmin()
    columns = strategy._layout.columns_of(np.array([0]))[continuous]
    np.testing.assert_array_equal(strategy._theta[columns], points[best, continuous])


def test_random_z_min_is_uniform_over_the_structures():
    space = make_artificial_space(n_steps=2, n_algorithms=3)
    strategy = ADMM(solvers=("bo", "random")).start(space, np.random.default_rng(0))
    strategy._set_first_iterate(History())
    drawn = [tuple(strategy._next_structure(History())) for _ in range(900)]
    counts = [drawn.count(tuple(z)) for z in space.structures]
    assert sum(counts) == 900
    assert chisquare(counts).pvalue > 0.01


@pytest.mark.parametrize("solver", ["bandit", "bo", "random"])
def test_z_min_ends_with_the_best_structure_tried(solver):
    space = make_artificial_space(n_steps=2, n_algorithms=3)
    loss_of = make_artificial_objective(space)
    strategy = ADMM.paper().set_params(solvers=("random", solver), budget=8, growth=0)
    strategy.start(space, np.random.default_rng(0))
    found, minimize_structure = [], strategy._minimize_structure

    def watched(history, budget):
        yield from minimize_structure(history, budget)
        best = min(strategy._tried, key=lambda z: loss_of(strategy._tried[z]))
        found.append(tuple(strategy._structure) == best)

    strategy._minimize_structure = watched
    drive_unstopped(strategy, loss_of, 60)
    assert len(found) >= 3
    assert all(found)


def test_z_min_by_bo_scores_a_part_of_the_structures_of_a_large_space(monkeypatch):
    monkeypatch.setattr("skauto.strategies._admm._MAX_STRUCTURES", 5)
    seen = []

    class Watched(GaussianProcess):
        def predict(self, X):
            seen.append(len(X))
            return super().predict(X)

    monkeypatch.setattr("skauto.strategies._admm.process_of", lambda robust: Watched())
    space = make_artificial_space(n_steps=2, n_algorithms=5)
    strategy = ADMM(solvers=("random", "bo"), budget=8)
    drive(strategy, space, as_measured(make_artificial_objective(space)), 16)
    assert seen and max(seen) <= 5


def test_an_iteration_without_a_new_configuration_ends_in_a_restart():
    history = drive(ADMM.paper(), small_space(), as_measured(lambda configuration: 0.5), 20)
    assert len(history) == 6  # the whole space
    assert "restart" in {trial.origin for trial in history}


def test_a_failed_trial_has_no_reward():
    """Its loss is imputed by the worst one, which would have the largest reward here."""

    class Watched(ADMM):
        def stop(self):
            self.seen_ = self._bandit.pulls[0], self._bandit.rewards[0]
            super().stop()

    def evaluate(number, configuration):
        failed = {"losses": (np.inf,), "status": "failed"}
        return failed if configuration["step"] == "left" else {"losses": (0.0,)}

    strategy = Watched.paper().set_params(solvers=("random", "bandit"), budget=8)
    drive(strategy, mixed_space(), evaluate, 60)
    (left, right), rewards = strategy.seen_
    assert left > 0 < right
    assert rewards.tolist() == [0.0, right]


@pytest.mark.parametrize("keep_counts", [True, False])
def test_thompson_sampling_begins_anew_or_keeps_its_counts(keep_counts):
    strategy = ADMM(budget=5, growth=0, keep_counts=keep_counts)
    strategy.start(mixed_space(), np.random.default_rng(0))
    pulls = []
    minimize_structure = strategy._minimize_structure

    def watched(history, budget):
        yield from minimize_structure(history, budget)
        pulls.append(strategy._bandit.pulls[0].sum())

    strategy._minimize_structure = watched
    drive_unstopped(strategy, mixed_loss, 30)
    assert len(pulls) >= 3
    assert pulls[:3] == ([5, 10, 15] if keep_counts else [5, 5, 5])


def test_penalty_gradient_equals_finite_differences():
    rng = np.random.default_rng(0)
    penalty = _Penalty(1.7, rng.random(4), np.array([True, False, True, True]))
    point = rng.random(4)
    values, gradients = penalty(point[None])
    numeric = approx_fprime(point, lambda p: penalty(p[None])[0][0], 1e-7)
    np.testing.assert_allclose(gradients[0], numeric, atol=1e-6)
    weight = penalty.discrete * (point - penalty.target)
    assert values[0] == pytest.approx(0.5 * 1.7 * weight @ weight)


def test_slack_is_the_best_of_the_interval():
    rng = np.random.default_rng(0)
    grid = np.linspace(0, 1, 2001)  # slacks in [0, epsilon], scaled by epsilon
    for _ in range(100):
        rho, mu, violation = rng.uniform(0.1, 5), rng.exponential(), rng.uniform(-1, 2)
        expected = (0.5 * rho * (violation + grid + mu / rho) ** 2).min()
        penalty = constraint_penalty(np.array([violation]), np.array([mu]), rho)
        assert penalty == pytest.approx(expected, abs=1e-5)
        assert 0 <= best_slack(np.array([violation]), np.array([mu]), rho)[0] <= 1


def test_delta_is_the_nearest_legal_point():
    strategy = started(mixed_space())
    rng = np.random.default_rng(1)
    for _ in range(20):
        strategy._theta = rng.random(len(strategy._theta))
        strategy._multipliers = 0.3 * rng.normal(size=len(strategy._theta))
        strategy._minimize_delta()
        for column in np.flatnonzero(strategy._discrete):
            parameter = strategy._layout.parameter(column)
            legal = np.unique(parameter.snap(np.linspace(0, 1, 1001)))
            a = strategy._theta[column] + strategy._multipliers[column]
            assert strategy._delta[column] == legal[np.abs(legal - np.clip(a, 0, 1)).argmin()]


def test_inactive_integers_keep_their_value_and_lose_their_multiplier():
    strategy = started(rich_space())
    strategy._minimize_delta()  # legal values
    columns = np.flatnonzero(strategy._discrete)
    strategy._multipliers[columns] = 0.01
    before = strategy._delta.copy()
    inactive = np.setdiff1d(columns, strategy._layout.columns_of(strategy._structure))
    for _ in strategy._minimize_theta(History(), 0):
        pass
    strategy._minimize_delta()
    strategy._update_multipliers(History())
    np.testing.assert_array_equal(strategy._delta[inactive], before[inactive])
    np.testing.assert_allclose(strategy._multipliers[inactive], 0.0, atol=1e-15)


def test_inactive_hyperparameters_have_their_defaults():
    space, history = rich_space(), History()
    linear, poly = (
        space.complete({"classifier": ("svm", {"kernel": kernel})})
        for kernel in ("linear", "poly")
    )
    history.append(Trial(number=0, configuration=linear, losses=(0.5,)))
    strategy = started(space, history)
    columns = strategy._layout.columns_of(strategy._structure)
    points, _ = strategy._known_points(history, columns)
    without, complete = space.encode([linear, poly])[:, columns]
    inactive = np.isnan(without)
    assert inactive.sum() == 2  # gamma and degree, which the polynomial kernel has
    np.testing.assert_array_equal(points[0, inactive], complete[inactive])


def test_multipliers_add_up_the_primal_residuals():
    strategy = started(mixed_space())
    strategy._theta = np.random.default_rng(0).random(len(strategy._theta))
    strategy._minimize_delta()
    strategy._update_multipliers(History())
    expected = np.where(strategy._discrete, strategy._theta - strategy._delta, 0.0)
    np.testing.assert_allclose(strategy._multipliers, strategy.rho * expected)


@pytest.mark.parametrize(
    ("settings", "budgets"),
    [
        ({"budget": 4, "growth": 3, "max_budget": 9}, [4, 7, 9, 9]),
        ({"budget": 6, "growth": 0}, [6, 6, 6, 6]),
    ],
)
def test_budgets_are_adaptive_or_fixed(settings, budgets):
    space = make_artificial_space(n_steps=3, n_algorithms=5)
    strategy = ADMM(tolerance=0.0, **settings)  # sub-problems do not end early
    history = drive(strategy, space, as_measured(make_artificial_objective(space)), 90)
    assert [record["budget"] for record in strategy.residuals_[:4]] == budgets
    first = [trial.origin for trial in history][: settings["budget"] + 1]
    assert first == ["theta-min"] * settings["budget"] + ["z-min"]


def test_residuals_are_recorded_and_kept():
    strategy = ADMM(budget=6, growth=0)
    drive(strategy, mixed_space(), as_measured(mixed_loss), 60)
    strategy.stop()
    frame = pd.DataFrame(pickle.loads(pickle.dumps(strategy)).residuals_)
    assert len(frame) >= 3
    assert {"iteration", "primal", "dual", "loss", "violation", "structure"} <= set(frame)
    # no relaxed value is further from a legal one than half the share of the fewest choices
    assert frame["primal"].between(0, np.sqrt(2) / 2).all()
    assert (frame["dual"] >= 0).all()
    assert frame["n_trials"].is_monotonic_increasing


def test_hyperparameters_without_effect_are_given_up():
    strategy = ADMM(budget=16, first={"step": "left"})
    history = drive(strategy, mixed_space(), as_measured(lambda c: float(c["step"] == "left")), 6)
    origins = [trial.origin for trial in history]
    assert "z-min" in origins


def test_hyperparameters_are_tuned_roughly_first_and_finely_later():
    strategy = ADMM(budget=24, growth=0, first={"step": "right"})
    history = drive(strategy, mixed_space(), as_measured(mixed_loss), 90)
    n_first = [trial.origin for trial in history].index("z-min")
    assert n_first < 16
    assert min(mixed_loss(trial.configuration) for trial in history) < 0.0501


def test_penalties_do_not_set_the_unit_of_the_losses():
    space, history = mixed_space(), History(limits={"size": 0.1})
    for number, vector in enumerate(space.sample(5, np.random.default_rng(4))):
        history.append(
            Trial(
                number=number,
                configuration=space.decode(vector),
                losses=(number / 10,),
                constraints={"size": float(number)},
            )
        )
    for robust, unit in ((True, 0.2), (False, 1.0)):
        strategy = started(space, history, rho=2.0, robust=robust)
        assert strategy._penalty(history, np.arange(1, 3)).rho == pytest.approx(2.0 * unit)


def test_first_structure_can_be_told():
    strategy = ADMM(first={"classifier": "bayes"}).start(rich_space(), np.random.default_rng(0))
    assert strategy.ask(History()).configuration["classifier"] == "bayes"


@pytest.mark.parametrize(("limits", "best"), [({}, 3), ({"size": 1.0}, 1)])
def test_search_starts_from_the_best_known_trial(limits, best):
    space, history = mixed_space(), History(limits=limits)
    vectors = space.sample(5, np.random.default_rng(4))
    for number, vector in enumerate(vectors):
        history.append(
            Trial(
                number=number,
                configuration=space.decode(vector),
                losses=(abs(number - 3.0) / 4,),
                constraints={"size": float(number)},
            )
        )
    strategy = started(space, history)
    expected = space.fill_inactive(vectors[[best]])[0]
    np.testing.assert_array_equal(strategy._theta, expected)


def test_late_results_are_rewarded_when_they_arrive():
    class Watched(ADMM):
        def stop(self):
            self.seen_ = self._bandit.pulls[0].sum(), len(self._unrewarded)
            super().stop()

    strategy = Watched(budget=4, growth=0)
    history = drive(strategy, mixed_space(), as_measured(mixed_loss), 40, n_workers=4)
    pulled, n_waiting = strategy.seen_
    proposed = {t.configuration for t in history if t.origin == "z-min"}
    assert pulled >= len(proposed) - 4
    assert n_waiting <= 4


def test_a_known_point_stands_for_its_rounding_cell():
    """theta~ is the minimizer of the penalty among all points that round to known ones."""
    space, history = mixed_space(), History()
    vectors = space.sample(4, np.random.default_rng(4))
    for number, vector in enumerate(vectors):
        configuration = space.decode(vector)
        history.append(Trial(number=number, configuration=configuration, losses=(0.5,)))
    strategy = started(space, history)
    columns = strategy._layout.columns_of(np.array([0]))
    rng = np.random.default_rng(0)
    strategy._multipliers = 0.2 * rng.normal(size=space.n_dimensions)
    points = space.fill_inactive(vectors)[:, columns]
    relaxed = strategy._nearest_in_cells(points, columns)
    target, grid = strategy._penalty_center()[columns], np.linspace(0, 1, 20_001)
    for k, column in enumerate(columns):
        parameter = strategy._layout.parameter(column)
        if not strategy._discrete[column]:
            np.testing.assert_array_equal(relaxed[:, k], points[:, k])
            continue
        np.testing.assert_array_equal(parameter.snap(relaxed[:, k]), points[:, k])
        for point, found in zip(points[:, k], relaxed[:, k], strict=True):
            cell = grid[parameter.snap(grid) == point]
            assert abs(found - target[k]) == pytest.approx(abs(cell - target[k]).min(), abs=1e-4)


@pytest.mark.parametrize("unit", [1.0, 0.01])
def test_the_constrained_optimum_is_found_whatever_the_unit_of_the_losses(unit):
    """The loss falls in x, the limit allows x up to 0.4."""
    space = SearchSpace(["step"]).add("step", "only", parameters={"x": Real(0, 1)})

    def evaluate(number, configuration):
        x = configuration.parameters("step")["x"]
        return {"losses": (0.5 - 0.3 * unit * x,), "constraints": {"size": x}}

    history = History(limits={"size": 0.4}, max_evals=24)
    drive(ADMM(budget=8, growth=0), space, evaluate, 24, history=history)
    assert 0.36 < history.incumbent.configuration.parameters("step")["x"] <= 0.4


def test_penalties_of_constraints_are_in_units_of_the_spread_of_the_losses():
    space, history = mixed_space(), History(limits={"size": 2.0})
    for number, vector in enumerate(space.sample(5, np.random.default_rng(4))):
        history.append(
            Trial(
                number=number,
                configuration=space.decode(vector),
                losses=(number / 100,),
                constraints={"size": float(number)},
            )
        )
    strategy = started(space, history)
    added = strategy._augmented_losses(history) - np.arange(5) / 100
    # violations of 0.5 and 1; from the best loss to the median there are 0.02
    np.testing.assert_allclose(added, [0, 0, 0, 0.02 * 0.125, 0.02 * 0.5], atol=1e-15)
    plain = started(space, history, robust=False)
    added = plain._augmented_losses(history) - np.arange(5) / 100
    np.testing.assert_allclose(added, [0, 0, 0, 0.125, 0.5], atol=1e-15)


def test_minimize_within_a_limit_agrees_with_brute_force():
    space = make_artificial_space(n_steps=2, n_algorithms=2, n_continuous=0, n_integers=1)
    loss, size = (make_artificial_objective(space, seed=seed) for seed in (0, 1))
    vectors = np.unique(space.sample(3_000, np.random.default_rng(0)), axis=0)
    sizes = {c: size(c) for c in map(space.decode, vectors)}
    limit = float(np.quantile(list(sizes.values()), 0.2))
    best = sorted(loss(c) for c in sizes if sizes[c] <= limit)
    result = minimize(
        lambda c: {"loss": loss(c), "size": size(c)},
        space,
        strategy=ADMM(budget=8, growth=8),
        limits={"size": limit},
        max_evals=60,
        random_state=0,
    )
    assert size(result.configuration) <= limit
    assert result.loss <= best[len(best) // 50]  # among the best two of a hundred


def two_valleys(number, configuration):
    """Measure a deep valley at x = 0.2, beyond the limit of 0.4, and a shallow one at x = 0.8."""
    values = configuration.parameters("step")
    loss = min(0.05 + (values["x"] - 0.2) ** 2, 0.15 + (values["x"] - 0.8) ** 2)
    loss += 0.1 * (values["kind"] != "b") + 0.2 * (configuration["step"] == "left")
    return {"losses": (loss,), "constraints": {"limited": 1 - values["x"]}}


def test_infinite_limit_changes_nothing():
    limits = [{}, {"limited": np.inf}]
    histories = [History(limits=given) for given in limits]
    for history in histories:
        drive(ADMM(budget=8), mixed_space(), two_valleys, 30, seed=0, history=history)
    assert [t.configuration for t in histories[0]] == [t.configuration for t in histories[1]]


def test_constraints_are_met_more_often_and_better():
    shares, losses = {True: [], False: []}, {True: [], False: []}
    for seed in range(2):
        for known in (True, False):
            history = History(limits={"limited": 0.4} if known else {})
            drive(ADMM(budget=8), mixed_space(), two_valleys, 30, seed=seed, history=history)
            feasible = [t for t in history if t.constraints["limited"] <= 0.4]
            shares[known].append(len(feasible) / len(history))
            losses[known].append(min(t.loss for t in feasible))
    assert np.mean(shares[True]) > 1.5 * np.mean(shares[False])
    assert np.mean(losses[True]) < np.mean(losses[False])


@pytest.mark.parametrize(("robust", "tight", "limit"), [(True, 1.5, 10.0), (False, 2.5, 42.5)])
def test_multiplier_of_a_violated_constraint_grows_and_of_a_loose_one_vanishes(
    robust, tight, limit
):
    space = mixed_space()
    history = History(limits={"tight": 0.1, "loose": 0.9, "unit": 0.0})
    strategy = started(space, history, robust=robust)
    configuration = strategy._configuration(strategy._structure, strategy._theta)
    measured = {"tight": 0.3, "loose": 0.1, "unit": 0.5}
    history.append(
        Trial(number=0, configuration=configuration, losses=(0.5,), constraints=measured)
    )
    strategy._constraint_multipliers = np.array([0.5, 0.5, 0.0])
    strategy.ask(history)
    strategy._update_multipliers(history)
    # if robust, a violation by twice the limit counts as one by the limit
    np.testing.assert_allclose(strategy._constraint_multipliers, [tight, 0.0, 0.5])
    for _ in range(20):
        strategy._update_multipliers(history)
    assert strategy._constraint_multipliers[0] == pytest.approx(limit)


@pytest.mark.parametrize("losses", [(1e17, 1e17), (1e30, 0.5)])
def test_losses_that_absorb_their_distance(losses):
    result = minimize(
        lambda configuration: losses[configuration.structure == ("sometimes",)],
        SearchSpace()
        .add("classifier", "often", parameters={"x": Real(0, 1), "k": [1, 2]})
        .add("classifier", "sometimes", parameters={"x": Real(0, 1)}),
        strategy="admm",
        max_evals=40,
        random_state=0,
    )
    assert (len(result.history), result.loss) == (40, min(losses))


def test_without_f_hat_rewards_follow_the_scale_of_the_losses():
    strategy = started(mixed_space(), f_hat=None)
    assert strategy._reward_range(np.array([5.0, 7.0, 100.0])) == (5.0, 9.0)
    assert started(mixed_space(), f_hat=0.7)._reward_range(np.array([5.0])) == (0.0, 0.7)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"solvers": ("bandit", "bo")}, "'solvers' of ADMM must be one of"),
        ({"solvers": ("bo", "grid")}, "'solvers' of ADMM must be one of"),
        ({"rho": 0.0}, "'rho' of ADMM must be a positive number. Got 0.0"),
        ({"budget": 0}, "'budget' of ADMM must be an integer of at least 1. Got 0"),
        ({"budget": 200}, "'max_budget' of ADMM must be an integer of at least 200. Got 128"),
    ],
)
def test_errors_say_what_is_allowed(settings, message):
    with pytest.raises(ValueError, match=message):
        ADMM(**settings).start(mixed_space(), np.random.default_rng(0))
