"""Checkpoints: each finished trial is written to disk at once, without pickle.

The file is JSON lines: a header that identifies the search, then one line per trial. Each line
ends with its checksum, so that a line that a crash truncated is detected.
"""

import base64
import contextlib
import json
import math
import operator
import os
import zlib
from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

try:
    import fcntl
except ImportError:  # Windows: checkpoints are not locked
    fcntl = None  # type: ignore[assignment]

from skauto.exceptions import CheckpointError, CheckpointWarning
from skauto.history._trial import Trial
from skauto.space import Configuration, SearchSpace
from skauto.space._parameters import Number
from skauto.utils import FloatArray, warn

FORMAT = "skauto checkpoint"
VERSION = 3
_START = f'{{"format": "{FORMAT}"'.encode()


class Checkpoint:
    """Append-only file of the trials of one search.

    Parameters
    ----------
    path : path-like
        Path of the file, which may not exist yet.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from skauto.history import Checkpoint, Trial
    >>> from skauto.space import SearchSpace
    >>> space = SearchSpace(["classifier"]).add("classifier", "gaussian_nb", GaussianNB())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "search.jsonl"
    ...     with Checkpoint(path) as checkpoint:
    ...         _ = checkpoint.resume({"data": "abc"}, space)
    ...         checkpoint.append(Trial(number=0, configuration=space.default(), losses=(0.5,)))
    ...     with Checkpoint(path) as checkpoint:
    ...         [trial.loss for trial in checkpoint.resume({"data": "abc"}, space)]
    [0.5]
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._file: IO[bytes] | None = None
        self._space: SearchSpace | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def header(self) -> dict[str, Any] | None:
        """Read the header, the ``about`` of ``resume``; None if there is no file or it is empty.

        A CheckpointError is raised if the file is not a checkpoint, or has another version.
        """
        first = b""
        try:
            exists, is_file = self.path.exists(), self.path.is_file()
            if is_file:
                with self.path.open("rb") as file:
                    first = file.readline()
        except (OSError, ValueError) as exc:
            raise CheckpointError(
                f"The checkpoint {str(self.path)!r} cannot be read: {exc}. Give another path."
            ) from exc
        if not exists:
            return None
        if not is_file:
            raise CheckpointError(
                f"The checkpoint must be a file. Got {str(self.path)!r}, which is a folder, a "
                "pipe or a device; give the path of a new file."
            )
        if not first.endswith(b"\n") and _START.startswith(first[: len(_START)]):
            return None  # the header is incomplete, so the file holds no trial
        header = _parse(first)
        if header is None or header.get("format") != FORMAT:
            raise CheckpointError(
                f"{self.path} is not a checkpoint of skauto. Give the path of a new file."
            )
        if header.get("version") != VERSION:
            raise CheckpointError(
                f"The checkpoint {self.path} has version {header.get('version')} of the format; "
                f"this skauto reads version {VERSION}. Use the skauto that wrote it, or another "
                "file."
            )
        return header

    def resume(self, about: Mapping[str, Any], space: SearchSpace) -> list[Trial]:
        """Open or create the file, and return its trials in the order of their proposals.

        `about` must be equal to resume the search, such as fingerprints of the data. The space
        decodes the configurations. A CheckpointError is raised if the file belongs to another
        search, a line before the last one is damaged, or another process writes to the file.
        """
        about = {"format": FORMAT, "version": VERSION, **about, "space": space.fingerprint()}
        header = self.header()
        self._space = space
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            private = partial(os.open, mode=0o600)
            self._file = open(self.path, "ab+", opener=private)  # noqa: SIM115
            self._lock()
            with contextlib.suppress(PermissionError):  # some file systems have no modes
                self.path.chmod(0o600)  # also a file that was there
            if header is None:
                self._file.truncate(0)
                self._write(about)
                return []
        except CheckpointError:
            raise
        except (OSError, ValueError) as exc:  # a null character is a ValueError
            self.close()
            raise CheckpointError(
                f"The checkpoint {str(self.path)!r} cannot be written: {exc}. Give another path."
            ) from exc
        differing = [name for name in about if header.get(name) != about[name]]
        if differing:
            self.close()
            raise CheckpointError(
                f"The checkpoint {self.path} belongs to another search: {', '.join(differing)} "
                "differ. Call fit as before to resume it, or give another path to start anew."
            )
        return self._read_trials()

    def append(self, trial: Trial) -> None:
        """Write a finished trial to disk, and return when it is durable.

        If the file cannot be written, a CheckpointWarning is given and later trials are not
        written; the trials in the file can be resumed.
        """
        assert self._space is not None, "call resume first"
        if self._file is None:
            return
        vector = self._space.encode([trial.configuration])[0]
        record = {field.name: getattr(trial, field.name) for field in fields(trial)}
        record |= {
            "configuration": trial.configuration.to_dict(),
            "vector": [None if math.isnan(value) else float(value) for value in vector],
            "predictions": _pack(trial.predictions),
        }
        try:
            self._write(record)
        except OSError as exc:
            self.close()
            warn(
                f"The checkpoint {self.path} cannot be written: {exc}. The search goes on without "
                "it; the trials that ended before are in the file.",
                CheckpointWarning,
            )

    def close(self) -> None:
        """Close the file. Calling it again does nothing."""
        if self._file is not None:
            file, self._file = self._file, None
            with contextlib.suppress(OSError):  # of a write that failed, which was reported
                file.close()

    def _lock(self) -> None:
        assert self._file is not None
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as exc:
            self.close()
            raise CheckpointError(
                f"The checkpoint {self.path} is in use by another process. Wait for it to end, "
                "or give another path."
            ) from exc

    def _write(self, record: Mapping[str, Any]) -> None:
        assert self._file is not None
        text = json.dumps(record, default=_plain).encode()
        self._file.write(text + f"\t{zlib.crc32(text):08x}\n".encode())
        self._file.flush()
        os.fsync(self._file.fileno())

    def _read_trials(self) -> list[Trial]:
        assert self._file is not None
        self._file.seek(0)
        self._file.readline()
        trials: list[Trial] = []
        while line := self._file.readline():
            start = self._file.tell() - len(line)
            record = _parse(line)
            if record is None and not self._file.readline():
                warn(
                    f"The last line of the checkpoint {self.path} is incomplete; its {len(line)} "
                    f"bytes are dropped. {len(trials)} trials were recovered.",
                    CheckpointWarning,
                )
                self._file.truncate(start)
                break
            try:
                trials.append(self._trial(record or {}))
            except Exception as error:  # whatever a file holds that skauto has not written
                self.close()
                raise CheckpointError(
                    f"The checkpoint {self.path} is damaged in line {len(trials) + 2}. "
                    "Restore it from a copy, or give another path to start anew."
                ) from error
        return sorted(trials, key=lambda trial: trial.number)

    def _trial(self, record: dict[str, Any]) -> Trial:
        assert self._space is not None
        vector = [math.nan if value is None else value for value in record.pop("vector")]
        special = {
            "number": operator.index(record["number"]),
            "configuration": self._configuration(np.array(vector), record["configuration"]),
            "predictions": _unpack(record["predictions"]),
            "info": record["info"],
        }
        return Trial(**(_tuples(record) | special))

    def _configuration(
        self, vector: FloatArray, written: Mapping[str, Mapping[str, Any]]
    ) -> Configuration:
        """Return the configuration of a vector with the written numbers, which vectors round.

        Choices are taken from the space, because JSON cannot hold all objects.
        """
        assert self._space is not None
        decoded = self._space.decode(vector)
        steps = {}
        for step, name in decoded.components:
            parameters = self._space.component(step, name).parameters
            values = {
                key: written[step][key] if isinstance(parameters[key], Number) else choice
                for key, choice in decoded.parameters(step).items()
            }
            steps[step] = name, values
        return Configuration(steps)


def _parse(line: bytes) -> dict[str, Any] | None:
    """Return the record of a line; None if the line is incomplete or holds something else."""
    text, tab, checksum = line.rstrip(b"\n").rpartition(b"\t")
    if not line.endswith(b"\n") or not tab or checksum != f"{zlib.crc32(text):08x}".encode():
        return None
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _plain(value: Any) -> Any:
    """Convert NumPy values and mappings to Python values, and other objects to their repr."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return repr(value)


def _tuples(value: Any) -> Any:
    """Convert lists to tuples, recursively."""
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _pack(predictions: NDArray[np.float32] | None) -> dict[str, Any] | None:
    if predictions is None:
        return None
    packed = base64.b64encode(zlib.compress(predictions.tobytes(), 1)).decode()
    return {"shape": list(predictions.shape), "float32": packed}


def _unpack(packed: dict[str, Any] | None) -> NDArray[np.float32] | None:
    if packed is None:
        return None
    content = zlib.decompress(base64.b64decode(packed["float32"]))
    return np.frombuffer(content, dtype=np.float32).reshape(packed["shape"])
