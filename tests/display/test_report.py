"""The report and the summary in notebooks."""

import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import Bunch, estimator_html_repr

from skauto import AutoClassifier, ConstrainedAutoClassifier
from skauto.constraints import FalseNegativeRate, ModelSize
from skauto.display._page import Markup, table, text
from skauto.display._predictions import Predictions
from skauto.display._words import describe_pipeline
from skauto.exceptions import BudgetWarning, InfeasibleWarning, TrialFailedWarning
from skauto.inspection import cross_validated_importance
from tests.display.browser import CHROMIUM, look_at, needs_chromium
from tests.display.fitted import fit, small_space

PAGES = ["For the analyst", "For the engineer"]
PAGE_ONE = ["How good it is", "What drives it", "Where it errs", "What to watch"]
PAGE_TWO = ["Probabilities", "Operating points"]
PAGE_THREE = [
    "Leaderboard",
    "Members",
    "Where the seconds went",
    "Columns",
    "Settings and versions",
]


class Broken(GaussianNB):
    """A classifier whose error has characters of HTML."""

    def fit(self, X, y, sample_weight=None):
        raise ArithmeticError("a <b> & c")


class Outline(HTMLParser):
    """Headings, texts of articles, references to other files, and tags left open."""

    VOID = {"meta", "br", "img"}

    def __init__(self, page):
        super().__init__()
        self.headings, self.references, self.tags = {"h1": [], "h2": [], "h3": []}, [], []
        self.texts, self.sections, self.article = {}, {}, None
        self.open = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "article":
            self.article = dict(attrs)["id"]
            self.texts[self.article], self.sections[self.article] = "", []
        self.references += [v for k, v in attrs if k in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in self.headings:
            self.headings[self.open[-1]].append(data)
        if self.open and self.open[-1] == "h3":
            self.sections[self.article].append(data)
        if self.article is not None and "svg" not in self.open:
            self.texts[self.article] += f" {data}"


@pytest.fixture(scope="module")
def table_of_two():
    """Two classes that are named, and a column whose name is HTML."""
    X, y = make_classification(300, 5, n_informative=3, flip_y=0.1, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d", "<script>alert(1)</script>"])
    return frame, np.where(y == 1, "yes", "no")


@pytest.fixture(scope="module")
def fitted(table_of_two):
    X, y = (part[:200] for part in table_of_two)
    space = small_space().add("classifier", "broken", Broken())
    with pytest.warns(TrialFailedWarning):
        return AutoClassifier(
            "random", space=space, max_evals=7, cv=2, ensemble_size=5, random_state=0
        ).fit(X, y)


@pytest.fixture(scope="module")
def report(fitted, table_of_two, tmp_path_factory):
    X, y = (part[200:] for part in table_of_two)
    path = tmp_path_factory.mktemp("report") / "report.html"
    fitted.save_report(path, X=X, y=pd.Series(y, name="<b>churn</b>"))
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def content(fitted, table_of_two):
    X, y = (part[200:] for part in table_of_two)
    return fitted.report_dict(X=X, y=pd.Series(y, name="<b>churn</b>"))


def page_of(clf, folder, **rows):
    clf.save_report(folder / "report.html", **rows)
    return (folder / "report.html").read_text(encoding="utf-8")


def test_the_three_pages_have_every_part_and_refer_to_no_other_file(report):
    outline = Outline(report)
    assert outline.headings["h1"] == ["How well can <b>churn</b> be predicted?"]
    assert outline.headings["h2"] == PAGES
    assert outline.sections["summary"] == PAGE_ONE
    assert outline.sections["analyst"] == PAGE_TWO
    assert outline.sections["engineer"] == [
        *PAGE_THREE[:3],
        "Trials without a score",
        *PAGE_THREE[3:],
    ]
    assert outline.open == []
    assert all(reference.startswith(("#", "data:")) for reference in outline.references)
    assert not {"script", "link", "iframe"} & set(outline.tags)
    assert "url(http" not in report


def test_page_one_names_no_part_of_the_search(report, fitted):
    text = Outline(report).texts["summary"]
    used = {trial.origin for trial in fitted.history_} | {type(fitted.strategy_).__name__}
    for word in used | {"trial", "hyper", "fold", "LightGBM"}:
        assert word not in text


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


def test_the_page_states_the_numbers_of_the_data(report, content):
    outline = Outline(report)
    summary, analyst = outline.texts["summary"], outline.texts["analyst"]
    assert content["verdict"]["sentence"] in summary
    score = content["scores"][0]
    assert f"{score['held_out']:.3f} ({score['held_out_low']:.3f} to" in summary
    for row in content["drivers"]["columns"]:
        assert f"{row['importance']:.3f}" in summary
    for row in content["errors"]["by_class"]:
        assert f"{row['precision']:.1%}" in summary
        assert f"{row['recall']:.1%}" in summary
    for hint in content["watch"]:
        assert hint["text"] in summary
    for point in content["probabilities"]["operating_points"]:
        assert f"{point['threshold']:.3f}" in analyst
        assert f"{point['recall']:.1%}" in analyst
    assert f"{content['probabilities']['ranking'][0]['roc_auc']:.4g}" in analyst
    engineering = content["engineering"]
    for member in engineering["members"]:
        assert member["pipeline"] in outline.texts["engineer"]
    assert engineering["code"] in outline.texts["engineer"]


def test_out_of_fold_predictions_are_calibrated(fitted, table_of_two):
    known = Predictions.out_of_fold(fitted)
    y = table_of_two[1][:200]
    ensemble, _ = fitted._out_of_fold
    expected = fitted.ensemble_.decision_.scale(ensemble.predictions).astype(float)
    np.testing.assert_allclose(known.probabilities, expected, rtol=1e-6)
    np.testing.assert_array_equal(fitted.classes_[known.truth], y)
    found = fitted.report_dict()["probabilities"]["log_loss"]
    assert found == pytest.approx(
        log_loss(y, expected / expected.sum(axis=1, keepdims=True)), rel=1e-5
    )


def test_kinds_of_the_columns_are_in_the_report(fitted, report):
    engineer = report[report.index('<article id="engineer"') :]
    for row in fitted.table_report().itertuples():
        assert f">{text(row.column)}<" in engineer
        assert text(row.why) in engineer


def test_members_keep_their_out_of_fold_predictions_and_others_do_not(fitted):
    kept = {trial.number for trial in fitted.history_ if trial.predictions is not None}
    assert kept == set(fitted.member_weights_)


def test_an_importance_by_cross_validation_is_shown_without_rows(fitted, table_of_two, tmp_path):
    X, y = (part[:200] for part in table_of_two)
    importance = cross_validated_importance(fitted, X, y, n_repeats=2, random_state=0)
    page = Outline(page_of(fitted, tmp_path, importance=importance)).texts["summary"]
    assert "Measured by cross-validation, 4 shuffles of each column" in page
    for mean in importance.importances_mean:
        assert f"{mean:.3f}" in page


def test_an_importance_of_other_columns_is_refused(fitted, tmp_path):
    with pytest.raises(ValueError, match=r"for each of the 5 columns. Got shape \(3, 10\)"):
        fitted.save_report(
            tmp_path / "report.html", importance=Bunch(importances=np.zeros((3, 10)))
        )
    with pytest.raises(ValueError, match="cross_validated_importance.*Got ndarray"):
        fitted.save_report(tmp_path / "report.html", importance=np.zeros((5, 10)))


def test_the_code_to_repeat_the_search_holds_the_settings(report):
    code = re.search("<pre>(.*?)</pre>", report, re.DOTALL).group(1)
    assert "from skauto import AutoClassifier" in code
    assert "max_evals=7" in code
    assert "this gives the same model" in report


def test_limits_are_in_the_report_of_a_search_within_limits(table_of_two, tmp_path):
    clf = ConstrainedAutoClassifier(
        [ModelSize(1), FalseNegativeRate(0.9)],
        "random",
        max_evals=3,
        cv=2,
        space=small_space(),
        random_state=0,
    )
    with pytest.warns(InfeasibleWarning):
        clf.fit(*table_of_two)
    clf.save_report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Limits and fairness" in Outline(page).sections["analyst"]
    assert "from skauto.constraints import FalseNegativeRate, ModelSize" in page
    assert "false_negative_rate" in page
    assert "does not keep all of the limits" in Outline(page).texts["summary"]
    assert "not all kept" in clf._repr_html_()


def test_three_classes_without_rows(random_search, tmp_path):
    outline = Outline(page_of(random_search, tmp_path))
    assert outline.sections["summary"] == PAGE_ONE
    assert outline.sections["analyst"] == PAGE_TWO
    assert set(PAGE_THREE) <= set(outline.sections["engineer"])
    assert "Not measured, because it needs rows" in outline.texts["summary"]
    assert "right among them" in outline.texts["analyst"]


def test_many_classes(rng, tmp_path):
    y = np.repeat(np.arange(15), 20)
    X = y[:, None] + rng.normal(scale=0.6, size=(300, 2))
    clf = AutoClassifier("random", space=small_space(), max_evals=2, cv=2, random_state=0)
    outline = Outline(page_of(clf.fit(X, y), tmp_path))
    assert "The 5 classes that are found least often" in outline.texts["summary"]
    assert "Confusion matrix, share of the rows of a class" in outline.texts["analyst"]


def test_nothing_fitted_in_time(tmp_path):
    with pytest.warns(BudgetWarning):
        clf = fit("random", time_limit=1e-3)
    page = page_of(clf, tmp_path)
    outline = Outline(page)
    assert "No pipeline was fitted in time" in outline.texts["summary"]
    assert outline.sections["summary"] == ["What drives it", "What to watch"]
    assert "time_limit depends on the machine" in page
    assert "No pipeline was fitted in time" in clf._repr_html_()


def test_a_report_needs_a_fitted_estimator(tmp_path):
    with pytest.raises(NotFittedError):
        AutoClassifier().save_report(tmp_path / "report.html")


@pytest.mark.parametrize("package", ["matplotlib", "pandas"])
def test_without_a_package_the_error_names_the_extra(
    package, random_search, monkeypatch, tmp_path
):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"save_report needs {package}.*skauto\[plot\]"):
        random_search.save_report(tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_classes_of_held_out_rows_are_those_of_fit(random_search, tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    with pytest.raises(ValueError, match="must hold classes of fit.*Got 7."):
        random_search.save_report(tmp_path / "report.html", X=X, y=y.replace(2, 7))


def test_an_unfitted_estimator_has_the_diagram_of_scikit_learn():
    def plain(html):
        return re.sub(r"sk-(container|estimator)-id-\d+", "", html)

    clf = AutoClassifier(max_evals=3)
    assert plain(clf._repr_html_()) == plain(estimator_html_repr(clf))


def test_a_fitted_estimator_shows_score_and_members(fitted):
    html = fitted._repr_html_()
    assert f"Accuracy of the ensemble {fitted.ensemble_score_:.4g}</b>" in html
    assert f"guessing gives {fitted.majority_score_:.4g}" in html
    for number, weight in list(fitted.member_weights_.items())[:5]:
        assert f"{weight:.3f}</span>" in html
        assert describe_pipeline(fitted.history_[number]) in html
    assert "sk-top-container" in html


def test_text_of_tables():
    assert text(0.123456) == "0.1235"
    assert text(np.float32(2)) == "2"
    assert (text(None), text(float("nan")), text(True)) == ("–", "–", "yes")
    assert text(Markup("<b>")) == "<b>"
    assert "<td" in table(["a"], [["<"]])
    assert "&lt;" in table(["a"], [["<"]])


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


def test_dollar_signs_in_names(rng, tmp_path):
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=["cost_$_usd_$", "a$b$c", "$x^{$"])
    y = np.array(["low_$_1_$", "high$_{$"])[(X.iloc[:, 0] > 0).astype(int)]
    clf = AutoClassifier(max_evals=2, cv=2, random_state=0).fit(X, y)
    clf.save_report(tmp_path / "report.html", X=X, y=y)
    text = (tmp_path / "report.html").read_text()
    assert "cost_$_usd_$" in text
