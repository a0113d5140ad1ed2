"""Learn the order in which configurations are tried first, and the seconds that components take.

``record`` evaluates candidate configurations of the default space on development sets: seconds of
the processor and predictions for rows that were left out, one file a set. ``build`` learns from
the files, by greedy gain of an ensemble per second, one order for each kind of table, and a model
of the seconds by ridge regression of log seconds. The gain of a configuration is measured on other
rows than those that choose its weight. ``--cross-validate`` prints the score on sets that an order
was not learned on. ``build`` writes the file that the package ships.

    python build_portfolio.py record --data FOLDER --records RECORDS
    python build_portfolio.py record --data R_TABLES --sets all --records RECORDS
    python build_portfolio.py build --records RECORDS --output portfolio.json
"""

import json
import time
from itertools import product
from pathlib import Path

import numpy as np
from _common import load, make_parser, make_worker, names, read_index, require_data
from _fit_seconds import fit_coefficients

from skauto.data import DataFacts, TableReader, make_splits
from skauto.data._training import read_training_data
from skauto.evaluation import FoldTask
from skauto.metalearning import FitTimeModel, adapt_configuration
from skauto.metalearning._fit_times import load_order, table_kind
from skauto.metalearning._warm_start import COST_EXPONENT
from skauto.selection import LogLoss, greedy_selection
from skauto.space import Configuration, get_space

# The sets that the order and the seconds are learned on, besides the development tables of
# r_tables.py. None of them judges the search in docs/benchmarks/quality.rst.
DEVELOPMENT = (
    "sonar,heart-statlog,ionosphere,oil_spill,fri_c2_1000_10,pc3,space_ga,page-blocks,wind,"
    "delta_ailerons,ringnorm,bank32nh,puma8NH,cpu_act,JapaneseVowels_bin,PhishingWebsites,"
    "elevators,quake,mnist_10k,compas,balance-scale,car,hepatitis,sick,anneal,autos,glass,"
    "banknote-authentication,led24,default_credit_card,house_8L,cal_housing"
)
KINDS = [table_kind(*shape) for shape in product((1_000, 10_000), (2, 3), (False, True))]
MAX_ROWS, MAX_CELLS = 6_000, 100_000  # of a recorded set; cells are rows times columns
ENOUGH_ROWS = 2_500  # for which one of the three folds is recorded
LEAST_OF_CLASS = 10  # rows
MAX_SECONDS = 8.0  # of a fold; a slower configuration is not recorded further
# Random draws of classifiers, and random walks of five steps from their default.
DRAWS = {"lightgbm": 14, "mlp": 4, "svm": 2, "extra_trees": 1, "logistic_regression": 2}
WALKS = {"lightgbm": 30, "mlp": 6, "svm": 1, "extra_trees": 4, "logistic_regression": 1}
N_STEPS, N_PAIRS = 5, 10  # of a walk, and LightGBM configurations with pairs of columns
LENGTH = 20  # of an order
LEAST_COST, LEAST_MERIT = 0.05, 1e-5
JUDGED_ROWS = 1_500
OTHER_WEIGHT = 0.4  # factors of a set with other classes or categories, and of another size
N_MEMBERS = 12  # of an ensemble that is judged
WEIGHTS = np.array([0.0, *np.geomspace(0.05, 0.95, 9)])  # of a configuration in the mixture


def candidates(space):
    """Configurations of every classifier, with the usual other steps.

    They are the defaults, what the package starts with today, random draws, and random walks from
    the defaults, which stay in the region of sensible settings.
    """
    rng = np.random.default_rng(7)
    found = list(space.default_configurations())
    for kind in KINDS:
        found += [configuration for configuration, _ in load_order(kind)]
    boosted = []
    for component in space.components("classifier"):
        default = space.default(space.default_structure({"classifier": component.name}))
        part = space.subspace({step: [default[step]] for step in space.steps})
        drawn = part.sample(DRAWS.get(component.name, 0), rng)
        start = space.encode([default])[0]
        walks = [walk(space, start, rng) for _ in range(WALKS.get(component.name, 0))]
        found += [*map(part.decode, drawn), *map(space.decode, walks)]
        if component.name == "lightgbm":
            boosted = [default, *map(space.decode, walks[: N_PAIRS - 1])]
    return list(dict.fromkeys([*found, *map(with_pairs, boosted)]))


