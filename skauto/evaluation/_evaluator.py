"""Evaluate proposals as pipelines."""

from skauto.constraints._checker import ConstraintChecker
from skauto.data import DataFacts
from skauto.evaluation._aggregate import TrialAggregator
from skauto.evaluation._job import TrialJob
from skauto.evaluation._rungs import RungPlanner
from skauto.evaluation._worker import PipelineWorker
from skauto.history import History, Proposal
from skauto.schedule import TaskSchedule


class PipelineEvaluator:
    """Evaluate configurations as pipelines by their out-of-fold scores.

    Trials are evaluated in rungs, see `RungPlanner`, and their folds are aggregated, see
    `TrialAggregator`. The time limit of a trial is the sum over its folds. With `out_of_bag`,
    forests of bootstrap samples are fitted once and validated out of bag. The checker estimates
    the constraint values of trials. Under a time limit, the schedule decides which tasks start;
    None starts all of them.
    """

    def __init__(
        self,
        worker: PipelineWorker,
        *,
        trial_time_limit: float | None = None,
        out_of_bag: bool = True,
        checker: ConstraintChecker | None = None,
        schedule: TaskSchedule | None = None,
    ) -> None:
        self.worker = worker
        self.data = worker.data
        self.constraints = worker.constraints
        self.checker = checker or ConstraintChecker()
        self.trial_time_limit = trial_time_limit
        if schedule is None:
            schedule = TaskSchedule(DataFacts(len(self.data.splits[0][0]), self.data.Z.shape[1]))
        self.planner = RungPlanner(worker, self.checker, schedule, out_of_bag)
        self.aggregator = TrialAggregator(worker, self.checker)

    def open(self, proposal: Proposal, history: History) -> TrialJob:
        """Begin a trial; the job submits its tasks and collects their results."""
        return TrialJob(
            self.planner, self.aggregator, proposal, history, time_limit=self.trial_time_limit
        )
