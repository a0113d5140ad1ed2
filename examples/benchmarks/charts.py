"""Draw the three charts of the page "How good is it?" from a table of results.

    python examples/benchmarks/charts.py
    python examples/benchmarks/charts.py --results quality.csv --rival autogluon_best --out FOLDER

The table is a CSV file with the columns system, dataset, n_rows, n_columns, seed, time_limit,
roc_auc, log_loss, size_mb and row_ms, one row for each system, table, split and time limit. A
system without a time limit, such as LightGBM with its defaults, has an empty ``time_limit``. The
charts are SVG files: ``won_by_size``, ``score_by_seconds`` and ``size_and_latency``.
"""

import argparse
import sys
from itertools import cycle
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

DOCS = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
COLUMNS = (
    "system", "dataset", "n_rows", "n_columns", "seed", "time_limit", "roc_auc", "log_loss",
    "size_mb", "row_ms",
)  # fmt: skip
OURS = "skauto"
PAIR = ["dataset", "seed"]
BOUNDS = (0, 1_000, 3_000, 10_000, np.inf)
SIZES = ("below\n1,000", "1,000\nto 2,999", "3,000\nto 9,999", "10,000\nor more")
SCORES = {"roc_auc": ("ROC AUC", 1), "log_loss": ("log loss", -1)}
OUTCOMES = {1.0: "won", 0.0: "level", -1.0: "lost"}
COLORS = {"won": "#0072b2", "level": "#b0b4bb", "lost": "#d55e00"}
# Differences up to this are level.
TOLERANCE = 1e-4
RIVALS = ("#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#1c1f24")
NAMES = {
    "autogluon_best": "AutoGluon best_quality",
    "autogluon_best_v150": "AutoGluon best_quality_v150",
    "flaml": "FLAML",
    "lightgbm": "LightGBM, defaults",
}
STYLE = {"svg.hashsalt": OURS, "axes.spines.top": False, "axes.spines.right": False}


def read(path: Path) -> pd.DataFrame:
    """Read a table of results; a system without a time limit has NaN as its limit."""
    results = pd.read_csv(path)
    missing = [name for name in COLUMNS if name not in results.columns]
    if missing:
        raise ValueError(f"{path.name} must have the columns {list(COLUMNS)}. It lacks {missing}.")
    if OURS not in set(results["system"]):
        raise ValueError(f"The column 'system' of {path.name} must hold {OURS!r}.")
    return results


def at_limit(results: pd.DataFrame, limit: float) -> pd.DataFrame:
    """Return the rows of a time limit, and those of systems without one."""
    return results[results["time_limit"].isna() | (results["time_limit"] == limit)]


def won_by_size(results: pd.DataFrame, rival: str) -> Figure:
    """Count the pairs won and lost against a rival, by number of rows of the table."""
    by_system = results.set_index([*PAIR, "n_rows"]).groupby("system")
    ours, theirs = (by_system.get_group(name) for name in (OURS, rival))
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    figure.suptitle(f"{OURS} against {NAMES.get(rival, rival)}")
    for ax, (score, (name, sign)) in zip(figure.subplots(1, 2), SCORES.items(), strict=True):
        gain = (sign * (ours[score] - theirs[score])).dropna().reset_index(name="gain")
        size = pd.cut(gain["n_rows"], BOUNDS, right=False, labels=SIZES)
        outcome = np.sign(gain["gain"].where(gain["gain"].abs() > TOLERANCE, 0.0)).map(OUTCOMES)
        counts = pd.crosstab(size, outcome).reindex(columns=COLORS, fill_value=0)
        bottom = np.zeros(len(counts))
        for label, n in counts.items():
            bars = ax.bar(n.index, n, bottom=bottom, color=COLORS[label], label=label)
            ax.bar_label(bars, [str(k) if k else "" for k in n], label_type="center", color="w")
            bottom += n.to_numpy()
        ax.set(title=name, xlabel="rows of the table", ylabel="pairs of table and split")
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return figure


