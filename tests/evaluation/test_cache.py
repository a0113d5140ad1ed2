"""The cache of transformed data: exact, bounded, and safe against what happens to disks."""

import os
import stat

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from skauto import AutoClassifier
from skauto.evaluation import PrefixCache, _cache
from skauto.evaluation._cache import Prefix
from skauto.space import SearchSpace
from skauto.strategies import RandomSearch

LONG = 1e3  # seconds: worth keeping


@pytest.fixture
def cache(tmp_path):
    return PrefixCache(tmp_path, 10_000_000, data=(1, 2))


@pytest.fixture
def keep_all(monkeypatch):
    """Prefixes of small data are made too fast to be kept."""
    monkeypatch.setattr(_cache, "_LEAST_SECONDS", 0.0)
    monkeypatch.setattr(_cache, "_BYTES_PER_SECOND", np.inf)


def random_prefix(seed=0, n=50):
    rng = np.random.default_rng(seed)
    return Prefix(rng.normal(size=(n, 3)), rng.integers(2, size=n), rng.normal(size=(9, 3)), 1.5)


MATRICES = {
    "C": np.arange(12.0).reshape(3, 4),
    "Fortran": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "float32": np.arange(12, dtype=np.float32).reshape(4, 3),
    "no column": np.empty((5, 0)),
    "no row": np.empty((0, 5)),
    "csr_matrix": sparse.csr_matrix(np.eye(4)),
    "csr_array": sparse.csr_array(np.eye(4)),
    "csc_matrix": sparse.csc_matrix(np.eye(4)[:, :2]),
}


@pytest.mark.parametrize("name", MATRICES)
def test_arrays_come_back_as_they_were(cache, name):
    matrix = MATRICES[name]
    assert cache.put("key", Prefix(matrix, np.array([0, 1, 1]), matrix, 2.0), LONG)
    found = cache.get("key")
    assert found.seconds == 2.0
    np.testing.assert_array_equal(found.y, [0, 1, 1])
    for again in (found.Z, found.Z_test):
        assert type(again) is type(matrix)
        assert again.dtype == matrix.dtype
        assert again.shape == matrix.shape
        if sparse.issparse(matrix):
            assert (again != matrix).nnz == 0
            assert again.indices.dtype == matrix.indices.dtype
        else:
            np.testing.assert_array_equal(again, matrix)
            assert again.flags.c_contiguous == matrix.flags.c_contiguous
            assert again.flags.f_contiguous == matrix.flags.f_contiguous


def test_writing_to_what_was_read_changes_nothing_on_disk(cache):
    cache.put("key", random_prefix(), LONG)
    first = cache.get("key")
    first.Z[:] = 7.0
    np.testing.assert_array_equal(cache.get("key").Z, random_prefix().Z)


@pytest.mark.parametrize(
    "matrix",
    [
        np.arange(12.0).reshape(3, 4)[:, ::2],
        np.array([["a", None]], dtype=object),
        np.ma.array([[1.0]]),
        sparse.coo_matrix(np.eye(2)),
    ],
)
def test_what_would_come_back_differently_is_not_kept(cache, matrix):
    assert not cache.put("key", Prefix(matrix, np.array([0]), matrix), LONG)
    assert cache.get("key") is None


def test_what_is_made_quickly_is_not_kept(cache):
    assert not cache.put("key", random_prefix(), 1e-4)


def test_keys_tell_prefixes_apart(tmp_path):
    cache = PrefixCache(tmp_path, 1, data=np.arange(3))
    steps = [("scaler", "a", {"x": 1, "y": 2.0}), ("selector", "b", {})]
    keys = cache.keys((0, 1.0, 7), steps)
    assert keys == cache.keys((0, 1.0, 7), [("scaler", "a", {"y": 2.0, "x": 1}), steps[1]])
    assert keys[0] == cache.keys((0, 1.0, 7), steps[:1])[0]
    others = [
        cache.keys((1, 1.0, 7), steps),
        cache.keys((0, 0.5, 7), steps),
        cache.keys((0, 1.0, 8), steps),
        cache.keys((0, 1.0, 7), [("scaler", "a", {"x": 1, "y": 2.5}), steps[1]]),
        cache.keys((0, 1.0, 7), [("scaler", "c", steps[0][2]), steps[1]]),
        PrefixCache(tmp_path, 1, data=np.arange(4)).keys((0, 1.0, 7), steps),
    ]
    assert len({keys[1], *(other[1] for other in others)}) == 7


