"""The search tree of MOSAIC over prefixes of pipeline structures."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import softmax

from skauto.utils import BoolArray, FloatArray, IntArray

Path = tuple[int, ...]


@dataclass(slots=True, eq=False)
class Node:
    """A partial structure s of k decisions (k-ps in the paper), the path from the root.

    ``rows`` are the rows of the tree's structures that begin with the path, X(s). ``choices`` are
    the legal values of the next decision, empty at a terminal node.
    """

    path: Path
    rows: IntArray
    choices: Path
    children: "dict[int, Node]" = field(default_factory=dict)
    visits: int = 0
    closed: bool = False  # no new configuration is left below
    prior: float = math.nan  # pi of Eq. (4), and
    value: float = math.nan  # Q of Eq. (3) as a loss, at the last visit of the parent


@dataclass(eq=False)
class Experience:
    """Structures of the trials, of shape (n, n_decisions), and their finite losses (n,)."""

    decisions: IntArray
    losses: FloatArray

    def below(self, path: Path) -> BoolArray:
        """Which trials lie in X(path)."""
        depth = len(path)
        return (self.decisions[:, :depth] == path).all(axis=1)

    def quantile(self, path: Path, q: float) -> float:
        """Quantile of the losses of the trials in X(path); NaN if there are none."""
        losses = self.losses[self.below(path)]
        return float(np.quantile(losses, q)) if len(losses) else math.nan


# Partial surrogate Q of Eq. (3) as a loss, for the given choices at a node.
Valuation = Callable[[Node, Sequence[int]], FloatArray]


@dataclass(eq=False)
class DecisionTree:
    """Monte-Carlo search tree over structures; the root has all its children from the start.

    `decisions` (n_structures, n_decisions) are all legal structures, one column per decision.
    `c_ucb` is the weight of exploration in Eq. (5), `visit_exponent` the exponent of the visits
    of a node there, and the quality of a child is the `quantile` of the losses below it.
    `temperature` is that of the softmax of Eq. (4). A node with n visits may have
    ``floor(n ** progressive_widening)`` children.
    """

    decisions: IntArray
    c_ucb: float
    visit_exponent: float
    progressive_widening: float
    temperature: float
    quantile: float

    def __post_init__(self) -> None:
        self.root = self._make((), np.arange(len(self.decisions)))
        for choice in self.root.choices:
            self.expand(self.root, choice)

    def expand(self, node: Node, choice: int) -> Node:
        """Add the child of a node for one choice, and return it."""
        rows = node.rows[self.decisions[node.rows, len(node.path)] == choice]
        child = self._make((*node.path, choice), rows)
        node.children[choice] = child
        return child

    def visit(self, path: Path, count: int = 1) -> None:
        """Add visits to all nodes of a path; create missing nodes."""
        node = self.root
        node.visits += count
        for choice in path:
            if choice not in node.choices:
                return
            node = node.children.get(choice) or self.expand(node, choice)
            node.visits += count

    def select(self, experience: Experience, scale: float, value: Valuation) -> Node | None:
        """Select and expand by Eq. (5): return a new child or a terminal node; None if all closed.

        A performance is minus a loss divided by the scale.
        """
        node = self.root
        while not self.root.closed:
            if not node.choices:
                return node
            usable = [c for c, child in node.children.items() if not child.closed]
            missing = [choice for choice in node.choices if choice not in node.children]
            most = max(1, math.floor(node.visits**self.progressive_widening))
            if missing and (len(node.children) < most or not usable):
                return self.expand(node, missing[int(np.argmin(value(node, missing)))])
            if usable:
                scores = self.scores(node, usable, experience, scale, value(node, usable))
                node = node.children[usable[int(np.argmax(scores))]]
            else:
                node.closed = True
                node = self.root
        return None

    def scores(
        self,
        node: Node,
        choices: Sequence[int],
        experience: Experience,
        scale: float,
        values: FloatArray,
    ) -> FloatArray:
        """Scores of children by Eq. (5), given their partial surrogates Q as losses."""
        policy = softmax(-values / scale / self.temperature)  # Eq. (4)
        children = [node.children[choice] for choice in choices]
        for child, prior, expected in zip(children, policy, values, strict=True):
            child.prior, child.value = float(prior), float(expected)
        losses = np.array([experience.quantile(child.path, self.quantile) for child in children])
        quality = -np.where(np.isnan(losses), values, losses) / scale
        visits = np.array([child.visits for child in children])
        growth = node.visits**self.visit_exponent
        return quality + self.c_ucb * policy * growth / (1 + visits)

    def nodes(self) -> Iterator[Node]:
        """Iterate over all nodes, parents first."""
        queue = [self.root]
        while queue:
            node = queue.pop()
            yield node
            queue.extend(reversed(node.children.values()))

    def _make(self, path: Path, rows: IntArray) -> Node:
        if len(path) == self.decisions.shape[1]:
            return Node(path, rows, ())
        return Node(path, rows, tuple(np.unique(self.decisions[rows, len(path)]).tolist()))
