"""The table reader against skrub's ``TableVectorizer`` in front of the same search.

Eight generated tables of strings with a known signal. One search reads the raw table; the other
gets what ``TableVectorizer`` made of it, fitted on the same training rows. ROC AUC on held-out
rows. Needs ``pip install skrub``.

    python examples/benchmarks/tables.py --rows 900 --max-evals 8 --seeds 0
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from skauto import AutoClassifier

LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def words(n, rng, low=3, high=9):
    return np.array(["".join(rng.choice(LETTERS, rng.integers(low, high))) for _ in range(n)])


def labels(signal, rng, strength=2.0):
    """Classes whose log odds are the standardised signal, times a strength."""
    signal = np.asarray(signal, dtype=float)
    return (
        rng.random(len(signal)) < expit(strength * (signal - signal.mean()) / signal.std())
    ) * 1


def noise(n, rng):
    return {f"noise{j}": rng.normal(size=n) for j in range(2)}


def reviews(n, rng):
    """Sentences whose words carry weights."""
    vocabulary, weights = words(300, rng), rng.normal(size=300) * (rng.random(300) < 0.3)
    picks = rng.integers(300, size=(n, 9))
    X = {"review": [" ".join(vocabulary[row]) for row in picks], **noise(n, rng)}
    return X, labels(weights[picks].sum(axis=1), rng)


def prices(n, rng):
    """Amounts with currency, thousands and parentheses."""
    first, second = rng.normal(500, 900, n), rng.uniform(0, 1, n)
    written = [f"${x:,.2f}" if x >= 0 else f"(${-x:,.2f})" for x in first]
    share = [f"{100 * x:.1f}%" if rng.random() > 0.05 else "n/a" for x in second]
    return {"amount": written, "share": share, **noise(n, rng)}, labels(
        first / 900 - 2 * np.abs(second - 0.5) * 3, rng
    )


def dates(n, rng):
    """Days first, with a season and a week-end."""
    days = np.datetime64("2015-01-01") + rng.integers(3000, size=n)
    years = days.astype("datetime64[Y]").astype("datetime64[D]")
    season = np.sin(2 * np.pi * (days - years).astype(int) / 365)
    weekend = ((days.astype(int) + 3) % 7 >= 5) * 1.0
    written = [f"{str(d)[8:]}/{str(d)[5:7]}/{str(d)[:4]}" for d in days]
    return {"day": written, **noise(n, rng)}, labels(season + weekend, rng)


def companies(n, rng):
    """Names of which a part says something, in many spellings."""
    roots, weights = words(30, rng, 5, 8), rng.normal(size=30)
    picks = rng.integers(30, size=n)
    endings = np.array(["Ltd", "GmbH", "Inc.", "& Sons", "SA"])
    extra = words(n, rng, 2, 4)
    written = [
        f"{roots[i]}{e} {k}" for i, e, k in zip(picks, extra, rng.choice(endings, n), strict=True)
    ]
    return {"company": written, **noise(n, rng)}, labels(weights[picks], rng)


def tags(n, rng):
    """Lists of a few of twelve tags."""
    known, weights = words(12, rng), rng.normal(size=12)
    has = rng.random((n, 12)) < 0.25
    return {"tags": [";".join(known[row]) for row in has], **noise(n, rng)}, labels(
        has @ weights, rng
    )


def codes(n, rng):
    """Article codes: the letters are a group, the digits are not."""
    groups, weights = words(40, rng, 3, 4), rng.normal(size=40)
    picks = rng.integers(40, size=n)
    written = [
        f"{groups[i].upper()}-{k:05d}"
        for i, k in zip(picks, rng.integers(99999, size=n), strict=True)
    ]
    return {"code": written, **noise(n, rng)}, labels(weights[picks], rng)


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
    return X, labels(weights[city] + member + price / 80 + (hour > 17), rng)


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
    return X, labels(weights[picks].sum(axis=1) + 0.5 * level, rng)


TABLES = (reviews, prices, dates, companies, tags, codes, orders, tickets)


def main():
    from skrub import TableVectorizer

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=900)
    parser.add_argument("--max-evals", type=int, default=8)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    options = parser.parse_args()
    settings = {"scoring": "roc_auc", "max_evals": options.max_evals, "cv": 3}
    found = []
    for seed in options.seeds:
        for make in TABLES:
            columns, y = make(options.rows, np.random.default_rng(seed))
            split = train_test_split(pd.DataFrame(columns), y, random_state=seed, stratify=y)
            X, X_test, y, y_test = split
            vectorizer = TableVectorizer().fit(X)
            row = {"table": make.__name__, "seed": seed}
            for name, read in (("skauto", lambda table: table), ("skrub", vectorizer.transform)):
                start = time.perf_counter()
                model = AutoClassifier(**settings, random_state=seed).fit(read(X), y)
                row[name] = roc_auc_score(y_test, model.predict_proba(read(X_test))[:, 1])
                row[f"{name} s"] = time.perf_counter() - start
            found.append(row)
            print(
                {k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}, flush=True
            )
    frame = pd.DataFrame(found)
    print(frame.groupby("table", sort=False).mean(numeric_only=True).round(4).to_string())
    print(frame[["skauto", "skrub"]].mean().round(4).to_string())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
