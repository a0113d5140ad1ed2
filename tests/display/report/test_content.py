"""The content of a report as plain data, and as a page that states it."""

import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch

from skauto import AutoClassifier
from skauto.exceptions import BudgetWarning, UnreadableCellsWarning
from tests.display.fitted import fit
from tests.display.pages import PAGE_ONE, PAGE_THREE, PAGE_TWO, PAGES, Outline, page_of
from tests.display.report.customers import held_out


def test_the_content_is_json_and_the_same_twice(fitted, customers):
    first, second = (fitted.report_dict(**held_out(customers)) for _ in range(2))
    assert json.loads(json.dumps(first, allow_nan=False)) == first
    for content in (first, second):
        del content["drivers"]  # the number of shuffles depends on the seconds that they take
    assert first == second


def test_the_report_names_the_target_of_fit(fitted, customers):
    report = fitted.report_dict()
    assert report["data"]["target"] == customers[1].name
    assert report["title"] == f"How well can '{customers[1].name}' be predicted?"


def test_cells_that_cannot_be_read_are_told_once(fitted, customers):
    rows = held_out(customers)
    rows["X"] = rows["X"].assign(city="Rom")
    for call in (fitted.report_dict, fitted.score_report):
        with pytest.warns(UnreadableCellsWarning) as told:
            call(**rows)
        assert [w.filename for w in told] == [__file__]


def test_a_title_can_be_given(fitted):
    assert fitted.report_dict(title="Renewals")["title"] == "Renewals"


def test_content_needs_a_fitted_estimator_and_the_rows_of_classes(fitted, customers):
    with pytest.raises(NotFittedError):
        AutoClassifier().report_dict()
    with pytest.raises(ValueError, match=r"report_dict needs the rows 'X'.*only y"):
        fitted.report_dict(y=customers[1])


def test_the_three_pages_have_every_part_and_refer_to_no_other_file(report):
    outline = Outline(report)
    assert outline.headings["h1"] == ["How well can '<b>churn</b>' be predicted?"]
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


def test_an_importance_of_other_columns_is_refused(of_two, tmp_path):
    with pytest.raises(ValueError, match=r"for each of the 5 columns. Got shape \(3, 10\)"):
        of_two.save_report(
            tmp_path / "report.html", importance=Bunch(importances=np.zeros((3, 10)))
        )
    with pytest.raises(ValueError, match="cross_validated_importance.*Got ndarray"):
        of_two.save_report(tmp_path / "report.html", importance=np.zeros((5, 10)))


def test_three_classes_without_rows(random_search, tmp_path):
    outline = Outline(page_of(random_search, tmp_path))
    assert outline.sections["summary"] == PAGE_ONE
    assert outline.sections["analyst"] == PAGE_TWO
    assert outline.sections["engineer"] == PAGE_THREE
    assert "Not measured, because it needs rows" in outline.texts["summary"]
    assert "right among them" in outline.texts["analyst"]


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
