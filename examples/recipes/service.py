"""Answer over HTTP: MODEL=folder_or_file uvicorn service:app."""

import os
import runpy
from pathlib import Path
from typing import Any

import joblib
import pandas as pd
from fastapi import FastAPI, HTTPException

path = Path(os.environ["MODEL"])  # only a file or a folder that you trust
model = runpy.run_path(str(path / "predict.py"))["MODEL"] if path.is_dir() else joblib.load(path)
model = getattr(model, "ensemble_", model)  # all that predicts; an exported folder holds only it
columns = list(model.reader.feature_names_in_)
app = FastAPI()


@app.post("/predict")
def predict(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Class and probabilities of each row; the rows are objects from column to value."""
    table = pd.DataFrame(rows)
    missing = [name for name in columns if name not in table]
    if missing:
        raise HTTPException(422, f"The rows lack the columns {missing}.")
    try:
        probabilities = model.predict_proba(table[columns])
        labels = model.predict(table[columns])
    except (TypeError, ValueError) as error:  # cells of another kind than in fit
        raise HTTPException(422, str(error)) from error
    names = [str(label) for label in model.classes_]
    answers = zip(labels.tolist(), probabilities.tolist(), strict=True)
    return [{"class": a, "probabilities": dict(zip(names, p, strict=True))} for a, p in answers]
