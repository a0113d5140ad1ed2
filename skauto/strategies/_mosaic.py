"""MOSAIC: Monte-Carlo tree search over structures with Bayesian optimization."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.stats import rankdata

from skauto.acquisition import maximize_acquisition
from skauto.history import History, Proposal, Trial
from skauto.space import Configuration
from skauto.strategies._base import GeneratorStrategy, Observations
from skauto.strategies._bayesian import DESIGN_SHARE, clone_or, improvement_of, performance_unit
from skauto.strategies._checks import check_integers, check_numbers, check_options, check_positive
from skauto.strategies._tree import DecisionTree, Experience, Node, Path
from skauto.surrogates import RandomForest, Surrogate
from skauto.surrogates._kriging_believer import condition_on_pending
from skauto.utils import FloatArray

# Origins of the proposals of the initial design.
_DESIGN = ("default", "design")


@dataclass(kw_only=True, eq=False, repr=False)
class MOSAIC(GeneratorStrategy):
    r"""MOSAIC: Monte-Carlo tree search over structures with Bayesian optimization.

    A node of the tree is a partial structure. The first decision is the classifier, the last step
    of the pipeline, and the last one the first step. A random forest over whole configurations is
    refitted after every evaluation. It gives the *partial surrogate* Q and the policy of the
    children of a node,

    .. math::

        Q(s, a) = \frac{1}{n_s} \sum_{j=1}^{n_s} \hat F(x_j), \quad x_j \sim D[X(s.a)], \qquad
        \pi(a | s) = \frac{\exp Q(s, a)}{\sum_b \exp Q(s, b)}

    (Eqs. (3) and (4) of [1]_). *Selection* descends the tree by

    .. math::

        \mathrm{arg}\max_a \; \bar Q(s, a) + C_{ucb} \, \pi(a | s) \frac{n(s)^e}{1 + n(s.a)}

    (Eq. 5), where :math:`\bar Q` is a quantile of the performance of the trials in X(s.a) and e
    the ``visit_exponent``, until progressive widening allows a further child. *Expansion* adds the
    child with the largest Q. *Playout* evaluates the configuration with the largest expected
    improvement among random configurations below the new child and neighbors of the best trial
    there. *Back-propagation* updates quantiles and visits.

    Parameters
    ----------
    c_ucb : float, default=0.3
        Weight of exploration in Eq. (5); 1.3 in the paper.
    visit_exponent : float, default=1.0
        Exponent e of the visits of a node in Eq. (5); 0.5 in the paper. With a larger one and a
        smaller ``c_ucb``, long searches explore more than short ones.
    progressive_widening : float, default=0.6
        A node with n visits may have ``floor(n ** progressive_widening)`` children, at least one.
    n_samples : int, default=100
        Number of random configurations per child in Eq. (3).
    n_candidates : int, default=5000
        Number of random configurations of a playout.
    n_starts : int, default=10
        Number of the best random configurations that local search starts from, besides the best
        trial below the node. With 0, as in the paper, only neighbors of this trial are evaluated.
    kappa : int, default=3
        Number of random pipelines per algorithm of the first decision in the initial design,
        besides its default pipeline.
    design_share : float, default=0.25
        Maximum fraction of ``max_evals``, and of the time limit, for the initial design, without
        trials made before it. 1 in the paper: the design has all its pipelines.
    temperature : float, default=0.3
        Temperature of the softmax in Eq. (4); 1 in the paper, where the policies of performances
        in [0, 1] differ by a factor of at most e.
    quantile : float, default=0.1
        Quantile of the losses of the trials below a child, in [0, 1], which is its quality in Eq.
        (5). 0.5 is the median, as in the paper. 0 is the best loss.
    transform : {"rank", None}, default="rank"
        Transformation of the losses: "rank" divides their ranks by their number, so that they lie
        in [0, 1] as accuracies do. None uses the losses (the paper), divided by twice the distance
        from the best to the median one unless all lie in [0, 1].
    surrogate : Surrogate, default=None
        Model of the loss; None means :class:`~skauto.surrogates.RandomForest`.

    Attributes
    ----------
    tree_ : dict of str to list
        The tree at the end of the search, one entry per node in each list, parents first:
        ``"node"`` (its algorithms, joined by " > "), ``"depth"``, ``"step"``, ``"algorithm"``,
        ``"visits"``, ``"n_trials"`` and ``"median"`` loss below the node, and ``"policy"`` and
        ``"value"`` (Q as a transformed loss) at the last visit of the parent.
        ``pandas.DataFrame(tree_)`` converts it.

    Notes
    -----
    The page :doc:`/user_guide/papers` has every setting and step beside the paper's.
    Pending evaluations count as visits in Eq. (5). Trials of the initial design count as visits of
    the root and of its children.

    References
    ----------
    .. [1] H. Rakotoarison, M. Schoenauer, M. Sebag, "Automated Machine Learning with Monte-Carlo
       Tree Search", IJCAI 2019.

    Examples
    --------
    >>> from skauto import minimize
    >>> from skauto.objectives import make_artificial_objective, make_artificial_space
    >>> from skauto.strategies import MOSAIC
    >>> space = make_artificial_space(n_steps=2, n_algorithms=3)
    >>> objective = make_artificial_objective(space)
    >>> result = minimize(objective, space, strategy=MOSAIC(), max_evals=10, random_state=0)
    >>> tree = result.strategy.tree_
    >>> tree["node"][0], tree["visits"][0]
    ('', 10)
    """

    c_ucb: float = 0.3
    visit_exponent: float = 1.0
    progressive_widening: float = 0.6
    n_samples: int = 100
    n_candidates: int = 5000
    n_starts: int = 10
    kappa: int = 3
    design_share: float = DESIGN_SHARE
    temperature: float = 0.3
    quantile: float = 0.1
    transform: str | None = "rank"
    surrogate: Surrogate | None = None

    @classmethod
    def paper(cls) -> Self:
        """Settings of the paper, sections 3.2 to 3.4 and 4.2, with untransformed losses."""
        return cls(
            c_ucb=1.3,
            visit_exponent=0.5,
            n_candidates=1000,
            n_starts=0,
            design_share=1.0,
            temperature=1.0,
            quantile=0.5,
            transform=None,
        )

    def stop(self) -> None:
        """End the search: store the tree as ``tree_`` and delete the run state."""
        if hasattr(self, "_history"):
            self._count_finished(self._history)
            observations = self.observations(self._history)
            self.tree_ = self._record(self._experience(observations, observations.y))
        super().stop()

    def _start(self) -> None:
        check_integers(self, n_samples=1, n_candidates=1, n_starts=0, kappa=0)
        check_numbers(self, c_ucb=(0.0, math.inf), visit_exponent=(0.0, math.inf))
        check_numbers(self, progressive_widening=(0.0, math.inf))
        check_numbers(self, design_share=(0.0, 1.0), quantile=(0.0, 1.0))
        check_positive(self, "temperature")
        check_options(self, transform=("rank", None))
        structures = self.space.structures
        columns = reversed(range(structures.shape[1]))
        # Steps that are decisions: those with a choice, from the last to the first.
        self._order = [i for i in columns if len(np.unique(structures[:, i])) > 1]
        self._tree = DecisionTree(
            structures[:, self._order],
            c_ucb=self.c_ucb,
            visit_exponent=self.visit_exponent,
            progressive_widening=self.progressive_widening,
            temperature=self.temperature,
            quantile=self.quantile,
        )
        self._n_counted = 0

    def _run(self, history: History) -> Iterator[Proposal]:
        self._history = history
        self._share_before = history.share_of_time
        yield from self._initial_design(history)
        while True:
            observations = self.observations(history)
            self._count_finished(history)
            pending = [self._path_of(proposal) for proposal in self.pending]
            for path in pending:  # virtual visits
                self._tree.visit(path)
            proposal = self._tree_walk(observations)
            for path in pending:
                self._tree.visit(path, -1)
            if proposal is None:
                return
            yield proposal

    def _initial_design(self, history: History) -> Iterator[Proposal]:
        """Default pipelines of all first decisions, then kappa random pipelines of each."""
        step = self.space.steps[self._order[0]] if self._order else None
        defaults = self.space.default_configurations(step)
        for configuration in defaults:
            if self._may_design(history):
                yield Proposal(configuration, origin="default")
        if step is None:
            return
        names = [component.name for component in self.space.components(step)]
        for n_random in range(self.kappa):
            for name in (configuration[step] for configuration in defaults):
                designed = [r for r in (*history, *self.pending) if r.origin == "design"]
                if sum(r.configuration[step] == name for r in designed) > n_random:  # resumed
                    continue
                child = self._tree.root.children[names.index(name)]
                drawn = self.sample_new(self.space.structures[child.rows])
                if drawn is not None and self._may_design(history):
                    yield Proposal(drawn, origin="design")

    def _may_design(self, history: History) -> bool:
        """Whether the initial design is within its limits of trials and time."""
        limit = (
            math.inf
            if history.goal.max_evals is None
            else self.design_share * history.goal.max_evals
        )
        n_designed = sum(r.origin in _DESIGN for r in (*history, *self.pending))
        share = history.share_of_time - self._share_before
        return n_designed < limit and share <= self.design_share

    def _tree_walk(self, observations: Observations) -> Proposal | None:
        """Selection, expansion and playout; None if no new configuration is left."""
        if not len(observations):  # all trials are pending
            return self.proposal(self.sample_new(), "random")
        losses = self._transformed(observations.y)
        X = self.space.fill_inactive(observations.vectors)
        pending = self.space.fill_inactive(self.pending_vectors())
        surrogate = clone_or(self.surrogate, RandomForest()).fit(X, losses, self.rng)
        condition_on_pending(surrogate, X, losses, pending, self.rng)
        experience = self._experience(observations, losses)
        scale = performance_unit(losses)

        def value(node: Node, choices: Sequence[int]) -> FloatArray:
            return self._partial_surrogate(surrogate, node, choices)

        while (node := self._tree.select(experience, scale, value)) is not None:
            configuration = self._playout(surrogate, node, observations, experience)
            if configuration is not None:
                return Proposal(configuration, origin="playout", info={"path": node.path})
            node.closed = True
        return self.proposal(self.sample_new(), "random")

    def _partial_surrogate(
        self, surrogate: Surrogate, node: Node, choices: Sequence[int]
    ) -> FloatArray:
        """Partial surrogate of each choice as a loss, Eq. (3), in one prediction."""
        below = self._tree.decisions[node.rows, len(node.path)]
        drawn = np.concatenate(
            [self.rng.choice(node.rows[below == c], self.n_samples) for c in choices]
        )
        # The space samples among these structures: n_samples of each choice on average.
        vectors = self.space.sample(len(drawn), self.rng, structures=self.space.structures[drawn])
        mean, _ = surrogate.predict(self.space.fill_inactive(vectors))
        chosen = vectors[:, self._order[len(node.path)], None] == choices
        counts = chosen.sum(axis=0)
        return np.where(counts, mean @ chosen / np.maximum(counts, 1), mean.mean())

    def _playout(
        self, surrogate: Surrogate, node: Node, observations: Observations, experience: Experience
    ) -> Configuration | None:
        """New configuration of X(s) with the largest expected improvement; None if none is new."""
        best = self._best_below(node, observations, experience)
        ranked, _ = maximize_acquisition(
            improvement_of(surrogate, float(experience.losses.min()), self.space.fill_inactive),
            self.space,
            self.rng,
            starts=best[None],
            n_random=self.n_candidates,
            n_random_starts=self.n_starts,
            n_rounds=10 if self.n_starts else 1,
            structures=self.space.structures[node.rows],
            fixed_steps=[self.space.steps[i] for i in self._order[: len(node.path)]],
        )
        return self.first_new(np.vstack([ranked, best]))

    def _best_below(
        self, node: Node, observations: Observations, experience: Experience
    ) -> FloatArray:
        """Vector of the best trial in X(s), else of the default completion."""
        inside = np.flatnonzero(experience.below(node.path) & observations.ok)
        if len(inside):
            return observations.vectors[inside[observations.y[inside].argmin()]]
        steps, names = self.space.steps, {}
        for i, choice in zip(self._order, node.path, strict=False):
            names[steps[i]] = self.space.components(steps[i])[choice].name
        return self.space.default_vector(self.space.default_structure(names))

    def _experience(self, observations: Observations, losses: FloatArray) -> Experience:
        return Experience(observations.vectors[:, self._order].astype(np.intp), losses)

    def _transformed(self, losses: FloatArray) -> FloatArray:
        if self.transform is None:
            return losses
        return (rankdata(losses) - 0.5) / len(losses)

    def _count_finished(self, history: History) -> None:
        """Back-propagation: count visits of the trials completed since the last walk."""
        for trial in history[self._n_counted :]:
            self._tree.visit(self._path_of(trial))
        self._n_counted = len(history)

    def _path_of(self, record: Proposal | Trial) -> Path:
        """Path of the tree walk of a proposal; its first decision if there was no walk."""
        if "path" in record.info:
            return tuple(record.info["path"])
        vectors = self.encode([record.configuration])
        return tuple(vectors[0, self._order[:1]].astype(int).tolist()) if len(vectors) else ()

    def _record(self, experience: Experience) -> dict[str, list[Any]]:
        """The tree as columns, one entry per node."""
        rows: list[dict[str, Any]] = []
        for node in self._tree.nodes():
            steps = [self.space.steps[i] for i in self._order[: len(node.path)]]
            names = [
                self.space.components(step)[choice].name
                for step, choice in zip(steps, node.path, strict=True)
            ]
            rows.append(
                {
                    "node": " > ".join(names),
                    "depth": len(names),
                    "step": steps[-1] if steps else "",
                    "algorithm": names[-1] if names else "",
                    "visits": node.visits,
                    "n_trials": int(experience.below(node.path).sum()),
                    "median": experience.quantile(node.path, 0.5),
                    "policy": node.prior,
                    "value": node.value,
                }
            )
        return {name: [row[name] for row in rows] for name in rows[0]}
