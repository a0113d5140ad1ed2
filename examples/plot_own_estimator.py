"""
Add your own estimator
======================

Three lines add a scikit-learn classifier to the search space, with hyper-parameters as for
``RandomizedSearchCV``.
"""

from scipy.stats import loguniform, randint
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import AdaBoostClassifier

from skauto import AutoClassifier
from skauto.plotting import SearchHistoryDisplay
from skauto.space.catalog import get_space

space = get_space("default").subspace({"classifier": ["logistic_regression", "lda"]})
settings = {"n_estimators": randint(20, 100), "learning_rate": loguniform(0.05, 2)}
space.add("classifier", "adaboost", AdaBoostClassifier(), settings)

# %%
# The new algorithm is part of the initial configurations, the proposals of the strategy and the
# ensemble.

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
clf = AutoClassifier(space=space, max_evals=8, cv=3, random_state=0).fit(X, y)
clf.leaderboard().drop(columns="error")

# %%
# Its trials beside those of the other algorithms:

SearchHistoryDisplay.from_estimator(clf)
