"""What a search cost: processor seconds and energy, by share of the rows."""


def cost_report(history, watts_per_core):
    """Sum up the evaluations of a search by the share of the rows that they used (needs pandas).

    Parameters
    ----------
    history : History
        All trials.
    watts_per_core : float
        Power of one busy core.

    Returns
    -------
    report : pandas.DataFrame
        See ``AutoClassifier.cost_report``.
    """
    import pandas as pd

    trials = pd.DataFrame(
        {
            "fidelity": [trial.fidelity for trial in history],
            "n_trials": 1,
            "cpu_seconds": [trial.cpu_time for trial in history],
        }
    )
    report = trials.groupby("fidelity").sum().sort_index(ascending=False)
    report["full_cpu_seconds"] = report["cpu_seconds"] / report.index
    report = pd.concat([report, report.sum().to_frame("total").T])
    report["n_trials"] = report["n_trials"].astype(int)
    for name in ("", "full_"):
        report[f"{name}watt_hours"] = report[f"{name}cpu_seconds"] * watts_per_core / 3600.0
    return report.rename_axis("fidelity")
