"""Log a model and its trials with MLflow, and load it again."""

import mlflow
from mlflow.models import infer_signature
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from skauto import AutoClassifier
from skauto.export import trusted_types

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
mlflow.set_experiment("cancer")
with mlflow.start_run():
    clf = AutoClassifier(max_evals=10, random_state=0).fit(X_train, y_train)
    mlflow.log_params({"max_evals": 10, "random_state": 0})
    mlflow.log_metrics({"score": clf.ensemble_score_, "held_out": clf.score(X_test, y_test)})
    for trial in clf.history_:
        mlflow.log_metric("trial_loss", trial.loss, step=trial.number)
    logged = mlflow.sklearn.log_model(
        clf,
        name="model",
        signature=infer_signature(X_train, clf.predict_proba(X_train)),
        input_example=X_train.head(2),
        pyfunc_predict_fn="predict_proba",  # the served model answers probabilities
        serialization_format="skops",
        skops_trusted_types=trusted_types(),
    )
estimator = mlflow.sklearn.load_model(logged.model_uri)  # the AutoClassifier
served = mlflow.pyfunc.load_model(logged.model_uri)  # checks tables by the signature
print(estimator.score(X_test, y_test), served.predict(X_test.head(2)))
