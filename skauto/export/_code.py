"""Export of a fitted model as a folder that predicts without skauto."""

import hashlib
import io
import os
import pickle
import pkgutil
import platform
import re
from collections.abc import Callable
from functools import cache
from importlib import metadata
from pathlib import Path
from types import FunctionType
from typing import Any

from sklearn.base import BaseEstimator

from skauto.data import TableReader
from skauto.export._fitted import fitted_ensemble
from skauto.export._source import OWN, copied, imported
from skauto.model import PipelineEnsemble

# Packages that every exported model needs.
_ALWAYS = {"numpy", "scipy", "sklearn", "joblib", "pandas"}
# Names of the installed distributions by package; reading them takes a second.
_distributions = cache(metadata.packages_distributions)

_SCRIPT = '''"""Predict with a model that was found by skauto. It does not need skauto.

    python predict.py table.csv > predictions.csv

The probabilities are the weighted average of fitted scikit-learn pipelines, see MEMBERS.
"""

import pickle
import sys
from pathlib import Path

# Columns that held strings in the training table. In a file they may look like numbers, or hold
# strings such as "NA", which are no missing values: only empty entries are.
STRINGS = {strings}
# Weight and steps of each pipeline.
MEMBERS = {members}
FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))  # the model imports {package}

with open(FOLDER / "model.pickle", "rb") as file:
    MODEL = pickle.load(file)


def predict_proba(X):
    """Class probabilities of shape (n_samples, n_classes), in the order of MODEL.classes_."""
    return MODEL.predict_proba(X)


def predict(X):
    """Class of each row."""
    return MODEL.predict(X)


if __name__ == "__main__":
    import pandas as pd

    if len(sys.argv) != 2:
        sys.exit("usage: python predict.py table.csv > predictions.csv")
    path = sys.argv[1]
    try:
        table = pd.read_csv(path, dtype=dict.fromkeys(STRINGS, str))
        options = {{"dtype": str, "keep_default_na": False, "na_values": ""}}
        strings = pd.read_csv(path, usecols=STRINGS, **options)
        table[strings.columns] = strings
        names = getattr(MODEL.reader, "feature_names_in_", None)
        if names is None:
            table.columns = range(table.shape[1])
        else:
            table = table[[name for name in names if name in table]]
        predictions = pd.DataFrame(predict_proba(table), columns=MODEL.classes_)
        predictions.insert(0, "predicted", predict(table), allow_duplicates=True)
    except (OSError, ValueError, TypeError) as error:
        sys.exit(f"{{path}} cannot be predicted: {{error}}")
    predictions.to_csv(sys.stdout, index=False)
'''

_README = """# A model for {n_classes} classes

Found by skauto {version} on Python {python}. It does not need skauto.

    pip install -r requirements.txt
    python predict.py table.csv > predictions.csv

From Python: `from predict import predict, predict_proba`. Tables need the columns of the training
table. `model.pickle` holds the fitted scikit-learn objects; load it only if you trust its source.
`{package}` holds the source code of classes that are not part of scikit-learn. The versions in
requirements.txt are those of the fit; other versions may give other predictions.
"""