def walk(space, vector, rng):
    """Change one hyper-parameter after the other."""
    for _ in range(N_STEPS):
        vector = rng.choice(space.neighbors(vector, rng, fixed_steps=space.steps))
    return vector


def with_pairs(configuration):
    """Return the configuration with pairs of columns in front of the classifier."""
    return Configuration.from_dict(configuration.to_dict() | {"transformer": {"name": "pairs"}})


def record(arguments):
    """Evaluate the candidates on each set; those that its file has are not evaluated again."""
    space = get_space("default")
    listed = candidates(space)
    arguments.records.mkdir(parents=True, exist_ok=True)
    every = read_index(arguments.data).index
    for name in every if arguments.sets == ["all"] else arguments.sets:
        path = arguments.records / f"{name}.npz"
        known = dict(np.load(path)) if path.exists() else {}
        started = time.perf_counter()
        record_set(*rows_of(arguments.data, name), space, listed, known)
        np.savez_compressed(path, **known)
        print(f"{name}: {time.perf_counter() - started:.0f} s", flush=True)


def rows_of(folder, name):
    """A random part of a large set, without its smallest classes."""
    X, y = load(folder, name, max_rows=10**9)
    drawn = np.random.default_rng(0).permutation(len(X))
    limit = min(MAX_ROWS, max(300, MAX_CELLS // X.shape[1]))
    rows = drawn[:limit] if len(X) > limit else np.arange(len(X))
    _, codes, counts = np.unique(y[rows].astype(str), return_inverse=True, return_counts=True)
    rows = rows[counts[codes] >= LEAST_OF_CLASS]
    return X.iloc[rows].reset_index(drop=True), y[rows]


def record_set(X, y, space, listed, known):
    """Evaluate the candidates that are not known yet on a set."""
    table = read_training_data(X, y, {}, TableReader())
    splits = make_splits(3, table.X, table.y)
    folds = splits[:1] if len(y) >= ENOUGH_ROWS else splits
    facts, part = table.facts, space.for_data(table.facts)
    worker = make_worker(part, table, splits)
    n_encoded = facts.n_features + facts.n_one_hot
    size = (len(splits[0][0]), facts.n_features, n_encoded, facts.n_classes, facts.has_categories)
    known |= {"y": table.y, "shape": np.array(size)}
    known["rows"] = np.concatenate([test for _, test in folds])
    for configuration in listed:
        text = key_of(configuration)
        adapted = adapt_configuration(configuration, part)
        if text in known or adapted is None:
            continue
        out = np.full((len(table.y), facts.n_classes), np.nan, dtype=np.float16)
        seconds = []
        for fold, (_, test) in enumerate(folds):
            try:
                result = worker(FoldTask(adapted, fold))
            except Exception as exc:
                print(f"{adapted}: {exc!r}"[:200], flush=True)
                break
            out[test] = result.probabilities
            seconds.append(result.cpu_time)
            if result.cpu_time > MAX_SECONDS:
                break
        known |= {text: out, "seconds:" + text: np.array(seconds)}


class DevelopmentSet:
    """The records of one set.

    `predictions` (n_configurations, n_rows) are the probabilities of the true classes, `prior` the
    class shares of these rows, `seconds` and `index` those of the configurations, and `half` is
    the part of the rows that chooses weights which the others judge, and the reverse.
    """

    def __init__(self, path):
        content = np.load(path)
        y, rows = content["y"], content["rows"]
        rows = np.random.default_rng(0).permutation(rows)[:JUDGED_ROWS]
        own = y[rows]
        self.timings = {k: content["seconds:" + k] for k in content if k.startswith("{")}
        found = {k: content[k][rows].astype(float) for k in self.timings}
        found = {k: p / p.sum(axis=1, keepdims=True) for k, p in found.items()}
        found = {k: p[np.arange(len(own)), own] for k, p in found.items() if np.isfinite(p).all()}
        self.index = {text: i for i, text in enumerate(found)}
        self.predictions = np.clip(list(found.values()), 1e-4, 1.0)
        self.seconds = np.array([self.timings[k].mean() for k in found])
        self.prior = np.clip((np.bincount(y) / len(y))[own], 1e-4, 1.0)
        # Every second row of each class.
        order = np.argsort(own, kind="stable")
        self.half = np.zeros(len(own), dtype=bool)
        self.half[order[::2]] = True
        mixture = Mixture(self)
        self.top = self.bottom = mixture.loss
        for _ in range(10):
            best = int(mixture.losses().argmin())
            mixture.add(best)
            self.bottom = min(self.bottom, mixture.loss)
        self.bottom = min(self.bottom, 0.98 * self.top)

        n_rows, n_columns, n_encoded, n_classes, categories = (int(v) for v in content["shape"])
        self.facts = DataFacts(
            n_rows, n_columns, n_classes=n_classes, n_one_hot=n_encoded - n_columns
        )
        self.kind = table_kind(n_rows, n_classes, bool(categories))

    def normalized(self, loss):
        """1 is the class shares, 0 the best known mixture."""
        return min((loss - self.bottom) / (self.top - self.bottom), 1.0)


class Mixture:
    """A mixture of predictions that grows by one configuration a step, one for each half.

    The weight of a new configuration is chosen on one half of the rows, and its loss is that of
    the other half. `loss` is the mean log loss over all rows.
    """

    def __init__(self, known):
        self.known = known
        self.mixed = [known.prior, known.prior]
        self.loss = float(-np.log(known.prior).mean())

    def losses(self):
        """Loss after the addition of each configuration, (n_configurations,)."""
        return self._try(self.known.predictions)[0]

    def add(self, index):
        """Add a configuration."""
        losses, self.mixed = self._try(self.known.predictions[index : index + 1])
        self.mixed, self.loss = [mixed[0] for mixed in self.mixed], float(losses[0])

    def _try(self, predictions):
        half, losses, mixed = self.known.half, 0.0, []
        for before, chooses in zip(self.mixed, (half, ~half), strict=True):
            tried = [self._loss(before, predictions, w, chooses).mean(axis=1) for w in WEIGHTS]
            best = WEIGHTS[np.argmin(tried, axis=0)][:, None]
            losses = losses + self._loss(before, predictions, best, ~chooses).sum(axis=1)
            mixed.append((1.0 - best) * before + best * predictions)
        return losses / len(half), mixed

    @staticmethod
    def _loss(before, predictions, weight, rows):
        return -np.log((1.0 - weight) * before[rows] + weight * predictions[:, rows])


def learn_order(sets, weights):
    """Choose configuration after configuration by the gain of the mixtures per second.

    Returns pairs of a configuration's key and the mean decrease of the normalized losses.
    """
    texts = sorted({text for known in sets for text in known.index})
    columns = [np.array([texts.index(text) for text in known.index]) for known in sets]
    mixtures = [Mixture(known) for known in sets]
    order = []
    while len(order) < LENGTH:
        merits, gains = np.zeros(len(texts)), np.zeros(len(texts))
        for known, mixture, column, weight in zip(sets, mixtures, columns, weights, strict=True):
            now = known.normalized(mixture.loss)
            gain = now - np.array([known.normalized(loss) for loss in mixture.losses()])
            gains[column] += weight * gain / sum(weights)
            cost = (LEAST_COST + known.seconds) ** COST_EXPONENT
            merits[column] += weight * gain / cost / sum(weights)
        merits[[texts.index(text) for text, _ in order]] = -np.inf
        best = int(merits.argmax())
        if merits[best] <= LEAST_MERIT:
            break
        order.append((texts[best], float(gains[best])))
        for known, mixture in zip(sets, mixtures, strict=True):
            if texts[best] in known.index:
                mixture.add(known.index[texts[best]])
    return order


def weights_for(kind, sets):
    """Weight of each set for an order: sets of the same kind count most."""
    size, _, rest = kind.partition("_")
    others = [known.kind.partition("_") for known in sets]
    return [OTHER_WEIGHT ** ((size != o[0]) + (rest != o[2])) for o in others]


def area(order, known):
    """Mean normalized loss over the logarithm of the seconds, from 0.1 to 30 a fold."""
    grid = np.geomspace(0.1, 30.0, 40)
    chosen = [known.index[text] for text in order if text in known.index]
    spent, losses = known.seconds[chosen].cumsum(), np.ones(len(grid))
    for n, seconds in enumerate(spent[spent <= grid[-1]], start=1):
        losses[grid >= seconds] = known.normalized(ensemble_loss(known, chosen[:n]))
    return losses.mean()


def ensemble_loss(known, chosen):
    """Log loss of the ensemble that is selected on one half of the rows, on the other."""
    half, total = known.half, 0.0
    for chooses in (half, ~half):
        # The losses read the probability of the true class only.
        own = known.predictions[chosen]
        pairs = np.stack([own, 1.0 - own], axis=-1)
        codes = np.zeros(int(chooses.sum()), dtype=int)
        found = greedy_selection(pairs[:, chooses], codes, LogLoss(), N_MEMBERS)
        total -= np.log(found.weights @ own[:, ~chooses]).sum()
    return total / len(half)


def cross_validate(sets):
    """Areas on sets that an order was not learned on, (n_sets, 2): learned, and defaults."""
    defaults = [key_of(c) for c in get_space("default").default_configurations()]
    areas = []
    for i, known in enumerate(sets):
        others = [*sets[:i], *sets[i + 1 :]]
        order = [text for text, _ in learn_order(others, weights_for(known.kind, others))]
        areas.append([area(order, known), area(defaults, known)])
    return np.array(areas)


def build(arguments):
    """Learn orders and seconds, print their scores, write the file."""
    paths = sorted(arguments.records.glob("*.npz"))
    sets = [DevelopmentSet(path) for path in paths]
    if arguments.cross_validate:
        areas = cross_validate(sets)
        for path, (learned, default) in zip(paths, areas, strict=True):
            print(f"{path.stem:28s} learned {learned:.3f} defaults {default:.3f}", flush=True)
        learned, default = areas.mean(axis=0)
        print(f"mean normalized loss: learned {learned:.4f}, defaults {default:.4f}")
    orders = {kind: learn_order(sets, weights_for(kind, sets)) for kind in KINDS}
    listed = list(dict.fromkeys(text for order in orders.values() for text, _ in order))
    rows = [
        (read_configuration(text), known.facts, float(np.mean(seconds)))
        for known in sets
        for text, seconds in known.timings.items()
        if len(seconds)
    ]
    coefficients = fit_coefficients(rows)
    errors = [np.log(FitTimeModel(coefficients).seconds(c, facts) / s) for c, facts, s in rows]
    print(f"seconds: {len(rows)} timings, factor of error {np.exp(np.std(errors)):.2f} (1 sd)")
    content = {
        "space": "default",
        "configurations": [read_configuration(text).to_dict() for text in listed],
        "orders": {
            kind: [[listed.index(text), round(gain, 5)] for text, gain in order]
            for kind, order in orders.items()
        },
        "fit_times": {
            k: [float(f"{v:.4g}") for v in values] for k, values in coefficients.items()
        },
    }
    arguments.output.write_text(json.dumps(content, indent=1) + "\n")


def key_of(configuration):
    """Key of a configuration in a record."""
    return json.dumps(configuration.to_dict(), sort_keys=True)


def read_configuration(text):
    """Read a configuration of the default space from its key."""
    content = json.loads(text)
    steps = get_space("default").steps
    return Configuration.from_dict({step: content[step] for step in steps if step in content})


def main():
    """Read the arguments and run."""
    parser = make_parser(__doc__)
    parser.add_argument("what", choices=["record", "build"])
    parser.add_argument("--records", type=Path, required=True, help="folder of the records")
    parser.add_argument("--sets", type=names, default=names(DEVELOPMENT), help="names, or all")
    parser.add_argument("--cross-validate", action="store_true", help="leave each set out")
    parser.add_argument("--output", type=Path, default=Path("portfolio.json"))
    arguments = parser.parse_args()
    if arguments.what == "record":
        require_data(parser, arguments)
        record(arguments)
    else:
        build(arguments)


if __name__ == "__main__":
    main()
