"""The user's table: read once into a numeric matrix, summarized and split into folds."""

from skauto.data._facts import DataFacts
from skauto.data._reader import TableReader
from skauto.data._splits import make_splits
from skauto.data._time_split import TimeSplit
from skauto.data._training import TrainingData

__all__ = ["DataFacts", "TableReader", "TimeSplit", "TrainingData", "make_splits"]
