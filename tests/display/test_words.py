"""Pipelines and statuses in words."""

import re

import pytest

from skauto.display._words import describe_pipeline, named, status_of
from skauto.history import Trial
from skauto.space import Configuration


@pytest.mark.parametrize(
    ("steps", "rounds", "words"),
    [
        (["ordinal", "simple", "none", "lightgbm"], (200, 228), "impute → LightGBM, 214 rounds"),
        (["one_hot", "standard", "mlp"], (9,), "one-hot encode → standardize → neural network"),
        (["none", "logistic_regression"], (), "logistic regression"),
        (["none", "my_own_model"], (), "my own model"),
    ],
)
def test_pipelines_in_words(steps, rounds, words):
    configuration = Configuration({f"step_{i}": (name, {}) for i, name in enumerate(steps)})
    text = describe_pipeline(Trial(number=0, configuration=configuration, rounds=rounds))
    assert text == words + (", 9 epochs" if "mlp" in steps else "")


def test_statuses_are_words():
    configuration = Configuration({"classifier": ("lda", {})})
    for status in ("ok", "stopped", "skipped", "failed", "timeout", "memout", "crashed"):
        words = status_of(Trial(number=0, configuration=configuration, status=status))
        assert re.fullmatch("[a-z ]+", words)
        assert words not in ("memout", "timeout", "skipped")


@pytest.mark.parametrize(
    "name, shown",
    [
        ("a b", "a b"),
        ("", "''"),
        (" a", "' a'"),
        ("a\t", r"a\t"),
        ("\u200ba", r"\u200ba"),
        (3, "3"),
    ],
)
def test_names_are_seen(name, shown):
    assert named(name) == shown
