"""The page on papers and defaults, compared with the code."""

import inspect
import re
from pathlib import Path

import pytest

from skauto.strategies import ADMM, FLASH, MOSAIC, DivBO, FanGHPO

PAGE = Path(__file__).parents[2] / "docs" / "user_guide" / "papers.rst"
N_COLUMNS = 5  # setting or step, paper, preset, default, why
PRESETS = {
    "ADMM": (ADMM.paper(), ADMM()),
    "MOSAIC": (MOSAIC.paper(), MOSAIC()),
    "DivBO": (DivBO.paper(), DivBO()),
    "FLASH": (FLASH.paper(), FLASH()),
    r"FLASH\*": (FLASH.paper(star=True), FLASH()),
    "FanG-HPO": (FanGHPO.paper(), FanGHPO()),
}


def sections():
    """Lines of each section of the page."""
    title, lines = "", PAGE.read_text(encoding="utf-8").splitlines()
    found = {}
    for line, underline in zip(lines, [*lines[1:], ""], strict=True):
        if line and re.fullmatch("-+", underline):
            title = line
        found.setdefault(title, []).append(line)
    return found


def table(title):
    """Rows of the table of a section as lists of cells, without the header."""
    rows = []
    for line in sections()[title]:
        if line.startswith("   * - "):
            rows.append([line[7:]])
        elif re.match(r"     -( |$)", line):
            rows[-1].append(line[7:])
        elif line.startswith("       ") and rows:
            rows[-1][-1] += " " + line.strip()
    return rows[1:]


def settings(strategy):
    """Settings of a strategy as the page prints them."""
    names = inspect.signature(type(strategy)).parameters
    return {name: f"``{' '.join(repr(getattr(strategy, name)).split())}``" for name in names}


def rows_of_settings(title):
    """Cells of the preset and of the default by the name of the setting."""
    rows = [row for row in table(title) if row[0].startswith("``")]
    found = {row[0].strip("`"): (row[2], row[3]) for row in rows}
    assert len(found) == len(rows), "a setting has two rows"
    return found


@pytest.mark.parametrize("title", PRESETS)
def test_every_setting_has_a_row_with_both_values(title):
    preset, default = map(settings, PRESETS[title])
    expected = {name: (preset[name], default[name]) for name in preset}
    if title == r"FLASH\*":  # the others are in the table of FLASH
        same = settings(FLASH.paper())
        expected = {name: row for name, row in expected.items() if row[0] != same[name]}
    assert rows_of_settings(title) == expected


@pytest.mark.parametrize("title", PRESETS)
def test_every_row_says_where_the_paper_has_it_and_why_a_default_differs(title):
    rows = table(title)
    for name, paper, preset, default, *why in rows:
        assert len(why) == 1, f"the row of {name} must have {N_COLUMNS} cells"
        assert paper and preset and default
        assert why[0] or preset == default or default == "the same"


def test_every_preset_has_a_section():
    assert [title for title in sections() if title][-len(PRESETS) :] == list(PRESETS)