def test_the_longest_prefix_is_found(cache):
    cache.put("one", random_prefix(1), LONG)
    cache.put("two", random_prefix(2), LONG)
    n_steps, prefix = cache.longest(["one", "two", "three"])
    assert n_steps == 2
    np.testing.assert_array_equal(prefix.Z, random_prefix(2).Z)
    assert cache.longest(["three"]) == (0, None)


def test_the_least_recently_used_goes_first(tmp_path):
    cache = PrefixCache(tmp_path, 9000)
    for number, name in enumerate(["a", "b", "c"]):
        assert cache.put(name, random_prefix(), LONG)  # some 2,600 bytes each
        os.utime(tmp_path / name, (number, number))
    assert cache.get("a") is not None  # now the most recent one
    assert cache.put("d", random_prefix(), LONG)
    assert sorted(os.listdir(tmp_path)) == ["a", "c", "d"]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 9000


def test_what_is_larger_than_the_budget_is_not_kept(tmp_path):
    assert not PrefixCache(tmp_path, 1000).put("key", random_prefix(), LONG)
    assert not list(tmp_path.iterdir())


def test_a_damaged_file_is_no_prefix(cache, tmp_path):
    cache.put("key", random_prefix(), LONG)
    content = (tmp_path / "key").read_bytes()
    for damaged in (b"", b"rubbish", content[:100], content[: len(content) // 2]):
        (tmp_path / "key").write_bytes(damaged)
        assert cache.get("key") is None


def test_nothing_is_unpickled(cache, tmp_path):
    with open(tmp_path / "key", "wb") as file:
        np.lib.format.write_array(file, np.array([{}], dtype=object), allow_pickle=True)
    assert cache.get("key") is None


def test_a_full_disk_is_survived(cache, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_cache, "_write_prefix", fail)
    assert not cache.put("key", random_prefix(), LONG)
    assert not list(tmp_path.iterdir())


def test_a_directory_that_is_gone_is_survived(tmp_path):
    cache = PrefixCache(tmp_path / "nowhere", 10_000_000)
    assert not cache.put("key", random_prefix(), LONG)
    assert cache.get("key") is None


def test_the_directory_is_private_and_removed(tmp_path):
    with PrefixCache.temporary(10_000_000, parent=tmp_path) as cache:
        assert stat.S_IMODE(os.stat(cache.directory).st_mode) == 0o700
        cache.put("key", random_prefix(), LONG)
        assert stat.S_IMODE(os.stat(cache.directory / "key").st_mode) == 0o600
    assert not list(tmp_path.iterdir())


def prefix_space():
    space = SearchSpace(["scaler", "selector", "classifier"])
    space.add("scaler", "none").add("scaler", "standard", StandardScaler())
    space.add("selector", "best", SelectKBest(), {"k": [1, 2, 3]})
    space.add("selector", "pca", PCA(), {"n_components": [1, 2]})
    space.add("classifier", "bayes", GaussianNB())
    return space.add("classifier", "tree", DecisionTreeClassifier(), {"max_depth": [1, 2, 3]})


@pytest.mark.usefixtures("keep_all")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_is_the_same_bit_for_bit(tmp_path, n_jobs):
    X, y = load_iris(return_X_y=True)
    settings = {
        "strategy": RandomSearch(),
        "space": prefix_space(),
        "max_evals": 15,
        "cv": 2,
        "n_jobs": n_jobs,
        "random_state": 0,
    }
    plain = AutoClassifier(**settings).fit(X, y)
    cached = AutoClassifier(**settings, cache=tmp_path).fit(X, y)
    for one, other in zip(plain.history_, cached.history_, strict=True):
        assert one.configuration == other.configuration
        assert one.losses == other.losses
        assert one.fold_scores == other.fold_scores
        assert one.tie_break == other.tie_break
    np.testing.assert_array_equal(plain.predict_proba(X), cached.predict_proba(X))
    assert cached.cache_["n_reused"] > 0
    assert cached.cache_["hit_rate"] == cached.cache_["n_reused"] / cached.cache_["n_steps"]
    assert not hasattr(plain, "cache_")
    assert not list(tmp_path.iterdir())
