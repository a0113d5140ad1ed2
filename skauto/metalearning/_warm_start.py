"""Warm start: initial configurations from results on other data sets."""

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skauto.metalearning._archive import Archive
from skauto.metalearning._fit_times import load_fit_time_model, load_order, table_kind
from skauto.space import Configuration, SearchSpace

# Configurations are ordered by gain / seconds ** COST_EXPONENT.
COST_EXPONENT = 0.7
# Steps whose algorithm depends on whether there are categories and missing entries.
_DATA_DEPENDENT_STEPS = ("encoder", "imputer")


def nearest_configurations(
    archive: Archive, features: Mapping[str, float], space: SearchSpace, n: int = 25
) -> list[Configuration]:
    """Return the best configurations of the nearest data sets (MOSAIC.MetaLearning).

    They are those of :meth:`Archive.advice`, which excludes the data set itself and its near
    copies: an evaluation on a data set of the archive is not biased. If no data set is near, the
    portfolio of the archive is returned.

    Parameters
    ----------
    archive : Archive
        Results on other data sets.
    features : mapping of str to float
        Meta-features of the data set.
    space : SearchSpace
        Search space, which may be a part of the archive's space.
    n : int, default=25
        Maximum number of configurations.

    Returns
    -------
    configurations : list of Configuration
        Configurations of the space, in the order of their evaluation.

    References
    ----------
    .. [1] H. Rakotoarison, M. Schoenauer, M. Sebag, "Automated Machine Learning with Monte-Carlo
       Tree Search", IJCAI 2019, section 3.4. The paper takes the best configuration of the nearest
       set, then that of the second nearest, and so on, and does not remove similar ones.

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
        return adapt_configurations(archive.without_copies(features).portfolio(n), space)
    return adapt_configurations(advice, space)[:n]


def portfolio_configurations(
    space: SearchSpace,
    *,
    n_samples: int = 1_000,
    n_classes: int = 2,
    has_categories: bool = False,
    seconds: Callable[[Configuration], float] | None = None,
    max_seconds: float = math.inf,
    n: int = 12,
) -> list[Configuration]:
    """Return the configurations that improved the ensemble most per second on development sets.

    The order was learned by greedy selection, for each kind of table
    (``examples/benchmarks/build_portfolio.py``). The default configurations of classifiers without
    a learned order, such as the user's own, are inserted after the first quarter. If no learned
    configuration lies in the space, its default configurations are returned.

    Parameters
    ----------
    space : SearchSpace
        Search space.
    n_samples : int, default=1000
        Number of training rows of a fold.
    n_classes : int, default=2
        Number of classes of the table.
    has_categories : bool, default=False
        Whether the table has categorical columns.
    seconds : callable, default=None
        ``seconds(configuration)`` predicts the seconds of a fit on the table. None orders by the
        seconds on the development sets.
    max_seconds : float, default=inf
        Networks have at most as many members as can be fitted in this number of seconds, and at
        least one.
    n : int, default=12
        Maximum number of configurations from the learned order.

    Returns
    -------
    configurations : list of Configuration
        Configurations of the space, in the order of their evaluation.

    Examples
    --------
    >>> from skauto.metalearning import portfolio_configurations
    >>> from skauto.space import get_space
    >>> len(portfolio_configurations(get_space("default"), n=3))
    3
    """
    if space.name not in ("default", "extended"):
        return space.default_configurations()
    gains: dict[Configuration, float] = {}
    for configuration, gain in load_order(table_kind(n_samples, n_classes, has_categories)):
        adapted = adapt_configuration(configuration, space)
        if adapted is not None and seconds is not None:
            adapted = _with_fewer_members(adapted, space, seconds, max_seconds)
        if adapted is not None:
            gains.setdefault(adapted, gain)
    if not gains:
        return space.default_configurations()
    learned = list(gains)
    if seconds is not None:
        merits = {c: gain / seconds(c) ** COST_EXPONENT for c, gain in gains.items()}
        learned.sort(key=lambda configuration: -merits[configuration])
    learned = learned[:n]
    known = load_fit_time_model().coefficients
    defaults = space.default_configurations()
    own = [c for c in defaults if c.algorithm not in known and c not in gains]
    first = -(-len(learned) // 4)
    return [*learned[:first], *own, *learned[first:]]


def _with_fewer_members(
    configuration: Configuration,
    space: SearchSpace,
    seconds: Callable[[Configuration], float],
    max_seconds: float,
) -> Configuration:
    """Halve the number of networks that are averaged until a fit is affordable."""
    step = configuration.steps[-1]
    while seconds(configuration) > max_seconds:
        settings = configuration.to_dict()
        members = settings[step].get("n_members", 1)
        settings[step]["n_members"] = members // 2
        smaller = Configuration.from_dict(settings)
        try:
            space.validate(smaller)
        except ValueError:  # no network, or this part of the space has no smaller one
            return configuration
        configuration = smaller
    return configuration


def adapt_configurations(
    configurations: Sequence[Configuration], space: SearchSpace
) -> list[Configuration]:
    """Adapt configurations to a space; drop duplicates and those that do not fit."""
    adapted = (adapt_configuration(configuration, space) for configuration in configurations)
    return list(dict.fromkeys(c for c in adapted if c is not None))


def adapt_configuration(configuration: Configuration, space: SearchSpace) -> Configuration | None:
    """Convert a configuration of one space into a configuration of another space.

    A step with a single algorithm takes that algorithm, and a hyper-parameter with a single value
    takes that value. If the encoder or imputer is not allowed in the other space, its default for
    the remaining steps replaces it.

    Parameters
    ----------
    configuration : Configuration
        Configuration of any space.
    space : SearchSpace
        Space of the result.

    Returns
    -------
    configuration : Configuration or None
        None if the space lacks an algorithm of another step or a value, or forbids a combination.

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
        elif step not in _DATA_DEPENDENT_STEPS:
            return None
    rest = {step: choice for step, choice in choices.items() if step not in _DATA_DEPENDENT_STEPS}
    for given in (choices, rest):
        # The combination may be forbidden, or a value out of range.
        with contextlib.suppress(ValueError):
            return space.complete(given)
    return None
