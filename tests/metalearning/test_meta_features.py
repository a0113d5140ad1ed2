"""Meta-features against closed forms, scipy and scikit-learn, and on awkward tables."""

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.metrics import mutual_info_score

from skauto.metalearning import META_FEATURES, meta_features
from skauto.metalearning._meta_features import column_information, entropy, levels_of


def features_of(X, y, **options):
    return meta_features(X, y, rng=np.random.default_rng(0), **options)


@pytest.fixture
def mixed(rng):
    """Two numeric columns, two categorical ones, and missing entries in one of each."""
    X = np.column_stack(
        [
            rng.gamma(2.0, size=400),
            rng.normal(size=400),
            rng.integers(0, 3, size=400),
            rng.integers(0, 5, size=400),
        ]
    ).astype(float)
    y = (X[:, 0] + X[:, 2] > 3).astype(int)
    X[:40, 1] = np.nan
    X[20:60, 3] = np.nan
    return X, y


def test_shape_and_cells(mixed):
    X, y = mixed
    f = features_of(X, y, categorical=(2, 3))
    assert tuple(f) == META_FEATURES
    assert f["log_n_samples"] == np.log(400)
    assert f["log_n_features"] == np.log(4)
    assert f["log_dimensionality"] == pytest.approx(np.log(4 / 400))
    assert f["share_categorical"] == 0.5
    assert f["share_missing"] == pytest.approx(80 / 1600)
    assert f["share_rows_missing"] == pytest.approx(60 / 400)
    assert f["share_columns_missing"] == 0.5
    assert f["log_levels_mean"] == pytest.approx((np.log(3) + np.log(5)) / 2)
    assert f["log_levels_max"] == pytest.approx(np.log(5))


def test_moments_equal_scipy(mixed):
    X, y = mixed
    f = features_of(X, y, categorical=(2, 3))
    skewness = stats.skew(X[:, :2], nan_policy="omit")
    kurtosis = stats.kurtosis(X[:, :2], nan_policy="omit")
    for name, moments in (("log_skewness", skewness), ("log_kurtosis", kurtosis)):
        values = np.sign(moments) * np.log1p(np.abs(moments))
        assert f[f"{name}_mean"] == pytest.approx(values.mean())
        assert f[f"{name}_std"] == pytest.approx(values.std())
        assert f[f"{name}_min"] == pytest.approx(values.min())
        assert f[f"{name}_max"] == pytest.approx(values.max())


def test_spectrum_of_columns_with_a_known_correlation(rng):
    a = rng.normal(size=1000)
    X = np.column_stack([a, -2 * a + 1, rng.normal(size=1000)])
    f = features_of(X, rng.integers(0, 2, size=1000))
    correlation = np.corrcoef(X.T)
    assert f["correlation_mean"] == pytest.approx(
        np.abs(correlation[np.triu_indices(3, 1)]).mean()
    )
    shares = np.sort(np.linalg.eigvalsh(correlation))[::-1] / 3
    assert f["pca_first_share"] == pytest.approx(shares[0])
    assert f["pca_half_share"] == pytest.approx(1 / 3)  # one component of three holds half


def test_class_measures_equal_scipy():
    y = np.repeat(["a", "b", "c"], [10, 30, 60])
    f = features_of(np.arange(100.0)[:, None], y)
    shares = np.array([0.1, 0.3, 0.6])
    assert f["class_entropy"] == pytest.approx(stats.entropy(shares) / np.log(3))
    assert (f["class_share_min"], f["class_share_max"]) == (0.1, 0.6)
    assert f["class_share_std"] == pytest.approx(shares.std())
    assert entropy(np.array([0.5, 0.5, 0.0])) == pytest.approx(np.log(2))


def test_information_equals_scikit_learn(rng):
    codes, labels = rng.integers(0, 4, size=300), rng.integers(0, 3, size=300)
    labels[codes == 2] = 0
    own, information = column_information(codes, labels)
    assert own == pytest.approx(stats.entropy(np.bincount(codes)) / np.log(4))
    assert information == pytest.approx(mutual_info_score(codes, labels))


def test_information_of_a_copy_of_the_class_and_of_a_constant(rng):
    y = rng.integers(0, 2, size=200)
    f = features_of(np.column_stack([y, np.ones(200)]).astype(float), y, categorical=(0,))
    assert f["information_max"] == pytest.approx(1.0)
    assert f["information_mean"] == pytest.approx(0.5)
    assert f["log_equivalent_columns"] == pytest.approx(np.log(2))


