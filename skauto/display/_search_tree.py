"""Plot of the tree of a Monte Carlo tree search."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from skauto.display._base import COLORMAP, GREY, ROW_HEIGHT, BaseDisplay, record_of, rows_of
from skauto.display._words import as_written

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_SEPARATOR = " > "
# Inches between two levels of the tree.
_COLUMN_WIDTH = 2.1
_FONT_SIZE = 8.0
# Points of the largest mark and of the widest line.
_LARGEST_MARK = 160.0
_WIDEST_LINE = 5.0
# The colour scale ends at this quantile of the losses, because failed trials have the worst loss.
_COLOR_QUANTILE = 0.9


class SearchTreeDisplay(BaseDisplay):
    """Search tree of ``strategy="mosaic"``, most visited branches on top.

    A column is a decision, and a node is a choice of algorithms. The size of a mark and the number
    in brackets are the visits of the node. Its colour is the median loss of the trials below it;
    marks without such trials are hollow. The width of a line is the probability that the policy
    gives to the choice.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row for each node: the attribute ``tree_`` of :class:`~skauto.strategies.MOSAIC` as a
        table.

    Attributes
    ----------
    nodes_ : matplotlib PathCollection
        The nodes with trials below them.
    lines_ : list of matplotlib Line2D
        Lines from the nodes to their parents, in the order of the nodes.
    labels_ : list of matplotlib Text
        Algorithm and visits, in the order of the nodes.
    shown_ : pandas.DataFrame
        The drawn nodes with their positions "x" and "y".
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauto import AutoClassifier
    >>> from skauto.plotting import SearchTreeDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AutoClassifier("mosaic", initial=None, max_evals=5, cv=0.3, random_state=0).fit(X, y)
    >>> display = SearchTreeDisplay.from_estimator(clf, max_nodes=10)
    >>> display.labels_[0].get_text()
    'all (5)'
    """

    @classmethod
    def _of_estimator(cls, estimator: Any) -> Self:
        return cls(record_of(estimator, cls, "tree_", "mosaic"))

    def plot(self, ax: "Axes | None" = None, *, max_nodes: int = 40) -> Self:
        """Draw the most visited nodes.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None creates a figure.
        max_nodes : int, default=40
            Largest number of nodes that are drawn.

        Returns
        -------
        self : SearchTreeDisplay
            The display with its artists.
        """
        # A node has at most the visits of its parent, so the parent of each drawn node is drawn.
        order = self.frame.sort_values(["visits", "depth"], ascending=[False, True], kind="stable")
        shown = self.shown_ = _placed(order.head(max_nodes).reset_index(drop=True))
        n_rows, n_columns = float(shown["y"].max()) + 1.0, int(shown["depth"].max()) + 1
        ax = self._make_axes(
            ax, width=1.2 + _COLUMN_WIDTH * n_columns, height=1.0 + ROW_HEIGHT * n_rows
        )
        self._draw_lines(ax, shown)
        self._draw_nodes(ax, shown)
        self._write_labels(ax, shown, n_rows)
        steps = shown.drop_duplicates("depth").sort_values("depth")["step"]
        ax.set_xticks(range(n_columns), [as_written(step.replace("_", " ")) for step in steps])
        ax.xaxis.tick_top()
        ax.tick_params(length=0)
        ax.set(yticks=[], xlim=(-0.2, n_columns - 0.1), ylim=(n_rows - 0.4, -0.6))
        ax.spines[:].set_visible(False)
        return self

    def _draw_lines(self, ax: "Axes", shown: "pd.DataFrame") -> None:
        places = {row.node: (row.x, row.y) for row in rows_of(shown)}
        self.lines_ = []
        for row in rows_of(shown[shown["depth"] > 0]):
            x, y = places[_parent(row.node)]
            bend = x + 0.88
            width = 0.5 + _WIDEST_LINE * np.nan_to_num(row.policy)
            self.lines_ += ax.plot(
                [x, bend, bend, row.x],
                [y, y, row.y, row.y],
                color="0.8",
                linewidth=width,
                solid_joinstyle="miter",
                zorder=1,
            )

    def _draw_nodes(self, ax: "Axes", shown: "pd.DataFrame") -> None:
        sizes = 12.0 + _LARGEST_MARK * shown["visits"] / max(1, shown["visits"].max())
        known = shown["median"].notna()
        self.nodes_ = ax.scatter(
            shown["x"][known],
            shown["y"][known],
            s=sizes[known],
            c=shown["median"][known],
            cmap=COLORMAP,
            vmax=np.quantile(shown["median"][known], _COLOR_QUANTILE),
            zorder=2,
        )
        ax.scatter(
            shown["x"][~known],
            shown["y"][~known],
            s=sizes[~known],
            facecolors="white",
            edgecolors=GREY,
            zorder=2,
        )
        bar = self.figure_.colorbar(self.nodes_, ax=ax, aspect=40, shrink=0.8, extend="max")
        bar.set_label("median loss below")

    def _write_labels(self, ax: "Axes", shown: "pd.DataFrame", n_rows: float) -> None:
        # The font shrinks if the user's axes are too small for it.
        inches = ax.get_window_extent().transformed(self.figure_.dpi_scale_trans.inverted())
        column_width = inches.width / (shown["depth"].max() + 1)
        row_height = inches.height / n_rows
        room = min(column_width / _COLUMN_WIDTH, row_height / ROW_HEIGHT)
        size = _FONT_SIZE * min(1.0, 1.4 * room)
        self.labels_ = [
            ax.text(
                row.x + 0.1,
                row.y,
                as_written(f"{row.algorithm or 'all'} ({row.visits})"),
                size=size,
                va="center",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
                zorder=3,
            )
            for row in rows_of(shown)
        ]


def _parent(node: str) -> str:
    return node.rpartition(_SEPARATOR)[0]


def _placed(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Add a position to each node: each leaf has its row, a parent is centred on its children."""
    children: dict[str, list[str]] = {}
    for node in frame["node"][1:]:
        children.setdefault(_parent(node), []).append(node)
    places: dict[str, float] = {}
    n_leaves = 0

    def place(node: str) -> None:
        nonlocal n_leaves
        own = children.get(node, [])
        for child in own:
            place(child)
        if own:
            places[node] = (places[own[0]] + places[own[-1]]) / 2
        else:
            places[node] = float(n_leaves)
            n_leaves += 1

    place(frame["node"][0])
    return frame.assign(x=frame["depth"].astype(float), y=frame["node"].map(places))
