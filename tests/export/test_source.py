"""Copies of the modules that an exported model needs."""

import ast

import pytest

from skauto.export._source import copied, other_packages, own_modules


def test_modules_come_with_all_that_they_import():
    found = own_modules(["skauto.model._ensemble"])
    assert {"skauto.model._ensemble", "skauto.model._decision"} <= found
    assert found == own_modules(found)
    assert not any(name.startswith("skauto.strategies") for name in found)
    assert {"numpy", "sklearn"} <= other_packages(found)
    assert "skauto" not in other_packages(found)


def test_copies_do_not_import_skauto():
    files = copied(own_modules(["skauto.model._ensemble"]), "own_code")
    assert files["own_code/__init__.py"] == ""
    for path, text in files.items():
        for node in ast.walk(ast.parse(text)):
            names = [alias.name for alias in getattr(node, "names", []) if hasattr(alias, "name")]
            imported = names if isinstance(node, ast.Import) else [getattr(node, "module", "")]
            assert not any((name or "").startswith("skauto") for name in imported), path


def test_a_module_without_source_is_named():
    with pytest.raises(ImportError, match=r"'skauto\.missing' was not found"):
        own_modules(["skauto.missing"])
