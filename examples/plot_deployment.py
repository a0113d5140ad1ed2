"""
Deploy a model
==============

Fit an ensemble, compress it, export it as a folder that predicts without skauto, and check the
predictions of the folder on new rows.
"""

# %%
# The model
# ---------
#
# Numbers and a column of strings, some entries missing.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from skauto import AutoClassifier

rng = np.random.default_rng(0)
n = 1000
X = pd.DataFrame(
    {
        "income": [f"${income:,.0f}" for income in rng.lognormal(10.5, 0.5, n)],
        "age": rng.integers(18, 80, n).astype(float),
        "city": rng.choice(["Bern", "Oslo", "Rome"], n),
    }
)
X.loc[rng.random(n) < 0.1, "age"] = np.nan
signal = X["age"].fillna(50) / 20 + 2 * (X["city"] == "Rome") + rng.normal(size=n)
y = np.where(signal > 3, "yes", "no")
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
clf = AutoClassifier(scoring="roc_auc", max_evals=8, cv=3, random_state=0).fit(X_train, y_train)

# %%
# Compress
# --------
#
# ``compress`` selects members again, under a limit on the bytes of the pickled ensemble or on the
# seconds for one row. It uses the out-of-fold predictions of the search, and nothing is fitted.

import pickle

from sklearn.metrics import roc_auc_score

size = len(pickle.dumps(clf.ensemble_))
sizes = [size, size // 2, size // 10]
ensembles = [clf.ensemble_, *(clf.compress(max_size=limit) for limit in sizes[1:])]
table = pd.DataFrame(
    {
        "limit (kB)": [None, *(limit / 1000 for limit in sizes[1:])],
        "size (kB)": [len(pickle.dumps(ensemble)) / 1000 for ensemble in ensembles],
        "members": [len(ensemble) for ensemble in ensembles],
        "held-out ROC AUC": [
            roc_auc_score(y_test == "yes", ensemble.predict_proba(X_test)[:, 1])
            for ensemble in ensembles
        ],
    }
).round(3)
table

# %%

fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
labels = [f"members: {n}" for n in table["members"]]
bars = ax.barh(labels, table["size (kB)"])
ax.bar_label(bars, [f"ROC AUC {score:.3f}" for score in table["held-out ROC AUC"]], padding=4)
ax.set_xlim(0, 1.4 * table["size (kB)"].max())
ax.set_xlabel("size (kB)")
plt.show()

# %%
# Export
# ------
#
# The folder holds a script, the fitted scikit-learn pipelines, the source of the classes of skauto
# that they need, and the versions of the packages.

import tempfile
from pathlib import Path

from skauto.export import export_code

small = ensembles[-1]
work = Path(tempfile.mkdtemp())
folder = export_code(small, work / "model")
print((folder / "predict.py").read_text().split('"""')[1])
print((folder / "requirements.txt").read_text())

# %%
# Check on new rows
# -----------------
#
# On the server, create an environment with ``pip install -r requirements.txt``. Here another
# process runs the script on a file. The city "Kyiv" was not in the training rows.

import subprocess
import sys

new = pd.DataFrame({"income": ["$51,000", "n/a"], "age": [61.0, None], "city": ["Rome", "Kyiv"]})
new.to_csv(work / "new.csv", index=False)
command = [sys.executable, folder / "predict.py", work / "new.csv"]
output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
(work / "predictions.csv").write_text(output)
served = pd.read_csv(work / "predictions.csv")
served

# %%
# The probabilities are those of the ensemble.

np.testing.assert_allclose(served[["no", "yes"]], small.predict_proba(new), rtol=0, atol=1e-9)
