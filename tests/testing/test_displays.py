"""The check of a display."""

import pandas as pd
import pytest

from skauto.plotting import PermutationImportanceDisplay
from skauto.testing import check_display


class Bare(PermutationImportanceDisplay):
    """Draws nothing on the axes of the user."""

    def plot(self, ax=None):
        return super().plot()


def test_a_display_is_accepted_or_refused():
    frame = pd.DataFrame({"column": ["age"], "mean": [0.1], "std": [0.05]})
    check_display(PermutationImportanceDisplay(frame))
    with pytest.raises(AssertionError, match="given axes"):
        check_display(Bare(frame))
