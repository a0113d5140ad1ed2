"""Paths that the documents name, and tests that one can find."""

import re
from pathlib import Path

from tests.not_measured import NOT_MEASURED

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / ".github/CONTRIBUTING.md",
    ROOT / ".ci/run",
    *(ROOT / "docs").glob("*.rst"),
    *(ROOT / "docs/user_guide").glob("*.rst"),
]
# Test files of several modules, of folders, or of the whole package.
OF_SEVERAL = {
    "schedule/test_constants.py",
    "data/test_properties.py",
    "estimators/test_errors.py",
    "estimators/test_interplay.py",
    "examples/test_charts.py",
    "examples/test_scripts.py",
    "recipes/test_recipes.py",
    "strategies/test_contract.py",
    "strategies/test_papers_page.py",
    "test_docstrings.py",
    "test_import.py",
    "test_layers.py",
    "test_paths.py",
}


def paths_in(text: str) -> list[str]:
    """Paths below skauto and tests; ``{a,b}`` and ``<name>`` stand for several."""
    found = []
    for path in re.findall(r"\b(?:skauto|tests)/[\w/.*<>{},-]+", text):
        before, brace, rest = path.partition("{")
        names, _, after = rest.partition("}")
        for name in names.split(",") if brace else [""]:
            found.append(re.sub("<.*?>", "*", before + name + after).rstrip(".,"))
    return found


def test_paths_in_a_text() -> None:
    text = "See `tests/a/test_{b,c}.py`, ``skauto/_<name>.py``. All are in tests/a/."
    assert paths_in(text) == ["tests/a/test_b.py", "tests/a/test_c.py", "skauto/_*.py", "tests/a/"]


def test_paths_that_documents_name_exist() -> None:
    """A distribution has some of the documents only."""
    named = [
        (document.name, path)
        for document in DOCUMENTS
        if document.exists()
        for path in paths_in(document.read_text(encoding="utf-8"))
    ]
    assert named
    assert [pair for pair in named if not any(ROOT.glob(pair[1]))] == []


def test_tests_that_are_not_measured_exist() -> None:
    assert [path for path in NOT_MEASURED if not (ROOT / path).exists()] == []


def test_a_test_file_has_the_name_of_its_module() -> None:
    tests = ROOT / "tests"
    expected = OF_SEVERAL | {
        path.relative_to(tests).as_posix() for path in tests.rglob("test_common.py")
    }
    for module in (ROOT / "skauto").rglob("*.py"):
        *folders, name = module.relative_to(ROOT / "skauto").parts
        expected.add("/".join([f.lstrip("_") for f in folders] + ["test_" + name.lstrip("_")]))
    found = {path.relative_to(tests).as_posix() for path in tests.rglob("test_*.py")}
    assert found - expected == set()
    assert OF_SEVERAL - found == set()
