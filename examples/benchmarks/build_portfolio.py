"""Learn the order in which configurations are tried first, and the seconds that components take.

``record`` evaluates candidate configurations of the default space on development sets: seconds of
the processor and out-of-fold predictions, one file a set. ``build`` learns from the files, by
greedy gain of the ensemble per second, one order for each shape of table (two or more classes,
with or without categories), and a model of the seconds by ridge regression of log seconds; it
prints the leave-one-out score and writes the file that the package ships.

    python build_portfolio.py record --data FOLDER --records RECORDS
    python build_portfolio.py build --records RECORDS --output portfolio.json
"""

import json
import time
from functools import cache
from pathlib import Path

import numpy as np
from _common import load, make_parser, names, numbers, require_data

from skauto.data import DataFacts, TableReader, make_splits
from skauto.data._training import read_training_data
from skauto.evaluation import FoldTask, PipelineBuilder, PipelineWorker
from skauto.metalearning import FitTimeModel, adapt_configuration
from skauto.metalearning._fit_times import fit_coefficients
from skauto.metalearning._warm_start import COST_EXPONENT
from skauto.selection import LogLoss, greedy_selection
from skauto.space import Configuration, get_space

# The sets that the order and the seconds are learned on. None of them judges the search in
# docs/benchmarks/quality.rst.
DEVELOPMENT = (
    "sonar,heart-statlog,ionosphere,oil_spill,fri_c2_1000_10,pc3,space_ga,page-blocks,wind,"
    "delta_ailerons,ringnorm,bank32nh,puma8NH,cpu_act,JapaneseVowels_bin,PhishingWebsites,"
    "elevators,quake,mnist_10k,compas,balance-scale,car,hepatitis,sick,anneal,autos,glass,"
    "banknote-authentication,led24,default_credit_card,house_8L,cal_housing"
)
MAX_CELLS = 40_000  # rows times columns of a recorded set
MAX_SECONDS = 20.0  # of a fold; a slower configuration is not recorded further
# Random draws of each classifier, besides its default.
DRAWS = {
    "lightgbm": 12,
    "extra_trees": 5,
    "random_forest": 2,
    "mlp": 6,
    "svm": 4,
    "logistic_regression": 3,
    "k_nearest_neighbors": 3,
    "linear_svm": 1,
    "hist_gradient_boosting": 0,
    "gaussian_nb": 0,
    "lda": 1,
    "qda": 1,
}
N_STEPS = 20
LEAST_COST = 0.05
LEAST_MERIT = 1e-5
MAX_ROWS = 500  # that ensembles are judged on


def candidates(space, seed):
    """Default and random configurations of every classifier, with the usual other steps.

    Those of LightGBM are listed with pairs of columns too.
    """
    rng = np.random.default_rng(seed)
    found = []
    for component in space.components(space.steps[-1]):
        structure = space.default_structure({space.steps[-1]: component.name})
        default = space.default(structure)
        found.append(default)
        usual = {step: [default[step]] for step in space.steps}
        usual["classifier"] = [component.name]
        for step in ("encoder", "scaler", "transformer"):
            allowed = [c.name for c in space.components(step)]
            usual[step] = allowed if rng.random() < 0.5 and step != "transformer" else usual[step]
        part = space.subspace(usual)
        vectors = part.sample(DRAWS.get(component.name, 1), rng)
        if not DRAWS.get(component.name, 1):
            continue
        found.extend(part.decode(vector) for vector in vectors)
    boosted = [c for c in found if c["classifier"] == "lightgbm"]
    return list(dict.fromkeys([*found, *(with_pairs(c) for c in boosted)]))


def with_pairs(configuration):
    """Return the configuration with pairs of columns in front of the classifier."""
    return Configuration.from_dict(configuration.to_dict() | {"transformer": {"name": "pairs"}})


def record(arguments):
    """Evaluate the candidates on each set that has no file yet."""
    space = get_space("default")
    arguments.records.mkdir(parents=True, exist_ok=True)
    listed = candidates(space, seed=0)
    for name in arguments.sets:
        path = arguments.records / f"{name}.npz"
        known = dict(np.load(path, allow_pickle=False)) if path.exists() else {}
        for n_rows in arguments.rows:
            record_set(arguments, name, n_rows, space, listed, known)
            np.savez_compressed(path, **known)


