"""The table reader against skrub's ``TableVectorizer`` in front of the same search.

Eight generated tables of strings with a known signal. One search reads the raw table; the other
gets what ``TableVectorizer`` made of it, fitted on the same training rows. Half of the rows are
held out for the ROC AUC. ``signal`` is the AUC of the probabilities that drew the classes, a bound
for all models up to chance. Needs ``pip install skrub``. An interrupted run is continued.

    python examples/benchmarks/tables.py --seeds 0,1,2 --time-limit 20
"""

import time
import warnings

import numpy as np
import pandas as pd
from _common import Results, make_parser, numbers, paired_tests
from scipy.special import expit
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from skauto import AutoClassifier

LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def words(n, rng, low=3, high=9):
    return np.array(["".join(rng.choice(LETTERS, rng.integers(low, high))) for _ in range(n)])


def probabilities(signal, strength=2.0):
    """Probabilities whose log odds are the standardised signal, times a strength."""
    return expit(strength * (signal - signal.mean()) / signal.std())


def noise(n, rng):
    return {f"noise{j}": rng.normal(size=n) for j in range(2)}


def reviews(n, rng):
    """Sentences whose words carry weights."""
    vocabulary, weights = words(300, rng), rng.normal(size=300) * (rng.random(300) < 0.3)
    picks = rng.integers(300, size=(n, 9))
    X = {"review": [" ".join(vocabulary[row]) for row in picks], **noise(n, rng)}
    return X, weights[picks].sum(axis=1)


def prices(n, rng):
    """Amounts with currency, thousands and parentheses."""
    first, second = rng.normal(500, 900, n), rng.uniform(0, 1, n)
    written = [f"${x:,.2f}" if x >= 0 else f"(${-x:,.2f})" for x in first]
    share = [f"{100 * x:.1f}%" if rng.random() > 0.05 else "n/a" for x in second]
    X = {"amount": written, "share": share, **noise(n, rng)}
    return X, first / 900 - 6 * np.abs(second - 0.5)


def dates(n, rng):
    """Days first, with a season and a week-end."""
    days = np.datetime64("2015-01-01") + rng.integers(3000, size=n)
    years = days.astype("datetime64[Y]").astype("datetime64[D]")
    season = np.sin(2 * np.pi * (days - years).astype(int) / 365)
    weekend = ((days.astype(int) + 3) % 7 >= 5) * 1.0
    written = [f"{str(d)[8:]}/{str(d)[5:7]}/{str(d)[:4]}" for d in days]
    return {"day": written, **noise(n, rng)}, season + weekend


def companies(n, rng):
    """Names of which a part says something, in many spellings."""
    roots, weights = words(30, rng, 5, 8), rng.normal(size=30)
    picks = rng.integers(30, size=n)
    endings = np.array(["Ltd", "GmbH", "Inc.", "& Sons", "SA"])
    extra = words(n, rng, 2, 4)
    written = [
        f"{roots[i]}{e} {k}" for i, e, k in zip(picks, extra, rng.choice(endings, n), strict=True)
    ]
    return {"company": written, **noise(n, rng)}, weights[picks]


def tags(n, rng):
    """Lists of a few of twelve tags."""
    known, weights = words(12, rng), rng.normal(size=12)
    has = rng.random((n, 12)) < 0.25
    return {"tags": [";".join(known[row]) for row in has], **noise(n, rng)}, has @ weights


def codes(n, rng):
    """Article codes: the letters are a group, the digits are not."""
    groups, weights = words(40, rng, 3, 4), rng.normal(size=40)
    picks = rng.integers(40, size=n)
    written = [
        f"{groups[i].upper()}-{k:05d}"
        for i, k in zip(picks, rng.integers(99999, size=n), strict=True)
    ]
    return {"code": written, **noise(n, rng)}, weights[picks]


def orders(n, rng):
    """An identifier, a boolean, a price, a city and a date with time."""
    cities, weights = words(60, rng), rng.normal(size=60)
    city, price = rng.integers(60, size=n), rng.gamma(2, 40, n)
    hour, member = rng.integers(24, size=n), rng.integers(2, size=n)
    day = np.datetime64("2024-01-01T00") + 24 * rng.integers(300, size=n) + hour
    X = {
        "order": [f"O-{k:08d}" for k in rng.permutation(n)],
        "member": np.where(member, "yes", "no"),
        "price": [f"{x:,.2f} EUR" for x in price],
        "city": cities[city],
        "time": [str(d).replace("T", " ") + ":00" for d in day],
    }
    return X, weights[city] + member + price / 80 + (hour > 17)


def tickets(n, rng):
    """Sentences with inflected words, a product and a number with missing words."""
    stems, weights = words(80, rng, 4, 7), rng.normal(size=80) * (rng.random(80) < 0.4)
    picks = rng.integers(80, size=(n, 7))
    endings = np.array(["", "s", "ed", "ing", "er"])
    written = [" ".join(stems[i] + rng.choice(endings) for i in row) for row in picks]
    level = rng.integers(1, 6, size=n)
    X = {
        "text": written,
        "product": rng.choice(words(8, rng), n),
        "level": np.where(rng.random(n) < 0.1, "unknown", level.astype(str)),
    }
    return X, weights[picks].sum(axis=1) + 0.5 * level


TABLES = {
    make.__name__: make
    for make in (reviews, prices, dates, companies, tags, codes, orders, tickets)
}


def compare(name, seed, rows, settings):
    """Held-out ROC AUC and seconds of both searches on one table."""
    from skrub import TableVectorizer

    rng = np.random.default_rng(seed)
    columns, signal = TABLES[name](rows, rng)
    chance = probabilities(signal)
    y = (rng.random(rows) < chance).astype(int)
    X, X_test, y, y_test, _, chance = train_test_split(
        pd.DataFrame(columns), y, chance, test_size=0.5, random_state=seed, stratify=y
    )
    result = {"signal": roc_auc_score(y_test, chance)}
    start = time.perf_counter()
    model = AutoClassifier(**settings, random_state=seed).fit(X, y)
    result["skauto_seconds"] = time.perf_counter() - start
    result["skauto"] = roc_auc_score(y_test, model.predict_proba(X_test)[:, 1])
    start = time.perf_counter()
    vectorizer = TableVectorizer().fit(X)
    model = AutoClassifier(**settings, random_state=seed).fit(vectorizer.transform(X), y)
    result["skrub_seconds"] = time.perf_counter() - start
    Z_test = vectorizer.transform(X_test)
    result["skrub"] = roc_auc_score(y_test, model.predict_proba(Z_test)[:, 1])
    return result


def report(frame):
    """Mean over the seeds by table, mean over the tables, and the paired test over the tables."""
    columns = ["signal", "skauto", "skrub", "skauto_seconds", "skrub_seconds"]
    means = frame.groupby("table", sort=False)[columns].mean()
    print(means.round(4).to_string())
    print(means.mean().round(4).to_string())
    print(paired_tests(-means[["skauto", "skrub"]], "skrub").to_string())


def main():
    parser = make_parser(__doc__, data=False)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--time-limit", type=float, default=20.0)
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--seeds", type=numbers, default="0,1,2")
    parser.add_argument("--out", default="tables.csv")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    settings = {
        "scoring": "roc_auc",
        "time_limit": arguments.time_limit,
        "n_jobs": arguments.n_jobs,
    }
    results = Results(arguments.out, ["seed", "table"])
    for seed, name in results.missing(arguments.seeds, TABLES):
        results.add((seed, name), compare(name, seed, arguments.rows, settings))
    report(results.frame)


if __name__ == "__main__":
    main()
