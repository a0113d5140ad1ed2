"""Copies of the modules of skauto that a model needs."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

OWN = __name__.split(".")[0]


def own_modules(modules: Iterable[str]) -> set[str]:
    """Return modules of skauto with all modules of skauto that they import."""
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += [name for name in _imported(ast.walk(_tree(module))) if _is_own(name)]
    return found


def copied(modules: Iterable[str], package: str) -> dict[str, str]:
    """Return the source of modules by path; skauto is renamed to the package.

    Folders that are not among the modules are empty packages.
    """
    files: dict[str, str] = {}
    for module in sorted(modules):
        parts = [package, *module.split(".")[1:]]
        inits = ["/".join([*parts[:n], "__init__.py"]) for n in range(1, len(parts))]
        files |= {path: files.get(path, "") for path in inits}
        path = _path(module)
        ending = "/__init__.py" if path.name == "__init__.py" else ".py"
        text = path.read_text(encoding="utf-8")
        files["/".join(parts) + ending] = re.sub(
            rf"^( *)(from|import) {OWN}\b", rf"\1\2 {package}", text, flags=re.MULTILINE
        )
    return files


def other_packages(modules: Iterable[str]) -> set[str]:
    """Return the packages besides skauto that modules import at their top level."""
    names = (name for module in modules for name in _imported(_tree(module).body))
    return {name.split(".")[0] for name in names if not _is_own(name)}


def _path(module: str) -> Path:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ImportError(f"The source of the module {module!r} was not found.")
    return Path(spec.origin)


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_path(module).read_text(encoding="utf-8"))


def _imported(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def _is_own(module: str) -> bool:
    return module == OWN or module.startswith(f"{OWN}.")
