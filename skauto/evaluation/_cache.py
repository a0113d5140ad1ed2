"""Transformed data of the first steps of pipelines, kept for pipelines that begin the same way."""

import contextlib
import hashlib
import itertools
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, Self

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

try:
    import fcntl
except ImportError:  # not on Windows, where a killed search leaves its directory behind
    fcntl = None  # type: ignore[assignment]

# Names of directories, of the file in each that its owner holds a lock on, and of prefixes.
_DIRECTORY, _OWNER, _SUFFIX = "skauto-cache-", "owner", ".prefix"
# A prefix is worth keeping if making it took longer than this, and than reading it back takes.
_LEAST_SECONDS = 0.005
_BYTES_PER_SECOND = 5e8
# Arrays start at multiples of this, as numpy aligns those that it saves.
_ALIGNMENT = 64
_SPARSE: dict[str, Any] = {
    kind.__name__: kind
    for kind in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix)
}


@dataclass(frozen=True)
class Prefix:
    """What the first steps of a pipeline made of a fold.

    Parameters
    ----------
    Z, y : array or sparse matrix, ndarray
        Training rows and their classes; samplers change both.
    Z_test : array or sparse matrix
        Validation rows.
    seconds : float, default=0.0
        What it took to make them.
    """

    Z: Any
    y: NDArray[Any]
    Z_test: Any
    seconds: float = 0.0


class PrefixCache:
    """Prefixes on disk, shared by the workers of a machine, within a budget of bytes.

    Every worker maps the files that it reads, so that what is used often stays in the memory of
    the system, once for all workers. A prefix is found by a hash of all that made it: data, fold,
    fidelity, seed, and the algorithms and values of the steps (what a step adapts to the data
    follows from these). Files are arrays in numpy's format and never hold pickled objects. They
    lie in a directory that only the user can enter, and appear in one piece or not at all. What
    cannot be written or read, for whatever reason, is computed. Other files in the directory are
    left alone.

    Arrays come back as they were, order in memory included; what could not, such as a view with
    gaps, is not kept. So results are the same, bit for bit, as without a cache.

    Parameters
    ----------
    directory : path-like
        Where the files lie.
    max_bytes : int
        Size of all files together; the least recently used ones go first.
    data : object
        What all evaluations read. Its hash becomes part of the keys.

    References
    ----------
    .. [1] Y. Zhang, M. T. Bahadori, H. Su, J. Sun, "FLASH: Fast Bayesian Optimization for Data
       Analytic Pipelines", KDD 2016, section 3.4, Algorithm 3.
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
        """Context with a cache in a new private directory, which is removed at the end.

        Directories of searches that were killed are removed at the start of the next one.

        Parameters
        ----------
        max_bytes : int
            Size of all files together.
        data : object, default=None
            What all evaluations read.
        parent : path-like, default=None
            Directory to make it in, None for the system's directory of temporary files.
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
        """Keys of the prefixes of a pipeline, the shortest first.

        Parameters
        ----------
        fold : tuple
            What besides the steps decides: fold, fidelity, seed.
        steps : iterable of (str, str, dict)
            Step, algorithm and values of each step that does something.

        Returns
        -------
        keys : list of str
            One a step.
        """
        digest = hashlib.sha256(repr((self.fingerprint, fold)).encode())
        keys = []
        for step, algorithm, values in steps:
            digest.update(repr((step, algorithm, sorted(values.items()))).encode())
            keys.append(digest.hexdigest())
        return keys

    def longest(self, keys: Sequence[str]) -> tuple[int, Prefix | None]:
        """Find the longest prefix that is kept.

        Parameters
        ----------
        keys : list of str
            See ``keys``.

        Returns
        -------
        n_steps : int
            Its number of steps, 0 if there is none.
        prefix : Prefix or None
            The prefix itself.
        """
        for n_steps in range(len(keys), 0, -1):
            prefix = self.get(keys[n_steps - 1])
            if prefix is not None:
                return n_steps, prefix
        return 0, None

    def get(self, key: str) -> Prefix | None:
        """Read a prefix; None if it is not there."""
        path = self._path(key)
        try:
            with open(path, "rb") as file:
                os.utime(path)  # it was used just now
                return _read_prefix(file)
        except (OSError, ValueError):
            return None

    def put(self, key: str, prefix: Prefix, seconds: float) -> bool:
        """Keep a prefix if that is likely to pay.

        Parameters
        ----------
        key : str
            See ``keys``.
        prefix : Prefix
            What to keep.
        seconds : float
            What it took to make from the longest one that is kept.

        Returns
        -------
        kept : bool
            Whether it is there now.
        """
        n_bytes = _size(prefix)
        if n_bytes is None or n_bytes > self.max_bytes:
            return False
        if seconds < _LEAST_SECONDS + n_bytes / _BYTES_PER_SECOND:
            return False
        written = None
        try:
            self._make_room(n_bytes)
            descriptor, written = tempfile.mkstemp(_SUFFIX, "new-", self.directory)
            with open(descriptor, "wb") as file:
                _write_prefix(file, prefix)
            os.replace(written, self._path(key))
        except OSError:  # full, read-only, or not of this machine
            if written is not None:
                with contextlib.suppress(OSError):
                    os.unlink(written)
            return False
        return True

    def _path(self, key: str) -> Path:
        return self.directory / f"{key}{_SUFFIX}"

    def _make_room(self, n_bytes: int) -> None:
        """Remove the least recently used files until so many bytes are free."""
        files = []
        for entry in os.scandir(self.directory):
            if not entry.name.endswith(_SUFFIX):
                continue
            with contextlib.suppress(OSError):  # another worker was faster
                status = entry.stat()
                files.append((status.st_mtime_ns, entry.path, status.st_size))
        total = sum(size for _, _, size in files)
        for _, path, size in sorted(files):
            if total + n_bytes <= self.max_bytes:
                return
            with contextlib.suppress(OSError):
                os.unlink(path)  # who has mapped it keeps it
            total -= size


