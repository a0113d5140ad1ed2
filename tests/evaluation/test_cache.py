"""The cache of transformed data: exact, bounded, and safe against what happens to disks."""

import multiprocessing
import os
import signal
import stat
import time

import numpy as np
import pytest
from scipy import sparse

from skauto.evaluation import PrefixCache
from skauto.evaluation._cache import Prefix
from tests.polling import PATIENCE, wait_until

LONG = 1e3  # seconds: worth keeping

forks = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="processes are not forked here"
)


@pytest.fixture
def cache(tmp_path):
    return PrefixCache(tmp_path, 10_000_000, data=(1, 2))


def path_of(cache, key):
    """The file of a prefix; the name of a key is the beginning of its file's name."""
    return cache.directory / f"{key}.prefix"


def start(function, *arguments):
    """Run a function in a process of its own."""
    process = multiprocessing.get_context("fork").Process(target=function, args=arguments)
    process.start()
    return process


def end(process):
    process.kill()
    process.join()


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


def test_the_report_adds_up_the_records(cache, tmp_path):
    assert cache.report() == {"n_steps": 0, "n_reused": 0, "hit_rate": 0.0, "seconds_saved": 0}
    cache.record(3, 0, 0.0)
    cache.record(3, 2, 0.5)
    (tmp_path / "1.uses").write_text("2 2 0.25\n")  # of another process
    assert cache.report() == {
        "n_steps": 8,
        "n_reused": 4,
        "hit_rate": 0.5,
        "seconds_saved": 0.75,
    }
    PrefixCache(tmp_path / "missing", 1).record(3, 0, 0.0)  # as on another machine


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
        os.utime(path_of(cache, name), (number, number))
    assert cache.get("a") is not None  # now the most recent one
    assert cache.put("d", random_prefix(), LONG)
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["a", "c", "d"]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 9000


def test_what_is_larger_than_the_budget_is_not_kept(tmp_path):
    assert not PrefixCache(tmp_path, 1000).put("key", random_prefix(), LONG)
    assert not list(tmp_path.iterdir())


