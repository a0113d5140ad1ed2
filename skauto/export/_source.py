"""Copies of the modules of skauto that a model needs."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

OWN = __name__.split(".")[0]
_ROOT = Path(__file__).parents[1]
_OWN_IMPORT = re.compile(rf"^( *from ){OWN}\.([\w.]+)(?= import )", re.MULTILINE)
_IMPORT = re.compile(r"^(?:from|import) (\w+)", re.MULTILINE)


def copied(modules: Iterable[str], package: str) -> dict[str, str]:
    """Return the source of modules of skauto, and of all that they import, by path.

    skauto is renamed to the package. Folders that are not among the modules are empty packages.
    """
    files: dict[str, str] = {}
    waiting = [module.removeprefix(f"{OWN}.") for module in modules]
    while waiting:
        path = _path(waiting.pop())
        name = f"{package}/{path.relative_to(_ROOT).as_posix()}"
        if name not in files:
            text = path.read_text(encoding="utf-8")
            waiting += [module for _, module in _OWN_IMPORT.findall(text)]
            files[name] = _OWN_IMPORT.sub(rf"\1{package}.\2", text)
    folders = {folder for name in files for folder in PurePosixPath(name).parents[:-1]}
    return {f"{folder}/__init__.py": "" for folder in sorted(folders)} | files


def imported(files: Mapping[str, str]) -> set[str]:
    """Return the packages that the source of modules imports at the top level."""
    return {package for text in files.values() for package in _IMPORT.findall(text)}


def _path(module: str) -> Path:
    path = _ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
