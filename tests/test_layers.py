"""A module imports only from the layers above its own, absolutely, at the top."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "skauto"
PAGE = ROOT.parent / "docs" / "architecture.rst"

# From the layer that imports nothing of skauto to the layers that may import everything before
# them. Layers on one line do not import each other. The longest matching prefix names the layer.
LAYERS = [
    ["utils"],
    ["exceptions"],
    ["data"],
    ["model"],
    ["space"],
    ["history"],
    ["selection", "surrogates", "engines"],
    ["acquisition", "metalearning", "constraints"],
    ["schedule"],
    ["strategies", "evaluation"],
    ["_search"],
    ["ensemble"],
    ["export", "inspection"],
    ["display"],
    ["estimators"],
    ["plotting", "objectives"],  # no other module imports them, but `testing`
    ["testing"],
    ["cli"],
    ["__main__"],
    ["__init__"],
]
HEIGHT = {layer: height for height, layers in enumerate(LAYERS) for layer in layers}

# Only these may be imported inside a function, and only there: optional dependencies, and what
# takes long to import and is seldom needed.
DEFERRED = {
    "pandas",
    "pyarrow",
    "matplotlib",
    "dask",
    "distributed",
    "moocore",
    "imblearn",
    "catboost",
    "xgboost",
    "onnx",
    "skl2onnx",
}
# Modules that import one of them at the top, because they define sub-classes. Treated alike.
SLOW_MODULES = {
    "skauto.model._sampler_pipeline": "imblearn",
    "skauto.space.catalog._samplers": "imblearn",
}
# The one module that may import private names of other packages.
COMPAT = "skauto.utils._compat"


def layer_of(module: str) -> str:
    """Name the layer of a dotted module such as ``skauto.space._space``."""
    inside = module.removeprefix("skauto").lstrip(".") or "__init__"
    parts = inside.split(".")
    prefixes = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
    for prefix in prefixes:
        if prefix in HEIGHT:
            return prefix
    raise LookupError(f"{module!r} lies in no layer: add it to LAYERS in tests/test_layers.py.")


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The dotted names of what an import statement imports from."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    package = node.module or ""
    if package.split(".")[0] != "skauto":
        return [package]
    return [  # `from skauto import space` imports the layer
        f"{package}.{alias.name}" if is_module(package, alias.name) else package
        for alias in node.names
    ]


def is_module(package: str, name: str) -> bool:
    folder = ROOT.parent.joinpath(*package.split("."))
    return (folder / f"{name}.py").exists() or (folder / name).is_dir()


def imports_of(tree: ast.AST, place: str = "top") -> Iterator[tuple[ast.stmt, str]]:
    """Every import statement with its place: "top", "function" or "typing" (never executed)."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, place
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from imports_of(child, "function")
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from imports_of(child, "typing")
        elif not isinstance(child, ast.expr):
            yield from imports_of(child, place)


@cache
def imports_in(source: str) -> list[tuple[ast.stmt, str]]:
    """Every import statement of a module's source with its place."""
    return list(imports_of(ast.parse(source)))


def violations(module: str, source: str) -> list[str]:
    """What the imports of a module's source break, one sentence each."""
    layer, found = layer_of(module), []
    excused = SLOW_MODULES.get(module)
    for node, place in imports_in(source):
        line = f"line {node.lineno}: "
        if isinstance(node, ast.ImportFrom) and node.level > 0:
            found.append(line + "relative import")
            continue
        if module != COMPAT:
            found += [line + f"{name} is private, use {COMPAT}" for name in private_names(node)]
        for name in imported_modules(node):
            package = name.split(".")[0]
            deferred = package in DEFERRED or name in SLOW_MODULES
            if place == "function" and not deferred:
                found.append(line + f"{name} is imported inside a function")
            if place == "top" and deferred and package != excused:
                found.append(line + f"{name} must be imported where it is used")
            if package == "skauto" and not may_import(layer, layer_of(name)):
                found.append(line + f"{layer} imports {layer_of(name)}, which is not above it")
    return found


