"""The report and the summary in notebooks."""

import re
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import Bunch, estimator_html_repr

from skauto import AutoClassifier, ConstrainedAutoClassifier
from skauto.constraints import FalseNegativeRate, ModelSize
from skauto.display._page import Markup, table, text
from skauto.display._predictions import Predictions
from skauto.display._words import describe_pipeline
from skauto.exceptions import (
    BudgetWarning,
    InfeasibleWarning,
    NoBetterThanGuessingWarning,
    TrialFailedWarning,
)
from skauto.inspection import cross_validated_importance
from tests.display.browser import look_at, needs_chromium
from tests.display.conftest import fit, small_space

HEADINGS = ["Data", "Search", "Ensemble", "Out-of-fold predictions", "Cost", "Reproduce it"]


class Broken(GaussianNB):
    """A classifier whose error has characters of HTML."""

    def fit(self, X, y, sample_weight=None):
        raise ArithmeticError("a <b> & c")


class Outline(HTMLParser):
    """Headings, references to other files, and tags left open."""

    VOID = {"meta", "br", "img"}

    def __init__(self, page):
        super().__init__()
        self.headings, self.references, self.tags = [], [], []
        self.open = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        self.references += [v for k, v in attrs if k in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


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
    importance = cross_validated_importance(
        fitted, *(part[:200] for part in table_of_two), n_repeats=2, random_state=0
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    fitted.save_report(path, X=X, y=y, importance=importance)
    return path.read_text(encoding="utf-8")


def test_the_page_has_every_part_and_refers_to_no_other_file(report):
    outline = Outline(report)
    expected = [*HEADINGS[:4], "Held-out rows", *HEADINGS[4:]]
    assert outline.headings == expected
    assert outline.open == []
    assert all(reference.startswith(("#", "data:")) for reference in outline.references)
    assert not {"script", "link", "iframe"} & set(outline.tags)
    assert "url(http" not in report


def test_names_and_errors_are_escaped(report):
    assert "<script>" not in report
    assert "&lt;script&gt;" in report
    assert "ArithmeticError: a &lt;b&gt; &amp; c" in report


def test_out_of_fold_predictions_are_the_calibrated_mean_of_the_members(fitted, table_of_two):
    known = Predictions.out_of_fold(fitted)
    y = table_of_two[1][:200]
    mean = sum(
        weight * fitted.history_[number].predictions
        for number, weight in fitted.member_weights_.items()
    )
    expected = fitted.ensemble_.decision_.scale(mean)
    np.testing.assert_allclose(known.probabilities, expected, rtol=1e-6)
    np.testing.assert_array_equal(fitted.classes_[known.truth], y)
    assert f"{log_loss(y, expected.astype(float)):.4g}" in known.scores()


def test_kinds_of_the_columns_are_in_the_report(fitted, report):
    data = report[report.index("<h2>Data") : report.index("<h2>Search")]
    for row in fitted.table_report().itertuples():
        assert f">{text(row.column)}<" in data
        assert text(row.why) in data


def test_members_keep_their_out_of_fold_predictions_and_others_do_not(fitted):
    kept = {trial.number for trial in fitted.history_ if trial.predictions is not None}
    assert kept == set(fitted.member_weights_)


def test_scores_of_held_out_rows_are_those_of_predict(fitted, report, table_of_two):
    X, y = (part[200:] for part in table_of_two)
    held_out = report[report.index("<h2>Held-out rows") :]
    assert f"{accuracy_score(y, fitted.predict(X)):.4g}" in held_out
    assert "Permutation importance" in held_out


def test_importance_on_out_of_fold_predictions(report):
    part = report[report.index("<h2>Out-of-fold") : report.index("<h2>Held-out rows")]
    assert "on the validation rows of each fold (4 permutations)" in part


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
    assert "Limits" in Outline(page).headings
    assert "from skauto.constraints import FalseNegativeRate, ModelSize" in page
    assert "false_negative_rate" in page
    assert '<i class="bad">no</i>' in page
    assert "not all kept" in clf._repr_html_()


def test_several_classes_have_no_roc_curve(random_search, tmp_path):
    random_search.save_report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert Outline(page).headings == HEADINGS
    assert "ROC curve of" not in page
    assert "ROC AUC (one-vs-rest)" in page


def test_nothing_fitted_in_time(tmp_path):
    with pytest.warns(BudgetWarning):
        clf = fit("random", time_limit=1e-3)
    clf.save_report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert Outline(page).headings == ["Data", "Search", "Cost", "Reproduce it"]
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


def test_held_out_rows_need_their_classes(random_search, tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    with pytest.raises(ValueError, match="needs both of 'X' and 'y'.*only X"):
        random_search.save_report(tmp_path / "report.html", X=X)
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
    assert len(seen["sizes"]) == 10
    assert all(shown > 0.5 * min(width, 500) and natural > 0 for shown, natural in seen["sizes"])
    assert seen["requests"] == []
    assert (np.mean(seen["background"]) < 60) == dark
    assert abs(np.mean(seen["color"]) - np.mean(seen["background"])) > 180
    assert all(heading in seen["text"] for heading in HEADINGS)


def test_dollar_signs_in_names(rng, tmp_path):
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=["cost_$_usd_$", "a$b$c", "$x^{$"])
    y = np.array(["low_$_1_$", "high$_{$"])[(X.iloc[:, 0] > 0).astype(int)]
    clf = AutoClassifier(max_evals=2, cv=2, random_state=0).fit(X, y)
    clf.save_report(tmp_path / "report.html", X=X, y=y)
    text = (tmp_path / "report.html").read_text()
    assert "cost_$_usd_$" in text


def test_a_model_that_guesses_is_called_so(rng, tmp_path):
    X, y = rng.normal(size=(200, 3)), (rng.random(200) < 0.1).astype(int)
    with pytest.warns(NoBetterThanGuessingWarning):
        clf = AutoClassifier(max_evals=2, cv=2, random_state=0).fit(X, y)
    clf.save_report(tmp_path / "report.html")
    assert "no better than guessing" in (tmp_path / "report.html").read_text()
