"""Cross-validation splits."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, PredefinedSplit, TimeSeriesSplit

from skauto.data import make_splits
from skauto.data._splits import stratified_subset
from skauto.exceptions import RowsOfFitWarning


def _target(n_samples, n_classes=2):
    return np.arange(n_samples) % n_classes


@pytest.mark.parametrize("n_samples, n_folds", [(50, 8), (2_000, 8), (2_001, 5), (20_001, 3)])
def test_number_of_folds_by_size(n_samples, n_folds):
    splits = make_splits(None, None, _target(n_samples))
    assert len(splits) == n_folds
    np.testing.assert_array_equal(
        np.sort(np.concatenate([test for _, test in splits])), np.arange(n_samples)
    )


@pytest.mark.parametrize("cv, share", [(None, 0.2), (0.3, 0.3), (0.75, 0.75)])
def test_hold_out_is_stratified(cv, share):
    y = (np.arange(120_000) % 10 == 0).astype(int)
    ((train, test),) = make_splits(cv, None, y)
    assert test.size == pytest.approx(share * y.size, rel=1e-3)
    assert y[test].mean() == pytest.approx(y.mean(), rel=1e-2)
    assert not set(train) & set(test)


def test_groups_stay_whole():
    groups = np.repeat(np.arange(20), 5)
    for cv in (None, 4, 0.25, GroupKFold(3)):
        for train, test in make_splits(cv, np.zeros((100, 1)), _target(100), groups):
            assert not set(groups[train]) & set(groups[test])


def test_splitters_and_iterables():
    X = np.zeros((12, 1))
    expected = list(TimeSeriesSplit(3).split(X))
    for cv in (TimeSeriesSplit(3), expected, [(a.tolist(), b.tolist()) for a, b in expected]):
        for (train, test), (a, b) in zip(make_splits(cv, X, _target(12)), expected, strict=True):
            np.testing.assert_array_equal(train, a)
            np.testing.assert_array_equal(test, b)


def test_boolean_masks():
    mask = np.arange(6) < 4
    ((train, test),) = make_splits([(mask, ~mask)], None, _target(6))
    np.testing.assert_array_equal(train, [0, 1, 2, 3])
    np.testing.assert_array_equal(test, [4, 5])


def test_rare_classes_are_split_in_silence():
    y = np.array([0] * 30 + [1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        splits = make_splits(None, None, y)
    assert sum(1 for _, test in splits if (y[test] == 1).any()) == 1


@pytest.mark.parametrize("cv", [None, 3, 0.25])
def test_single_rows_of_classes_validate_themselves_with_a_warning(cv):
    with pytest.warns(RowsOfFitWarning, match="No class has two rows"):
        ((train, test),) = make_splits(cv, None, np.arange(5))
    np.testing.assert_array_equal(train, test)


@pytest.mark.parametrize("cv", [0, 1, 1.5, -0.1, True, "five", object()])
def test_bad_cv(cv):
    with pytest.raises(ValueError, match="'cv' parameter must be"):
        make_splits(cv, None, _target(20))


@pytest.mark.parametrize(
    "cv, message",
    [
        ([], "at least one fold"),
        ([([], [1])], "at least one row"),
        ([([0, 1], [99])], "row numbers from 0 to 19"),
        ([([0.0, 1.0], [2.0])], "row numbers from 0 to 19"),
        ([1, 2], r"iterable of \(train, test\) row numbers. Got 1 instead"),
    ],
)
def test_bad_folds(cv, message):
    with pytest.raises(ValueError, match=message):
        make_splits(cv, None, _target(20))


@pytest.mark.parametrize("as_splitter", [False, True])
def test_row_numbers_refer_to_the_whole_table(as_splitter):
    fold = np.array([0, 0, 1, 1, 2, 2, 0, 1, 2])
    kept = np.array([1, 0, 1, 1, 1, 1, 0, 1, 1], dtype=bool)
    cv = PredefinedSplit(fold)
    splits = make_splits(
        cv if as_splitter else list(cv.split()), None, _target(kept.sum()), kept=kept
    )
    for number, (train, test) in enumerate(splits):
        np.testing.assert_array_equal(fold[kept][test], number)
        np.testing.assert_array_equal(train, np.flatnonzero(fold[kept] != number))
    masks = [(fold != 0, fold == 0)]
    ((train, test),) = make_splits(masks, None, _target(kept.sum()), kept=kept)
    np.testing.assert_array_equal(fold[kept][test], 0)


def test_a_fold_without_rows_that_are_kept_is_refused():
    with pytest.raises(ValueError, match="Fold 0 has 2 training and 0 validation rows"):
        make_splits([([0, 1], [2])], None, _target(2), kept=np.array([True, True, False]))


def test_one_group_cannot_be_split():
    with pytest.raises(ValueError, match="'groups'.*two different groups"):
        make_splits(3, None, _target(20), np.zeros(20))


def test_subsets_are_nested_and_stratified():
    y = np.repeat([0, 1, 2], [80, 15, 5])
    small, large = (stratified_subset(y, f, np.random.default_rng(3)) for f in (0.2, 0.6))
    assert (small <= large).all()
    np.testing.assert_array_equal(np.bincount(y[small]), [16, 3, 1])
    np.testing.assert_array_equal(np.bincount(y[large]), [48, 9, 3])
