"""How long the table reader takes, beside pandas' own ``factorize``.

``strings``: a table of 20 columns of floats and 10 of strings, in both dtypes that pandas has for
strings. The bar is three times what ``Series.factorize`` takes for the ten columns. ``kinds``: one
column of each kind that is made of strings. ``memory``: what ``fit_transform`` allocates for
numbers, as a multiple of the table.

    python examples/benchmarks/reading.py strings kinds memory --rows 1000000
"""

import argparse
import time
import tracemalloc

import numpy as np
import pandas as pd

from skauto.data import TableReader

LEVELS = (2, 3, 5, 8, 12, 20, 30, 50, 80, 100)


def seconds(function, repeats=2):
    """Seconds of the processor, the least of several runs."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        found.append(time.process_time() - start)
    return min(found)


def chosen(levels, n_rows, rng):
    return np.asarray(levels, dtype=object)[rng.integers(len(levels), size=n_rows)]


def strings(n_rows, rng):
    columns = {f"x{j}": rng.normal(size=n_rows) for j in range(20)}
    for n_levels in LEVELS:
        levels = [f"level {i} of {n_levels}" for i in range(n_levels)]
        columns[f"s{n_levels}"] = chosen(levels, n_rows, rng)
    names = [f"s{n_levels}" for n_levels in LEVELS]
    for dtype in ("object", "str"):
        X = pd.DataFrame(columns).astype(dict.fromkeys(names, dtype))
        theirs = seconds(lambda X=X: [X[name].factorize() for name in names])
        reader = TableReader()
        fit = seconds(lambda X=X, reader=reader: reader.fit_transform(X))
        transform = seconds(lambda X=X, reader=reader: reader.transform(X))
        print(
            f"{dtype:16} factorize {theirs:.2f} s, fit_transform {fit:.2f} s "
            f"({fit / theirs:.1f} times), transform {transform:.2f} s",
            flush=True,
        )


def kinds(n_rows, rng):
    vocabulary = [f"word{i}" for i in range(3000)]
    n_distinct = min(100_000, n_rows)
    days = np.datetime64("2000-01-01") + rng.integers(9000, size=n_rows)
    sentences = [" ".join(words) for words in rng.choice(vocabulary, (n_distinct, 9))]
    codes = [f"{a}-{b}" for a, b in rng.integers(1000, size=(n_distinct, 2))]
    columns = {
        "prices, all different": [f"${x:,.4f}" for x in rng.uniform(0, 1e6, n_rows)],
        "ISO dates": days.astype(str).astype(object),
        "yes and no": chosen(["yes", "no"], n_rows, rng),
        f"names, {n_distinct:,} levels": chosen(codes, n_rows, rng),
        f"sentences, {n_distinct:,} rows": sentences,
    }
    for name, values in columns.items():
        X = pd.DataFrame({"a": values}, dtype=object)
        reader = TableReader()
        took = seconds(lambda X=X, reader=reader: reader.fit_transform(X), repeats=1)
        report = reader.table_report().iloc[0]
        print(f"{name:28} {report['kind']:12} {report['n_outputs']:4} {took:.2f} s", flush=True)


def memory(n_rows, rng):
    for dtype in (np.float64, np.float32):
        table = rng.normal(size=(n_rows, 30)).astype(dtype)
        for name, X in (("array", table), ("dataframe", pd.DataFrame(table))):
            tracemalloc.start()
            Z = TableReader().fit_transform(X)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            np.testing.assert_array_equal(Z, table)
            print(
                f"{name} of {np.dtype(dtype)}: peak of {peak / Z.nbytes:.2f} outputs", flush=True
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="+", choices=["strings", "kinds", "memory"])
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    for part in options.parts:
        print(f"{part}, {options.rows:,} rows")
        globals()[part](options.rows, np.random.default_rng(0))


if __name__ == "__main__":
    main()
