"""Page two: limits."""

import pytest

from skauto import ConstrainedAutoClassifier
from skauto.constraints import FalseNegativeRate, ModelSize
from skauto.exceptions import InfeasibleWarning
from tests.display.fitted import small_space
from tests.display.pages import Outline


def test_limits_are_in_the_report_of_a_search_within_limits(table_of_two, tmp_path):
    clf = ConstrainedAutoClassifier(
        [ModelSize(1), FalseNegativeRate(0.9)],
        "random",
        max_evals=3,
        cv=2,
        space=small_space(),
        random_state=0,
    )
    with pytest.warns(InfeasibleWarning):
        clf.fit(*table_of_two)
    clf.save_report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Limits and fairness" in Outline(page).sections["analyst"]
    assert "from skauto.constraints import FalseNegativeRate, ModelSize" in page
    assert "false_negative_rate" in page
    assert "does not keep all of the limits" in Outline(page).texts["summary"]
    assert "not all kept" in clf._repr_html_()
