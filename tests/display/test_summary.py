"""The summary in notebooks."""

import re

from sklearn.utils import estimator_html_repr

from skauto import AutoClassifier
from skauto.display._words import describe_pipeline


def test_an_unfitted_estimator_has_the_diagram_of_scikit_learn():
    def plain(html):
        return re.sub(r"sk-(container|estimator)-id-\d+", "", html)

    clf = AutoClassifier(max_evals=3)
    assert plain(clf._repr_html_()) == plain(estimator_html_repr(clf))


def test_a_fitted_estimator_shows_score_and_members(of_two):
    html = of_two._repr_html_()
    assert f"Accuracy of the ensemble {of_two.ensemble_score_:.4g}</b>" in html
    assert f"guessing gives {of_two.majority_score_:.4g}" in html
    for number, weight in list(of_two.member_weights_.items())[:5]:
        assert f"{weight:.3f}</span>" in html
        assert describe_pipeline(of_two.history_[number]) in html
    assert "sk-top-container" in html
