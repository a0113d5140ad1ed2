"""The page of a report: its elements, in a browser and on paper."""

import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from skauto import AutoClassifier
from skauto.display._base import COLORS
from skauto.display._page import _PAGE_COLORS, Markup, document, figure, table, text
from tests.display.browser import CHROMIUM, look_at, needs_chromium
from tests.display.pages import PAGE_ONE, PAGE_TWO, PAGES


def test_names_and_errors_are_escaped(report):
    assert "<script>" not in report
    assert "&lt;script&gt;" in report
    assert "&lt;b&gt;churn&lt;/b&gt;" in report
    assert "ArithmeticError: a &lt;b&gt; &amp; c" in report


def test_the_page_can_be_printed_and_follows_the_colors_of_the_reader(report):
    style = report[report.index("<style>") : report.index("</style>")]
    assert "@page { size: A4" in style
    assert "@media screen and (prefers-color-scheme: dark)" in style
    printed = style[style.index("@media print") :]
    assert "overflow: visible" in printed
    assert "break-before: page" in printed
    assert ".figures { break-inside: avoid; }" in printed


@pytest.mark.parametrize("package", ["matplotlib", "pandas"])
def test_without_a_package_the_error_names_the_extra(
    package, random_search, monkeypatch, tmp_path
):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"save_report needs {package}.*skauto\[plot\]"):
        random_search.save_report(tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_text_of_tables():
    assert text(0.123456) == "0.1235"
    assert text(np.float32(2)) == "2"
    assert (text(None), text(float("nan")), text(True)) == ("–", "–", "yes")
    assert text(Markup("<b>")) == "<b>"
    assert "<td" in table(["a"], [["<"]])
    assert "&lt;" in table(["a"], [["<"]])


def test_figures_write_letters_of_all_languages_and_keep_colors_apart():
    def draw(drawn):
        for color in COLORS:
            drawn.gca().plot([0, 1], color=color, label="日本 & co")
        drawn.gca().legend()

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of letters that Matplotlib's font lacks
        shown = figure(draw, "a caption")
    assert shown.count(">日本 &amp; co</text>") == len(COLORS)
    values = dict(re.findall(r"(--\w+): (#\w+)", document("", "").split("@media")[1]))
    on_page = [_PAGE_COLORS.get(color.lower(), color.lower()) for color in COLORS]
    dark = {re.sub(r"var\((.*)\)", lambda name: values[name[1]], color) for color in on_page}
    assert len(dark) == len(COLORS)


@needs_chromium
@pytest.mark.parametrize(("width", "dark"), [(400, False), (1400, True)])
def test_the_page_in_a_browser(report, tmp_path, width, dark):
    seen = look_at(report, tmp_path, width=width, dark=dark)
    assert seen["width"] == width
    assert seen["content"] <= width  # nothing but tables scrolls sideways
    assert len(seen["sizes"]) == 5
    assert all(shown > 250 and natural > 0 for shown, natural in seen["sizes"])
    assert seen["requests"] == []
    assert (np.mean(seen["background"]) < 60) == dark
    assert abs(np.mean(seen["color"]) - np.mean(seen["background"])) > 180
    assert all(heading in seen["text"] for heading in [*PAGES, *PAGE_ONE, *PAGE_TWO])


@needs_chromium
def test_the_page_is_printed_on_few_sheets_of_a4(report, tmp_path):
    source, printed = tmp_path / "report.html", tmp_path / "report.pdf"
    source.write_text(report, encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    command = [str(CHROMIUM), *flags, profile, f"--print-to-pdf={printed}", source.as_uri()]
    subprocess.run(command, capture_output=True, timeout=120, check=True)
    pdf = printed.read_bytes()
    sheets = re.findall(rb"/MediaBox \[0 0 ([0-9.]+) ([0-9.]+)\]", pdf)
    assert 3 <= len(sheets) <= 6
    assert {(round(float(w)), round(float(h))) for w, h in sheets} == {(595, 842)}


@pytest.mark.parametrize("n_labels", [1, 3, 12])
def test_a_long_legend_leaves_space_for_the_plot(n_labels):
    heights, edges = [], []

    def draw(drawn):
        ax = drawn.subplots()
        for i in range(n_labels):
            ax.plot([0, 1], [i, i], label=f"algorithm {i}" if i else "a label that is long " * 9)
        ax.legend()

        def look(event):
            heights.append(ax.get_window_extent().height / drawn.dpi)
            legend = drawn.legends[0].get_window_extent()
            edges.extend([legend.x0, drawn.bbox.width - legend.x1])

        drawn.canvas.mpl_connect("draw_event", look)

    figure(draw, "caption")
    assert heights[-1] > 2.0
    assert min(edges[-2:]) >= 0.0


def test_dollar_signs_in_names(rng, tmp_path):
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=["cost_$_usd_$", "a$b$c", "$x^{$"])
    y = np.array(["low_$_1_$", "high$_{$"])[(X.iloc[:, 0] > 0).astype(int)]
    clf = AutoClassifier(max_evals=2, cv=2, random_state=0).fit(X, y)
    clf.save_report(tmp_path / "report.html", X=X, y=y)
    text = (tmp_path / "report.html").read_text()
    assert "cost_$_usd_$" in text
