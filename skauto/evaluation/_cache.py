"""Cache of transformed data, shared by pipelines whose first steps are equal."""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, Self

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

try:
    import fcntl
except ImportError:  # not on Windows, where a killed search leaves its directory behind
    fcntl = None  # type: ignore[assignment]

# Prefix of directory names, name of the lock file in each, and suffixes of cache files and of the
# records of their use, one file for each process.
_DIRECTORY, _OWNER, _SUFFIX, _USES = "skauto-cache-", "owner", ".prefix", ".uses"
# A prefix is stored if computing it took longer than this plus the time to read it back.
_LEAST_SECONDS = 0.005
_BYTES_PER_SECOND = 5e8
# Bytes of the header of an array in numpy's format.
_HEADER_BYTES = 128
_SPARSE: dict[str, Any] = {
    kind.__name__: kind
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix)
}


@dataclass(frozen=True)
class Prefix:
    """Output of the first steps of a pipeline on one fold, and the seconds of computing it.

    `Z` and `y` are the training rows and their classes, which samplers change; `Z_test` are the
    validation rows.
    """

    Z: Any
    y: NDArray[Any]
    Z_test: Any
    seconds: float = 0.0


class PrefixCache:
    """Cache of prefixes on disk with least-recently-used eviction, as in FLASH (Algorithm 3).

    The key of a prefix is a hash of the data, fold, fidelity, seed, and the algorithms and values
    of its steps. Files hold arrays in numpy's format, never pickled objects. Their directory has
    mode 0700, and files are renamed into place when complete. A prefix that cannot be written or
    read is computed. All files together have at most `max_bytes`.

    Arrays are restored exactly, with their memory layout; others, such as non-contiguous views,
    are not stored. Results are therefore bit-identical with and without the cache.
    """

    def __init__(
        self, directory: str | os.PathLike[str], max_bytes: int, data: Any = None
    ) -> None:
        self.directory = Path(directory)
        self.max_bytes = max_bytes
        self.fingerprint = joblib.hash(data)

    @classmethod
    @contextlib.contextmanager
    def temporary(
        cls, max_bytes: int, data: Any = None, parent: str | os.PathLike[str] | None = None
    ) -> Iterator[Self]:
        """Context manager: a cache in a new private directory, which is removed at exit.

        Directories that killed searches left behind are removed first. The default `parent` is
        the system's temporary directory.
        """
        folder = Path(tempfile.gettempdir() if parent is None else parent)
        _remove_abandoned(folder)
        directory = Path(tempfile.mkdtemp(prefix=_DIRECTORY, dir=folder))  # of mode 0700
        try:
            with _owned(directory):
                yield cls(directory, max_bytes, data)
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def keys(
        self, fold: tuple[Any, ...], steps: Iterable[tuple[str, str, Mapping[str, Any]]]
    ) -> list[str]:
        """Return the keys of the prefixes of (name, algorithm, values) steps, shortest first."""
        digest = hashlib.sha256(repr((self.fingerprint, fold)).encode())
        keys = []
        for step, algorithm, values in steps:
            digest.update(repr((step, algorithm, sorted(values.items()))).encode())
            keys.append(digest.hexdigest())
        return keys

    def longest(self, keys: Sequence[str]) -> tuple[int, Prefix | None]:
        """Return the longest stored prefix with its number of steps, or 0 and None."""
        for n_steps in range(len(keys), 0, -1):
            prefix = self.get(keys[n_steps - 1])
            if prefix is not None:
                return n_steps, prefix
        return 0, None

    def get(self, key: str) -> Prefix | None:
        """Read a prefix; None if it is not stored."""
        path = self._path(key)
        try:
            with open(path, "rb") as file:
                os.utime(path)  # mark as recently used
                return _read_prefix(file)
        except (OSError, ValueError):
            return None

    def put(self, key: str, prefix: Prefix, seconds: float) -> bool:
        """Store a prefix if reading it is faster than computing it from the longest stored one."""
        parts = [_parts(matrix) for matrix in (prefix.Z, prefix.y, prefix.Z_test)]
        if None in parts:
            return False
        arrays = [array for part in parts for array in part or ()]
        n_bytes = sum(array.nbytes + _HEADER_BYTES for array in arrays)
        if n_bytes > self.max_bytes:
            return False
        if seconds < _LEAST_SECONDS + n_bytes / _BYTES_PER_SECOND:
            return False
        written = None
        try:
            self._make_room(n_bytes)
            descriptor, written = tempfile.mkstemp(_SUFFIX, "new-", self.directory)
            with open(descriptor, "wb") as file:
                _write_prefix(file, prefix, arrays)
            os.replace(written, self._path(key))
        except OSError:  # full, read-only, or on another machine
            if written is not None:
                with contextlib.suppress(OSError):
                    os.unlink(written)
            return False
        return True

    def record(self, n_steps: int, n_reused: int, seconds_saved: float) -> None:
        """Record the steps of a fold, those of them that were read, and what this saved."""
        path = self.directory / f"{os.getpid()}{_USES}"
        with contextlib.suppress(OSError), open(path, "a") as file:  # not on another machine
            file.write(f"{n_steps} {n_reused} {seconds_saved}\n")

    def report(self) -> dict[str, float]:
        """Summarize the records: preprocessing steps, reused steps, hit rate, seconds saved."""
        texts = [path.read_text() for path in self.directory.glob(f"*{_USES}")]
        uses = [line.split() for text in texts for line in text.splitlines()]
        n_steps, n_reused = (sum(int(use[i]) for use in uses) for i in (0, 1))
        return {
            "n_steps": n_steps,
            "n_reused": n_reused,
            "hit_rate": n_reused / n_steps if n_steps else 0.0,
            "seconds_saved": sum(float(use[2]) for use in uses),
        }

    def _path(self, key: str) -> Path:
        return self.directory / f"{key}{_SUFFIX}"

    def _make_room(self, n_bytes: int) -> None:
        """Remove the least recently used files until `n_bytes` are free."""
        files = []
        for entry in os.scandir(self.directory):
            if not entry.name.endswith(_SUFFIX):
                continue
            with contextlib.suppress(OSError):  # another worker removed it
                status = entry.stat()
                files.append((status.st_mtime_ns, entry.path, status.st_size))
        total = sum(size for _, _, size in files)
        for _, path, size in sorted(files):
            if total + n_bytes <= self.max_bytes:
                return
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= size


