"""Importing skauto changes nothing around it, and gives the public names."""

import json
import os
import subprocess
import sys
from pathlib import Path

import skauto

OPTIONAL = ["dask", "distributed", "matplotlib", "moocore", "pandas"]

# Runs in a fresh interpreter. What scikit-learn and lightgbm do to the process when they are
# imported is theirs: they are imported before the first look.
REPORT = """
import json, logging, os, sys, tempfile, threading, warnings
import joblib, lightgbm, psutil, scipy.stats, sklearn.ensemble

def state():
    loggers = {
        name: (logger.level, [repr(handler) for handler in logger.handlers])
        for name, logger in logging.root.manager.loggerDict.items()
        if isinstance(logger, logging.Logger) and not name.startswith("skauto")
    }
    return {
        "root logger": (logging.root.level, [repr(h) for h in logging.root.handlers]),
        "loggers": loggers,
        "filters": [repr(f) for f in warnings.filters],
        "cwd": (os.getcwd(), sorted(os.listdir())),
        "environ": dict(os.environ),
        "threads": threading.active_count(),
        "recursion limit": sys.getrecursionlimit(),
    }

loaded = set(sys.modules)
before = state()
import skauto
after = state()
new = {name.split(".")[0] for name in set(sys.modules) - loaded}
print(json.dumps({"before": before, "after": after, "new": sorted(new)}, default=repr))
"""


def run(code: str, folder: Path) -> str:
    """What a fresh interpreter prints; it must say nothing else."""
    finished = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )
    assert finished.stderr == ""
    return finished.stdout


def test_import_leaves_the_process_as_it_was(tmp_path: Path) -> None:
    """Without the optional dependencies, importing which raises an error."""
    block = f"import sys; sys.modules.update(dict.fromkeys({OPTIONAL}))\n"
    report = json.loads(run(block + REPORT, tmp_path))
    assert report["after"] == report["before"]
    # imbalanced-learn takes longer to import than the rest together, and few pipelines need it.
    assert "imblearn" not in report["new"]


def test_public_names_exist_once() -> None:
    assert [name for name in skauto.__all__ if not hasattr(skauto, name)] == []
    assert len(skauto.__all__) == len(set(skauto.__all__))


def test_packages_are_reachable_without_a_second_import():
    script = (
        "import skauto; skauto.plotting.EnsembleDisplay; "
        "skauto.constraints.ModelSize; skauto.data.TableReader; skauto.testing; "
        "assert 'plotting' in dir(skauto) and not hasattr(skauto, 'plot')"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[1])
