"""The named search spaces."""

from collections.abc import Callable, Iterable

from skauto.space._space import SearchSpace, known_names
from skauto.space.catalog import papers
from skauto.space.catalog._default import default

_SPACES: dict[str, Callable[[], SearchSpace]] = {
    "default": default,
    "admm_small": papers.admm_small,
    "admm_large": papers.admm_large,
    "mosaic": papers.mosaic,
    "flash": papers.flash,
    "divbo": papers.divbo,
    "fang_mlp": papers.fang_mlp,
    "fang_gbm": papers.fang_gbm,
}


def get_space(name: str, sensitive: Iterable[str] = ()) -> SearchSpace:
    """Build a named search space.

    Parameters
    ----------
    name : str
        One of ``"default"``, ``"admm_small"``, ``"admm_large"``, ``"mosaic"``, ``"flash"``,
        ``"divbo"``, ``"fang_mlp"``, ``"fang_gbm"``.
    sensitive : iterable of str, default=()
        Sensitive features, by which ``"default"`` may weigh the rows. The spaces of the papers
        stay as they are.

    Returns
    -------
    SearchSpace
        A new space, which may be changed.

    Examples
    --------
    >>> from skauto.space import get_space
    >>> get_space("default").default()["classifier"]
    'lightgbm'
    """
    if name not in _SPACES:
        raise ValueError(f"unknown search space {name!r}; {known_names(name, _SPACES)}")
    return default(sensitive) if name == "default" else _SPACES[name]()