def test_a_damaged_file_is_no_prefix(cache):
    cache.put("key", random_prefix(), LONG)
    path = path_of(cache, "key")
    content = path.read_bytes()
    for damaged in (b"", b"rubbish", content[:100], content[: len(content) // 2]):
        path.write_bytes(damaged)
        assert cache.get("key") is None


def test_nothing_is_unpickled(cache):
    with open(path_of(cache, "key"), "wb") as file:
        np.lib.format.write_array(file, np.array([{}], dtype=object), allow_pickle=True)
    assert cache.get("key") is None


def test_a_directory_that_is_gone_is_survived(tmp_path):
    cache = PrefixCache(tmp_path / "nowhere", 10_000_000)
    assert not cache.put("key", random_prefix(), LONG)
    assert cache.get("key") is None


def test_the_directory_is_private_and_removed(tmp_path):
    with PrefixCache.temporary(10_000_000, parent=tmp_path) as cache:
        assert stat.S_IMODE(os.stat(cache.directory).st_mode) == 0o700
        cache.put("key", random_prefix(), LONG)
        assert stat.S_IMODE(os.stat(path_of(cache, "key")).st_mode) == 0o600
    assert not list(tmp_path.iterdir())


def test_files_of_others_are_left_alone(tmp_path):
    cache = PrefixCache(tmp_path, 3000)
    (tmp_path / "notes.txt").write_bytes(bytes(5000))
    (tmp_path / "folder").mkdir()
    path_of(cache, "taken").mkdir()
    assert cache.put("one", random_prefix(), LONG)
    assert cache.put("two", random_prefix(), LONG)  # in the place of the first
    assert not cache.put("taken", random_prefix(), LONG)
    assert cache.get("taken") is None
    assert set(os.listdir(tmp_path)) >= {"notes.txt", "folder", "taken.prefix"}
    assert not list(tmp_path.glob("new-*"))


@forks
def test_a_full_disk_is_survived(tmp_path):
    """The system refuses to write on in the middle of a file."""
    import resource  # where there is fork

    def write():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        cache = PrefixCache(tmp_path, 10**9)
        assert not cache.put("large", random_prefix(n=10_000), LONG)
        assert not list(tmp_path.iterdir())
        assert cache.get("large") is None
        assert cache.put("small", random_prefix(), LONG)

    writer = start(write)
    writer.join()
    assert writer.exitcode == 0
    assert list(tmp_path.iterdir()) == [tmp_path / "small.prefix"]


@forks
def test_many_may_write_and_read_at_once(tmp_path):
    """Whatever is found is whole and the right one, while files come and go."""
    cache = PrefixCache(tmp_path, 200_000)  # room for a quarter of the prefixes
    n_found = multiprocessing.get_context("fork").Value("i", 0)

    def work(seed):
        for n in np.random.default_rng(seed).integers(20, size=500).tolist():
            found = cache.get(str(n))
            if found is None:
                matrix = np.full((100 + n, 20), float(n))
                cache.put(str(n), Prefix(matrix, np.full(9, n), matrix, float(n)), LONG)
                continue
            assert found.Z.shape == found.Z_test.shape == (100 + n, 20)
            assert found.seconds == n
            assert all((array == n).all() for array in (found.Z, found.y, found.Z_test))
            with n_found.get_lock():
                n_found.value += 1

    workers = [start(work, seed) for seed in range(3)]
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert n_found.value > 100
    assert not list(tmp_path.glob("new-*"))
    # Each may have made room for its last file while the others did the same.
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 200_000 + 2 * 40_000


@forks
def test_a_writer_killed_in_the_middle_leaves_no_prefix(tmp_path):
    max_bytes = 10_000
    cache = PrefixCache(tmp_path, max_bytes)

    def write():
        matrix = np.ones((4000, 1000))
        while True:
            PrefixCache(tmp_path, 10**9).put("key", Prefix(matrix, np.zeros(3), matrix), LONG)
            path_of(cache, "key").unlink()

    def is_writing():
        try:
            return any(path.stat().st_size > max_bytes for path in tmp_path.glob("new-*"))
        except FileNotFoundError:
            return False

    def is_held_in_the_middle():
        wait_until(is_writing)
        os.kill(writer.pid, signal.SIGSTOP)
        if is_writing() and not path_of(cache, "key").exists():
            return True
        os.kill(writer.pid, signal.SIGCONT)
        return False

    writer = start(write)
    try:
        wait_until(is_held_in_the_middle)
    finally:
        end(writer)
    (part,) = tmp_path.iterdir()
    assert part.stat().st_size > max_bytes
    assert cache.get("key") is None
    assert cache.put("key", random_prefix(), LONG)  # what was left behind makes room
    np.testing.assert_array_equal(cache.get("key").Z, random_prefix().Z)
    assert list(tmp_path.iterdir()) == [path_of(cache, "key")]


@forks
def test_the_next_search_removes_what_a_killed_one_left(tmp_path):
    (tmp_path / "skauto-cache-notes").mkdir()  # nobody's: it has no owner

    def search():
        with PrefixCache.temporary(10_000_000, parent=tmp_path) as cache:
            cache.put("key", random_prefix(), LONG)
            time.sleep(PATIENCE)

    def directories():
        return {path.parent for path in tmp_path.glob("*/key.prefix")}

    alive = start(search)
    wait_until(directories)
    (kept,) = directories()
    killed = start(search)
    try:
        wait_until(lambda: len(directories()) == 2)
        end(killed)
        assert len(directories()) == 2
        with PrefixCache.temporary(10_000_000, parent=tmp_path) as cache:
            cache.put("key", random_prefix(), LONG)
            cache._make_room(cache.max_bytes)
            assert cache.put("other", random_prefix(), LONG)
            with PrefixCache.temporary(10_000_000, parent=tmp_path) as inner:
                left = {kept.name, cache.directory.name, inner.directory.name}
                assert set(os.listdir(tmp_path)) == left | {"skauto-cache-notes"}
    finally:
        end(killed)
        end(alive)
    assert set(os.listdir(tmp_path)) == {kept.name, "skauto-cache-notes"}
