"""How much time is kept back for refitting."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer

from skauto import AutoClassifier
from skauto.constraints import StatisticalParity
from skauto.constraints._checker import ConstraintChecker
from skauto.data import TrainingData
from skauto.ensemble._build import EnsembleBuilder
from skauto.ensemble._decide import DecisionChooser
from skauto.evaluation import PipelineEvaluator, PipelineWorker
from skauto.history import History, Trial
from skauto.space import Configuration, SearchSpace
from skauto.utils import Budget
from tests.ensemble.ballast import OneSeed

N_ROWS = 100
PER_FIT = 1.3 * N_ROWS / 50  # seconds of refitting a second of fitting half of the rows
MARGIN = 1.5  # of the seconds of members that are lost if they are not fitted in time


def builder_of(n_rows=N_ROWS, n_groups=0):
    """A builder for rows in groups, whose rates of positive labels are limited."""
    rows = np.arange(n_rows)
    data = TrainingData(
        Z=np.zeros((n_rows, 1)),
        y=rows % 2,
        classes=np.array([0, 1]),
        splits=[(rows[:50], rows[50:]), (rows[50:], rows[:50])],
        sensitive={"g": rows // 2 % n_groups} if n_groups else {},
    )
    limits = [StatisticalParity("g", 0.1, min_group_size=1)] if n_groups else []
    checker = ConstraintChecker(limits, data)
    worker = PipelineWorker(OneSeed(), data, {"score": get_scorer("accuracy")})
    return EnsembleBuilder(
        PipelineEvaluator(worker, checker=checker),
        n_members=25,
        refit=True,
        scoring="accuracy",
        decisions=DecisionChooser(data, checker, "auto" if n_groups else "argmax"),
    )


@pytest.fixture
def builder():
    return builder_of()


def history(*trials):
    """A history of trials given by the share of rows that they get wrong and their fit time."""
    known = History()
    for number, (share, seconds) in enumerate(trials):
        truth = np.arange(N_ROWS) % 2
        wrong = np.random.default_rng(number).permutation(N_ROWS) < share * N_ROWS
        one = np.where(wrong, 1 - truth, truth)
        known.append(
            Trial(
                number=number,
                configuration=Configuration({"classifier": (f"algorithm_{number}", {})}),
                losses=(share,),
                fit_times=(seconds, seconds),
                predictions=np.column_stack([1 - one, one]).astype(np.float32),
            )
        )
    return known


def budget(limit, left):
    budget = Budget(time_limit=limit)
    budget.started -= limit - left
    return budget


def test_nothing_is_kept_for_nothing(builder):
    assert builder.reserve(history(), 1, budget(100, 50)) == 0.0


@pytest.mark.parametrize("n_workers", [1, 2])
def test_early_on_ten_members_are_provided_for(builder, n_workers):
    trials = history(*[(0.1 + 0.01 * i, 1.0) for i in range(12)])
    kept = builder.reserve(trials, n_workers, budget(1000, 500))
    assert kept == pytest.approx(MARGIN * 10 * PER_FIT / n_workers + 1.0)


def test_at_most_a_quarter_is_kept_but_the_best_is_always_refitted(builder):
    trials = history(*[(0.1 + 0.01 * i, 10.0) for i in range(12)])
    assert builder.reserve(trials, 1, budget(200, 150)) == pytest.approx(50 + 1)
    assert builder.reserve(trials, 1, budget(40, 39)) == pytest.approx(10 * PER_FIT + 0.8)


def test_at_the_end_the_members_that_would_be_selected_decide(builder):
    trials = history(*[(0.4, 5.0)] * 9, (0.0, 2.0))
    known = History()
    for trial in trials[:9]:
        known.append(trial)
    usual = MARGIN * 45 * PER_FIT + 1
    late = budget(1000, 100)
    n_members = len(builder.select(known))
    assert 5 < n_members < 9
    assert builder.reserve(known, 1, late) == pytest.approx(MARGIN * 5 * n_members * PER_FIT + 1)
    # Nothing that is added to a perfect trial makes it better.
    known.append(trials[9])
    assert builder.select(known) == {9: 1.0}
    assert builder.reserve(known, 1, late) == pytest.approx(MARGIN * 2 * PER_FIT + 1)
    usual += MARGIN * 2 * PER_FIT
    assert builder.reserve(known, 1, budget(1000, 500)) == pytest.approx(usual)


@pytest.mark.parametrize(
    ("n_rows", "n_groups", "limit", "seconds"),
    [(N_ROWS, 2, 40, 0.025), (50_000, 2, 100, 5.0), (10_000, 4, 100, 5.0), (50_000, 2, 8, 2.0)],
)
def test_time_is_kept_for_thresholds(n_rows, n_groups, limit, seconds):
    trials = history((0.1, 0.0), (0.2, 0.0))
    without = builder_of(n_rows).reserve(trials, 1, budget(limit, limit))
    builder = builder_of(n_rows, n_groups)
    assert builder.reserve(trials, 1, budget(limit, limit)) == pytest.approx(without + seconds)


def test_less_is_kept_for_members_that_have_a_model_of_the_hold_out_split(builder):
    trials = history((0.1, 1.0), (0.2, 100.0))
    without = builder.reserve(trials, 1, budget(400, 300))
    builder.evaluator.planner.out_of_bag = False
    builder.evaluator.aggregator.models |= {trial.configuration: [] for trial in trials}
    # The second is too expensive to refit: its model of the hold-out split is the member.
    assert builder.reserve(trials, 1, budget(400, 300)) == pytest.approx(PER_FIT + 1.0)
    assert without > 100


@pytest.mark.parametrize("rows", ["all", "training"])
def test_a_held_out_model_is_refitted_on_all_rows_if_the_time_suffices(rows, monkeypatch):
    X, y = make_classification(200, 4, random_state=0)
    space = SearchSpace(["classifier"]).add("classifier", "logistic", LogisticRegression())
    if rows == "training":
        monkeypatch.setattr(EnsembleBuilder, "refit_time", lambda self, trial: 1e6)
    clf = AutoClassifier(
        "random", space=space, cv=0.25, max_evals=1, time_limit=60, random_state=0
    )
    clf.fit(X, y)
    intercept = clf.ensemble_.pipelines[0][-1].intercept_
    expected = LogisticRegression().fit(X, y).intercept_
    assert np.allclose(intercept, expected) is (rows == "all")
