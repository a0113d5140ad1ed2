"""The report on a fitted estimator: its content as plain data, and as an HTML page."""

from skauto.display._report._content import report_dict, report_html

__all__ = ["report_dict", "report_html"]
