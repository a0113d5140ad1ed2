"""What names and texts become, in fit and later."""

import numpy as np
import pandas as pd
import pytest

from skauto.data import TableReader

RNG = np.random.default_rng(0)


def test_names_are_codes_and_what_they_share():
    families = np.array(["smithson", "smithers", "petrov", "petrova"])
    family = RNG.integers(4, size=600)
    names = [f"{families[f]}{i % 40}" for i, f in enumerate(family)]
    reader = TableReader().fit(pd.DataFrame({"a": names}))
    assert reader.categorical_indices_ == (0,)
    Z = reader.transform(pd.DataFrame({"a": ["smithson99", "petrova99", "smithson1", "petrova1"]}))
    # not seen before: the code of names of a single row, but their features tell them apart
    count = pd.Series(names).map(pd.Series(names).value_counts())
    codes = reader.fit_transform(pd.DataFrame({"a": names}))[:, 0]
    assert Z[0, 0] == Z[1, 0] == codes.max()
    np.testing.assert_array_equal(codes == codes.max(), count == 1)
    smiths, petrovs = Z[[0, 2], 3:], Z[[1, 3], 3:]
    assert np.linalg.norm(smiths[0] - smiths[1]) < np.linalg.norm(smiths[0] - petrovs[0])


def _codes(rng, n_samples=3_000):
    """Columns of two letters and a digit, and a target that depends on the first letter only."""
    first, second = rng.choice(list("ABCDEFGH"), n_samples), rng.choice(list("KLMNOP"), n_samples)
    codes = np.char.add(np.char.add(first, second), rng.integers(0, 10, n_samples).astype(str))
    return codes, np.where(
        np.isin(first, ["A", "D", "G"]) ^ (rng.random(n_samples) < 0.2), "y", "n"
    )


def test_codes_have_text_features_only_if_these_predict_the_classes(rng):
    codes, y = _codes(rng)
    levels, code = np.unique(codes, return_inverse=True)
    X = pd.DataFrame({"ordered": codes, "random": rng.permutation(levels)[code]})
    reader = TableReader()
    Z = reader.fit_transform(X, y)
    assert reader.table_report()["kind"].tolist() == ["name", "categorical"]
    assert "categories, since their terms do not predict" in reader.table_report()["why"][1]
    read_again = reader.without_scores(reader.transform(X))
    np.testing.assert_array_equal(reader.without_scores(Z), read_again)
    assert read_again.shape[1] == Z.shape[1] - 1
    np.testing.assert_array_equal(np.unique(Z[:, -1]), np.arange(reader.n_levels_[-1]))
    for kwargs, target in (
        ({"column_kinds": {"random": "name"}}, y),
        ({}, None),
        ({}, rng.random(len(y))),
    ):
        kinds = TableReader(**kwargs).fit(X, target).table_report()["kind"]
        assert kinds.tolist() == ["name", "name"]
    shuffled = TableReader().fit(X, rng.permutation(y)).table_report()["kind"]
    assert shuffled.tolist() == ["categorical", "categorical"]  # nor do the levels
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        TableReader().fit(X, y[:-1])


@pytest.mark.parametrize("n_texts", [7, 200], ids=["category and text", "text"])
def test_rows_without_any_text(n_texts):
    """A single row of a table often has no text."""
    texts = [f"{'good' if i % 2 else 'bad'}{i % n_texts} thing" for i in range(60)]
    X = pd.DataFrame({"a": texts, "b": np.arange(60.0)})
    reader = TableReader({"a": "name"}).fit(X)
    partly = X.iloc[:3].assign(a=["good1 thing", None, None])
    none = partly.iloc[1:]
    np.testing.assert_array_equal(reader.transform(none), reader.transform(partly)[1:])


def test_texts_of_the_same_common_words_need_no_warning(recwarn):
    links = [f"http://www.a.com/title/tt{i}/?ref=b" for i in range(100)]
    reader = TableReader({"a": "text"}, max_text_cells=400)  # enough for 4 columns
    assert np.isfinite(reader.fit_transform(pd.DataFrame({"a": links}))).all()
    assert not recwarn


def test_names_of_which_most_occur_once_have_codes_if_the_others_predict():
    code = np.r_[np.arange(20).repeat(10), np.arange(20, 220)]
    names = np.array([np.base_repr(7919 * i + 10**7, 26) for i in range(220)])[code]
    X, y = pd.DataFrame({"maker": names}), (code % 2 == 1) & (code < 20)
    assert TableReader().fit(X, y).n_levels_ == (21,)  # and one of all that occur once
    assert TableReader().fit(X, np.random.default_rng(0).permutation(y)).n_levels_ == ()
    assert TableReader().fit(X).n_levels_ == ()
    assert TableReader().fit(X[20:], y[20:]).n_levels_ == ()  # most rows are alone
