"""Artificial objectives on pipeline spaces, to test and compare strategies."""

import numpy as np

from skauto.space import Configuration, Integer, Real, SearchSpace
from skauto.utils import FloatArray

__all__ = ["make_artificial_objective", "make_artificial_space"]

_N_SAMPLES = 10
_SMALL = 1e-12  # smallest denominator of the scale


class ArtificialObjective:
    """Artificial objective, see `make_artificial_objective`."""

    def __init__(self, space: SearchSpace, seed: int = 0) -> None:
        self.space = space
        self.seed = seed
        rng = np.random.default_rng(seed)
        self._weights: dict[tuple[str, str], FloatArray] = {}
        self._draws: dict[tuple[str, str], FloatArray] = {}
        for step in space.steps:
            for component in space.components(step):
                key = (step, component.name)
                self._weights[key] = rng.standard_normal(max(1, len(component.parameters)))
                self._draws[key] = rng.standard_normal(_N_SAMPLES)

    def __call__(self, configuration: Configuration) -> float:
        """Return the loss of a configuration of the space, which is not negative."""
        loss = 0.0
        for step, name in configuration.components:
            scale = self._scale(configuration, step, name)
            loss = float(np.abs(loss + scale * self._draws[step, name]).max())
        return loss

    def _scale(self, configuration: Configuration, step: str, name: str) -> float:
        """Scale v_i of one step."""
        weights = self._weights[step, name]
        parameters = self.space.component(step, name).parameters
        if not parameters:
            return abs(float(weights[0]))
        values = configuration.parameters(step)
        theta = np.zeros(len(parameters))
        for k, (key, parameter) in enumerate(parameters.items()):
            if key in values:
                theta[k] = parameter.to_unit([values[key]])[0]
        return abs(float(weights @ theta)) / max(float(theta.sum()), _SMALL)


def make_artificial_objective(space: SearchSpace, seed: int = 0) -> ArtificialObjective:
    r"""Make the artificial objective of the ADMM paper [1]_ on a search space.

    Algorithm j of step i has fixed weights :math:`w_{ij} \sim N(0, 1)`, one for each
    hyper-parameter, and ten fixed draws :math:`e_{ijm} \sim N(0, 1)`. With :math:`f_0 = 0`, the
    selected algorithms give

    .. math::

        v_i = \left| \frac{w_{ij} \cdot \theta_{ij}}{1 \cdot \theta_{ij}} \right|, \qquad
        f_i = \max_m | f_{i-1} + v_i \, e_{ijm} |,

    and the loss is :math:`f_i` of the last step. An algorithm without hyper-parameters has one
    weight and :math:`v_i = |w_{ij}|`. Hyper-parameters :math:`\theta_{ij}` are on the unit scale
    of their ranges; inactive ones are 0.

    Parameters
    ----------
    space : SearchSpace
        Space of the configurations.
    seed : int, default=0
        Seed of the weights and the draws.

    Returns
    -------
    objective : ArtificialObjective
        Function that returns the loss of a configuration.

    References
    ----------
    .. [1] S. Liu, P. Ram et al., "An ADMM Based Framework for AutoML Pipeline Configuration",
       AAAI 2020, Appendix 15.

    Examples
    --------
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> space = make_artificial_space(n_steps=2)
    >>> make_artificial_objective(space)(space.default()) >= 0
    True
    """
    return ArtificialObjective(space, seed)


def make_artificial_space(
    n_steps: int = 3, n_algorithms: int = 4, n_continuous: int = 2, n_integers: int = 2
) -> SearchSpace:
    """Make a search space of algorithms without estimators.

    Parameters
    ----------
    n_steps : int, default=3
        Number of steps.
    n_algorithms : int, default=4
        Number of algorithms of each step.
    n_continuous : int, default=2
        Number of hyper-parameters in [0, 1] of each algorithm.
    n_integers : int, default=2
        Number of integer hyper-parameters, from 1 to 20, of each algorithm.

    Returns
    -------
    space : SearchSpace
        Steps ``step_0``, ... with algorithms ``algorithm_0``, ...

    Examples
    --------
    >>> from skauto.objectives import make_artificial_space
    >>> space = make_artificial_space(n_steps=2, n_algorithms=3)
    >>> len(space.structures), space.n_dimensions
    (9, 26)
    """
    space = SearchSpace([f"step_{i}" for i in range(n_steps)], name="artificial")
    for step in space.steps:
        for j in range(n_algorithms):
            parameters: dict[str, Real | Integer] = {
                f"real_{k}": Real(0.0, 1.0) for k in range(n_continuous)
            }
            parameters |= {f"integer_{k}": Integer(1, 20) for k in range(n_integers)}
            space.add(step, f"algorithm_{j}", parameters=parameters)
    return space