def colors_of(results: pd.DataFrame) -> dict[str, str]:
    """Return a color for each system, ours first."""
    rivals = sorted(set(results["system"]) - {OURS})
    return {OURS: COLORS["won"], **dict(zip(rivals, cycle(RIVALS), strict=False))}


def score_by_seconds(results: pd.DataFrame) -> Figure:
    """Draw mean scores over the time limit, on the pairs that all systems and limits have."""
    n_points = results.groupby(["system", "time_limit"], dropna=False).ngroups
    n_found = results.groupby(PAIR)["system"].transform("size")
    common = results[n_found == n_points]
    if common.empty:
        raise ValueError("No pair of dataset and seed has a row for each system and time limit.")
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    n_tables = common["dataset"].nunique()
    for ax, (score, (name, _)) in zip(figure.subplots(1, 2), SCORES.items(), strict=True):
        means = common.groupby(["system", "time_limit"], dropna=False)[score].mean()
        for system, color in colors_of(common).items():
            line, label = means[system], NAMES.get(system, system)
            if line.index.isna().all():
                ax.axhline(line.iloc[0], color=color, linestyle="--", label=label)
            else:
                ax.plot(line.index, line, "o-", color=color, label=label)
        limits = sorted(common["time_limit"].dropna().unique())
        ax.set(xscale="log", xlabel="time limit [s]", title=f"{name}, mean of {n_tables} tables")
        ax.set_xticks(limits, [f"{limit:g}" for limit in limits])
        ax.minorticks_off()
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return figure


def size_and_latency(results: pd.DataFrame) -> Figure:
    """Draw size of the model and time to predict one row: medians and quartiles."""
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    ax = figure.subplots()
    for system, color in colors_of(results).items():
        costs = results.loc[results["system"] == system, ["size_mb", "row_ms"]]
        low, middle, high = costs.quantile([0.25, 0.5, 0.75]).to_numpy()
        ax.errorbar(
            *middle,
            xerr=np.transpose([[middle[0] - low[0], high[0] - middle[0]]]),
            yerr=np.transpose([[middle[1] - low[1], high[1] - middle[1]]]),
            fmt="o",
            color=color,
            label=f"{NAMES.get(system, system)}: {middle[0]:.3g} MB, {middle[1]:.3g} ms",
        )
    ax.set(xscale="log", yscale="log", xlabel="model [MB]", ylabel="one row [ms]")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_locator(NullLocator())
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def main() -> None:
    """Write the charts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--results", type=Path, default=DOCS / "results" / "quality.csv")
    parser.add_argument("--out", type=Path, default=DOCS / "_images")
    parser.add_argument("--rival", help="system that pairs are counted against (an AutoGluon)")
    parser.add_argument("--time-limit", type=float, help="of the first and third chart (30)")
    arguments = parser.parse_args()
    results = read(arguments.results)
    limits = results.loc[results["system"] == OURS, "time_limit"]
    limit = arguments.time_limit or (30.0 if 30.0 in set(limits) else limits.mode()[0])
    systems = sorted(set(results["system"]) - {OURS})
    rival = arguments.rival or next((s for s in systems if s.startswith("autogluon")), systems[0])
    if rival not in systems:
        raise ValueError(f"--rival must be one of {systems}. Got {rival!r}.")
    arguments.out.mkdir(parents=True, exist_ok=True)
    same_time = at_limit(results, limit)
    with matplotlib.rc_context(STYLE):
        charts = {
            "won_by_size": won_by_size(same_time, rival),
            "score_by_seconds": score_by_seconds(results),
            "size_and_latency": size_and_latency(same_time),
        }
        for name, figure in charts.items():
            path = arguments.out / f"{name}.svg"
            figure.savefig(path, metadata={"Date": None})
            print(path)


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
