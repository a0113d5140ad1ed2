"""The user's table: read once into a numeric matrix, summarised and split into folds."""

from skauto.data._facts import DataFacts
from skauto.data._reader import TableReader
from skauto.data._splits import Split, affordable_folds, make_splits, stratified_subset
from skauto.data._table import as_table, column_names
from skauto.data._training import METADATA, TrainingData, read_training_data

__all__ = [
    "METADATA",
    "DataFacts",
    "Split",
    "TableReader",
    "TrainingData",
    "affordable_folds",
    "as_table",
    "column_names",
    "make_splits",
    "read_training_data",
    "stratified_subset",
]