def record_set(arguments, name, n_rows, space, listed, known):
    """Evaluate the candidates that are not known yet on a set."""
    X, y = load(arguments.data, name, max_rows=10**9)
    limit = n_rows or max(300, MAX_CELLS // X.shape[1])
    if len(X) > limit:
        rows = np.random.default_rng(0).permutation(len(X))[:limit]
        X, y = X.iloc[rows].reset_index(drop=True), np.asarray(y)[rows]
    table = read_training_data(X, y, {}, TableReader())
    splits = make_splits(3, table.X, table.y)
    facts, n_train = table.facts, len(splits[0][0])
    part = space.for_data(facts)
    builder = PipelineBuilder(
        part,
        categorical=table.reader.categorical_indices_,
        n_levels=table.reader.n_levels_,
    )
    worker = PipelineWorker(builder, table.training_data(splits), {})
    key = f"{n_rows}/" if n_rows else ""
    known[f"{key}y"] = table.y
    known[f"{key}shape"] = np.array(
        [
            n_train,
            facts.n_features,
            facts.n_features + facts.n_one_hot,
            facts.n_classes,
            facts.has_categories,
        ]
    )
    started = time.perf_counter()
    for configuration in listed:
        text = key + json.dumps(configuration.to_dict(), sort_keys=True)
        adapted = adapt_configuration(configuration, part)
        if text in known or adapted is None:
            continue
        out = np.full((len(table.y), facts.n_classes), np.nan, dtype=np.float16)
        seconds = []
        for fold, (_, test) in enumerate(splits[: 1 if n_rows else 3]):
            try:
                result = worker(FoldTask(adapted, fold))
            except Exception as exc:
                print(f"{name}: {adapted}: {exc!r}"[:200], flush=True)
                break
            out[test] = result.probabilities
            seconds.append(result.cpu_time)
            if result.cpu_time > MAX_SECONDS:
                break
        known[text] = out[:0] if n_rows else out
        known["seconds:" + text] = np.array(seconds)
    print(f"{name} {len(y)} rows: {time.perf_counter() - started:.0f} s", flush=True)


@cache
def in_space(text):
    """Tell whether a recorded configuration still lies in the default space."""
    return adapt_configuration(read_configuration(text), get_space("default")) is not None


def read_records(folder):
    """Read the files: shape, classes, predictions and seconds of each set."""
    sets = {}
    for path in sorted(folder.glob("*.npz")):
        content = np.load(path, allow_pickle=False)
        for prefix in {key.rpartition("y")[0] for key in content if key.endswith("y")} - {None}:
            if f"{prefix}shape" not in content:
                continue
            texts = [k for k in content if k.startswith(prefix + "{")]
            texts = [k for k in texts if in_space(k[len(prefix) :])]
            seconds = {k[len(prefix) :]: content["seconds:" + k] for k in texts}
            predictions = {
                k[len(prefix) :]: content[k].astype(np.float32)
                for k in texts
                if not prefix and np.isfinite(content[k].sum())
            }
            y = content[f"{prefix}y"]
            rows = np.random.default_rng(0).permutation(len(y))[:MAX_ROWS]
            predictions = {text: p[rows] for text, p in predictions.items()}
            sets[path.stem + prefix] = {
                "shape": content[f"{prefix}shape"],
                "y": y[rows],
                "seconds": {k: s for k, s in seconds.items() if len(s)},
                "predictions": predictions,
            }
    return sets


def ensemble_loss(known, chosen):
    """Log loss of the ensemble that is selected among some configurations."""
    predictions = [known["predictions"][text] for text in chosen]
    return greedy_selection(predictions, known["y"], LogLoss(), 8).losses.min()


class Gains:
    """Normalized ensemble losses of a set: 1 is the class shares, 0 the best known ensemble."""

    def __init__(self, known):
        self.known = known
        shares = np.bincount(known["y"]) / len(known["y"])
        self.top = float(-np.log(shares[known["y"]]).mean())
        good = sorted(known["predictions"], key=lambda text: ensemble_loss(known, [text]))[:25]
        self.bottom = min(ensemble_loss(known, good), 0.98 * self.top)
        self._known = {}

    def __call__(self, chosen):
        key = frozenset(text for text in chosen if text in self.known["predictions"])
        if not key:
            return 1.0
        if key not in self._known:
            loss = ensemble_loss(self.known, sorted(key))
            self._known[key] = float((loss - self.bottom) / (self.top - self.bottom))
        return self._known[key]


def learn_order(sets, gains, weights):
    """Choose configuration after configuration by the gain of the ensembles per second.

    Returns pairs of a configuration's key and the mean decrease of the normalized losses.
    """
    texts = {text for name in weights for text in sets[name]["predictions"]}
    order = []
    current = dict.fromkeys(weights, 1.0)
    while len(order) < N_STEPS and texts:
        chosen = [text for text, _ in order]
        merits = {}
        for text in sorted(texts):
            merit = total = 0.0
            for name, weight in weights.items():
                if text in sets[name]["predictions"]:
                    cost = LEAST_COST + sets[name]["seconds"][text].mean()
                    gain = min(current[name], 1.0) - min(gains[name]([*chosen, text]), 1.0)
                    merit += weight * gain / cost**COST_EXPONENT
                    total += weight * gain
            merits[text] = merit, total / sum(weights.values())
        best = max(merits, key=lambda text: merits[text][0])
        if merits[best][0] <= LEAST_MERIT * sum(weights.values()):
            break
        order.append((best, merits[best][1]))
        texts.remove(best)
        current = {name: gains[name]([*chosen, best]) for name in weights}
    return order


def read_configuration(text):
    """Read a configuration of the default space from the key of a record."""
    content = json.loads(text)
    steps = get_space("default").steps
    return Configuration.from_dict({step: content[step] for step in steps if step in content})


def kind_of(known):
    """Kind of a table by which orders differ."""
    _, _, _, n_classes, categories = known["shape"]
    return ("multiclass" if n_classes > 2 else "binary") + ("_categories" if categories else "")


def facts_of(known):
    """Size of the training set of a fold."""
    n_rows, n_columns, n_encoded, n_classes, _ = (int(v) for v in known["shape"])
    return DataFacts(n_rows, n_columns, n_classes=n_classes, n_one_hot=n_encoded - n_columns)


def weights_for(kind, sets, without=()):
    """Weight of each set for an order: sets of the same shape count most."""
    return {
        name: 1.0 if kind_of(known) == kind else 0.25
        for name, known in sets.items()
        if name not in without
    }


def area(order, known, gain):
    """Mean normalized loss over the logarithm of the seconds, from 0.1 to 30 a fold."""
    grid = np.geomspace(0.1, 30.0, 40)
    spent, chosen, losses = 0.0, [], np.ones(len(grid))
    for text in order:
        if text not in known["predictions"]:
            continue
        spent += known["seconds"][text].mean()
        chosen.append(text)
        losses[grid >= spent] = min(gain(chosen), 1.0)
    return losses.mean()


def build(arguments):
    """Learn orders and seconds, print their leave-one-out scores, write the file."""
    everything = read_records(arguments.records)
    sets = {name: known for name, known in everything.items() if known["predictions"]}
    gains = {name: Gains(known) for name, known in sets.items()}
    kinds = ("binary", "binary_categories", "multiclass", "multiclass_categories")
    orders = {kind: learn_order(sets, gains, weights_for(kind, sets)) for kind in kinds}
    defaults = [
        json.dumps(c.to_dict(), sort_keys=True)
        for c in get_space("default").default_configurations()
    ]
    if arguments.leave_one_out:
        table = []
        for name, known in sets.items():
            weights = weights_for(kind_of(known), sets, without=[name])
            order = [text for text, _ in learn_order(sets, gains, weights)]
            table.append([area(order, known, gains[name]), area(defaults, known, gains[name])])
            print(f"{name:28s} learned {table[-1][0]:.3f} defaults {table[-1][1]:.3f}", flush=True)
        learned, default = np.mean(table, axis=0)
        print(f"mean normalized loss: learned {learned:.4f}, defaults {default:.4f}")
    rows = [
        (
            read_configuration(text),
            facts_of(known),
            float(np.mean(seconds)),
        )
        for known in everything.values()
        for text, seconds in known["seconds"].items()
    ]
    coefficients = fit_coefficients(rows)
    errors = [np.log(FitTimeModel(coefficients).seconds(c, facts) / s) for c, facts, s in rows]
    print(f"seconds: {len(rows)} timings, factor of error {np.exp(np.std(errors)):.2f} (1 sd)")
    content = {
        "space": "default",
        "orders": {
            kind: [
                {"gain": round(gain, 5), "configuration": read_configuration(text).to_dict()}
                for text, gain in order
            ]
            for kind, order in orders.items()
        },
        "fit_times": {
            k: [float(f"{v:.4g}") for v in values] for k, values in coefficients.items()
        },
    }
    arguments.output.write_text(json.dumps(content, indent=1) + "\n")


def main():
    """Read the arguments and run."""
    parser = make_parser(__doc__)
    parser.add_argument("what", choices=["record", "build"])
    parser.add_argument("--records", type=Path, required=True, help="folder of the records")
    parser.add_argument("--sets", type=names, default=names(DEVELOPMENT))
    parser.add_argument("--rows", type=numbers, default=[0], help="rows; 0 by the columns")
    parser.add_argument("--leave-one-out", action="store_true")
    parser.add_argument("--output", type=Path, default=Path("portfolio.json"))
    arguments = parser.parse_args()
    if arguments.what == "record":
        require_data(parser, arguments)
        record(arguments)
    else:
        build(arguments)


if __name__ == "__main__":
    main()
