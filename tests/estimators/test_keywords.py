"""Arguments of other tools are errors that name ours."""

import inspect
import re

import pytest
from sklearn.utils.validation import has_fit_parameter

from skauto import AutoClassifier, ConstrainedAutoClassifier, SearchOptions
from skauto.estimators._keywords import _OTHER, _SAME, ADVICE, FIT_ADVICE


@pytest.mark.parametrize(
    "keyword, advice",
    [
        ("time_budget", "Use time_limit=... instead"),
        ("metric", "Use scoring=... instead"),
        ("presets", "There are no presets"),
        ("max_runtime_secs", "Use time_limit=... instead"),
        ("time_left_for_this_task", "Use time_limit=... instead"),
        ("patience", "Use options={'patience': ...} instead"),
        ("time_limi", "Did you mean 'time_limit'"),
        ("constraints", "Use ConstrainedAutoClassifier"),
        ("class_weight", "For rare classes use scoring='balanced_accuracy'"),
        ("callbacks", "Pass it to set_callbacks"),
        ("zzz", "Allowed are strategy, scoring, time_limit"),
    ],
)
def test_an_argument_of_another_tool(keyword, advice):
    with pytest.raises(
        TypeError, match=f"AutoClassifier.. got an unexpected.*{keyword}.*"
    ) as info:
        AutoClassifier(**{keyword: 1})
    assert advice in str(info.value)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: AutoClassifier("tpe", 3), "AutoClassifier() got wrong arguments: too many"),
        (lambda: SearchOptions(True), "Its arguments are (*, refit=True, pool='best', "),
        (lambda: AutoClassifier().fit([[1]]), "fit() got wrong arguments: missing a"),
        (lambda: ConstrainedAutoClassifier([], "tpe", 1), "ConstrainedAutoClassifier() got wrong"),
        (lambda: AutoClassifier().save_report("a", [[1]]), "are (path, *, X=None, y=None, "),
        (lambda: AutoClassifier().choose_operating_point(0.9), "(*, recall=None, "),
    ],
)
def test_arguments_without_names(call, message):
    """The error names what was called, and no private base class."""
    with pytest.raises(TypeError, match=re.escape(message)) as info:
        call()
    assert "Base" not in str(info.value)


def test_arguments_of_fit():
    with pytest.raises(TypeError, match="argument of the estimator. Use time_limit=... instead"):
        AutoClassifier().fit([[1]], [1], time_budget=5)
    with pytest.raises(TypeError, match="'scoring'. It is an argument of the estimator"):
        ConstrainedAutoClassifier().fit([[1]], [1], scoring="accuracy")


def test_the_advice_names_arguments_that_exist():
    allowed = inspect.signature(AutoClassifier).parameters
    assert set(_SAME) <= set(allowed)
    assert ADVICE.keys().isdisjoint(allowed)
    assert FIT_ADVICE.keys().isdisjoint(["X", "sample_weight", "groups"])
    options = SearchOptions().get_params()
    named = [advice.split("'")[1] for advice in _OTHER if "options={" in advice]
    assert set(named) == set(options)


@pytest.mark.parametrize("estimator", [AutoClassifier, ConstrainedAutoClassifier])
def test_signatures_are_explicit(estimator):
    assert list(inspect.signature(estimator.fit).parameters)[:4] == [
        "self",
        "X",
        "y",
        "sample_weight",
    ]
    assert has_fit_parameter(estimator(), "sample_weight")
    assert "time_limit" in inspect.signature(estimator).parameters


@pytest.mark.parametrize("estimator", [AutoClassifier, ConstrainedAutoClassifier])
def test_editors_show_short_signatures(estimator):
    """Types such as ArrayLike are shown by their name, not as what they stand for."""
    shown = str(inspect.signature(estimator.fit))
    assert shown.startswith("(self, X: 'Any', y: 'ArrayLike', sample_weight: 'ArrayLike | None' =")
    assert "**" not in shown
    assert "_typing" not in str(inspect.signature(estimator))
