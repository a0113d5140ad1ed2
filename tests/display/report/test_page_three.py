"""Page three: columns."""

from skauto.display._page import text


def test_kinds_of_the_columns_are_in_the_report(of_two, report):
    engineer = report[report.index('<article id="engineer"') :]
    for row in of_two.table_report().itertuples():
        assert f">{text(row.column)}<" in engineer
        assert text(row.why) in engineer
