"""The named search spaces."""

from collections.abc import Callable, Iterable

from skauto.space._space import SearchSpace
from skauto.space.catalog import papers
from skauto.space.catalog._default import default
from skauto.space.catalog._extended import extended
from skauto.utils import known_names

_OWN: dict[str, Callable[[Iterable[str], bool], SearchSpace]] = {
    "default": default,
    "extended": extended,
}


def get_space(name: str, sensitive: Iterable[str] = (), *, vary_size: bool = False) -> SearchSpace:
    """Build a named search space.

    Parameters
    ----------
    name : str
        One of ``"default"``, ``"extended"`` (with CatBoost and XGBoost), ``"admm_small"``,
        ``"admm_large"``, ``"mosaic"``, ``"flash"``, ``"divbo"``, ``"fang_mlp"``, ``"fang_gbm"``.
    sensitive : iterable of str, default=()
        Sensitive features, by which ``"default"`` and ``"extended"`` may weigh the rows. The
        spaces of the papers ignore them.
    vary_size : bool, default=False
        Whether the numbers of trees and of boosting rounds are hyper-parameters of ``"default"``
        and ``"extended"``, for limits on the size or the latency of a model.

    Returns
    -------
    SearchSpace
        A new space, which may be modified.

    Examples
    --------
    >>> from skauto.space import get_space
    >>> get_space("default").default()["classifier"]
    'lightgbm'
    """
    if name in _OWN:
        return _OWN[name](sensitive, vary_size)
    if name in papers.__all__:
        space: SearchSpace = getattr(papers, name)()
        return space
    known = known_names(name, [*_OWN, *papers.__all__])
    raise ValueError(f"unknown search space {name!r}; {known}")
