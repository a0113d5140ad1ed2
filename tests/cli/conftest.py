"""Fixtures."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.processes import FAST, run


@pytest.fixture(scope="session")
def customers() -> pd.DataFrame:
    """120 rows with numbers, codes with leading zeros, and the target "churn"."""
    rng = np.random.default_rng(0)
    age, calls = rng.integers(18, 80, 120), rng.poisson(3, 120)
    zips = rng.choice(["00123", "00456", "10999"], 120)
    score = (age - 50) / 10 + calls - 3 + 2 * (zips == "00123") + rng.normal(size=120)
    churn = np.where(score > 0.5, "yes", "no")
    table = {"age": age, "calls": calls, "zip code": [f"z{z}" for z in zips], "churn": churn}
    return pd.DataFrame(table)


@pytest.fixture(scope="session")
def folder(customers: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train.csv, test.csv and a model."""
    folder = tmp_path_factory.mktemp("cli")
    customers[:90].to_csv(folder / "train.csv", index=False)
    customers[90:].to_csv(folder / "test.csv", index=False)
    table = folder / "train.csv"
    done = run("fit", table, "--target", "churn", "--out", folder / "model", *FAST, "--json")
    (folder / "stdout").write_text(done.stdout)
    (folder / "stderr").write_text(done.stderr)
    assert done.returncode == 0
    return folder
