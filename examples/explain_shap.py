"""
SHAP values of single rows
==========================

Attribute the probability of single rows to the columns. It needs ``pip install shap``. The gallery
does not run this example.
"""

import pandas as pd
import shap
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from skauto import AutoClassifier


def main():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    automl = AutoClassifier(time_limit=30, random_state=0).fit(X_train, y_train)

    def probability(rows):
        """Probability of the second class; SHAP passes arrays without names."""
        return automl.predict_proba(pd.DataFrame(rows, columns=X.columns))[:, 1]

    background = X_train.sample(50, random_state=0)
    explainer = shap.PermutationExplainer(probability, background.to_numpy(), seed=0)
    explanation = explainer(X_test.head(3).to_numpy())
    table = pd.DataFrame(explanation.values.T, index=X.columns)
    print(table.loc[table.abs().max(axis=1).sort_values(ascending=False).index].head(10))


# sphinx_gallery_thumbnail_path = "_static/explain_shap.png"
if __name__ == "__main__":
    main()
