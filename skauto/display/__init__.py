"""The plots. Users find them in ``skauto.plotting``."""
