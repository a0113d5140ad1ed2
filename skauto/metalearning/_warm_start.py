"""Which configurations to try first, from what is known of other data sets."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skauto.metalearning._archive import Archive
from skauto.metalearning._prices import load_order, load_prices
from skauto.space import Configuration, SearchSpace

# Power of the seconds in the gain per second.
COST_EXPONENT = 0.7
# Steps whose algorithm depends on whether there are categories and missing entries.
_OF_THE_DATA = ("encoder", "imputer")


def nearest_configurations(
    archive: Archive, features: Mapping[str, float], space: SearchSpace, n: int = 25
) -> list[Configuration]:
    """Begin with what was best on the nearest data sets (MOSAIC.MetaLearning).

    Those of :meth:`Archive.advice`, which leaves out the data set itself and near copies of it, so
    that an evaluation on a known data set is honest. Where no data set is near, the portfolio
    of the archive takes their place.

    Parameters
    ----------
    archive : Archive
        What is known of other data sets.
    features : mapping of str to float
        Meta-features of the data set.
    space : SearchSpace
        Where the search takes place, perhaps a part of the archive's space.
    n : int, default=25
        Number of configurations, at most.

    Returns
    -------
    configurations : list of Configuration
        Configurations of the space, in the order in which to try them.

    References
    ----------
    .. [1] H. Rakotoarison, M. Schoenauer, M. Sebag, "Automated Machine Learning with Monte-Carlo
       Tree Search", IJCAI 2019, section 3.4. There the best of the nearest set comes first, then
       that of the next one, alike or not.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.metalearning import Archive, nearest_configurations
    >>> from skauto.space import SearchSpace
    >>> space = SearchSpace().add("classifier", "tree")
    >>> archive = Archive("custom", "accuracy", (space.default(),), ())
    >>> nearest_configurations(archive, {}, space)
    []
    """
    advice = archive.advice(features)
    if not advice:
        return fitting(archive.without_copies(features).portfolio(n), space)
    return fitting(advice, space)[:n]


def portfolio_configurations(
    space: SearchSpace,
    *,
    n_classes: int = 2,
    has_categories: bool = False,
    price: Callable[[Configuration], float] | None = None,
    n: int = 16,
) -> list[Configuration]:
    """Begin with what improved the ensemble most per second on the development sets.

    The order was learned by greedy selection, for each shape of table
    (``examples/benchmarks/build_portfolio.py``). Classifiers that were not there, such as the
    user's own, enter with their defaults after the first quarter. Where no configuration lies in
    the space, its default configurations are taken.

    Parameters
    ----------
    space : SearchSpace
        Where the search takes place.
    n_classes : int, default=2
        Of the table.
    has_categories : bool, default=False
        Whether it has categorical columns.
    price : callable, default=None
        ``price(configuration)`` gives the predicted seconds of a fit on the table. With it, the
        configurations are ordered by gain per second on the table, instead of on the development
        sets.
    n : int, default=16
        Number of configurations from the learned order, at most.

    Returns
    -------
    configurations : list of Configuration
        Configurations of the space, in the order in which to try them.

    Examples
    --------
    >>> from skauto.metalearning import portfolio_configurations
    >>> from skauto.space import get_space
    >>> len(portfolio_configurations(get_space("default"), n=3))
    3
    """
    if space.name != "default":
        return space.default_configurations()
    gains: dict[Configuration, float] = {}
    for configuration, gain in load_order(n_classes, has_categories):
        adapted = adapt_configuration(configuration, space)
        if adapted is not None:
            gains.setdefault(adapted, gain)
    if not gains:
        return space.default_configurations()
    learned = list(gains)
    if price is not None:
        merits = {c: gain / price(c) ** COST_EXPONENT for c, gain in gains.items()}
        learned.sort(key=lambda configuration: -merits[configuration])
    learned = learned[:n]
    known = load_prices().coefficients
    defaults = space.default_configurations()
    own = [c for c in defaults if c.structure[-1] not in known and c not in gains]
    first = -(-len(learned) // 4)
    return [*learned[:first], *own, *learned[first:]]


def fitting(configurations: Sequence[Configuration], space: SearchSpace) -> list[Configuration]:
    """Those that the space can express, without repetition."""
    adapted = (adapt_configuration(configuration, space) for configuration in configurations)
    return list(dict.fromkeys(c for c in adapted if c is not None))


def adapt_configuration(configuration: Configuration, space: SearchSpace) -> Configuration | None:
    """Express a configuration of one space in another, such as its part for some data.

    A step for which the other space has a single algorithm takes it, and a hyper-parameter with a
    single value takes that. The encoder and the imputer
    answer to the data: where the given ones are not legal, those are taken that the other space
    prefers beside the rest.

    Parameters
    ----------
    configuration : Configuration
        Any configuration.
    space : SearchSpace
        The space that it shall lie in.

    Returns
    -------
    configuration : Configuration or None
        None where the space lacks an algorithm of a further step or a value, or forbids a pair.

    Examples
    --------
    >>> from skauto.metalearning import adapt_configuration
    >>> from skauto.space import Configuration, SearchSpace
    >>> space = SearchSpace(["imputer", "classifier"]).add("imputer", "none")
    >>> space = space.add("classifier", "tree").add("classifier", "forest")
    >>> configuration = Configuration({"imputer": "mean", "classifier": "forest"})
    >>> adapt_configuration(configuration, space)
    <Configuration imputer=none, classifier=forest>
    """
    choices: dict[str, tuple[str, dict[str, Any]]] = {}
    for step in space.steps:
        names = [component.name for component in space.components(step)]
        if step in configuration.steps and configuration[step] in names:
            fixed = space.component(step, configuration[step]).settings
            values = configuration.parameters(step).items()
            choices[step] = (configuration[step], {k: v for k, v in values if k not in fixed})
        elif len(names) == 1:
            choices[step] = (names[0], {})
        elif step not in _OF_THE_DATA:
            return None
    rest = {step: choice for step, choice in choices.items() if step not in _OF_THE_DATA}
    for given in (choices, rest):
        # A pair of algorithms may be forbidden, or a value out of range.
        with contextlib.suppress(ValueError):
            return space.complete(given)
    return None
