"""Archive of known data sets: their meta-features and the losses of configurations on them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np

from skauto.metalearning._meta_features import META_FEATURES
from skauto.space import Configuration
from skauto.utils import BoolArray, FloatArray

_FORMAT = 1
_DIGITS = 5  # significant digits of numbers in files
_CLIP = 3.0  # standardized meta-features are clipped to [-3, 3]
# A data set is a near copy if the root mean square distance of all meta-features, or of those that
# do not depend on the classes, is within these bounds, or if the measures in _COPY_SHAPE are. The
# number of rows is not compared: the archive describes large tables by a part of their rows.
_COPY_DISTANCE, _COPY_DISTANCE_X = 0.35, 0.1
_COPY_SHAPE = {
    "log_n_features": 1e-4,
    "log_n_classes": 1e-4,
    "share_categorical": 1e-4,
    "class_share_max": 0.01,
}
_CLASS_DEPENDENT = (
    "class_",
    "landmark_",
    "information_",
    "log_n_classes",
    "log_equivalent_columns",
)
_ROW_DEPENDENT = ("log_n_samples", "log_dimensionality")
# The radius is this quantile of the distances from each data set to its nearest one.
_NEAR_SHARE = 0.9


@dataclass(frozen=True, eq=False)
class KnownDataSet:
    """Meta-features of a data set and the results of configurations on it.

    Attributes
    ----------
    name : str
        Name.
    features : mapping of str to float
        Meta-features.
    losses : ndarray of shape (n_configurations,)
        Loss of each configuration of the archive; NaN if it was not evaluated, infinite if it
        failed.
    seconds : ndarray of shape (n_configurations,)
        Seconds of each evaluation; NaN if it was not evaluated.
    """

    name: str
    features: Mapping[str, float]
    losses: FloatArray
    seconds: FloatArray


@dataclass(frozen=True, eq=False)
class Archive:
    """Losses of configurations on known data sets.

    Parameters
    ----------
    space : str
        Name of the search space of the configurations.
    scoring : str
        Score that the losses are based on.
    configurations : tuple of Configuration
        The configurations.
    data_sets : tuple of KnownDataSet
        The data sets.

    Examples
    --------
    >>> import numpy as np
    >>> from skauto.metalearning import Archive, KnownDataSet
    >>> from skauto.space import Configuration
    >>> tree, forest = (Configuration({"classifier": name}) for name in ("tree", "forest"))
    >>> iris = KnownDataSet(
    ...     "iris", {"log_n_samples": 5.0}, np.array([0.05, 0.04]), np.array([0.2, 1.0])
    ... )
    >>> archive = Archive("custom", "accuracy", (tree, forest), (iris,))
    >>> archive.portfolio(1)
    [<Configuration classifier=forest>]
    """

    space: str
    scoring: str
    configurations: tuple[Configuration, ...]
    data_sets: tuple[KnownDataSet, ...]

    def __repr__(self) -> str:
        return (
            f"<Archive of space {self.space!r}: {len(self.data_sets)} data sets, "
            f"{len(self.configurations)} configurations>"
        )

    @cached_property
    def losses(self) -> FloatArray:
        """Losses of shape (n_data_sets, n_configurations)."""
        return self._stacked("losses")

    @cached_property
    def seconds(self) -> FloatArray:
        """Seconds of shape (n_data_sets, n_configurations)."""
        return self._stacked("seconds")

    def _stacked(self, name: str) -> FloatArray:
        rows = [getattr(data_set, name) for data_set in self.data_sets]
        shape = len(self.data_sets), len(self.configurations)
        return np.array(rows, dtype=np.float64).reshape(shape)

    def without_copies(self, features: Mapping[str, float]) -> "Archive":
        """Return the archive without a data set and its near copies, given its meta-features.

        A near copy agrees in all meta-features, or in those that do not depend on the classes
        (classes may have been merged), or in the numbers and frequencies of columns and classes.
        It may hold any part of the rows.
        """
        columns = [
            not name.startswith(_CLASS_DEPENDENT) and name not in _ROW_DEPENDENT
            for name in META_FEATURES
        ]
        shape = [
            [abs(d.features[name] - features[name]) <= limit for d in self.data_sets]
            for name, limit in _COPY_SHAPE.items()
        ]
        copies = self.distances(features) <= _COPY_DISTANCE
        copies |= self.distances(features, np.array(columns)) <= _COPY_DISTANCE_X
        copies |= np.all(shape, axis=0)
        others = tuple(d for d, copy in zip(self.data_sets, copies, strict=True) if not copy)
        return replace(self, data_sets=others)

    def distances(
        self, features: Mapping[str, float], measures: BoolArray | None = None
    ) -> FloatArray:
        """Root mean square distance of standardized meta-features to each data set.

        Undefined meta-features are replaced by their mean. The mask `measures` of the
        ``META_FEATURES`` selects those to compare; None means all.
        """
        known, mean, scale = self._standardized
        row = _standard(_row(features)[None], mean, scale)
        difference = known - row if measures is None else (known - row)[:, measures]
        return np.sqrt((difference**2).mean(axis=1))

    @cached_property
    def _standardized(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Standardized meta-features of the data sets, with the mean and scale of each."""
        rows = np.array([_row(data_set.features) for data_set in self.data_sets])
        rows = rows.reshape(-1, len(META_FEATURES))
        present = ~np.isnan(rows)
        n_present = np.maximum(present.sum(axis=0), 1)
        mean = np.where(present, rows, 0.0).sum(axis=0) / n_present
        scale = np.sqrt((np.where(present, rows - mean, 0.0) ** 2).sum(axis=0) / n_present)
        scale[scale < 1e-12] = 1.0
        return _standard(rows, mean, scale), mean, scale

    @cached_property
    def radius(self) -> float:
        """Maximum distance of a neighbor: 90% of the data sets have another one within it."""
        known = self._standardized[0]
        if len(known) < 2:
            return 0.0
        distances = np.sqrt(((known[:, None] - known) ** 2).mean(axis=2))
        np.fill_diagonal(distances, np.inf)
        return float(np.quantile(distances.min(axis=1), _NEAR_SHARE))

    def nearest(self, features: Mapping[str, float], n: int) -> list[KnownDataSet]:
        """Return the `n` nearest data sets, nearest first."""
        order = np.argsort(self.distances(features), kind="stable")[:n]
        return [self.data_sets[i] for i in order]

    def neighbors(self, features: Mapping[str, float], n: int = 25) -> list[KnownDataSet]:
        """Return the `n` nearest data sets, nearest first, without near copies.

        The list is empty if no data set lies within `radius`.
        """
        others = self.without_copies(features)
        any_near = (others.distances(features) <= others.radius).any()
        return others.nearest(features, n) if any_near else []

    def advice(self, features: Mapping[str, float]) -> list[Configuration]:
        """Recommend configurations for a data set, by a portfolio weighted by similarity.

        The portfolio is built greedily: each configuration lowers most the weighted mean, over the
        other data sets, of the best normalized loss so far. A data set at distance d has the
        weight ``exp(-2 (d / radius) ** 2)``. The data set with these meta-features itself and its
        near copies are excluded.

        The configurations are in the order of their evaluation, without those that improve on no
        data set. There is none without neighbors.
        """
        if not self.neighbors(features):
            return []
        others = self.without_copies(features)
        weights = np.exp(-2.0 * (others.distances(features) / others.radius) ** 2)
        chosen = greedy_portfolio(normalized(others.losses), len(self.configurations), weights)
        return [self.configurations[i] for i in chosen]

    def portfolio(self, n: int = 25) -> list[Configuration]:
        """Choose at most `n` complementary configurations for an unknown data set, cheapest first.

        The portfolio is built greedily: each configuration lowers most the mean, over the data
        sets, of the best normalized loss so far. It ends if no further one improves on any data
        set.

        References
        ----------
        .. [1] M. Feurer et al., "Auto-sklearn 2.0: Hands-free AutoML via meta-learning", Journal
           of Machine Learning Research 23, 2022, section 3.2.
        """
        chosen = greedy_portfolio(normalized(self.losses), n)
        cost = typical_cost(self.seconds)
        return [self.configurations[i] for i in sorted(chosen, key=lambda i: cost[i])]

    def save(self, path: str | Path) -> None:
        """Write the archive to a JSON file, one configuration or data set per line."""
        names = json.dumps(META_FEATURES)
        configurations = [json.dumps(c.to_dict()) for c in self.configurations]
        data_sets = [
            json.dumps(
                {
                    "name": data_set.name,
                    "features": _written(_row(data_set.features)),
                    "losses": _written(data_set.losses),
                    "seconds": _written(data_set.seconds),
                }
            )
            for data_set in self.data_sets
        ]
        separator = ",\n"
        text = (
            f'{{"format": {_FORMAT},\n"space": {json.dumps(self.space)},\n'
            f'"scoring": {json.dumps(self.scoring)},\n"features": {names},\n'
            f'"configurations": [\n{separator.join(configurations)}\n],\n'
            f'"data_sets": [\n{separator.join(data_sets)}\n]}}\n'
        )
        Path(path).write_text(text, encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path | Traversable) -> "Archive":
        """Read an archive that ``save`` has written."""
        source = Path(path) if isinstance(path, str) else path
        data = json.loads(source.read_text(encoding="utf-8"))
        if data.get("format") != _FORMAT or tuple(data["features"]) != META_FEATURES:
            raise ValueError(
                f"The archive {source.name!r} was written by another version of skauto (format "
                f"{data.get('format')}, this one reads {_FORMAT}). Build it again."
            )
        return cls(
            space=data["space"],
            scoring=data["scoring"],
            configurations=tuple(Configuration.from_dict(c) for c in data["configurations"]),
            data_sets=tuple(
                KnownDataSet(
                    name=entry["name"],
                    features=dict(zip(META_FEATURES, _read(entry["features"]), strict=True)),
                    losses=_read(entry["losses"]),
                    seconds=_read(entry["seconds"]),
                )
                for entry in data["data_sets"]
            ),
        )


