"""The archive on made-up data sets: file, neighbors, copies, portfolio and warm start."""

import itertools
import json

import numpy as np
import pytest
from sklearn.datasets import load_digits

from skauto.metalearning import (
    META_FEATURES,
    Archive,
    KnownDataSet,
    load_archive,
    meta_features,
    nearest_configurations,
)
from skauto.metalearning._archive import greedy_portfolio, normalized, typical_cost
from skauto.space.catalog import get_space
from tests.metalearning.archives import make_archive

# The file


def test_file_round_trip(tmp_path):
    archive = make_archive()
    archive.data_sets[0].losses[:2] = np.nan, np.inf
    archive.data_sets[1].features["log_skewness_mean"] = np.nan
    archive.save(tmp_path / "made_up.json")
    again = Archive.load(tmp_path / "made_up.json")
    assert again.configurations == archive.configurations
    assert (again.space, again.scoring) == ("made_up", "accuracy")
    assert [d.name for d in again.data_sets] == [d.name for d in archive.data_sets]
    np.testing.assert_allclose(again.losses, archive.losses, rtol=1e-4)
    np.testing.assert_allclose(again.seconds, archive.seconds, rtol=1e-4)
    for one, other in zip(again.data_sets, archive.data_sets, strict=True):
        assert one.features == pytest.approx(other.features, rel=1e-4, abs=1e-6, nan_ok=True)
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "made_up.json").read_text()


def test_file_has_a_line_for_each_configuration_and_data_set(tmp_path):
    make_archive(n_sets=3, n_configurations=4).save(tmp_path / "made_up.json")
    text = (tmp_path / "made_up.json").read_text()
    assert sum('"classifier"' in line for line in text.splitlines()) == 4
    assert sum('"losses"' in line for line in text.splitlines()) == 3
    assert "NaN" not in text
    json.loads(text)


def test_empty_archive_can_be_saved_and_asked(tmp_path):
    Archive("made_up", "accuracy", (), ()).save(tmp_path / "empty.json")
    empty = Archive.load(str(tmp_path / "empty.json"))
    assert empty.portfolio() == []
    assert empty.neighbors({}) == []
    assert empty.advice({}) == []
    assert empty.radius == 0.0


def test_file_of_another_format_is_refused(tmp_path):
    path = tmp_path / "old.json"
    make_archive().save(path)
    path.write_text(path.read_text().replace('"format": 1', '"format": 0'))
    with pytest.raises(ValueError, match=r"'old.json' was written by another version"):
        Archive.load(path)


def test_unknown_archive_is_named():
    with pytest.raises(ValueError, match="no archive of the space 'nonsense'"):
        load_archive("nonsense")


# Neighbors


def test_distances_equal_brute_force():
    archive = make_archive()
    del archive.data_sets[3].features["class_entropy"]  # not defined there
    query = dict.fromkeys(META_FEATURES, 0.4) | {"landmark_tree": np.nan, "share_zero": 1e9}
    expected = []
    for data_set in archive.data_sets:
        total = 0.0
        for name in META_FEATURES:
            known = [d.features.get(name, np.nan) for d in archive.data_sets]
            mean, std = np.nanmean(known), np.nanstd(known)
            a, b = (
                0.0 if np.isnan(v) else min(max((v - mean) / std, -3.0), 3.0)
                for v in (query[name], data_set.features.get(name, np.nan))
            )
            total += (a - b) ** 2
        expected.append(np.sqrt(total / len(META_FEATURES)))
    np.testing.assert_allclose(archive.distances(query), expected)
    nearest = archive.nearest(query, 3)
    assert [d.name for d in nearest] == [f"set_{i}" for i in np.argsort(expected)[:3]]


def test_advice_equals_brute_force():
    archive = make_archive()
    query = archive.data_sets[6].features
    others = archive.without_copies(query)
    weights = [np.exp(-2 * (d / others.radius) ** 2) for d in others.distances(query)]
    losses = normalized(others.losses)
    expected = []
    while True:
        best = [min((row[i] for i in expected), default=1.0) for row in losses]
        means = [
            sum(w * min(b, row[i]) for w, b, row in zip(weights, best, losses, strict=True))
            for i in range(losses.shape[1])
        ]
        i = int(np.argmin(means))
        if not any(row[i] < b for b, row in zip(best, losses, strict=True)):
            break
        expected.append(i)
    assert len(expected) > 3
    assert archive.advice(query) == [archive.configurations[i] for i in expected]


def test_advice_begins_with_the_best_of_the_nearest():
    """Of two near sets; their second best is of no use, and far ones hardly count."""
    archive = make_archive(n_sets=12)
    one, other = (d for d in archive.nearest(archive.data_sets[6].features, 3)[1:])
    losses = np.ones((12, len(archive.configurations)))
    losses[:, 0] = 0.5
    for data_set, row in zip(archive.data_sets, losses, strict=True):
        data_set.losses[:] = row
    one.losses[3], one.losses[4], other.losses[5] = 0.1, 0.11, 0.1
    advice = archive.advice(archive.data_sets[6].features)
    assert set(advice[:2]) <= {archive.configurations[i] for i in (0, 3, 5)}
    assert archive.configurations[4] not in advice


def test_neighbors_are_the_nearest_without_copies():
    archive = make_archive()
    query = archive.data_sets[6].features
    others = archive.without_copies(query)
    assert "set_6" not in [d.name for d in others.data_sets]
    assert others.distances(query).min() <= others.radius
    assert archive.neighbors(query) == others.nearest(query, 25)
    assert archive.neighbors(query, 2) == others.nearest(query, 2)


