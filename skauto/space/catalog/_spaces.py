"""The named search spaces."""

from collections.abc import Callable, Iterable

from skauto.space._space import SearchSpace, known_names
from skauto.space.catalog import papers
from skauto.space.catalog._default import default
from skauto.space.catalog._extended import extended

_USUAL: dict[str, Callable[[Iterable[str]], SearchSpace]] = {
    "default": default,
    "extended": extended,
}
_PAPERS: dict[str, Callable[[], SearchSpace]] = {
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
        One of ``"default"``, ``"extended"`` (with CatBoost and XGBoost), ``"admm_small"``,
        ``"admm_large"``, ``"mosaic"``, ``"flash"``, ``"divbo"``, ``"fang_mlp"``, ``"fang_gbm"``.
    sensitive : iterable of str, default=()
        Sensitive features, by which ``"default"`` and ``"extended"`` may weigh the rows. The
        spaces of the papers stay as they are.

    Returns
    -------
    SearchSpace
        A new space, which may be changed.

    Raises
    ------
    ValueError
        If there is no space of this name.
    ImportError
        If packages that ``"extended"`` needs are not installed.

    Examples
    --------
    >>> from skauto.space import get_space
    >>> get_space("default").default()["classifier"]
    'lightgbm'
    """
    if name in _USUAL:
        return _USUAL[name](sensitive)
    if name in _PAPERS:
        return _PAPERS[name]()
    raise ValueError(f"unknown search space {name!r}; {known_names(name, [*_USUAL, *_PAPERS])}")
