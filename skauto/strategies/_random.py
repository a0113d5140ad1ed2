"""Random search: independent samples from the prior of the space."""

from skauto.history import History, Proposal
from skauto.strategies._base import Strategy
from skauto.utils import FloatArray

_BATCH = 64


class RandomSearch(Strategy):
    """Random search: sample configurations from the prior of the space, without repetition.

    Algorithms are sampled uniformly, step by step, among the legal structures. Hyper-parameters
    are sampled from their distributions.

    References
    ----------
    .. [1] J. Bergstra, Y. Bengio, "Random Search for Hyper-Parameter Optimization", Journal of
       Machine Learning Research 13, 2012, section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.history import History
    >>> from skauto.objectives import make_artificial_space
    >>> from skauto.strategies import RandomSearch
    >>> strategy = RandomSearch().start(make_artificial_space(), np.random.default_rng(0))
    >>> proposal = strategy.ask(History())
    >>> proposal.origin
    'random'
    """

    def _start(self) -> None:
        self._drawn: list[FloatArray] = []

    def suggest(self, history: History, pending: tuple[Proposal, ...]) -> Proposal | None:
        if not self._drawn:  # sampling in batches is faster
            self._drawn.extend(self.space.sample(_BATCH, self.rng))
        configuration = self.first_new(self._drawn.pop()[None])
        return self.proposal(configuration or self.sample_new(), "random")
