"""Plots, report and summary of a fitted estimator. Users find the plots in ``skauto.plotting``."""

from skauto.display._report import report_html
from skauto.display._summary import summary_html

__all__ = ["report_html", "summary_html"]