def test_levels_are_bins_of_equal_frequency_and_missing_is_a_level():
    column = np.concatenate([np.arange(80.0), [np.nan] * 10])
    levels = levels_of(column, category=False)
    assert np.bincount(levels).tolist() == [10] * 9
    assert len(set(levels[80:])) == 1
    codes = levels_of(np.array([5.0, 5.0, 7.0, np.nan]), category=True)
    assert codes[0] == codes[1] != codes[2] != codes[3]
    assert levels_of(np.full(4, np.nan), category=False).tolist() == [0, 0, 0, 0]


def test_rare_levels_count_as_one():
    column = np.concatenate([np.repeat(np.arange(10.0), 5), np.arange(100.0, 300.0)])
    levels = levels_of(column, category=True)
    assert levels.max() == 63
    assert len(np.unique(levels[:50])) == 10


def test_landmarks_tell_learners_apart(rng):
    X = rng.normal(size=(600, 2))
    linear = features_of(X, X[:, 0] + X[:, 1] > 0)
    ring = features_of(X, (X**2).sum(axis=1) > 1.4)
    assert linear["landmark_linear"] > 0.8
    assert abs(ring["landmark_linear"]) < 0.2
    assert ring["landmark_nearest_neighbor"] > 0.8
    noise = features_of(X, rng.integers(0, 2, size=600))
    assert all(abs(noise[name]) < 0.25 for name in noise if name.startswith("landmark"))


def test_sparse_equals_dense(rng):
    X = rng.random((100, 20)) * (rng.random((100, 20)) < 0.2)
    y = rng.integers(0, 2, size=100)
    dense = features_of(X, y)
    assert dense["share_zero"] == pytest.approx((X == 0).mean())
    for matrix in (sparse.csr_matrix(X), sparse.csr_array(X), sparse.csc_array(X)):
        assert features_of(matrix, y) == pytest.approx(dense, nan_ok=True)


def test_large_table_is_described_by_a_part_of_it():
    X, y = make_classification(6_000, 250, n_informative=20, random_state=0)
    X[:, ::2] = np.round(X[:, ::2])
    part = features_of(X, y)
    assert part == features_of(X, y)  # the same generator, the same part
    other = meta_features(X, y, rng=np.random.default_rng(1))
    assert part["log_n_samples"] == np.log(6_000)
    assert other["column_entropy"] == pytest.approx(part["column_entropy"], rel=0.1)
    assert other["landmark_linear"] == pytest.approx(part["landmark_linear"], abs=0.3)


@pytest.mark.parametrize(
    ("X", "y", "categorical"),
    [
        (np.ones((5, 2)), [0, 1, 0, 1, 0], ()),  # constant columns
        (np.full((5, 2), np.nan), [0, 1, 0, 1, 0], ()),  # nothing is known
        (np.full((5, 2), np.nan), [0, 1, 0, 1, 0], (0, 1)),
        (np.arange(5.0)[:, None], [0, 0, 0, 0, 0], ()),  # one class
        (np.arange(5.0)[:, None], [0, 1, 2, 3, 4], ()),  # every row its own class
        (np.array([[1e300], [-1e300], [1e-300], [0.0]]), [0, 1, 0, 1], ()),  # huge and tiny
        (np.array([[1.0]]), [0], ()),  # a single cell
        (sparse.csr_matrix((6, 3)), [0, 1, 0, 1, 0, 1], ()),  # nothing stored
    ],
)
def test_awkward_tables_give_numbers_without_a_warning(X, y, categorical, recwarn):
    f = features_of(X, y, categorical=categorical)
    assert tuple(f) == META_FEATURES
    assert not any(np.isinf(value) for value in f.values())
    assert not recwarn.list


def test_scale_and_order_of_columns_do_not_matter():
    X, y = load_breast_cancer(return_X_y=True)
    one = features_of(X, y)
    other = features_of(X[:, ::-1] * 1000.0 + 7.0, y)
    for name in META_FEATURES:
        if not name.startswith("landmark") and name != "share_zero":
            assert other[name] == pytest.approx(one[name], rel=1e-6), name


@pytest.mark.parametrize(
    ("X", "y", "categorical", "message"),
    [
        (np.empty((0, 2)), [], (), "at least one row"),
        (np.ones((3, 2)), [0, 1], (), "one label per row of X, 3. Got 2"),
        (np.ones((3, 2)), [0, 1, 0], (2,), "must lie in 0..1. Got \\(2,\\)"),
    ],
)
def test_messages(X, y, categorical, message):
    with pytest.raises(ValueError, match=message):
        features_of(X, y, categorical=categorical)
