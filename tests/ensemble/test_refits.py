"""Refits of members, on all rows or fold by fold."""

from skauto.engines import Outcome
from skauto.ensemble._refits import Refits
from skauto.evaluation import RefitTask
from skauto.utils import Budget
from tests.ensemble.ballast import ballast_trial, history_for


class Backwards:
    """Instead of an engine: the task that was submitted last is complete first."""

    def __init__(self, n_workers=2):
        self.n_workers = n_workers
        self.tasks = []

    @property
    def n_running(self):
        return len(self.tasks)

    def submit(self, key, args):
        self.tasks.append((key, args))

    def wait(self, timeout):
        key, (task,) = self.tasks.pop()
        return [(key, Outcome("ok", task.fold))]

    def cancel(self):
        pass


def test_models_of_the_folds_are_ordered_by_fold_whichever_is_complete_first():
    history = history_for([])
    for number in range(2):
        history.append(ballast_trial(number, 0.1, 0))
    refits = Refits(
        history,
        Backwards(),
        Budget(),
        lambda trial, fold: RefitTask(trial.configuration, fold),
        [0, 1, 2],
        {},
        lambda trial: 0.0,
    )
    refits.fit([0, 1])
    assert list(refits.pipelines.items()) == [(0, [0, 1, 2]), (1, [0, 1, 2])]


def test_refits_that_take_less_than_predicted_leave_time_for_others():
    """Of 100 s, 60 are predicted for each refit of a fitted model, and 200 for that of a third."""
    history = history_for([])
    for number in range(3):
        history.append(ballast_trial(number, 0.1, 0))
    refits = Refits(
        history,
        Backwards(n_workers=1),
        Budget(time_limit=100.0),
        lambda trial, fold: RefitTask(trial.configuration, fold),
        [None],
        {trial.configuration: "on fewer rows" for trial in history},
        lambda trial: [60.0, 200.0, 60.0][trial.number],
    )
    refits.fit([0, 1, 2])
    assert refits.pipelines == {0: [None], 1: ["on fewer rows"], 2: [None]}
