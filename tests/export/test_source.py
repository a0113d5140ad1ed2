"""Copies of the modules that an exported model needs."""

import ast

from skauto.export._source import copied, imported


def test_modules_come_with_all_that_they_import():
    files = copied(["skauto.model._ensemble"], "own_code")
    assert {"own_code/model/_ensemble.py", "own_code/model/_decision.py"} <= files.keys()
    assert not any("strategies" in path for path in files)
    assert {"numpy", "sklearn"} <= imported(files)
    assert "skauto" not in imported(files)


def test_copies_do_not_import_skauto():
    files = copied(["skauto.model._ensemble"], "own_code")
    assert files["own_code/__init__.py"] == files["own_code/model/__init__.py"] == ""
    for path, text in files.items():
        for node in ast.walk(ast.parse(text)):
            names = [alias.name for alias in getattr(node, "names", []) if hasattr(alias, "name")]
            imports = names if isinstance(node, ast.Import) else [getattr(node, "module", "")]
            assert not any((name or "").startswith("skauto") for name in imports), path
