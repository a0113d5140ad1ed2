"""
Ten minutes: from a table to a deployed model
=============================================

A table with text, dates, prices as strings, missing values and few positive cases: how to read it,
search a model, choose the decision threshold, look at the result, and hand it over.
"""

# %%
# The table
# ---------
#
# Support tickets are generated: what was written, when, about what, and what the customer paid. A
# few are escalated. That depends on the words, the weekday and the price.

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
# The table goes in as it is. With few positives, accuracy says little: predicting "solved" always
# is right in most cases. ``f1`` of the rare class is maximised instead. ``max_evals`` keeps this
# page fast and repeatable; in practice you would give a ``time_limit`` in seconds.

from sklearn.metrics import f1_score, make_scorer

from skauto import AutoClassifier
from skauto.callbacks import SearchProgress

clf = AutoClassifier(
    scoring=make_scorer(f1_score, pos_label="escalated"), max_evals=10, cv=3, random_state=0
)
clf = clf.set_callbacks(SearchProgress()).fit(X_train, y_train)

# %%
# How each column was read. Dates and prices are strings in this table; ``column_kinds`` overrides
# a kind that is wrong, see :doc:`/user_guide/tables`.

clf.table_report()[["column", "kind", "why", "missing"]]

# %%
# In a notebook the fitted estimator shows what came out.

clf

# %%
# Held-out rows
# -------------
#
# ``score`` uses the scorer of the search. The confusion matrix shows both kinds of errors.

import matplotlib.pyplot as plt
from sklearn.metrics import ConfusionMatrixDisplay

print(f"held-out F1: {clf.score(X_test, y_test):.3f}")
ConfusionMatrixDisplay.from_estimator(clf, X_test, y_test)
plt.show()

# %%
# ``predict`` does not cut at one half: the threshold was chosen for the score on out-of-fold
# predictions. It is the probability of the second class, "solved", from which on that class is
# predicted.

print(f"decision threshold: {clf.decision_threshold_:.3f}")

# %%
# What was tried
# --------------

clf.leaderboard(top=5)[["trial", "weight", "loss", "cost", "classifier"]]

# %%
# Every trial in its order. More plots are in :ref:`sphx_glr_auto_examples_plot_search.py`.

from skauto.plotting import SearchHistoryDisplay

SearchHistoryDisplay.from_estimator(clf)
plt.show()

# %%
# Which columns matter
# --------------------
#
# Permutation importance is scikit-learn's: the score that is lost when a column is shuffled.

from sklearn.inspection import permutation_importance

result = permutation_importance(clf, X_test, y_test, n_repeats=3, random_state=0)
order = np.argsort(result.importances_mean)
fig, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
ax.barh(X.columns[order], result.importances_mean[order], xerr=result.importances_std[order])
ax.set_xlabel("loss of F1")
plt.show()

# %%
# The report
# ----------
#
# All of this, calibration, failures, cost and versions are in one HTML file that needs no network.

import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp())
clf.save_report(folder / "report.html", X=X_test, y=y_test)

# %%
# Deployment
# ----------
#
# ``joblib`` stores the estimator for processes that have skauto. ``export_code`` writes a folder
# that predicts without skauto, see :doc:`/user_guide/deployment`. New rows may have categories,
# words and missing values that were not in the training data.

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
# If the model must be fast, small or fair, give :class:`~skauto.ConstrainedAutoClassifier` the
# limits: :doc:`/user_guide/constraints`.
