"""The line that says what the report is waiting for."""

from tests.display.report.customers import held_out


def test_verbose_writes_one_line_on_the_standard_error(fitted, customers, capsys):
    fitted.report_dict(**held_out(customers))
    assert capsys.readouterr() == ("", "")
    fitted.set_params(verbose=1).report_dict(**held_out(customers))
    out, err = capsys.readouterr()
    fitted.set_params(verbose=0)
    assert out == ""
    assert err.startswith("report: predictions, scores, importance")
    assert err.count("\n") == 1
