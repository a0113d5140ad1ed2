"""
Trials on a cluster
===================

Under :func:`joblib.parallel_config` the trials of a search run on the backend of joblib. Here it
is a ``dask.distributed`` cluster of two processes on this machine. For another cluster, pass the
address of its scheduler to ``Client``. One of the classifiers kills its process; only its trial is
lost. Run ``python examples/cluster_dask.py`` after ``pip install skauto[distributed]``.
"""

import os

from dask.distributed import Client, LocalCluster
from joblib import parallel_config
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from skauto import AutoClassifier
from skauto.space import Real, SearchSpace


class Deadly(GaussianNB):
    """A classifier that ends its process, as a bug in compiled code would."""

    def fit(self, X, y):
        os._exit(1)


def search(**settings):
    """Fit a small search."""
    space = SearchSpace(["scaler", "classifier"])
    space.add("scaler", "standard", StandardScaler())
    space.add("classifier", "gaussian_nb", GaussianNB())
    space.add("classifier", "deadly", Deadly())
    space.add(
        "classifier",
        "logistic_regression",
        LogisticRegression(max_iter=1000),
        {"C": Real(1e-3, 1e3, log=True)},
    )
    X, y = load_breast_cancer(return_X_y=True)
    clf = AutoClassifier("random", space=space, max_evals=12, random_state=0, **settings)
    return clf.fit(X, y)


# sphinx_gallery_thumbnail_path = "_static/cluster_dask.png"

# Worker processes import this file, so the search needs this guard.
if __name__ == "__main__":
    with (
        LocalCluster(n_workers=2, threads_per_worker=1) as cluster,
        Client(cluster),
        parallel_config("dask"),
    ):
        on_cluster = search()
    print(on_cluster.history_.to_frame()[["trial", "status", "loss"]].to_string(index=False))

    # Without a time limit, two processes of this machine give the same trials.
    here = search(n_jobs=2)
    same = [trial.losses for trial in here.history_] == [
        trial.losses for trial in on_cluster.history_
    ]
    print("the same trials as with n_jobs=2:", same)
