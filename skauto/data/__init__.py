"""The user's table: read once into a numeric matrix, described by facts, split into folds."""

from skauto.data._facts import DataFacts
from skauto.data._reader import TableReader, as_table
from skauto.data._splits import make_splits, stratified_subset

__all__ = ["DataFacts", "TableReader", "as_table", "make_splits", "stratified_subset"]
