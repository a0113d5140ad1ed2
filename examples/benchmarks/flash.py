"""FLASH against random search, TPE and forest BO, and what each of its parts is worth.

Table 2 and Figure 4 of the paper at equal wall time, and the parts of Figure 5 as systems of their
own: without the pruning phase, and with the cache. Settings follow a name, ``+cache`` comes last::

    python examples/benchmarks/flash.py time --data FOLDER --sets vehicle,madelon --seconds 300 \
        --systems "flash,flash(fine_tuner='tpe'),flash(n_prune=0),flash+cache,forest_bo,tpe,random"

TPE against Optuna's ``TPESampler`` on the artificial objective, the same number of trials::

    python examples/benchmarks/flash.py tpe --seeds 20 --max-evals 200

Seconds of the greedy design for 1,456 paths and of EIPS over 6,776 structures::

    python examples/benchmarks/flash.py speed
"""

import argparse
import ast
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from quality import load
from scipy.stats import mannwhitneyu

from skauto import AutoClassifier, minimize
from skauto.acquisition import d_optimal_design, log_expected_improvement_per_second
from skauto.objectives import make_artificial_objective, make_artificial_space
from skauto.strategies import get_strategy
from skauto.surrogates import LinearModel

SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
KEY = ["data_set", "system", "seed", "seconds"]


# Error over time


def make_system(text, seed, arguments):
    """Build ``name``, ``name(setting=value;setting=value)`` or either with ``+cache``."""
    text, cached = text.removesuffix("+cache"), text.endswith("+cache")
    name, _, settings = text.rstrip(")").partition("(")
    pairs = (setting.split("=") for setting in settings.split(";") if setting)
    return AutoClassifier(
        get_strategy(name).set_params(**{k: ast.literal_eval(v) for k, v in pairs}),
        space=arguments.space,
        initial=None,
        cv=3,
        time_limit=arguments.seconds,
        trial_time_limit=arguments.seconds / 20,
        ensemble_size=1,
        refit=False,
        cache=arguments.cache_bytes if cached else None,
        random_state=seed,
    )


def race(arguments):
    records = pd.read_csv(arguments.out).to_dict("records") if arguments.out.exists() else []
    known = {tuple(record[k] for k in KEY) for record in records}
    for name in arguments.sets:
        X, y = load(arguments.data, name)
        for seed in range(arguments.seeds):
            for system in arguments.systems:
                key = (name, system, seed, arguments.seconds)
                if key in known:
                    continue
                model = make_system(system, seed, arguments).fit(X, y)
                record = dict(zip(KEY, key, strict=True)) | over_time(model, arguments.seconds)
                records.append(record)
                pd.DataFrame(records).to_csv(arguments.out, index=False)
                print(record, flush=True)
    results = pd.DataFrame(records).query("seconds == @arguments.seconds")
    print("\nMedian percent error after a share of the time")
    columns = [f"error_{share:g}" for share in SHARES]
    print(results.groupby(["data_set", "system"])[[*columns, "n_trials"]].median().round(2))
    print("\nAverage rank")
    ranks = results.groupby(["data_set", "seed"])[columns].rank()
    print(ranks.groupby(results["system"]).mean().round(2).to_string())


def over_time(model, seconds):
    """Best validated error at shares of the time, trials, and what the cache did."""
    trials = [trial for trial in model.history_ if trial.ok]
    ended = np.array([trial.ended for trial in trials])
    losses = np.array([trial.loss for trial in trials])
    best = {
        f"error_{share:g}": 100 * losses[ended <= share * seconds].min(initial=1.0)
        for share in SHARES
    }
    return best | {"n_trials": len(model.history_)} | getattr(model, "cache_", {})


# TPE against Optuna


def compare_tpe(arguments):
    space = make_artificial_space()
    finals = {"tpe": [], "optuna": [], "random": []}
    for seed in range(arguments.seeds):
        objective = make_artificial_objective(space, seed=seed)
        for name in ("tpe", "random"):
            result = minimize(
                objective, space, strategy=name, max_evals=arguments.max_evals, random_state=seed
            )
            finals[name].append(result.loss)
        finals["optuna"].append(minimise_with_optuna(objective, space, seed, arguments.max_evals))
    table = pd.DataFrame(finals)
    print(table.describe().round(4).to_string())
    print("p of tpe against optuna:", mannwhitneyu(table["tpe"], table["optuna"]).pvalue)


def minimise_with_optuna(objective, space, seed, max_evals):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def evaluate(trial):
        choices = {}
        for step in space.steps:
            names = [component.name for component in space.components(step)]
            name = trial.suggest_categorical(step, names)
            parameters = space.component(step, name).parameters
            values = {
                key: parameter.from_unit([trial.suggest_float(f"{step}/{name}/{key}", 0, 1)])[0]
                for key, parameter in parameters.items()
            }
            choices[step] = (name, values)
        return objective(space.complete(choices))

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(evaluate, n_trials=max_evals)
    return study.best_value


# Seconds of the parts


def measure_speed(arguments):
    rng = np.random.default_rng(0)
    for sizes in ((4, 2, 13, 14), (11, 4, 11, 14)):  # 1,456 and 6,776 paths
        grid = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), axis=-1)
        rows = grid.reshape(-1, len(sizes))
        paths = np.hstack([np.eye(n)[rows[:, i]] for i, n in enumerate(sizes)])
        design = timed(lambda paths=paths: d_optimal_design(paths, 33, rng))
        X = paths[d_optimal_design(paths, 60, rng)]
        loss, cost = (LinearModel().fit(X, rng.random(60), rng) for _ in range(2))

        def eips(paths=paths, loss=loss, cost=cost):
            mean, std = loss.predict(paths)
            log_expected_improvement_per_second(mean, std, 0.1, cost.predict(paths)[0], xi=1.0)

        print(f"{len(paths)} paths: design {design:.4f} s, EIPS {1000 * timed(eips):.2f} ms")


def timed(function, n_repeats=10):
    """Least processor time of some calls, in seconds."""
    seconds = []
    for _ in range(n_repeats):
        start = time.process_time()
        function()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main():
    def names(text):
        return [part for part in text.split(",") if part]

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("experiment", choices=["time", "tpe", "speed"])
    parser.add_argument("--data", type=Path, help="folder of data sets with an INDEX.csv")
    parser.add_argument("--sets", type=names, default=["vehicle", "segment", "madelon"])
    parser.add_argument("--systems", type=names, default=["flash", "forest_bo", "tpe", "random"])
    parser.add_argument("--space", default="flash")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--cache-bytes", type=int, default=2**30)
    parser.add_argument("--seeds", type=int, default=5, help="number of them")
    parser.add_argument("--max-evals", type=int, default=200)
    parser.add_argument("--out", type=Path, default=Path("flash.csv"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    {"time": race, "tpe": compare_tpe, "speed": measure_speed}[arguments.experiment](arguments)


if __name__ == "__main__":
    main()
