"""Fit again if the new rows differ from the old ones: retrain.py old.csv new.csv model.joblib."""

import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score

from skauto import AutoClassifier

TARGET, CHECKPOINT = "class", Path("search.skauto")
old, new = pd.read_csv(sys.argv[1]), pd.read_csv(sys.argv[2])
clf = joblib.load(sys.argv[3])

# If a classifier tells new rows from old ones, the columns have drifted: .5 means that it cannot.
Z = clf.reader_.transform(pd.concat([old, new])[list(clf.feature_names_in_)])
is_new = np.arange(len(Z)) >= len(old)
forest = RandomForestClassifier(random_state=0)
drift = cross_val_score(forest, Z, is_new, scoring="roc_auc").mean()
print(f"ROC AUC of new against old rows: {drift:.3f}")
if drift > 0.6:
    rows = pd.concat([old, new], ignore_index=True)
    # After a crash the next run of this script goes on with the trials of the checkpoint.
    fresh = AutoClassifier(max_evals=10, random_state=0, options={"checkpoint": CHECKPOINT})
    fresh.fit(rows.drop(columns=TARGET), rows[TARGET])
    joblib.dump(fresh, sys.argv[3])
    CHECKPOINT.unlink()
    print(f"new model, score {fresh.ensemble_score_:.3f}")
