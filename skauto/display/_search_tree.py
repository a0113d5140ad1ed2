"""The tree of a Monte-Carlo tree search."""

import numpy as np

from skauto.display._base import (
    COLORMAP,
    GREY,
    ROW_HEIGHT,
    BaseDisplay,
    record_of,
)

_SEPARATOR = " > "
# Inches from a decision to the next one.
_COLUMN_WIDTH = 2.1
_FONT_SIZE = 8.0
# Points of the largest mark and of the widest line.
_LARGEST_MARK = 160.0
_WIDEST_LINE = 5.0
# The colours tell so many of the nodes apart; beyond are failures, which have the worst loss.
_COLORED_SHARE = 0.9


class SearchTreeDisplay(BaseDisplay):
    """Tree of decisions that MOSAIC has searched, most visited branches on top.

    One column a decision. The size of a mark says how often its node was visited, as does the
    number beside it; its colour is the median loss of what was evaluated below (a hollow mark:
    nothing was). The width of a line is the policy, what the surrogate thinks of the choice.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a node: a table of the strategy's ``tree_``, see
        :class:`~skauto.strategies.MOSAIC`.

    Attributes
    ----------
    nodes_ : matplotlib PathCollection
        The nodes below which something was evaluated.
    lines_ : list of matplotlib Line2D
        From a node to its parent, in the order of the nodes.
    labels_ : list of matplotlib Text
        Algorithm and visits, in the order of the nodes.
    shown_ : pandas.DataFrame
        The nodes that are drawn, with their places "x" and "y".
    ax_ : matplotlib Axes
        Where it is drawn.
    figure_ : matplotlib Figure
        Its figure.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skauto import AutoClassifier
    >>> from skauto.plotting import SearchTreeDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AutoClassifier("mosaic", initial=None, max_evals=5, cv=3, random_state=0).fit(X, y)
    >>> display = SearchTreeDisplay.from_estimator(clf, max_nodes=10)
    >>> display.labels_[0].get_text()
    'all (5)'
    """

    @classmethod
    def from_estimator(cls, estimator, *, ax=None, **kwargs):
        """Draw the tree of a fitted estimator with ``strategy="mosaic"``.

        Parameters
        ----------
        estimator : AutoClassifier or ConstrainedAutoClassifier
            A fitted one.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs : dict
            See ``plot``.

        Returns
        -------
        display : SearchTreeDisplay
            What was drawn.
        """
        return cls(record_of(estimator, cls, "tree_", '"mosaic"')).plot(ax=ax, **kwargs)

    def plot(self, ax=None, *, max_nodes=40):
        """Draw the most visited nodes.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        max_nodes : int, default=40
            Number of nodes.

        Returns
        -------
        self : SearchTreeDisplay
            With its artists.
        """
        # No node has more visits than its parent, so that no parent is left out.
        order = self.frame.sort_values(["visits", "depth"], ascending=[False, True], kind="stable")
        shown = self.shown_ = _placed(order.head(max_nodes).reset_index(drop=True))
        n_rows, n_columns = shown["y"].max() + 1, shown["depth"].max() + 1
        ax = self._make_axes(
            ax, width=1.2 + _COLUMN_WIDTH * n_columns, height=1.0 + ROW_HEIGHT * n_rows
        )
        self._draw_lines(ax, shown)
        self._draw_nodes(ax, shown)
        self._write_labels(ax, shown, n_rows)
        steps = shown.drop_duplicates("depth").sort_values("depth")["step"]
        ax.set_xticks(range(n_columns), [step.replace("_", " ") for step in steps])
        ax.xaxis.tick_top()
        ax.tick_params(length=0)
        ax.set(yticks=[], xlim=(-0.2, n_columns - 0.1), ylim=(n_rows - 0.4, -0.6))
        ax.spines[:].set_visible(False)
        return self

    def _draw_lines(self, ax, shown):
        places = {row.node: (row.x, row.y) for row in shown.itertuples()}
        self.lines_ = []
        for row in shown[shown["depth"] > 0].itertuples():
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

    def _draw_nodes(self, ax, shown):
        sizes = 12.0 + _LARGEST_MARK * shown["visits"] / max(1, shown["visits"].max())
        known = shown["median"].notna()
        self.nodes_ = ax.scatter(
            shown["x"][known],
            shown["y"][known],
            s=sizes[known],
            c=shown["median"][known],
            cmap=COLORMAP,
            vmax=np.quantile(shown["median"][known], _COLORED_SHARE),
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

    def _write_labels(self, ax, shown, n_rows):
        # In axes of the user the letters shrink with the room that they have.
        place, figure = ax.get_position(), self.figure_
        column_width = place.width * figure.get_figwidth() / (shown["depth"].max() + 1)
        row_height = place.height * figure.get_figheight() / n_rows
        room = min(column_width / _COLUMN_WIDTH, row_height / ROW_HEIGHT)
        size = _FONT_SIZE * min(1.0, 1.4 * room)
        self.labels_ = [
            ax.text(
                row.x + 0.1,
                row.y,
                f"{row.algorithm or 'all'} ({row.visits})",
                size=size,
                va="center",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
                zorder=3,
            )
            for row in shown.itertuples()
        ]


def _parent(node):
    return node.rpartition(_SEPARATOR)[0]


def _placed(frame):
    """Add a place to each node: leaves in rows of their own, parents amid their children."""
    children = {}
    for node in frame["node"][1:]:
        children.setdefault(_parent(node), []).append(node)
    places, n_leaves = {}, 0

    def place(node):
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
