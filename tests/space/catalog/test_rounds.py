"""Early stopping of classifiers that are trained in rounds."""

from skauto.space.catalog._rounds import max_patience


def test_patience_is_shorter_for_many_rows():
    assert [max_patience(n) for n in (1_000, 20_000, 10**6)] == [150.0, 75.0, 20.0]