def load_archive(space: str = "default") -> Archive:
    """Load the archive of a search space that comes with skauto.

    Parameters
    ----------
    space : str, default="default"
        Name of the space.

    Returns
    -------
    archive : Archive
        The archive.

    Examples
    --------
    >>> from skauto.metalearning import load_archive
    >>> load_archive("no_such_space")
    Traceback (most recent call last):
    ValueError: There is no archive of the space 'no_such_space'. Known: ...
    """
    folder = resources.files("skauto.metalearning") / "archives"
    files = folder.iterdir() if folder.is_dir() else ()
    known = {f.name.removesuffix(".json"): f for f in files if f.name.endswith(".json")}
    if space not in known:
        raise ValueError(
            f"There is no archive of the space {space!r}. Known: {', '.join(known) or 'none'}. "
            "The script examples/benchmarks/build_archive.py builds one."
        )
    return Archive.load(known[space])


def _row(features: Mapping[str, float]) -> FloatArray:
    return np.array([features.get(name, np.nan) for name in META_FEATURES])


def _standard(rows: FloatArray, mean: FloatArray, scale: FloatArray) -> FloatArray:
    return np.nan_to_num((rows - mean) / scale).clip(-_CLIP, _CLIP)


def _written(values: FloatArray) -> list[Any]:
    """Numbers for JSON: 5 significant digits, null for NaN, "failed" for infinity."""
    return [
        None if np.isnan(v) else "failed" if np.isinf(v) else float(f"{v:.{_DIGITS}g}")
        for v in values
    ]


