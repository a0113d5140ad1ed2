"""What constraints are measured on, and their safety margins."""

import numpy as np
import pytest

from skauto.constraints._evidence import Margin, cautious_mean


def test_cautious_mean_adds_standard_errors():
    values = [0.1, 0.2, 0.4, np.nan]
    defined = np.array(values[:3])
    expected = defined.mean() + 1.5 * defined.std(ddof=1) / np.sqrt(3)
    assert cautious_mean(values, 1.5) == pytest.approx(expected)
    assert cautious_mean([0.3], 1.5) == 0.3
    assert np.isnan(cautious_mean([np.nan], 1.5))


@pytest.mark.parametrize("text", ["95", "30%", "100%", "a lot", "%"])
def test_a_confidence_is_a_percentage(text):
    with pytest.raises(ValueError, match="at least 50% and less than 100%"):
        Margin.of(text)