def private_names(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The private modules and names of other packages that an import statement names."""
    names = [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        names = [f"{node.module}.{name}" for name in names]
    return [
        name
        for name in names
        if not name.startswith("skauto")
        and any(part.startswith("_") for part in name.split(".") if part != "__future__")
    ]


def may_import(layer: str, other: str) -> bool:
    return layer == other or HEIGHT[other] < HEIGHT[layer]


# Imports the layers in their order, while only the layers above are loaded. The package is
# replaced by an empty one, because its `__init__` would import everything.
IMPORT_EACH_LAYER = """
import importlib, json, sys, types
root, order = sys.argv[1], json.loads(sys.argv[2])
package = sys.modules["skauto"] = types.ModuleType("skauto")
package.__path__, package.__version__ = [root], "0"
loaded, above = {}, set()
for layers in order:
    for layer in layers:
        for name in [name for name in sys.modules if name.startswith("skauto.")]:
            if name.split(".")[1] not in above:
                del sys.modules[name]
        before = set(sys.modules)
        importlib.import_module(f"skauto.{layer}")
        loaded[layer] = [name for name in set(sys.modules) - before if name.startswith("skauto.")]
    above.update(layers)
print(json.dumps(loaded))
"""


def test_a_layer_loads_only_layers_above_when_it_runs() -> None:
    order = json.dumps(LAYERS[:-1])  # `__init__` imports everything
    command = [sys.executable, "-c", IMPORT_EACH_LAYER, str(ROOT), order]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {
        layer: {layer_of(name) for name in names}
        for layer, names in json.loads(run.stdout).items()
    }
    assert all(layer in others for layer, others in loaded.items())
    wrong = {
        layer: {other for other in others if not may_import(layer, other)}
        for layer, others in loaded.items()
    }
    assert {layer: others for layer, others in wrong.items() if others} == {}


def test_modules_import_only_from_layers_above() -> None:
    found = {
        module_name(path): violations(module_name(path), path.read_text(encoding="utf-8"))
        for path in sorted(ROOT.rglob("*.py"))
    }
    assert {module: sentences for module, sentences in found.items() if sentences} == {}


def test_the_page_lists_the_layers_in_their_order() -> None:
    rows = re.findall(r"^   \* - (``.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    heights = [[HEIGHT[name] for name in re.findall(r"``(\w+)``", row)] for row in rows]
    assert all(len(set(own)) == 1 for own in heights)  # layers on one row are on one line
    assert [own[0] for own in heights] == sorted(own[0] for own in heights)
    packages = {name for name in HEIGHT if (ROOT / name).is_dir()}
    assert packages == set(re.findall(r"``(\w+)``", " ".join(rows))) - {"exceptions", "_search"}


def test_no_two_modules_import_each_other() -> None:
    imported = {
        module_name(path): {
            name
            for node, _ in imports_in(path.read_text(encoding="utf-8"))
            for name in imported_modules(node)
        }
        for path in ROOT.rglob("*.py")
    }
    mutual = {
        (module, other)
        for module, others in imported.items()
        for other in others
        if module in imported.get(other, ())
    }
    assert mutual == set()


@pytest.mark.parametrize(
    ("module", "source", "expected"),
    [
        ("skauto.strategies._tpe", "from skauto.evaluation import Engine", "is not above it"),
        ("skauto.engines._make", "import skauto.strategies", "is not above it"),
        ("skauto.space._space", "from skauto.history import Trial", "is not above it"),
        ("skauto.utils._pareto", "from skauto.exceptions import Any", "is not above it"),
        ("skauto.strategies._tpe", "from skauto.ensemble import _build", "is not above it"),
        ("skauto._search", "from skauto import estimators", "is not above it"),
        ("skauto.space._space", "from skauto import __version__", "is not above it"),
        ("skauto.space._space", "from ._component import Component", "relative import"),
        ("skauto.space", "def f():\n    import scipy", "inside a function"),
        ("skauto.data", "from sklearn.utils import _safe_indexing", "is private"),
        ("skauto.data", "from sklearn.utils._mask import Any", "is private"),
        ("skauto.data", "import joblib._utils", "is private"),
        ("skauto.history", "import pandas as pd", "must be imported where"),
        ("skauto.space", "from skauto.space.catalog._samplers import X", "must be imported where"),
    ],
)
def test_a_violation_is_found(module: str, source: str, expected: str) -> None:
    (sentence,) = violations(module, source)
    assert expected in sentence


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("skauto.strategies._divbo", "from skauto.selection import greedy_selection"),
        ("skauto.selection._greedy", "from skauto.selection._losses import LogLoss"),
        ("skauto.space._space", "from skauto.space._component import Component"),
        ("skauto.history", "def f():\n    import pandas as pd"),
        ("skauto.utils._compat", "from sklearn.utils import _safe_indexing"),
        ("skauto.history", "if TYPE_CHECKING:\n    import pandas as pd"),
        ("skauto", "from skauto.estimators import AutoClassifier"),
    ],
)
def test_a_legal_import_passes(module: str, source: str) -> None:
    assert violations(module, source) == []


def test_a_module_without_a_layer_is_reported() -> None:
    with pytest.raises(LookupError, match="lies in no layer"):
        layer_of("skauto.attic._old")
