"""Extraction of the source code that a model needs from skauto."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

OWN = __name__.split(".")[0]


@dataclass(frozen=True)
class _Module:
    """Source of a module and the statements that define its top-level names."""

    name: str
    is_package: bool
    lines: list[str]
    definitions: dict[str, ast.stmt]


class SourceCollector:
    """Collect definitions of skauto with all definitions that they depend on."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.modules: dict[str, _Module] = {}
        self.needed: defaultdict[str, set[str]] = defaultdict(set)
        self.own_imports: defaultdict[str, set[str]] = defaultdict(set)  # lines by module

    def add(self, module: str, name: str) -> None:
        """Add a class, function or constant of a module and everything that it depends on."""
        module, name = self._origin(module, name)
        if name in self.needed[module]:
            return
        self.needed[module].add(name)
        known = self._module(module).definitions
        for node in ast.walk(known[name]):
            if isinstance(node, ast.Name) and node.id in known:
                origin, original = self._origin(module, node.id)
                self.add(origin, original)
                if origin != module:
                    renamed = "" if original == node.id else f" as {node.id}"
                    self.own_imports[module].add(f"from {origin} import {original}{renamed}")
            elif isinstance(node, ast.ImportFrom) and _is_own(node.module or ""):
                for alias in node.names:
                    self.add(node.module or "", alias.name)

    def files(self) -> dict[str, str]:
        """Return the collected source by path, relative to the parent folder of the package."""
        files = {}
        for module in sorted(self.needed):
            parts = [self.package, *module.split(".")[1:]]
            inits = ["/".join([*parts[:n], "__init__.py"]) for n in range(1, len(parts))]
            files.update(dict.fromkeys(inits, ""))
            ending = "/__init__.py" if self._module(module).is_package else ".py"
            files["/".join(parts) + ending] = self._source(module)
        return files

    def packages(self) -> set[str]:
        """Return the top-level names of other packages that the collected source imports."""
        imports = (
            self._module(module).definitions[name]
            for module, names in self.needed.items()
            for name in names
        )
        return {
            name.split(".")[0]
            for node in imports
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in _imported(node)
            if not _is_own(name)
        }

    def _module(self, name: str) -> _Module:
        if name not in self.modules:
            spec = find_spec(name)
            if spec is None or spec.origin is None:
                raise ImportError(f"The source of the module {name!r} was not found.")
            text = Path(spec.origin).read_text(encoding="utf-8")
            definitions = dict(_definitions(ast.parse(text)))
            is_package = spec.submodule_search_locations is not None
            self.modules[name] = _Module(name, is_package, text.splitlines(), definitions)
        return self.modules[name]

    def _origin(self, module: str, name: str) -> tuple[str, str]:
        """Follow imports within skauto to the module that defines a name."""
        node = self._module(module).definitions[name]
        while isinstance(node, ast.ImportFrom) and _is_own(node.module or ""):
            original = {alias.asname or alias.name: alias.name for alias in node.names}
            module, name = node.module or "", original[name]
            node = self._module(module).definitions[name]
        return module, name

    def _source(self, name: str) -> str:
        """Write the needed definitions of one module, in the order of the module."""
        module = self._module(name)
        imports, blocks = [], []
        for known, node in module.definitions.items():
            if known in self.needed[name]:
                if isinstance(node, ast.Import | ast.ImportFrom):
                    imports.append(_import_line(node, known))
                else:
                    blocks.append(_block(module.lines, node))
        imports.extend(sorted(self.own_imports[name]))
        body = "\n\n\n".join(dict.fromkeys(blocks))  # one statement may define several names
        code = "\n".join(dict.fromkeys(imports)) + f"\n\n\n{body}\n"
        code = re.sub(rf"^( *)from {OWN}\.", rf"\1from {self.package}.", code, flags=re.MULTILINE)
        return f'"""Taken from {name}."""\n\n{code}'


def _definitions(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the top-level names of a module with the statements that define them."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name.split(".")[0], node
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.Try):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    yield inner.id, node


def _is_own(module: str) -> bool:
    return module == OWN or module.startswith(f"{OWN}.")


def _imported(node: ast.Import | ast.ImportFrom) -> Iterable[str]:
    return [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]


def _import_line(node: ast.Import | ast.ImportFrom, name: str) -> str:
    alias = next(a for a in node.names if (a.asname or a.name.split(".")[0]) == name)
    if isinstance(node, ast.Import):
        return ast.unparse(ast.Import([alias]))
    return ast.unparse(ast.ImportFrom(node.module, [alias], 0))


def _block(lines: list[str], node: ast.stmt) -> str:
    """Lines of a statement with its decorators and the comment above it."""
    decorators = getattr(node, "decorator_list", [])
    start = min([node.lineno, *(decorator.lineno for decorator in decorators)]) - 1
    while start and lines[start - 1].startswith("#"):
        start -= 1
    return "\n".join(lines[start : node.end_lineno])