def _read(values: Sequence[Any]) -> FloatArray:
    return np.array(
        [np.nan if v is None else np.inf if v == "failed" else v for v in values], dtype=np.float64
    )


def normalized(losses: FloatArray) -> FloatArray:
    """Scale losses (n_data_sets, n_configurations): best 0 and median 1 on each data set.

    Losses above the median, failures and missing evaluations count as 1.
    """
    measured = np.where(np.isfinite(losses), losses, np.nan)
    result = np.ones_like(losses)
    for row, values in zip(result, measured, strict=True):
        present = np.flatnonzero(~np.isnan(values))
        if len(present):
            best, median = values[present].min(), np.median(values[present])
            span = median - best
            row[present] = ((values[present] - best) / span).clip(max=1.0) if span > 0 else 0.0
    return result


def greedy_portfolio(losses: FloatArray, n: int, weights: FloatArray | None = None) -> list[int]:
    """Choose columns of losses (n_data_sets, n_configurations) greedily for the mean row minimum.

    Ties go to the first column. The selection ends early if no column lowers any row.
    """
    best = np.full(len(losses), np.inf)
    chosen: list[int] = []
    for _ in range(min(n, losses.shape[1]) if len(losses) else 0):
        lowered = np.minimum(best[:, None], losses)
        candidate = int(np.argmin(np.average(lowered, axis=0, weights=weights)))
        if not (lowered[:, candidate] < best).any():
            break
        chosen.append(candidate)
        best = lowered[:, candidate]
    return chosen


def typical_cost(seconds: FloatArray) -> FloatArray:
    """Median seconds of each configuration relative to the median on the same data set."""
    cost = np.full(seconds.shape[1], np.inf)
    relative = np.array([row / np.nanmedian(row) for row in seconds if np.isfinite(row).any()])
    for i, column in enumerate(relative.T):
        if np.isfinite(column).any():
            cost[i] = np.nanmedian(column)
    return cost
