"""The default space with XGBoost, for searches of minutes."""

from collections.abc import Iterable
from importlib.util import find_spec

from skauto.space._space import SearchSpace
from skauto.space.catalog._default import default
from skauto.space.catalog._optional import XGBOOST


def extended(sensitive: Iterable[str] = (), vary_size: bool = False) -> SearchSpace:
    """Build the default space with CatBoost and XGBoost, if both are installed."""
    missing = [name for name in ("catboost", "xgboost") if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"The space 'extended' needs {' and '.join(missing)}: pip install skauto[extended]"
        )
    return default(sensitive, vary_size, "extended", [XGBOOST])