def export_code(estimator: BaseEstimator, folder: str | os.PathLike[str]) -> Path:
    """Write a folder that makes the same predictions as a fitted model, without skauto.

    The folder contains ``predict.py``, a script with ``predict`` and ``predict_proba``;
    ``model.pickle``, the fitted scikit-learn pipelines and their weights; a package with the
    modules of skauto that they need, mainly the table reader; ``requirements.txt``
    with the versions of the packages; and ``README.md``.

    Parameters
    ----------
    estimator : AutoClassifier or PipelineEnsemble
        A fitted estimator.
    folder : path-like
        Folder to create. An existing one must be empty.

    Returns
    -------
    folder : Path
        The folder.

    Raises
    ------
    FileExistsError
        If the folder is not empty.
    ValueError
        If the model contains a class that was defined in a script or a notebook.

    Notes
    -----
    Importing ``predict.py`` adds the folder to ``sys.path``. The name of the package is that of
    the folder with the ending ``_code_`` and a hash of the content, so that one process can load
    several models.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from skauto import AutoClassifier
    >>> from skauto.export import export_code
    >>> X, y = load_iris(return_X_y=True)
    >>> automl = AutoClassifier(max_evals=2, cv=3, random_state=0).fit(X, y)
    >>> folder = export_code(automl, Path(tempfile.mkdtemp()) / "iris")
    >>> sorted(path.name for path in folder.iterdir() if path.is_file())
    ['README.md', 'model.pickle', 'predict.py', 'requirements.txt']
    """
    ensemble = fitted_ensemble(estimator)
    folder = Path(folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise FileExistsError(
            f"The 'folder' of export_code must be new or empty. Got {str(folder)!r}; "
            "remove what is in it or name another one."
        )
    package = _package_name(ensemble, folder)
    model, source, packages = _pickled(ensemble, package)
    _write(folder / "model.pickle", model)
    about = {
        "package": package,
        "strings": ascii(_string_columns(ensemble.reader)),
        "members": _described(ensemble),
        "n_classes": len(ensemble.classes_),
        "version": metadata.version(OWN),
        "python": platform.python_version(),
    }
    files = {
        **source,
        "predict.py": _SCRIPT.format(**about),
        "README.md": _README.format(**about),
        "requirements.txt": _requirements(packages),
    }
    for name, text in files.items():
        _write(folder / name, text.encode("utf-8"))
    return folder


def _write(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)


def _package_name(ensemble: BaseEstimator, folder: Path) -> str:
    """Name of the exported package: that of the folder and a hash of the model and its source."""
    stem = re.sub(r"\W", "_", f"{folder.resolve().name}_code")
    stem = stem if stem.isidentifier() else f"_{stem}"
    model, source, _ = _pickled(ensemble, stem)
    digest = hashlib.sha256(model + repr(sorted(source.items())).encode()).hexdigest()
    return f"{stem}_{digest[:8]}"


def _string_columns(reader: TableReader) -> list[str | int]:
    """Names, or else positions, of the columns that held strings in the training table."""
    named = hasattr(reader, "feature_names_in_")
    return [
        column.name if named else position
        for position, column in enumerate(reader.columns_ or [])
        if column.n_levels is not None and getattr(column.encoder, "of_strings", True)
    ]


def _described(ensemble: PipelineEnsemble) -> str:
    """Write the weights of the members and their steps after the reader as a literal."""
    lines = []
    for weight, member in zip(ensemble.weights, ensemble.members, strict=True):
        steps = [" ".join(repr(step).split()) for _, step in member.steps]
        lines.append(f"    ({weight:.4f}, {steps!a}),")
    return "\n".join(["[", *lines, "]"])


class _ForeignPickler(pickle.Pickler):
    """Pickle an object so that its classes of skauto are looked up in the exported package.

    `modules` are those of skauto that were found, and `packages` the other ones.
    """

    def __init__(self, file: io.BytesIO, package: str) -> None:
        super().__init__(file, protocol=5)
        self.package = package
        self.modules: set[str] = set()
        self.packages: set[str] = set()

    def reducer_override(self, obj: Any) -> tuple[Callable[..., Any], tuple[str]] | Any:
        """Pickle a class or a function of skauto by its name in the exported package."""
        if not isinstance(obj, type | FunctionType):
            return NotImplemented
        module, name = obj.__module__, obj.__qualname__
        if module == "__main__":
            raise ValueError(
                f"The model contains {name!r}, which was defined in a script or a notebook and "
                "cannot be exported. Move it to a module and fit again."
            )
        if module.split(".")[0] != OWN:
            self.packages.add(module.split(".")[0])
            return NotImplemented
        self.modules.add(module)
        place = module.replace(OWN, self.package, 1)
        return pkgutil.resolve_name, (f"{place}:{name}",)


def _pickled(ensemble: BaseEstimator, package: str) -> tuple[bytes, dict[str, str], set[str]]:
    """Return the pickled ensemble, the source files of its classes and its packages."""
    file = io.BytesIO()
    pickler = _ForeignPickler(file, package)
    pickler.dump(ensemble)
    source = copied(pickler.modules, package)
    return file.getvalue(), source, pickler.packages | imported(source)


def _requirements(packages: set[str]) -> str:
    """List the installed distributions of packages with their versions."""
    names = {name for p in packages | _ALWAYS for name in _distributions().get(p, ())}
    return "".join(f"{name}=={metadata.version(name)}\n" for name in sorted(names, key=str.lower))
