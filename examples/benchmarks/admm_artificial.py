"""ADMM against one Gaussian process over everything (JOPT), on the artificial objective.

Rebuilds the first rows of Tables A4 and A5 of the ADMM paper (AAAI 2020) at a smaller scale: how
much sooner adaptive ADMM reaches the final value of JOPT, and how much lower it ends. Evaluations
cost next to nothing, so the time is that of the strategies themselves. Called as

    python examples/benchmarks/admm_artificial.py --seconds 20 --trials 5

and Fig. 4, fixed against adaptive budgets of the sub-problems, as

    python examples/benchmarks/admm_artificial.py --seconds 20 --trials 5 --strategies FIXED

``--strategies "JOPT(skopt)" "AdADMM-F16(BO,Ba)"`` compares with scikit-optimize itself, the solver
of the paper (``pip install scikit-optimize``). Every JOPT is a reference, or the first strategy.

Each trial is one objective, drawn anew, and one run of every strategy on it. Give every run a core
of its own (``OMP_NUM_THREADS=1``) and leave the machine alone; ``--clock cpu`` counts seconds of
the processor instead of the wall's where it is shared.
"""

import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
from _common import make_parser, search

from skauto.history import Proposal
from skauto.objectives import make_artificial_objective, make_artificial_space
from skauto.space import Categorical, Integer
from skauto.strategies import ADMM, JointGP, Strategy


class ScikitOptimize(Strategy):
    """``gp_minimize`` of scikit-optimize with its defaults, over all choices at once.

    Hyper-parameters of algorithms that are not chosen have no effect. One trial at a time.
    """

    def _start(self):
        import skopt

        layout = self.space.layout
        dimensions = [skopt.space.Categorical(range(k)) for k in layout.n_algorithms]
        for parameter in layout.parameters:
            if isinstance(parameter, Categorical):
                dimensions.append(skopt.space.Categorical(range(parameter.n_choices)))
            elif isinstance(parameter, Integer):
                dimensions.append(skopt.space.Integer(parameter.low, parameter.high))
            else:
                dimensions.append(skopt.space.Real(0.0, 1.0))
        seed = int(self.rng.integers(2**31))
        self._optimizer = skopt.Optimizer(dimensions, "GP", random_state=seed)
        self._point = None

    def suggest(self, history, pending):
        if self._point is not None:
            self._optimizer.tell(self._point, history[-1].loss)
        self._point = self._optimizer.ask()
        vector = np.array([self._point], dtype=float)
        parameters = self.space.layout.parameters
        for k, parameter in enumerate(parameters, start=len(self.space.steps)):
            if isinstance(parameter, Categorical):
                vector[0, k] = (vector[0, k] + 0.5) / parameter.n_choices
            elif isinstance(parameter, Integer):
                vector[0, k] = parameter.to_unit([int(vector[0, k])])[0]
            else:
                vector[0, k] = parameter.snap([vector[0, k]])[0]
        self.space.layout.complete(vector)
        return Proposal(self.space.decode(vector[0]), origin="skopt")


STRATEGIES = {
    "JOPT(BO)": JointGP(),
    "AdADMM-F16(BO,Ba)": ADMM(max_budget=256),
    "JOPT(skopt)": ScikitOptimize(),
}
BUDGETS = {
    "AdADMM-F16": ADMM(),
    "AdADMM-F8": ADMM(growth=8),
    **{f"ADMM-{n}": ADMM(budget=n, growth=0) for n in (16, 32, 64, 128)},
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
    """Median final loss and trials, improvement over the reference, and speed-up."""
    grid = np.geomspace(0.01, seconds, 2000)
    medians = {
        name: bootstrap_medians(np.array([value_at(curve, grid) for curve in runs]))
        for name, runs in curves.items()
    }
    rows = {}
    for name, own in medians.items():
        rows[name] = {
            "final": own[0, -1],
            "improvement": 1.0 - own[0, -1] / medians[reference][0, -1],
            "trials": np.median([runs[-1][1] for runs in curves[name]]),
        }
        speeds = speed_up(own, medians[reference], grid)
        rows[name] |= zip(("sooner", "from", "to"), speeds, strict=True)
    return pd.DataFrame(rows).T.round(4).to_string()


def bootstrap_medians(values, n_samples=1000):
    """Median over the objectives: of all in the first row, then of samples with replacement."""
    rng, n = np.random.default_rng(0), len(values)
    samples = [np.arange(n), *rng.integers(n, size=(n_samples, n))]
    return np.array([np.median(values[sample], axis=0) for sample in samples])


def speed_up(own, reference, grid):
    """How much sooner a median reaches what that of the reference ends with, 0 where never.

    With the limits of its 95% interval, from the rows of two ``bootstrap_medians``.
    """
    ratios = []
    for median, baseline in zip(own, reference, strict=True):
        reached = grid[median <= baseline[-1]]
        begin = grid[np.argmax(baseline <= baseline[-1])]
        ratios.append(begin / reached[0] if len(reached) else 0.0)
    return ratios[0], *np.quantile(ratios[1:], [0.025, 0.975])


def benchmark(strategies, space, options):
    """Curves of every strategy on every objective; those in the file are not made again."""
    curves = {}
    if options.out and options.out.exists():
        curves = json.loads(options.out.read_text(encoding="utf-8"))
    for seed in range(options.trials):
        objective = make_artificial_objective(space, seed=seed)
        for name, strategy in strategies.items():
            if len(curves.setdefault(name, [])) > seed:
                continue
            curve = run(strategy, space, objective, options.seconds, CLOCKS[options.clock], seed)
            curves[name].append(curve)
            line = f"trial {seed}  {name:18s} {curve[-1][2]:9.4g}  ({curve[-1][1]} trials)"
            print(line, flush=True)
            if options.out:
                options.out.write_text(json.dumps(curves), encoding="utf-8")
    return {name: curves[name][: options.trials] for name in strategies}


def main():
    parser = make_parser(__doc__, data=False)
    parser.add_argument("--seconds", type=float, default=20.0, help="of every run")
    parser.add_argument("--trials", type=int, default=5, help="number of objectives")
    parser.add_argument("--clock", choices=sorted(CLOCKS), default="wall")
    parser.add_argument(
        "--strategies",
        nargs="+",
        choices=[*STRATEGIES, "FIXED"],
        default=["JOPT(BO)", "AdADMM-F16(BO,Ba)"],
    )
    parser.add_argument("--out", type=Path, help="JSON file for the curves, which is continued")
    options = parser.parse_args()
    space = make_artificial_space(4, 8, 2, 2)
    strategies = {name: STRATEGIES[name] for name in options.strategies if name != "FIXED"}
    if "FIXED" in options.strategies:
        strategies |= BUDGETS
    curves = benchmark(strategies, space, options)
    references = [name for name in curves if name.startswith("JOPT")] or list(curves)[:1]
    for name in references:
        print(f"\nSpeed-up over {name}\n{compare(curves, name, options.seconds)}")


if __name__ == "__main__":
    main()