@contextlib.contextmanager
def _owned(directory: Path) -> Iterator[None]:
    """Hold a lock on a directory in use; the operating system releases it with the process.

    The file gets its name when it is locked, and forked workers hold the lock too. A process id
    would not do: ids are reused, and have no meaning in another container or machine.
    """
    unnamed, named = directory / f"new-{_OWNER}", directory / _OWNER
    with open(unnamed, "wb") as file:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                unnamed.rename(named)
        yield


def _remove_abandoned(parent: Path) -> None:
    """Remove directories of this user whose lock is free: their process has ended."""
    if fcntl is None:
        return
    for directory in parent.glob(f"{_DIRECTORY}*"):
        with contextlib.suppress(OSError):
            if directory.lstat().st_uid != os.getuid():
                continue
            with open(directory / _OWNER, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(directory, ignore_errors=True)


def _parts(matrix: Any) -> list[NDArray[Any]] | None:
    """Arrays of a dense or sparse matrix, or None if they cannot be restored exactly."""
    if type(matrix) is np.ndarray:
        arrays = [matrix]
    elif type(matrix).__name__ in _SPARSE and matrix.indices.dtype == np.int32:
        arrays = [matrix.data, matrix.indices, matrix.indptr]
    else:
        return None
    exact = all(
        type(a) is np.ndarray
        and not a.dtype.hasobject
        and (a.flags.c_contiguous or a.flags.f_contiguous)
        for a in arrays
    )
    return arrays if exact else None


def _write_prefix(file: IO[bytes], prefix: Prefix, arrays: Iterable[NDArray[Any]]) -> None:
    matrices = (prefix.Z, prefix.y, prefix.Z_test)
    kinds = [[type(matrix).__name__, list(matrix.shape)] for matrix in matrices]
    header = json.dumps({"seconds": prefix.seconds, "matrices": kinds}).encode()
    for array in (np.frombuffer(header, dtype=np.uint8), *arrays):
        np.lib.format.write_array(file, array, allow_pickle=False)


def _read_prefix(file: IO[bytes]) -> Prefix:
    read = partial(np.lib.format.read_array, file, allow_pickle=False)
    header = json.loads(read().tobytes())
    matrices: list[Any] = []
    for kind, shape in header["matrices"]:
        if kind in _SPARSE:
            matrices.append(_SPARSE[kind]((read(), read(), read()), shape=tuple(shape)))
        else:
            matrices.append(read())
    Z, y, Z_test = matrices
    return Prefix(Z, y, Z_test, header["seconds"])
