"""What is tried first: the parameter ``initial``, with the archive that comes with skauto."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.tree import DecisionTreeClassifier

from skauto import AutoClassifier, ConstrainedAutoClassifier
from skauto.constraints import StatisticalParity
from skauto.data import DataFacts
from skauto.metalearning import (
    adapt_configuration,
    load_archive,
    meta_features,
    portfolio_configurations,
)
from skauto.metalearning._warm_start import adapt_configurations
from skauto.space import Configuration, SearchSpace, get_space
from tests.estimators.quick import quick, tiny_space

ARCHIVE = load_archive("default")


def tried(X, y, *, cv=0.3, random_state=0, **settings):
    """The estimator and the configurations of its trials; some may fail."""
    clf = AutoClassifier(cv=cv, random_state=random_state, ensemble_size=1, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X, y)
    return clf, [trial.configuration for trial in clf.history_]


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


def part_for(X):
    facts = DataFacts(n_samples=X.shape[0], n_features=X.shape[1])
    return get_space("default").for_data(facts)


def test_begins_with_the_best_of_the_neighbors(cancer):
    clf, configurations = tried(*cancer, initial="metalearning", strategy="mosaic", max_evals=3)
    known = {data_set.name: data_set for data_set in ARCHIVE.data_sets}
    assert len(clf.neighbors_) == 25
    assert set(clf.neighbors_) <= set(known)
    features = meta_features(*cancer, rng=np.random.default_rng(0))
    adapted = [adapt_configuration(c, part_for(cancer[0])) for c in ARCHIVE.advice(features)]
    expected = list(dict.fromkeys(c for c in adapted if c is not None))[:25]
    # Landmark learners draw their own folds, so that the order may differ.
    assert set(configurations) <= set(expected)
    assert {trial.origin for trial in clf.history_} == {"initial"}


def test_strategy_goes_on_after_the_portfolio(cancer):
    part = part_for(cancer[0]).subspace({"classifier": ["gaussian_nb", "lda"]})
    portfolio = portfolio_configurations(part)
    assert portfolio
    clf, configurations = tried(
        *cancer, initial="portfolio", space=part, max_evals=len(portfolio) + 2, strategy="random"
    )
    assert configurations[:-2] == portfolio
    assert [t.origin for t in clf.history_] == ["initial"] * len(portfolio) + ["random"] * 2
    assert not hasattr(clf, "neighbors_")


def test_portfolio_serves_where_no_set_is_near():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((120, 80)) < 0.9, np.nan, rng.lognormal(sigma=5, size=(120, 80)))
    clf, configurations = tried(X, np.arange(120) % 8, initial="metalearning", max_evals=2)
    assert clf.neighbors_ == []
    facts = DataFacts(n_samples=120, n_features=80, has_missing=True)
    space = get_space("default").for_data(facts)
    assert configurations == adapt_configurations(ARCHIVE.portfolio(25), space)[:2]


def test_same_seed_same_beginning():
    table = make_classification(120, random_state=0)
    one, other = (tried(*table, initial="metalearning", max_evals=2) for _ in range(2))
    assert one[1] == other[1]
    assert one[0].neighbors_ == other[0].neighbors_


def mixed_table():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "number": np.where(rng.random(80) < 0.2, np.nan, rng.normal(size=80)),
            "text": rng.choice(["a", "b", None], 80),
            "date": pd.date_range("2026-01-01", periods=80),
        }
    )
    return table, np.where(rng.random(80) < 0.5, "yes", "no")


def sparse_table():
    rng = np.random.default_rng(0)
    return sparse.random_array((80, 30), density=0.1, rng=rng).tocsr(), np.arange(80) % 2


@pytest.mark.parametrize("initial", ["metalearning", "portfolio"])
@pytest.mark.parametrize("table", [mixed_table, sparse_table])
def test_any_table_can_be_begun_with(initial, table):
    clf, _ = tried(*table(), initial=initial, max_evals=3)
    assert [trial.origin for trial in clf.history_] == ["initial"] * 3
    assert [trial.status for trial in clf.history_] == ["ok"] * 3


def test_space_without_an_archive_is_refused(cancer):
    space = SearchSpace(["classifier"]).add("classifier", "tree", DecisionTreeClassifier())
    text = "'initial' parameter 'metalearning'.*'custom'. Known: .*default.*Pass 'portfolio'"
    with pytest.raises(ValueError, match=text):
        AutoClassifier(initial="metalearning", space=space).fit(*cancer)


def test_portfolio_is_the_defaults_of_a_space_of_the_user(cancer):
    space = SearchSpace(["classifier"]).add("classifier", "tree", DecisionTreeClassifier())
    _, configurations = tried(*cancer, space=space, max_evals=1)
    assert configurations == [space.default()]


def test_part_of_a_space_that_the_archive_lacks_is_refused(cancer):
    space = SearchSpace(["classifier"], "default")
    for depth in (1, 2):
        space.add("classifier", f"depth_{depth}", DecisionTreeClassifier(max_depth=depth))
    with pytest.raises(ValueError, match="no configuration of the archive.*Pass 'portfolio'"):
        AutoClassifier(initial="metalearning", space=space).fit(*cancer)


def test_the_portfolio_starts_a_search_whose_limits_thresholds_keep():
    X, y = make_classification(200, 5, random_state=0)
    X = pd.DataFrame(X, columns=list("vwxyz")).assign(group=np.where(X[:, 0] > 0, "a", "b"))
    limit = StatisticalParity("group", 0.5)
    first = {}
    for decision in ("auto", "argmax"):
        clf = ConstrainedAutoClassifier(
            [limit], decision=decision, strategy="random", max_evals=1, cv=2, random_state=0
        )
        first[decision] = clf.fit(X, y).history_[0].configuration
    assert first["auto"]["balancer"] == "none"
    assert first["argmax"]["balancer"] == "group_weights"


def test_initial_configurations(iris):
    wanted = Configuration({"classifier": ("tree", {"max_depth": 3})})
    clf = quick(space=tiny_space(), initial=[wanted]).fit(*iris)
    assert clf.history_[0].configuration == wanted
    assert clf.history_[0].origin == "initial"
    own = quick(space=tiny_space(), initial=None, strategy="random").fit(*iris)
    assert {trial.origin for trial in own.history_} == {"random"}
    clf = quick(space=tiny_space()).fit(*iris)
    assert [t.configuration["classifier"] for t in clf.history_][:2] == ["gaussian_nb", "tree"]


@pytest.mark.parametrize("name", ["default", "mosaic"])
@pytest.mark.parametrize("table", [mixed_table, sparse_table])
def test_initial_configurations_of_a_named_space_are_tried(name, table):
    space, (X, y) = get_space(name), table()
    given = [space.complete({"classifier": c}) for c in ("random_forest", "extra_trees")]
    _, configurations = tried(X, y, space=name, initial=[*given, *given], max_evals=2)
    assert [c["classifier"] for c in configurations] == [c["classifier"] for c in given]


def test_initial_configurations_outside_of_the_space_are_refused(iris):
    for outside in (
        {"classifier": "svc"},
        {"classifier": ("tree", {"depth": 3})},
        {"scaler": "z"},
    ):
        with pytest.raises(ValueError, match="'initial' parameter holds <Configuration.*has"):
            quick(space=tiny_space(), initial=[Configuration(outside)]).fit(*iris)
