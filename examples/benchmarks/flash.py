"""FLASH against random search, TPE and forest BO, and what each of its parts is worth.

Table 2 and Figure 4 of the paper at equal time, and the parts of Figure 5 as systems of their
own: without the pruning phase (nothing is pruned), and with the cache. Settings follow a name,
``+cache`` comes last. A quarter of the rows is held out for the test error; a third of the others
validates::

    python examples/benchmarks/flash.py time --data FOLDER --sets vehicle,madelon --seconds 20 \
        --systems "flash,flash(fine_tuner='tpe'),flash(n_prune=0;r=2000),flash+cache,tpe,random"

    python examples/benchmarks/flash.py draw --seconds 20 --out flash.csv

With ``--clock cpu`` the seconds are those of the processor, which a busy machine does not stretch.
A trial may take a tenth of them, of wall clock in either case. ``--without NAME,NAME`` leaves
algorithms out, ``--keep STEP=NAME,NAME`` all others of a step, and ``--max-rows`` makes sets
smaller.

The best of the first structures, Figure 5 (a), greedy design or random, with random
hyper-parameters::

    python examples/benchmarks/flash.py design --data FOLDER --sets vehicle --seeds 5 \
        --without libsvm_svc --out design.csv

Evaluations per second of the processor with and without the cache, of systems whose proposals do
not depend on the cost, and whether the results are the same::

    python examples/benchmarks/flash.py cache --data FOLDER --sets madelon --max-evals 20 \
        --systems forest_bo --keep transformer=kernel_pca,fast_ica --without libsvm_svc

With ``--features`` every pipeline begins with an expensive step of 16 discrete settings, as in the
study of patients in the paper (section 5).

TPE against Optuna's ``TPESampler``, the same number of trials: on the artificial objective, and on
a table of random configurations that are evaluated once. There the loss of a configuration is that
of the nearest row which the search has not had yet::

    python examples/benchmarks/flash.py tpe --seeds 20 --max-evals 200
    python examples/benchmarks/flash.py tpe --seeds 20 --max-evals 100 --data FOLDER \
        --sets vehicle --table vehicle.csv --n-configurations 2000 \
        --keep classifier=libsvm_svc --keep transformer=none

Seconds of the greedy design for 1,456 paths and of EIPS over 6,776 structures::

    python examples/benchmarks/flash.py speed
"""

import itertools
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
from _common import Results, load, make_parser, names, read_strategy
from scipy.spatial.distance import cdist
from scipy.stats import mannwhitneyu
from sklearn.decomposition import KernelPCA
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauto import AutoClassifier, SearchOptions, minimize
from skauto.acquisition import log_expected_improvement_per_second
from skauto.objectives import make_artificial_objective, make_artificial_space
from skauto.space import Categorical, Configuration, SearchSpace, get_space
from skauto.strategies._d_optimal import d_optimal_design
from skauto.surrogates import LinearModel

SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
FIRST = (10, 20, 33)  # trials, for Figure 5 (a)
KEY = ["data_set", "system", "seed", "seconds"]


# Error over time


class ProcessorClock:
    """Callback of scikit-learn that ends a search after so many seconds of the processor."""

    def __init__(self, seconds):
        self.seconds = seconds

    def setup(self, estimator, context):
        self.started = processor_seconds()
        self.ended = []  # when each trial did

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **_):
        pass

    def on_fit_task_end(self, estimator, context, **_):
        self.ended.append(processor_seconds() - self.started)
        return self.ended[-1] > self.seconds


def processor_seconds():
    """What this process and its workers have used, those that were killed included."""
    this = psutil.Process()
    return sum(sum(p.cpu_times()[:4]) for p in (this, *this.children(recursive=True)))


def make_system(text, seed, arguments):
    """Build ``name``, ``name(setting=value;setting=value)`` or either with ``+cache``."""
    text, cached = text.removesuffix("+cache"), text.endswith("+cache")
    # So many trials take longer than the clock of the processor lets a search be.
    wall = arguments.clock == "wall"
    limits = {"time_limit": arguments.seconds} if wall else {"max_evals": 10_000}
    return make_search(
        read_strategy(text),
        arguments,
        **limits,
        options=SearchOptions(
            refit=False,
            trial_time_limit=arguments.seconds / 10,
            cache=arguments.cache_bytes if cached else None,
        ),
        random_state=seed,
    )


