"""The number of folds that a time limit affords."""

from skauto.schedule import affordable_folds


def test_rows_are_held_out_if_not_even_two_folds_are_affordable():
    # 12 configurations in half of 48 seconds: 2 seconds a configuration and fold are one fold
    folds = [affordable_folds(5_000, [seconds] * 12, 48.0) for seconds in (0.4, 0.5, 1.0, 1.1)]
    assert folds == [5, 4, 3, 0.2]
