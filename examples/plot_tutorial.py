"""
Ten minutes: from a table to a deployed model
=============================================

Search a model for a table with text, dates, prices as strings, missing values and few positive
rows. Tune its decision threshold, inspect it, and deploy it.
"""

# %%
# The table
# ---------
#
# Support tickets are generated, with their message, date, product and price. Few of them are
# escalated. Escalation depends on the words, the weekday and the price.

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

rng = np.random.default_rng(0)
n = 1200
calm = ["please", "question", "about", "thanks", "update", "address", "invoice", "how", "change"]
angry = ["broken", "again", "refund", "unacceptable", "lawyer", "never"]
trouble = rng.random(n) < 0.15
messages = [
    " ".join([*rng.choice(calm, 6), *(rng.choice(angry, 2) if t else rng.choice(calm, 2))])
    for t in trouble
]
opened = pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 365, n), unit="D")
price = rng.gamma(2.0, 40.0, n)
X = pd.DataFrame(
    {
        "message": messages,
        "opened": opened.strftime("%Y-%m-%d"),
        "product": rng.choice(["phone", "tablet", "watch"], n),
        "paid": [f"${p:,.2f}" for p in price],
        "months_as_customer": np.where(rng.random(n) < 0.2, np.nan, rng.integers(1, 90, n)),
    }
)
signal = 4.0 * trouble + 1.0 * (opened.day_of_week >= 5) + 0.015 * price - 4.8
y = np.where(signal + rng.logistic(size=n) > 0, "escalated", "solved")
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
X_train.head()

# %%
# The search
# ----------
#
# The table needs no preparation. With few positive rows, accuracy is not useful: a constant
# prediction of "solved" has a high accuracy. So the F1 score of the rare class is maximized.
# ``max_evals`` makes this page fast and reproducible. Usually you would set a ``time_limit`` in
# seconds.

from sklearn.metrics import f1_score, make_scorer

from skauto import AutoClassifier

f1 = make_scorer(f1_score, pos_label="escalated")
clf = AutoClassifier(scoring=f1, max_evals=10, cv=3, random_state=0, verbose=1)
clf.fit(X_train, y_train)

# %%
# The kind of each column. Dates and prices are strings in this table. ``column_kinds`` overrides a
# wrong kind, see :doc:`/user_guide/tables`.

clf.table_report()[["column", "kind", "why", "missing"]]

# %%
# In a notebook the fitted estimator shows a summary.

clf

# %%
# Held-out rows
# -------------
#
# ``score`` uses the scorer of the search. The confusion matrix counts both kinds of errors.

import matplotlib.pyplot as plt
from sklearn.metrics import ConfusionMatrixDisplay

print(f"held-out F1: {clf.score(X_test, y_test):.3f}")
ConfusionMatrixDisplay.from_estimator(clf, X_test, y_test)
plt.show()

# %%
# ``predict`` uses a decision threshold that was tuned for the score on out-of-fold predictions. It
# predicts the second class, "solved", if the probability of this class exceeds the threshold.

print(f"decision threshold: {clf.decision_threshold_:.3f}")

# %%
# The leaderboard
# ---------------

clf.leaderboard(top=5)

# %%
# Loss of each trial. :ref:`sphx_glr_auto_examples_plot_search.py` has more plots.

from skauto.plotting import SearchHistoryDisplay

SearchHistoryDisplay.from_estimator(clf)
plt.show()

# %%
# Permutation importance
# ----------------------
#
# The function of scikit-learn computes the loss of score when a column is shuffled.

from sklearn.inspection import permutation_importance

from skauto.plotting import PermutationImportanceDisplay

result = permutation_importance(clf, X_test, y_test, n_repeats=3, random_state=0)
PermutationImportanceDisplay.from_result(clf, result).plot()
plt.show()

# %%
# The report
# ----------
#
# One HTML file has all of this, and calibration, failures, cost and versions.

import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
clf.save_report(folder / "report.html", X=X_test, y=y_test)

# %%
# Deployment
# ----------
#
# ``joblib`` stores the estimator for processes that have skauto installed. ``export_code`` writes
# a folder that predicts without skauto, see :ref:`sphx_glr_auto_examples_plot_deployment.py`. New
# rows can have new categories, words and missing values.

import joblib

joblib.dump(clf, folder / "model.joblib")
served = joblib.load(folder / "model.joblib")
new = pd.DataFrame(
    {
        "message": ["broken again I want a refund", "how can I change the address"],
        "opened": ["2026-02-07", "2026-02-09"],
        "product": ["phone", "headset"],
        "paid": ["$249.00", None],
        "months_as_customer": [np.nan, 12],
    }
)
pd.DataFrame(served.predict_proba(new), columns=served.classes_).round(3)

# %%
# :class:`~skauto.ConstrainedAutoClassifier` searches a model under limits on latency, size and
# fairness, see :doc:`/user_guide/constraints`.
