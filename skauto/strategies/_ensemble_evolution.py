"""Regularized evolution for ensembles: parents are members of the population's ensemble."""

from dataclasses import dataclass

import numpy as np

from skauto.history import History, Proposal
from skauto.strategies._base import Observations, Strategy
from skauto.strategies._checks import check_integers
from skauto.strategies._stored_predictions import StoredPredictions

# Maximum number of mutations to try before a random configuration is proposed.
_MAX_MUTANTS = 100


@dataclass(kw_only=True, eq=False, repr=False)
class EnsembleEvolution(Strategy):
    """Regularized evolution of a population from which an ensemble is selected.

    The search of *neural ensemble search* (NES-RE, Algorithm 1 of [1]_) for any search space. The
    population consists of the latest trials: the oldest one is removed when a new one is added
    [2]_. An ensemble is selected greedily from the population. One of its members, chosen at
    random, is the parent, and the proposal is a mutation of the parent in a single choice.

    If no trial of the population has stored predictions, as for a plain objective function, the
    parent is one of the trials with the smallest losses.

    Parameters
    ----------
    population_size : int, default=30
        Size of the population, and number of random initial trials, including those made before
        the first proposal.
    n_members : int, default=10
        Size of the ensemble, counting repeated members.

    See Also
    --------
    DivBO : Combines performance and diversity in the acquisition.

    Notes
    -----
    Deviation from [1]_: the ensemble is selected from the 10 best trials of the population and its
    3 best of each classifier, as the final ensemble of the search is.

    References
    ----------
    .. [1] S. Zaidi, A. Zela, T. Elsken, C. C. Holmes, F. Hutter, Y. W. Teh, "Neural Ensemble
       Search for Uncertainty Estimation and Dataset Shift", NeurIPS 2021, Algorithm 1.
    .. [2] E. Real, A. Aggarwal, Y. Huang, Q. V. Le, "Regularized Evolution for Image Classifier
       Architecture Search", AAAI 2019, Algorithm 1.

    Examples
    --------
    >>> from skauto import minimize
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> from skauto.strategies import EnsembleEvolution
    >>> space = make_artificial_space(n_steps=2)
    >>> objective = make_artificial_objective(space)
    >>> strategy = EnsembleEvolution(population_size=5)
    >>> result = minimize(objective, space, strategy=strategy, max_evals=10, random_state=0)
    >>> result.history[-1].origin
    'mutation'
    """

    population_size: int = 30
    selects_ensemble = True

    n_members: int = 10

    def _start(self) -> None:
        check_integers(self, population_size=1, n_members=1)
        self._stored = StoredPredictions()

    def suggest(self, history: History, pending: tuple[Proposal, ...]) -> Proposal | None:
        observations = self.observations(history)
        self._stored.update(observations, history)
        n_begun = len(observations) + len(pending)
        if n_begun >= self.population_size and observations.ok.any():
            parent = observations.vectors[self._parent(observations)]
            neighbors = self.space.neighbors(parent, self.rng)
            self.rng.shuffle(neighbors)
            mutant = self.first_new(neighbors[:_MAX_MUTANTS])
            if mutant is not None:
                return Proposal(mutant, origin="mutation")
        return self.proposal(self.sample_new(), "random")

    def _parent(self, observations: Observations) -> int:
        """Index of a random member of the ensemble of the population."""
        usable = np.flatnonzero(observations.ok)[-self.population_size :]
        rows = np.flatnonzero(np.isin(self._stored.indices, usable))
        if len(rows):
            chosen = self._stored.members(self._stored.candidates(rows), self.n_members)
            members = np.array(self._stored.indices)[chosen]
        else:
            order = np.argsort(observations.y[usable], kind="stable")
            members = usable[order[: self.n_members]]
        return int(self.rng.choice(members))
