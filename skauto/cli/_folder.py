"""The folder of a model: the estimator, its report, and a summary as JSON."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib

from skauto.cli._messages import CommandError

MODEL, REPORT, SUMMARY = "model.joblib", "report.html", "summary.json"
# What predictions need of the summary.
_USED = {"target", "dropped", "read_as_text"}


@contextmanager
def new_folder(path: Path, overwrite: bool) -> Iterator[None]:
    """Make the folder of a model, which its owner can read; leave none behind after an error."""
    if path.exists() and not path.is_dir():
        raise CommandError(f"--out must name a folder. Got the file {str(path)!r}.")
    if not overwrite and path.is_dir() and any(path.iterdir()):
        raise CommandError(
            f"The folder of --out must be new or empty. Got {str(path)!r}; name another one, or "
            "replace the model in it with --overwrite."
        )
    is_new = not path.exists()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"The folder {str(path)!r} cannot be made: {error}.") from error
    if not os.access(path, os.W_OK):
        raise CommandError(f"The folder {str(path)!r} cannot be written to.")
    try:
        yield
    except BaseException:
        if is_new and not any(path.iterdir()):
            path.rmdir()
        raise


def save_model(folder: Path, estimator: Any) -> None:
    """Write the estimator, and remove the report and the summary of an earlier one."""
    for name in (REPORT, SUMMARY):
        (folder / name).unlink(missing_ok=True)
    joblib.dump(estimator, folder / MODEL)


def save_summary(folder: Path, summary: Mapping[str, Any]) -> None:
    """Write the summary, which marks a complete folder."""
    (folder / SUMMARY).write_text(as_json(summary) + "\n", encoding="utf-8")


def as_json(content: Mapping[str, Any]) -> str:
    """Write data as JSON; classes that JSON does not have, such as dates, as text."""
    return json.dumps(content, indent=2, ensure_ascii=False, default=str)


def load_model(folder: Path) -> tuple[Any, dict[str, Any]]:
    """Return the estimator and the summary of a folder."""
    if not folder.is_dir():
        raise CommandError(
            f"There is no folder {str(folder)!r}. `skauto fit ... --out {folder}` writes one."
        )
    for name in (MODEL, SUMMARY):
        if not (folder / name).is_file():
            raise CommandError(
                f"The folder {str(folder)!r} holds no {name}; it is not the folder of a model."
            )
    try:
        summary = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        estimator = joblib.load(folder / MODEL)
        if not (hasattr(estimator, "feature_names_in_") and set(summary) >= _USED):
            raise ValueError("it is not what `skauto fit` has written")
    except Exception as error:  # unpickling can raise anything
        text = str(error) or type(error).__name__
        raise CommandError(
            f"The model in {str(folder)!r} cannot be loaded: {text}. It may be damaged, or "
            f"written by other versions than skauto {version('skauto')} and scikit-learn "
            f"{version('scikit-learn')}; fit it again."
        ) from error
    return estimator, summary
