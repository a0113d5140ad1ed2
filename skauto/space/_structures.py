"""Structures of a search space: one algorithm per step, without forbidden pairs."""

from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np

from skauto.space._layout import Layout
from skauto.utils import BoolArray, FloatArray, IntArray

_REJECTION_ROUNDS = 50
_MAX_STRUCTURES = 2_000_000
_MAX_NAMED = 3

# Some algorithms of a step, and such algorithms of two steps that are forbidden together.
Choice = tuple[str, tuple[str, ...]]
Pair = tuple[Choice, Choice]


class Structures:
    """The structures without forbidden pairs, as rows of indices of algorithms by step."""

    def __init__(self, layout: Layout, forbidden: Sequence[Pair], anchor: int | None) -> None:
        self.layout = layout
        self.anchor = anchor
        self._allowed_pairs = self._read(forbidden)

    def _read(self, forbidden: Sequence[Pair]) -> dict[tuple[int, int], BoolArray]:
        """Return a table of allowed pairs of algorithms for steps i < j with forbidden pairs."""
        layout = self.layout
        tables: dict[tuple[int, int], BoolArray] = {}
        for (first_step, first), (second_step, second) in forbidden:
            i, j = layout.steps.index(first_step), layout.steps.index(second_step)
            # a subspace may lack some of the algorithms
            rows = [layout.index[i][name] for name in first if name in layout.index[i]]
            columns = [layout.index[j][name] for name in second if name in layout.index[j]]
            if i > j:
                i, j, rows, columns = j, i, columns, rows
            shape = (len(layout.components[i]), len(layout.components[j]))
            table = tables.setdefault((i, j), np.ones(shape, dtype=bool))
            table[np.ix_(rows, columns)] = False
        return tables

    def legal(self, rows: IntArray) -> BoolArray:
        """Return the mask of rows without forbidden pairs; rows may lack the last steps."""
        legal = np.ones(len(rows), dtype=bool)
        for (i, j), table in self._allowed_pairs.items():
            if j < rows.shape[1]:
                legal &= table[rows[:, i], rows[:, j]]
        return legal

    def forbidden_pair(self, row: IntArray) -> tuple[str, str]:
        """Return the names of the first forbidden pair of an illegal row."""
        i, j = next(
            (i, j) for (i, j), table in self._allowed_pairs.items() if not table[row[i], row[j]]
        )
        names = self.names(row)
        return names[i], names[j]

    def names(self, row: IntArray) -> tuple[str, ...]:
        """Return the names of the algorithms of one row."""
        components = self.layout.components
        return tuple(components[i][j].name for i, j in enumerate(row.tolist()))

    @property
    def listable(self) -> bool:
        """Whether the structures, legal or not, are few enough to list them."""
        return bool(np.prod(self.layout.n_algorithms.astype(np.float64)) <= _MAX_STRUCTURES)

    @cached_property
    def all(self) -> IntArray:
        """All legal structures, of shape (n_structures, n_steps)."""
        rows = np.zeros((1, 0), dtype=np.intp)
        for components in self.layout.components:
            n_new = len(components)
            if len(rows) * n_new > _MAX_STRUCTURES:
                raise ValueError(
                    f"the space has more than {_MAX_STRUCTURES} structures, too many to list; "
                    "give it fewer algorithms, or use the strategy 'forest_bo', 'tpe' or 'random'"
                )
            choices = np.tile(np.arange(n_new, dtype=np.intp), len(rows))
            longer = np.column_stack([np.repeat(rows, n_new, axis=0), choices])
            rows = longer[self.legal(longer)]
            if not len(rows):
                raise ValueError(self._why_none_is_legal(longer))
        rows.flags.writeable = False
        return rows

    def _why_none_is_legal(self, rows: IntArray) -> str:
        """Explain that all rows, which may lack the last steps, have a forbidden pair."""
        layout, counts = self.layout, Counter[str]()
        for (i, j), table in self._allowed_pairs.items():
            if j < rows.shape[1]:
                for a, b in rows[~table[rows[:, i], rows[:, j]]][:, [i, j]].tolist():
                    first, second = layout.components[i][a].name, layout.components[j][b].name
                    counts[
                        f"{first!r} ({layout.steps[i]}) and {second!r} ({layout.steps[j]})"
                    ] += 1
        pairs = [pair for pair, _ in counts.most_common(_MAX_NAMED)]
        more = ", ..." if len(counts) > len(pairs) else ""
        return (
            "the space has no legal structure. Forbidden pairs exclude all: "
            f"{', '.join(pairs)}{more}. Add an algorithm to one of these steps, or forbid fewer "
            "pairs"
        )

    @cached_property
    def _weights(self) -> tuple[FloatArray, ...]:
        """Cumulative probability of the algorithms of each step."""
        weights = [np.cumsum([c.weight for c in row]) for row in self.layout.components]
        return tuple(w / w[-1] for w in weights)

    def _draw(self, n: int, rng: np.random.Generator) -> IntArray:
        """Draw an algorithm for each step, independently."""
        chosen = [np.searchsorted(w, rng.random(n), "right") for w in self._weights]
        return np.column_stack(chosen).astype(np.intp)

    def moves(
        self, origins: FloatArray, fixed_steps: Collection[str]
    ) -> tuple[IntArray, FloatArray]:
        """Return vectors with another algorithm in one step, and the row of the origin of each.

        They have to be completed.
        """
        layout = self.layout
        sizes = [
            0 if step in fixed_steps else len(components)
            for step, components in zip(layout.steps, layout.components, strict=True)
        ]
        changed = np.repeat(np.arange(layout.n_steps), sizes)
        algorithms = np.concatenate([np.arange(size) for size in sizes])
        own = origins[:, : layout.n_steps].astype(np.intp)
        row, move = np.nonzero(algorithms != own[:, changed])
        structures = own[row]
        structures[np.arange(len(row)), changed[move]] = algorithms[move]
        legal = self.legal(structures)
        moved = origins[row[legal]]
        moved[:, : layout.n_steps] = structures[legal]
        return row[legal], moved

    def sample(self, n: int, rng: np.random.Generator) -> IntArray:
        """Draw legal structures by rejection sampling; the anchor step is not redrawn."""
        rows = self._draw(n, rng)
        for _ in range(_REJECTION_ROUNDS):
            wrong = np.flatnonzero(~self.legal(rows))
            if not len(wrong):
                return rows
            redrawn = self._draw(len(wrong), rng)
            if self.anchor is not None:
                redrawn[:, self.anchor] = rows[wrong, self.anchor]
            rows[wrong] = redrawn
        wrong = np.flatnonzero(~self.legal(rows))
        rows[wrong] = self.all[rng.integers(len(self.all), size=len(wrong))]
        return rows
