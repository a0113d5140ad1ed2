"""No module outside of `schedule` has a number that decides who gets which second."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import skauto

ROOT = Path(skauto.__file__).parent
# Modules whose numbers about seconds give no step a part of the time limit.
ALLOWED = {
    "cli/_commands.py": "default time limit",
    "constraints/_deployment.py": "how a latency is measured",
    "constraints/_smaller.py": "how much measured seconds vary",
    "data/_dates.py": "units of time",
    "data/_durations.py": "units of time",
    "data/_text_budget.py": "predicted seconds",
    "display/_progress.py": "pause between two lines",
    "display/_report/_drivers.py": "seconds of a report",
    "display/_timeline.py": "difference of two clocks",
    "engines/_base.py": "what timers accept",
    "engines/_dask.py": "pauses between two checks",
    "engines/_processes.py": "pauses between two checks",
    "evaluation/_cache.py": "predicted seconds",
    "evaluation/_rungs.py": "how much measured seconds vary",
    "metalearning/_fit_times.py": "predicted seconds",
    "metalearning/_warm_start.py": "order of the portfolio",
    "strategies/_alternating_bo.py": "weights of algorithms in a draw",
}


def constants_about_seconds(source: str) -> Iterator[str]:
    """Names of numeric constants whose name or comment says that they are about seconds."""
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
            numbers = [n for n in ast.walk(node.value) if isinstance(n, ast.Constant)]
            above = [line for line in lines[: node.lineno - 1] if line]
            comment = [lines[node.lineno - 1]]
            while above and above[-1].startswith("#"):
                comment.append(above.pop())
            is_number = any(type(number.value) in (int, float) for number in numbers)
            if is_number and re.search("(?i)seconds", "\n".join([target, *comment])):
                yield target


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(ROOT.rglob("*.py")) if path.parent.name != "schedule"],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_only_schedule_has_constants_about_seconds(path):
    found = list(constants_about_seconds(path.read_text(encoding="utf-8")))
    assert bool(found) == (path.relative_to(ROOT).as_posix() in ALLOWED), found


@pytest.mark.parametrize(
    "source",
    [
        "_MAX_SECONDS = 3.0",
        "# Seconds, or\n# shares of seconds.\n_A, _B = 1 / 3, 2",
        "X = 1  # seconds",
    ],
)
def test_a_constant_about_seconds_is_found(source):
    assert list(constants_about_seconds(source))


@pytest.mark.parametrize(
    "source", ["_ROWS = 3", "def f(seconds):\n    n = 3", "_SECONDS = [*'ab']"]
)
def test_others_are_not(source):
    assert not list(constants_about_seconds(source))
