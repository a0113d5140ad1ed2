"""Meta-learning: meta-features, results on other data sets, and predicted training times."""

from skauto.metalearning._archive import Archive, KnownDataSet, load_archive
from skauto.metalearning._fit_times import FitTimeModel
from skauto.metalearning._meta_features import META_FEATURES, meta_features
from skauto.metalearning._warm_start import (
    adapt_configuration,
    nearest_configurations,
    portfolio_configurations,
)

__all__ = [
    "META_FEATURES",
    "Archive",
    "KnownDataSet",
    "FitTimeModel",
    "adapt_configuration",
    "load_archive",
    "meta_features",
    "nearest_configurations",
    "portfolio_configurations",
]