@contextlib.contextmanager
def _owned(directory: Path) -> Iterator[None]:
    """Hold the lock that says that a directory is in use; the system drops it with the process.

    The lock is there before the name that others look for, and workers that were forked hold it
    too. It tells more than the number of a process: numbers are used again, and mean nothing in
    another container or on another machine that shares the directory.
    """
    unnamed, named = directory / f"new-{_OWNER}", directory / _OWNER
    with open(unnamed, "wb") as file:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a file system without locks: nobody takes it
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                unnamed.rename(named)
        yield


def _remove_abandoned(parent: Path) -> None:
    """Remove directories of this user whose owner is no more: their lock can be taken."""
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
    """Arrays that a matrix consists of, or None if they would not come back as they are."""
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


def _size(prefix: Prefix) -> int | None:
    """Bytes of a prefix, None if it cannot be kept exactly."""
    n_bytes = 0
    for matrix in (prefix.Z, prefix.y, prefix.Z_test):
        arrays = _parts(matrix)
        if arrays is None:
            return None
        n_bytes += sum(array.nbytes + 2 * _ALIGNMENT for array in arrays)
    return n_bytes


def _write_prefix(file: IO[bytes], prefix: Prefix) -> None:
    matrices = (prefix.Z, prefix.y, prefix.Z_test)
    kinds = [[type(matrix).__name__, list(matrix.shape)] for matrix in matrices]
    header = json.dumps({"seconds": prefix.seconds, "matrices": kinds}).encode()
    arrays = itertools.chain.from_iterable(_parts(matrix) or [] for matrix in matrices)
    for array in (np.frombuffer(header, dtype=np.uint8), *arrays):
        file.write(bytes(-file.tell() % _ALIGNMENT))
        np.lib.format.write_array(file, array, allow_pickle=False)


def _read_prefix(file: IO[bytes]) -> Prefix:
    header = json.loads(_read_array(file).tobytes())
    matrices: list[Any] = []
    for kind, shape in header["matrices"]:
        if kind in _SPARSE:
            parts = tuple(_read_array(file) for _ in range(3))
            matrices.append(_SPARSE[kind](parts, shape=tuple(shape)))
        else:
            matrices.append(_read_array(file))
    Z, y, Z_test = matrices
    return Prefix(Z, y, Z_test, header["seconds"])


def _read_array(file: IO[bytes]) -> NDArray[Any]:
    """Map the next array of a file; whoever writes to it writes to a copy."""
    file.seek(-file.tell() % _ALIGNMENT, os.SEEK_CUR)
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(file)
    else:
        shape, fortran_order, dtype = np.lib.format.read_array_header_2_0(file)
    if dtype.hasobject:
        raise ValueError("The file holds Python objects.")
    order: Literal["C", "F"] = "F" if fortran_order else "C"
    if 0 in shape:  # nothing can be mapped
        return np.empty(shape, dtype, order)
    start = file.tell()
    mapped = np.memmap(file, dtype, "c", start, shape, order)
    file.seek(start + mapped.nbytes)
    # An array proper, not a memmap: subclasses take other ways through some libraries.
    return mapped.view(np.ndarray)
