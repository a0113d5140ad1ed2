"""HTML elements of the report: tables, figures and the page."""

import html
import io
import math
import textwrap
import warnings
from collections.abc import Callable, Iterable, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from skauto.display._base import BLUE, SKY

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Colors of figures that are replaced by those of the page, which can be dark.
_PAGE_COLORS = {
    "#000000": "currentColor",
    "#ffffff": "var(--page)",
    BLUE.lower(): "var(--accent)",
    SKY.lower(): "var(--second)",
}
# Longest text of a table cell, in characters, that is not wrapped.
_LONG = 24
# Letters of a legend that fit into an inch, and whose space a handle takes.
_LETTERS_PER_INCH, _HANDLE = 14, 6
# Lines of a legend for which a figure has space, and inches of a further line.
_MAX_LINES, _LINE = 3, 0.17
_STYLE = {
    "axes.facecolor": "none",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.facecolor": "none",
    "font.size": 9.0,
    "legend.frameon": False,
    "savefig.facecolor": "none",
    "svg.fonttype": "none",  # the browser has letters that Matplotlib's font lacks
    "svg.hashsalt": "skauto",
}


class Markup(str):
    """HTML text, which is not escaped again."""


def text(value: Any) -> str:
    """Format a value as escaped HTML: floats with four digits, None and NaN as a dash."""
    if isinstance(value, Markup):
        return value
    if value is None or value != value:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) or type(value).__name__.startswith("float"):
        return f"{value:,.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:.4g}"
    return html.escape(str(value))


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Format a table that scrolls if it is too wide or too long."""
    head = "".join(f"<th>{text(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</div>"
    )


def records(records: list[dict[str, Any]]) -> str:
    """Tabulate records of equal keys in the same order; empty without records."""
    if not records:
        return ""
    columns = [name.replace("_", " ") for name in records[0]]
    return table(columns, [list(record.values()) for record in records])


def _cell(value: Any) -> str:
    if isinstance(value, Markup):
        return f'<td class="bars">{value}</td>'
    if not isinstance(value, str):
        return f'<td class="number">{text(value)}</td>'
    return f'<td class="{"long" if len(value) > _LONG else "text"}">{text(value)}</td>'


def bar(share: float) -> Markup:
    """Format a number in [0, 1] as a horizontal bar with its value."""
    width = f"{100.0 * min(max(share, 0.0), 1.0):.1f}"
    return Markup(
        f'<span class="bar"><span style="width:{width}%"></span></span>'
        f'<span class="value">{share:.3f}</span>'
    )


def figure(
    draw: Callable[["Figure"], Any], caption: str, width: float = 5.2, height: float = 3.4
) -> str:
    """Format what ``draw(figure)`` draws, of a size in inches, as SVG in the page's colors."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE), warnings.catch_warnings():  # type: ignore[arg-type]
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        drawn = Figure(figsize=(width, height), layout="constrained")
        draw(drawn)
        _legend_below(drawn)
        buffer = io.StringIO()
        drawn.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    for color, on_page in _PAGE_COLORS.items():
        svg = svg.replace(color, on_page)
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{html.escape(caption)}" ', 1)
    style = f"max-width:{96 * width:.0f}px"
    return f'<figure style="{style}">{svg}<figcaption>{text(caption)}</figcaption></figure>'


def _legend_below(drawn: "Figure") -> None:
    """Move the legends below the figure, because narrow pages have no space beside it."""
    for ax in drawn.axes:
        legend = ax.get_legend()
        handles, labels = ax.get_legend_handles_labels()
        if legend is None or not handles:
            continue
        legend.remove()
        width = int(_LETTERS_PER_INCH * drawn.get_figwidth())
        ncols = _columns_that_fit(labels, width)
        labels = [textwrap.fill(label, width - _HANDLE) for label in labels]
        n_lines = "\n".join(labels).count("\n") + 1
        more = max(0, math.ceil(n_lines / ncols) - _MAX_LINES)
        drawn.set_figheight(drawn.get_figheight() + _LINE * more)
        drawn.legend(handles, labels, loc="outside lower center", ncols=ncols, fontsize="small")


def _columns_that_fit(labels: Sequence[str], width: int) -> int:
    """Largest number of columns of a legend, up to three, within a width in letters."""
    for ncols in (3, 2):
        columns = [column for column in np.array_split(labels, ncols) if column.size]
        if sum(max(map(len, column)) + _HANDLE for column in columns) <= width:
            return ncols
    return 1


def section(heading: str, *content: str) -> str:
    """Format a section of a page; without content it is left out."""
    inner = "".join(content)
    return f"<section><h3>{text(heading)}</h3>{inner}</section>" if inner else ""


def paragraph(content: str, kind: str = "") -> str:
    """Format a sentence as a paragraph, of a class of the style sheet."""
    return f'<p class="{kind}">{text(content)}</p>' if kind else f"<p>{text(content)}</p>"


def style_sheet(name: str) -> str:
    """Read a style sheet of the package."""
    return resources.files("skauto.display").joinpath(f"{name}.css").read_text(encoding="utf-8")


def document(title: str, body: str) -> str:
    """Format a page that needs no other file."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><title>{text(title)}</title>'
        f"<style>{style_sheet('report')}</style></head><body><main>{body}</main></body></html>\n"
    )
