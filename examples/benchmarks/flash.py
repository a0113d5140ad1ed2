"""FLASH: the cache, and TPE against Optuna.

``surrogate.py`` compares the errors of FLASH, its phases and others. Here a third of the rows
validates. ``--without NAME,NAME`` leaves algorithms out, ``--keep STEP=NAME,NAME`` all others of a
step, and ``--max-rows`` makes sets smaller.

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
"""

import itertools
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from _common import load, make_parser, names, read_strategy
from scipy.spatial.distance import cdist
from scipy.stats import mannwhitneyu
from sklearn.decomposition import KernelPCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skauto import AutoClassifier, SearchOptions, minimize
from skauto.objectives import make_artificial_objective, make_artificial_space
from skauto.space import Categorical, Configuration, SearchSpace, get_space


def make_search(strategy, arguments, **settings):
    """A third of the rows validates; there is no ensemble and nothing is fitted again."""
    search = AutoClassifier(
        strategy,
        space=make_space(arguments),
        initial=None,
        cv=1 / 3,
        ensemble_size=1,
        options=SearchOptions(refit=False),
    )
    return search.set_params(**settings)


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


# The cache


def compare_cache(arguments):
    for name, system in itertools.product(arguments.sets, arguments.systems):
        X, y = load(arguments.data, name, arguments.max_rows)
        histories = []
        for cache in (None, 2**30):
            model = make_search(
                read_strategy(system),
                arguments,
                max_evals=arguments.max_evals,
                options__cache=cache,
                random_state=0,
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
            minimize_with_optuna(make_loss(), space, seed, arguments.max_evals)
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
            options__trial_time_limit=2,
            random_state=0,
        ).fit(*load(arguments.data, name, arguments.max_rows))
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


def minimize_with_optuna(loss, space, seed, max_evals):
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


def main():
    def step(text):
        name, _, algorithms = text.partition("=")
        return name, names(algorithms)

    parser = make_parser(__doc__)
    parser.add_argument("experiment", choices=["cache", "tpe"])
    parser.add_argument("--sets", type=names, default=["vehicle", "segment", "madelon"])
    parser.add_argument("--systems", type=names, default=["forest_bo"], help="for 'cache'")
    parser.add_argument("--space", default="flash")
    parser.add_argument("--seeds", type=int, default=5, help="number of them, for 'tpe'")
    parser.add_argument("--max-evals", type=int, default=200)
    parser.add_argument("--without", type=names, default=[], help="algorithms to leave out")
    parser.add_argument(
        "--keep", type=step, action="append", default=[], help="STEP=NAMES, all that it may have"
    )
    parser.add_argument("--features", action="store_true", help="put an expensive step in front")
    parser.add_argument("--max-rows", type=int, help="of a set")
    parser.add_argument("--table", type=Path, help="file of evaluated configurations, for 'tpe'")
    parser.add_argument("--n-configurations", type=int, default=1000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    {"cache": compare_cache, "tpe": compare_tpe}[arguments.experiment](arguments)


if __name__ == "__main__":
    main()