def make_search(strategy, arguments, **settings):
    """A third of the rows validates; there is no ensemble and nothing is fitted again."""
    settings = {"initial": None, "cv": 1 / 3, "ensemble_size": 1} | settings
    return AutoClassifier(strategy, space=make_space(arguments), **settings)


def make_space(arguments):
    """The space with what is to be kept of some steps, without what is to be left out."""
    space = get_space(arguments.space)
    kept = {step: [c.name for c in space.components(step)] for step in space.steps}
    kept |= dict(arguments.keep)
    space = space.subspace(
        {step: [n for n in names if n not in arguments.without] for step, names in kept.items()}
    )
    return behind_features(space) if arguments.features else space


def behind_features(space):
    """The space with a kernel PCA of four by four settings in front of its steps."""
    longer = SearchSpace(("features", *space.steps), default=space.default_choices)
    longer.add(
        "features",
        "kernel_pca",
        make_pipeline(StandardScaler(), KernelPCA()),
        {
            "kernelpca__n_components": [10, 20, 40, 80],
            "kernelpca__kernel": ["rbf", "poly", "sigmoid", "cosine"],
        },
    )
    for step in space.steps:
        for component in space.components(step):
            longer.add(step, component)
    return longer


def load_rows(arguments, name):
    """A set, or a random part of a large one."""
    X, y = load(arguments.data, name)
    rows = np.random.default_rng(0).permutation(len(X))[: arguments.max_rows]
    return X.iloc[rows], y[rows]


def race(arguments):
    results = Results(arguments.out, KEY)
    for name in arguments.sets:
        X, y = load_rows(arguments, name)
        runs = [name], arguments.systems, range(arguments.seeds), [arguments.seconds]
        for key in results.missing(*runs):
            _, system, seed, _ = key
            results.add(key, run(system, X, y, seed, arguments))
    report(results.frame.query("seconds == @arguments.seconds"))


def run(system, X, y, seed, arguments):
    """Error over time of one search, and its test error."""
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.25, stratify=y, random_state=seed
    )
    model = make_system(system, seed, arguments)
    clock = ProcessorClock(arguments.seconds)
    if arguments.clock == "cpu":
        model.set_callbacks(clock)
    model.fit(X_train, y_train)
    ended = clock.ended if arguments.clock == "cpu" else None
    outcome = over_time(model, arguments.seconds, ended)
    return outcome | {"test_error": 100 * (1 - model.score(X_test, y_test))}


def report(results):
    print("\nMedian percent error after a share of the time")
    columns = [f"error_{share:g}" for share in SHARES]
    shown = [*columns, "test_error", "n_trials"]
    medians = results.groupby(["data_set", "system"])[shown].median()
    print(medians.round(2).to_string())
    print("\nAverage rank")
    ranks = results.groupby(["data_set", "seed"])[[*columns, "test_error"]].rank()
    print(ranks.groupby(results["system"]).mean().round(2).to_string())


