"""The tree of decisions that MOSAIC searches: prefixes of pipeline structures."""

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from skauto.utils import BoolArray, FloatArray, IntArray

Path = tuple[int, ...]


class Node:
    """A k-ps of the paper: the first k decisions, with all structures that begin with them.

    Parameters
    ----------
    path : tuple of int
        The decisions taken, from the root.
    rows : ndarray of int
        Rows of the tree's structures that begin with the path, X(s) of the paper.
    choices : tuple of int
        Legal values of the next decision; empty at a terminal node.
    """

    __slots__ = ("children", "choices", "closed", "path", "prior", "rows", "value", "visits")

    def __init__(self, path: Path, rows: IntArray, choices: Path) -> None:
        self.path = path
        self.rows = rows
        self.choices = choices
        self.children: dict[int, Node] = {}
        self.visits = 0
        self.closed = False  # nothing new is left below
        self.prior = math.nan  # pi of Eq. (4), and
        self.value = math.nan  # Q of Eq. (3) as a loss, when the parent was last passed

    @property
    def missing(self) -> list[int]:
        """Legal values of the next decision that have no child yet."""
        return [choice for choice in self.choices if choice not in self.children]


class Experience:
    """Losses of evaluated structures, to be asked for medians below a node.

    Parameters
    ----------
    decisions : ndarray of int of shape (n, n_decisions)
        Structures of the evaluated configurations, in the order of the decisions.
    losses : ndarray of shape (n,)
        Their finite losses.
    """

    def __init__(self, decisions: IntArray, losses: FloatArray) -> None:
        self.decisions = decisions
        self.losses = losses

    def below(self, path: Path) -> BoolArray:
        """Which evaluated configurations lie in X(path)."""
        depth = len(path)
        inside: BoolArray = (self.decisions[:, :depth] == path).all(axis=1)
        return inside

    def median(self, path: Path) -> float:
        """Median loss of all configurations evaluated in X(path), NaN if there are none."""
        losses = self.losses[self.below(path)]
        return float(np.median(losses)) if len(losses) else math.nan


# Mean predicted loss Q of Eq. (3), for the given choices at a node.
Valuation = Callable[[Node, Sequence[int]], FloatArray]


class DecisionTree:
    """Monte-Carlo search tree over structures, its children of the root there from the start.

    Parameters
    ----------
    decisions : ndarray of int of shape (n_structures, n_decisions)
        All legal structures, one column a decision, in the order of the decisions.
    c_ucb : float
        Weight of exploration in Eq. (5).
    progressive_widening : float
        A node visited n times may have ``floor(n ** progressive_widening)`` children.
    temperature : float
        Divides the values in the softmax of Eq. (4).
    """

    def __init__(
        self, decisions: IntArray, *, c_ucb: float, progressive_widening: float, temperature: float
    ) -> None:
        self.decisions = decisions
        self.c_ucb = c_ucb
        self.progressive_widening = progressive_widening
        self.temperature = temperature
        self.root = self._make((), np.arange(len(decisions)))
        for choice in self.root.choices:
            self.expand(self.root, choice)

    def expand(self, node: Node, choice: int) -> Node:
        """Add the child of a node for one choice, and return it."""
        rows = node.rows[self.decisions[node.rows, len(node.path)] == choice]
        child = self._make((*node.path, choice), rows)
        node.children[choice] = child
        return child

    def visit(self, path: Path, count: int = 1) -> None:
        """Count a visit (or take it back) of all nodes of a path, which are made if need be."""
        node = self.root
        node.visits += count
        for choice in path:
            if choice not in node.choices:
                return
            node = node.children.get(choice) or self.expand(node, choice)
            node.visits += count

    def select(self, experience: Experience, scale: float, value: Valuation) -> Node | None:
        """Walk down by Eq. (5) to a node to play out; None when nothing is left anywhere.

        A walk ends at a child that it adds or at a terminal node. Losses are divided by the
        scale, and a performance is minus a loss.
        """
        node = self.root
        while not self.root.closed:
            if not node.choices:
                return node
            usable = [c for c, child in node.children.items() if not child.closed]
            missing = node.missing
            if missing and (self._may_widen(node) or not usable):
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
        """Score children of a node by Eq. (5), given their values Q as losses."""
        policy = softmax(-values / scale / self.temperature)
        children = [node.children[choice] for choice in choices]
        for child, prior, expected in zip(children, policy, values, strict=True):
            child.prior, child.value = float(prior), float(expected)
        medians = np.array([experience.median(child.path) for child in children])
        # A child without a finished evaluation has what the surrogate says of it.
        quality = -np.where(np.isnan(medians), values, medians) / scale
        visits = np.array([child.visits for child in children])
        return puct(quality, policy, node.visits, visits, self.c_ucb)

    def nodes(self) -> Iterator[Node]:
        """All nodes, a parent before its children."""
        queue = [self.root]
        while queue:
            node = queue.pop()
            yield node
            queue.extend(reversed(node.children.values()))

    def _may_widen(self, node: Node) -> bool:
        """Progressive widening; a node without children may always have one."""
        allowed = max(1, math.floor(node.visits**self.progressive_widening))
        return len(node.children) < allowed

    def _make(self, path: Path, rows: IntArray) -> Node:
        if len(path) == self.decisions.shape[1]:
            return Node(path, rows, ())
        return Node(path, rows, tuple(np.unique(self.decisions[rows, len(path)]).tolist()))


def softmax(values: FloatArray) -> FloatArray:
    """Policy of Eq. (4): exponentials that sum to 1."""
    powers = np.exp(values - values.max())
    shares: FloatArray = powers / powers.sum()
    return shares


def puct(
    quality: FloatArray, policy: FloatArray, n_parent: int, n_children: IntArray, c_ucb: float
) -> FloatArray:
    """Selection rule of Eq. (5), for all children of a node at once."""
    scores: FloatArray = quality + c_ucb * policy * math.sqrt(n_parent) / (1 + n_children)
    return scores
