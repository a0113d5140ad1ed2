"""Equality of exported models: code without skauto, skops files and ONNX, by data set.

Each model is fitted on half of the rows (400 at most) and compared with its exports on the others
(1,000 at most). Code runs in the interpreter given by ``--python``, an environment without skauto.
ONNX models are fitted on the numeric columns, in the default space without the steps that are not
converted.
"""

import pickle
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd
import skops.io
from _common import Results, load, make_parser, names, require_data
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split

from skauto import AutoClassifier
from skauto.export import export_code, to_onnx, trusted_types
from skauto.space import get_space

BUNDLED = {
    "iris": load_iris,
    "wine": load_wine,
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
}
NO_SKAUTO = """
import pickle, sys
import numpy as np
from importlib.util import find_spec
assert find_spec("skauto") is None
sys.path.insert(0, sys.argv[1])
from predict import predict_proba
with open(sys.argv[2], "rb") as file:
    np.save(sys.argv[3], predict_proba(pickle.load(file)))
"""
NOT_CONVERTED = {"classifier": "k_nearest_neighbors", "scaler": "quantile"}


def mixed(n_rows=800, seed=0):
    """Numbers, strings, categories and dates with missing entries; the signal is in all kinds."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "amount": rng.lognormal(size=n_rows),
            "city": rng.choice(["Bern", "Oslo", "Rome"], n_rows),
            "size": pd.Categorical(rng.choice(["s", "m", "l"], n_rows)),
            "day": pd.date_range("2024-01-01", periods=n_rows, freq="17h"),
        }
    )
    y = (X["amount"] + (X["city"] == "Oslo") + X["day"].dt.month / 12 > 2).to_numpy()
    X.loc[rng.random(n_rows) < 0.1, "amount"] = np.nan
    X.loc[rng.random(n_rows) < 0.1, "city"] = None
    return X, y


def read(folder, name):
    """Table and classes, with object columns in place of those that only pandas can read back."""
    if name == "mixed":
        X, y = mixed()
    elif name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True, as_frame=True)
    else:
        X, y = load(folder, name, 2_000)
    strings = X.select_dtypes("string").columns
    return X.astype(dict.fromkeys(strings, object)), np.asarray(y)


def of_code(automl, X, python):
    """Probabilities of the exported folder in the other interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        exported = export_code(automl, where / "model")
        (where / "X.pickle").write_bytes(pickle.dumps(X))
        files = [exported, where / "X.pickle", where / "P.npy"]
        subprocess.run([python, "-I", "-c", NO_SKAUTO, *map(str, files)], check=True, cwd=folder)
        return np.load(where / "P.npy")


def of_onnx(automl, X):
    """Probabilities of the ONNX graph."""
    session = onnxruntime.InferenceSession(to_onnx(automl).SerializeToString())
    return session.run(["probabilities"], {"X": X.to_numpy(dtype=np.float64)})[0]


def convertible_space():
    """The default space without the steps that are not converted."""
    space = get_space("default")
    kept = {
        step: [c.name for c in space.components(step) if c.name != name]
        for step, name in NOT_CONVERTED.items()
    }
    return space.subspace(kept)


def compare(folder, name, python, max_evals, seed):
    """Largest absolute difference of probabilities, by export."""
    X, y = read(folder, name)
    X, X_new, y, _ = train_test_split(X, y, train_size=0.5, random_state=seed, stratify=y)
    X, y, X_new = X[:400], y[:400], X_new[:1000]
    settings = {"max_evals": max_evals, "cv": 3, "random_state": seed}
    automl = AutoClassifier(**settings).fit(X, y)
    expected = automl.predict_proba(X_new)
    again = skops.io.loads(skops.io.dumps(automl), trusted=trusted_types())
    result = {
        "members": len(automl.ensemble_),
        "code": np.abs(of_code(automl, X_new, python) - expected).max(),
        "skops": np.abs(again.predict_proba(X_new) - expected).max(),
    }
    numeric = X.select_dtypes(["number", "bool"]).columns
    if len(numeric):
        automl = AutoClassifier(space=convertible_space(), **settings).fit(X[numeric], y)
        expected = automl.predict_proba(X_new[numeric])
        result["onnx_members"] = len(automl.ensemble_)
        result["onnx"] = np.abs(of_onnx(automl, X_new[numeric]) - expected).max()
    return result


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--python", required=True, help="interpreter without skauto")
    parser.add_argument(
        "--names",
        type=names,
        default="iris,wine,breast_cancer,digits,mixed,credit-g,car,churn,ionosphere,cmc,segment",
    )
    parser.add_argument("--max-evals", type=int, default=12)
    parser.add_argument("--out", default="export.csv")
    arguments = parser.parse_args()
    require_data(parser, arguments)
    warnings.simplefilter("ignore")
    results = Results(arguments.out, ["name", "seed"])
    for name, seed in results.missing(arguments.names, [0]):
        run = compare(arguments.data, name, arguments.python, arguments.max_evals, seed)
        results.add((name, seed), run)


if __name__ == "__main__":
    main()
