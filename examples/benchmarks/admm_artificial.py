"""ADMM against one Gaussian process over everything (JOPT), on the artificial objective.

Rebuilds the first rows of Tables A4 and A5 of the ADMM paper (AAAI 2020) at a smaller scale: how
much sooner adaptive ADMM reaches the final value of JOPT, and how much lower it ends. Evaluations
cost next to nothing, so the time is that of the strategies themselves. Called as

    python examples/benchmarks/admm_artificial.py --seconds 20 --trials 5

and Fig. 4, fixed against adaptive budgets of the sub-problems, as

    python examples/benchmarks/admm_artificial.py --seconds 20 --trials 5 --strategies FIXED

Each trial is one objective, drawn anew, and one run of every strategy on it. Give every run a core
of its own (``OMP_NUM_THREADS=1``) and leave the machine alone; ``--clock cpu`` counts seconds of
the processor instead of the wall's where it is shared.
"""

import json
import time

import numpy as np
from _common import make_parser, search

from skauto.objectives import make_artificial_objective, make_artificial_space
from skauto.strategies import ADMM, JointGP, RandomSearch

STRATEGIES = {
    "JOPT(BO)": lambda: JointGP(),
    # as many candidates and ascents as scikit-optimize, the solver of the paper
    "JOPT(BO), skopt": lambda: JointGP(n_candidates=10_000, n_starts=5),
    "AdADMM-F16(BO,Ba)": lambda: ADMM(max_budget=256),
    "AdADMM-F16(BO,BO)": lambda: ADMM(max_budget=256, structure_solver="bo"),
    "random": lambda: RandomSearch(),
}
BUDGETS = {
    "AdADMM-F16": lambda: ADMM(),
    "AdADMM-F8": lambda: ADMM(growth=8),
    **{f"ADMM-{n}": lambda n=n: ADMM(budget=n, growth=0) for n in (16, 32, 64, 128)},
}
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def run(strategy, space, objective, seconds, clock, seed):
    """Incumbents of one search: seconds, number of trials and loss of each, and the last."""
    curve, best, begin = [], np.inf, clock()

    def note(trial):
        nonlocal best
        elapsed = clock() - begin
        if trial.loss < best:
            best = trial.loss
            curve.append((elapsed, trial.number + 1, best))
        return elapsed >= seconds

    def evaluate(configuration):
        return {"losses": (objective(configuration),)}

    history = search(strategy, space, evaluate, seed, on_trial=note)
    return [*curve, (clock() - begin, len(history), best)]


def value_at(curve, seconds):
    """Loss of the incumbent at some times; infinite before the first."""
    times = np.array([point[0] for point in curve])
    losses = np.array([np.inf, *(point[2] for point in curve)])
    return losses[np.searchsorted(times, seconds, side="right")]


def compare(curves, reference, seconds):
    """Speed-up and improvement over the reference, from medians over the trials."""
    grid = np.geomspace(0.01, seconds, 2000)
    median = {
        name: np.median([value_at(curve, grid) for curve in runs], axis=0)
        for name, runs in curves.items()
    }
    target = median[reference][-1]
    reached = {name: grid[values <= target] for name, values in median.items()}
    begin = reached[reference][0]
    return {
        name: {
            "median final loss": float(values[-1]),
            "speed-up": float(begin / reached[name][0]) if len(reached[name]) else 0.0,
            "improvement": float(1.0 - values[-1] / target),
            "median trials": float(np.median([runs[-1][1] for runs in curves[name]])),
        }
        for name, values in median.items()
    }


def main():
    parser = make_parser(__doc__, data=False)
    parser.add_argument("--seconds", type=float, default=20.0, help="of every run")
    parser.add_argument("--trials", type=int, default=5, help="number of objectives")
    parser.add_argument("--clock", choices=sorted(CLOCKS), default="wall")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--algorithms", type=int, default=8, help="of each step")
    parser.add_argument("--continuous", type=int, default=2, help="of each algorithm")
    parser.add_argument("--integers", type=int, default=2, help="of each algorithm")
    parser.add_argument(
        "--strategies", nargs="+", choices=[*STRATEGIES, "FIXED"], default=list(STRATEGIES)
    )
    parser.add_argument("--out", help="JSON file for the curves")
    options = parser.parse_args()
    space = make_artificial_space(
        options.steps, options.algorithms, options.continuous, options.integers
    )
    print(
        f"{len(space.structures)} structures, {space.n_dimensions} columns, {options.clock} time"
    )
    strategies = {name: STRATEGIES[name] for name in options.strategies if name != "FIXED"}
    if "FIXED" in options.strategies:
        strategies |= BUDGETS
    curves = {name: [] for name in strategies}
    for seed in range(options.trials):
        objective = make_artificial_objective(space, seed=seed)
        for name, make in strategies.items():
            curve = run(make(), space, objective, options.seconds, CLOCKS[options.clock], seed)
            curves[name].append(curve)
            print(f"trial {seed}  {name:18s} {curve[-1][2]:9.4g}  ({curve[-1][1]} trials)")
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(curves, file)
    print(f"\n{'':18s} {'final':>9s} {'speed-up':>9s} {'improved':>9s} {'trials':>7s}")
    for name, row in compare(curves, next(iter(curves)), options.seconds).items():
        print(
            f"{name:18s} {row['median final loss']:9.4g} {row['speed-up']:8.1f}x "
            f"{row['improvement']:8.0%} {row['median trials']:7.0f}"
        )
    times = options.seconds * np.array([0.025, 0.05, 0.1, 0.2, 0.5, 1.0])
    print("\nmedian loss after seconds", *(f"{t:.3g}" for t in times))
    for name, runs in curves.items():
        medians = np.median([value_at(curve, times) for curve in runs], axis=0)
        print(f"{name:25s}", *(f"{value:.3f}" for value in medians))


if __name__ == "__main__":
    main()
