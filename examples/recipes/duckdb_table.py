"""Fit on the result of a query, and write predictions back: DuckDB and polars."""

import duckdb
import polars as pl
from sklearn.datasets import load_breast_cancer

from skauto import AutoClassifier

database = duckdb.connect("patients.duckdb")
frame = load_breast_cancer(as_frame=True).frame  # DuckDB finds the name in the query
database.execute("CREATE OR REPLACE TABLE patients AS SELECT * FROM frame")

train = database.sql("SELECT * FROM patients USING SAMPLE 80% (bernoulli, 0)").pl()
clf = AutoClassifier(max_evals=10, random_state=0)
clf.fit(train.drop("target"), train["target"])

patients = database.sql("SELECT rowid, * FROM patients").pl()
probability = clf.predict_proba(patients.drop("rowid", "target"))[:, 1]
answers = patients.select("rowid").with_columns(pl.Series("probability", probability))
database.execute("CREATE OR REPLACE TABLE answers AS SELECT * FROM answers")
query = "SELECT target, avg(probability) FROM patients p JOIN answers a ON p.rowid = a.rowid"
print(database.sql(f"{query} GROUP BY target ORDER BY target").pl())