def test_radius_holds_the_nearest_set_of_nine_in_ten():
    archive = make_archive(n_sets=20)
    nearest = [np.sort(archive.distances(data_set.features))[1] for data_set in archive.data_sets]
    assert archive.radius == pytest.approx(np.quantile(nearest, 0.9))


# Copies


def describe(X, y):
    return meta_features(X, y, rng=np.random.default_rng(0))


def make_tables():
    """Tables of different kinds, each with the features of another set of rows of it."""
    rng = np.random.default_rng(0)
    tables = []
    for i in range(8):
        n, d = 300 + 100 * i, 3 + 2 * i
        X = rng.normal(size=(n, d)) ** (1 + i % 3)
        X[rng.random((n, d)) < 0.02 * i] = 0.0
        y = X[:, 0] > 0.3 * (i % 4)
        y = y.astype(int) + (2 * (X[:, 1] > 0.5) if i % 2 else 0)
        tables.append((X, y))
    return tables


def test_a_set_and_its_near_copies_are_left_out():
    tables = make_tables()
    nothing = np.empty(0)
    known = tuple(
        KnownDataSet(f"table_{i}", describe(X, y), nothing, nothing)
        for i, (X, y) in enumerate(tables)
    )
    archive = Archive("made_up", "accuracy", (), known)
    for i, (X, y) in enumerate(tables):
        rows = np.random.default_rng(i).permutation(len(y))[: int(0.8 * len(y))]
        same_rows, merged = describe(X[rows], y[rows]), describe(X, y == y.max())
        quarter = np.argsort(y, kind="stable")[::4]
        fewer = describe(X[quarter], y[quarter])
        for features in (known[i].features, same_rows, fewer, merged):
            rest = [d.name for d in archive.without_copies(features).data_sets]
            assert f"table_{i}" not in rest
            assert len(rest) >= 5


# Portfolio


def test_normalized_losses():
    losses = np.array([[0.1, 0.2, 0.3, np.inf, np.nan], [0.5, 0.5, 0.5, 0.5, 0.5]])
    np.testing.assert_allclose(normalized(losses), [[0, 1, 1, 1, 1], [0, 0, 0, 0, 0]])
    np.testing.assert_allclose(normalized(np.array([[0.0, 0.25, 0.5, 1.0]]))[0, :2], [0, 2 / 3])


def test_portfolio_equals_brute_force(rng):
    losses = rng.random((6, 8))
    chosen = greedy_portfolio(losses, 4)
    for k in range(1, 5):
        options = [losses[:, [*chosen[: k - 1], i]].min(axis=1).mean() for i in range(8)]
        assert options[chosen[k - 1]] == min(options)
    # Greedy selection is at least (1 - 1/e) as good as the best choice (submodularity).
    best = min(losses[:, list(c)].min(axis=1).mean() for c in itertools.combinations(range(8), 4))
    gain, best_gain = 1 - losses[:, chosen].min(axis=1).mean(), 1 - best
    assert gain >= (1 - np.exp(-1)) * best_gain


def test_portfolio_ends_when_nothing_helps():
    losses = np.array([[0.0, 0.5, 1.0], [1.0, 0.5, 0.0]])
    assert greedy_portfolio(losses, 3) == [0, 2]
    assert greedy_portfolio(np.empty((0, 3)), 2) == []


def test_portfolio_is_ordered_by_cost():
    archive = make_archive()
    portfolio = archive.portfolio(4)
    cost = typical_cost(archive.seconds)
    costs = [cost[archive.configurations.index(c)] for c in portfolio]
    assert costs == sorted(costs)
    assert len(portfolio) == 4


def test_typical_cost_is_relative_to_the_data_set():
    seconds = np.array([[1.0, 2.0, 3.0], [100.0, 200.0, np.nan], [np.nan] * 3])
    np.testing.assert_allclose(typical_cost(seconds), [0.5 + 1 / 12, 1 + 1 / 6, 1.5])


ARCHIVE = load_archive("default")


def test_archive_fits_the_space_as_it_is_now():
    space = get_space("default")
    for configuration in ARCHIVE.configurations:
        space.validate(configuration)
    assert len(ARCHIVE.data_sets) >= 60


def test_archive_leaves_out_what_it_knows_by_another_name():
    """The digits of scikit-learn are a part of optdigits."""
    features = meta_features(*load_digits(return_X_y=True), rng=np.random.default_rng(0))
    assert "optdigits" in [d.name for d in ARCHIVE.nearest(features, 3)]
    neighbors = [d.name for d in ARCHIVE.neighbors(features)]
    assert len(neighbors) == 25
    assert "optdigits" not in neighbors


def test_archive_is_experience():
    """Leaving a data set out, five trials on advice get nearer to the best than by chance."""
    space, rng = get_space("default"), np.random.default_rng(0)
    advised, drawn = [], []
    left_out = zip(ARCHIVE.data_sets, normalized(ARCHIVE.losses), strict=True)
    for data_set, distances in list(left_out)[::3]:
        distance = dict(zip(ARCHIVE.configurations, distances, strict=True))
        advice = nearest_configurations(ARCHIVE, data_set.features, space, 5)
        advised.append(min(distance[c] for c in advice))
        drawn.append(np.mean([rng.choice(distances, 5, replace=False).min() for _ in range(50)]))
    assert np.mean(advised) < 0.8 * np.mean(drawn)
