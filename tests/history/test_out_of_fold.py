"""Out-of-fold predictions and their rows."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from skauto.history import OutOfFold, Trial
from skauto.space import Configuration


def make(number, predictions):
    configuration = Configuration({"classifier": "knn"})
    return Trial(number=number, configuration=configuration, predictions=predictions)


def test_mean_is_weighted_and_missing_where_a_member_is(rng):
    values = rng.dirichlet([1, 1], (3, 10)).astype(np.float32)
    values[:, 4] = np.nan
    trials = [make(number, rows) for number, rows in enumerate(values)]
    mean = OutOfFold.mean(trials, [2, 1, 1])
    assert_allclose(mean.predictions, np.average(values, axis=0, weights=[0.5, 0.25, 0.25]))
    assert_array_equal(mean.rows, np.delete(np.arange(10), 4))


def test_sample_is_fixed_sorted_and_of_predicted_rows():
    predictions = np.full((100, 2), 0.5)
    predictions[::3] = np.nan
    known = OutOfFold(predictions)
    sample = known.sample(20)
    assert len(set(sample)) == 20
    assert set(sample) <= set(known.rows)
    assert_array_equal(sample, np.sort(sample))
    assert_array_equal(sample, OutOfFold(predictions).sample(20))
    assert_array_equal(known.sample(1000), known.rows)
