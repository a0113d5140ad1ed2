"""Draw which layers of skauto import which, read from the sources."""

import ast
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import skauto

PAGE = Path(__file__).parent / "architecture.rst"


def layers():
    """Return the names of the layers, in the order of the table of the page."""
    rows = re.findall(r"^   \* - (``.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return re.findall(r"``(\w+)``", "\n".join(rows))


def imported_layers(path):
    """Return the names of the layers that a module imports."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {module.split(".")[1] for module in modules if module.startswith("skauto.")}


def draw_imports(target):
    """Draw the number of modules of each layer (rows) that import from another one (columns)."""
    names, root = layers(), Path(skauto.__file__).parent
    files = [[*root.glob(f"{name}.py"), *root.glob(f"{name}/**/*.py")] for name in names]
    found = [[imported_layers(path) for path in paths] for paths in files]
    counts = np.array([[sum(name in to for to in own) for name in names] for own in found])
    np.fill_diagonal(counts, 0)  # a layer imports its own modules
    fig, ax = plt.subplots(figsize=(8, 7.2), layout="constrained")
    ax.imshow(np.sqrt(counts), cmap="Blues", vmax=1.5 * np.sqrt(counts.max()))
    for row, column in np.argwhere(counts):
        ax.text(column, row, counts[row, column], ha="center", va="center")
    labels = [f"{name} ({len(paths)})" for name, paths in zip(names, files, strict=True)]
    ax.set_yticks(range(len(names)), labels)
    ax.set_xticks(range(len(names)), names, rotation=90)
    ax.xaxis.tick_top()
    ax.set_xticks(np.arange(len(names)) - 0.5, minor=True)
    ax.set_yticks(np.arange(len(names)) - 0.5, minor=True)
    ax.grid(which="minor", color="0.9")
    ax.tick_params(which="both", length=0)
    fig.savefig(target)
    plt.close(fig)