def draw(arguments):
    """Median error over time, one panel a set, next to the file of results."""
    import matplotlib.pyplot as plt

    results = pd.read_csv(arguments.out).query("seconds == @arguments.seconds")
    columns = [f"error_{share:g}" for share in SHARES]
    sets = results["data_set"].unique()
    figure, axes = plt.subplots(2, -(-len(sets) // 2), figsize=(10, 5.5), layout="constrained")
    for ax, name in zip(axes.flat, sets, strict=False):
        own = results[results["data_set"] == name]
        for system, medians in own.groupby("system", sort=False)[columns].median().iterrows():
            ax.plot(np.multiply(SHARES, arguments.seconds), medians, label=system, marker=".")
        # What the first trials had is far above the rest.
        ax.set(
            title=name, xlabel="seconds", ylabel="error [%]", ylim=(None, own[columns[1]].max())
        )
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.savefig(arguments.out.with_suffix(".png"), dpi=55)


def over_time(model, seconds, ended=None):
    """Best validated error at shares of the time, trials, and what the cache did."""
    trials = list(model.history_)
    ended = np.array([trial.ended for trial in trials] if ended is None else ended)
    losses = np.array([trial.loss if trial.ok else 1.0 for trial in trials])
    best = {
        f"error_{share:g}": 100 * losses[ended <= share * seconds].min(initial=1.0)
        for share in SHARES
    }
    return best | {"n_trials": len(model.history_)} | getattr(model, "cache_", {})


# The design


def compare_designs(arguments):
    space = make_space(arguments)
    structures = space.structures
    records = []
    for name, seed in itertools.product(arguments.sets, range(arguments.seeds)):
        X, y = load_rows(arguments, name)
        rng = np.random.default_rng(seed)
        paths = space.one_hot_structures(structures)
        designs = {
            "greedy": d_optimal_design(paths, max(FIRST), rng),
            "random": rng.integers(len(structures), size=max(FIRST)),
        }
        for design, rows in designs.items():
            vectors = [space.sample(1, rng, structures=structures[[row]])[0] for row in rows]
            model = make_search(
                "random",
                arguments,
                initial=[space.decode(vector) for vector in vectors],
                max_evals=len(rows),
                options=SearchOptions(refit=False, trial_time_limit=arguments.seconds / 10),
                random_state=seed,
            ).fit(X, y)
            losses = [trial.loss if trial.ok else 1.0 for trial in model.history_]
            first = {f"first_{n}": 100 * min(losses[:n]) for n in FIRST}
            records.append({"data_set": name, "design": design, "seed": seed} | first)
            pd.DataFrame(records).to_csv(arguments.out, index=False)
    results = pd.DataFrame(records).set_index(["data_set", "seed", "design"])
    print(results.groupby(["data_set", "design"]).agg(["median", "max"]).round(2).to_string())
    print("Shares of the searches in which the greedy design is better, and worse")
    greedy, random = (results.xs(design, level="design") for design in ("greedy", "random"))
    print(pd.DataFrame({"better": greedy.lt(random).mean(), "worse": greedy.gt(random).mean()}))


# The cache


def compare_cache(arguments):
    for name, system in itertools.product(arguments.sets, arguments.systems):
        X, y = load_rows(arguments, name)
        histories = []
        for cached in ("", "+cache"):
            model = make_system(system + cached, 0, arguments)
            model.set_params(
                max_evals=arguments.max_evals, time_limit=None, options__trial_time_limit=None
            ).fit(X, y)
            histories.append([trial for trial in model.history_ if trial.ok])
        both = list(zip(*histories, strict=True))
        same = all(
            (a.configuration, a.losses, a.fold_scores)
            == (b.configuration, b.losses, b.fold_scores)
            for a, b in both
        )
        plain, cached = (sum(t.cpu_time for t in trials) for trials in zip(*both, strict=True))
        print(
            f"{name}, {system}: {len(both)} in {plain:.1f} s, with the cache {cached:.1f} s, "
            f"{plain / cached:.2f} times as many per second; same results: {same}; {model.cache_}",
            flush=True,
        )


# TPE against Optuna


def compare_tpe(arguments):
    if arguments.table is None:
        space = make_artificial_space()
        objectives = [make_artificial_objective(space, seed=i) for i in range(arguments.seeds)]
        makers = [lambda f=f: lambda vector: f(space.decode(vector)) for f in objectives]
    else:
        space = make_space(arguments)
        makers = [make_table_loss(space, evaluated(arguments))] * arguments.seeds
    finals = {"tpe": [], "optuna": [], "random": []}
    for seed, make_loss in enumerate(makers):
        for name in ("tpe", "random"):
            result = minimize(
                of_configuration(space, make_loss()),
                space,
                strategy=name,
                max_evals=arguments.max_evals,
                random_state=seed,
            )
            finals[name].append(result.loss)
        finals["optuna"].append(
            minimise_with_optuna(make_loss(), space, seed, arguments.max_evals)
        )
    table = pd.DataFrame(finals)
    print(table.describe().round(4).to_string())
    print("p of tpe against optuna:", mannwhitneyu(table["tpe"], table["optuna"]).pvalue)


def of_configuration(space, loss):
    return lambda configuration: loss(space.encode([configuration])[0])


def evaluated(arguments):
    """Table of random configurations and their errors; made where it is not there yet."""
    if not arguments.table.exists():
        (name,) = arguments.sets
        model = make_search(
            "random",
            arguments,
            max_evals=arguments.n_configurations,
            options=SearchOptions(refit=False, trial_time_limit=2),
            random_state=0,
        ).fit(*load_rows(arguments, name))
        rows = [(json.dumps(t.configuration.to_dict()), min(t.loss, 1.0)) for t in model.history_]
        pd.DataFrame(rows, columns=["configuration", "error"]).to_csv(arguments.table, index=False)
    return pd.read_csv(arguments.table)


def make_table_loss(space, table):
    """Maker of losses on a table, each of which hands out every row once.

    If rows could come again, a search that has found a good region would be told nothing new
    there: it proposes configurations that differ, and all have the same nearest row.
    """
    rows = [Configuration.from_dict(json.loads(text)) for text in table["configuration"]]
    encoded, errors = space.one_hot(space.encode(rows)), table["error"].to_numpy()

    def make():
        used = np.zeros(len(rows), dtype=bool)

        def loss(vector):
            distances = cdist(space.one_hot(vector[None]), encoded, "cityblock")[0]
            row = np.where(used, np.inf, distances).argmin()
            used[row] = True
            return float(errors[row])

        return loss

    return make


def minimise_with_optuna(loss, space, seed, max_evals):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(lambda trial: loss(suggest_vector(trial, space)), n_trials=max_evals)
    return study.best_value


def suggest_vector(trial, space):
    """Let Optuna choose the algorithms, and those of their hyper-parameters that are active."""
    vector = np.full(space.n_dimensions, np.nan)
    where = {(c.step, c.component, c.parameter): k for k, c in enumerate(space.columns)}
    for i, step in enumerate(space.steps):
        names = [component.name for component in space.components(step)]
        name = trial.suggest_categorical(step, names)
        vector[i] = names.index(name)
        component = space.component(step, name)
        values = {}
        for key, parameter in component.parameters.items():
            parent, allowed = component.conditions.get(key, (None, ()))
            if parent is not None and values.get(parent) not in allowed:
                continue
            label = f"{step}/{name}/{key}"
            if isinstance(parameter, Categorical):
                unit = (
                    trial.suggest_categorical(label, list(range(parameter.n_choices))) + 0.5
                ) / (parameter.n_choices)
            else:
                unit = trial.suggest_float(label, 0, 1)
            (unit,) = parameter.snap(np.array([unit]))
            (values[key],) = parameter.from_unit([unit])
            vector[where[step, name, key]] = unit
    return vector


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
    def step(text):
        name, _, algorithms = text.partition("=")
        return name, names(algorithms)

    parser = make_parser(__doc__)
    parser.add_argument("experiment", choices=["time", "draw", "design", "cache", "tpe", "speed"])
    parser.add_argument("--sets", type=names, default=["vehicle", "segment", "madelon"])
    parser.add_argument("--systems", type=names, default=["flash", "forest_bo", "tpe", "random"])
    parser.add_argument("--space", default="flash")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--cache-bytes", type=int, default=2**30)
    parser.add_argument("--seeds", type=int, default=5, help="number of them")
    parser.add_argument("--max-evals", type=int, default=200)
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    parser.add_argument("--without", type=names, default=[], help="algorithms to leave out")
    parser.add_argument(
        "--keep", type=step, action="append", default=[], help="STEP=NAMES, all that it may have"
    )
    parser.add_argument("--features", action="store_true", help="put an expensive step in front")
    parser.add_argument("--max-rows", type=int, help="of a set")
    parser.add_argument("--table", type=Path, help="file of evaluated configurations, for 'tpe'")
    parser.add_argument("--n-configurations", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=Path("flash.csv"))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    experiments = {
        "time": race,
        "draw": draw,
        "design": compare_designs,
        "cache": compare_cache,
        "tpe": compare_tpe,
        "speed": measure_speed,
    }
    experiments[arguments.experiment](arguments)


if __name__ == "__main__":
    main()
