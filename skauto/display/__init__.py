"""Plots, report and summary of a fitted estimator; the plots are in ``skauto.plotting``."""
