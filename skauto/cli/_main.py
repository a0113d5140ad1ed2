"""The arguments of the command line, and its exit codes."""

import argparse
import contextlib
import math
import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from skauto.cli import _commands
from skauto.cli._messages import CommandError
from skauto.data._kinds import KINDS

_EXIT_CODES = (
    "Exit codes: 0 the result is written; 1 the data, the model or a file is at fault, as the "
    "error says; 2 the arguments are wrong."
)
_TABLE = "CSV, TSV (also .gz), parquet or xlsx"
_STDIN = "; - is CSV on the standard input"


def _number(
    number: Callable[[str], float], what: str, holds: Callable[[float], bool]
) -> Callable[[str], float]:
    """Return a type of argparse for numbers; `what` and `holds` say which."""

    def read(text: str) -> float:
        with contextlib.suppress(ValueError):
            if holds(value := number(text)):
                return value
        raise argparse.ArgumentTypeError(f"must be {what}, got {text!r}")

    return read


_N = _number(int, "a positive int", lambda value: value > 0)
_SEED = _number(int, "an int from 0 to 4294967295", lambda value: 0 <= value < 2**32)
_JOBS = _number(int, "an int other than 0", bool)


def _page(text: str) -> Path:
    if not text.lower().endswith((".html", ".htm")):
        raise argparse.ArgumentTypeError(f"must end with .html, got {text!r}")
    return Path(text)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    arguments = _parser().parse_args(argv)
    try:
        if find_spec("pandas") is None:
            raise CommandError(
                "The command line needs pandas, which is not installed. Install it with "
                "`pip install pandas`."
            )
        arguments.run(arguments)
        sys.stdout.flush()
    except CommandError as error:
        print(f"skauto: error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # as of `skauto predict model new.csv | head`
            print(f"skauto: error: {error}.", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("skauto: interrupted", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "skauto",
        description="Find a model that predicts a column of a table, and predict with it.",
        epilog=_EXIT_CODES,
    )
    parser.add_argument("--version", action="version", version=f"skauto {version('skauto')}")
    commands = parser.add_subparsers(required=True, metavar="{fit,predict,report}")
    for add in (_add_fit, _add_predict, _add_report):
        add(commands)
    return parser


def _add_fit(commands: Any) -> None:
    fit = commands.add_parser(
        "fit",
        help="find a model",
        description="Find a model that predicts a column, and write model.joblib, report.html and "
        "summary.json into a folder.",
        epilog=_EXIT_CODES,
    )
    fit.set_defaults(run=_commands.fit)
    fit.add_argument("table", type=Path, help=f"training rows: {_TABLE}{_STDIN}")
    fit.add_argument("--target", required=True, metavar="COL", help="column to predict")
    fit.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="a new folder")
    fit.add_argument("--overwrite", action="store_true", help="replace the model in --out")
    fit.add_argument(
        "--time-limit",
        type=_number(float, "a positive float", lambda value: 0 < value < math.inf),
        metavar="SECONDS",
        help=f"time of the search (default: {_commands.DEFAULT_TIME_LIMIT:g}, none with "
        "--max-evals)",
    )
    fit.add_argument("--max-evals", type=_N, metavar="N", help="number of trials")
    fit.add_argument("--scoring", help="scorer of scikit-learn (default: accuracy)")
    fit.add_argument("--seed", type=_SEED, default=0, help="random seed (default: 0)")
    fit.add_argument("--jobs", type=_JOBS, metavar="N", help="processes (default: 1; -1: all)")
    fit.add_argument(
        "--drop",
        action="append",
        default=[],
        metavar="COL",
        help="column to leave out; can be repeated",
    )
    fit.add_argument(
        "--column-kind",
        action="append",
        default=[],
        type=_column_kind,
        metavar="COL=KIND",
        help=f"kind of a column, if it is found wrongly: {', '.join(KINDS)}, or levels in their "
        "order, such as low,high; can be repeated",
    )
    fit.add_argument("--json", action="store_true", help="print the summary as JSON")


def _add_predict(commands: Any) -> None:
    predict = commands.add_parser(
        "predict",
        help="predict the rows of a table",
        description="Predict the rows of a table, in their order. Load only models that you "
        "trust: model.joblib is a pickle.",
        epilog=_EXIT_CODES,
    )
    predict.set_defaults(run=_commands.predict)
    _add_model_and_table(predict, "rows to predict")
    predict.add_argument(
        "--out", type=Path, metavar="FILE", help=f"{_TABLE} (default: CSV on the standard output)"
    )
    predict.add_argument("--proba", action="store_true", help="add a probability for each class")


def _add_report(commands: Any) -> None:
    report = commands.add_parser(
        "report",
        help="report with the scores on new rows",
        description="Write a report of the model with its scores on rows that have classes.",
        epilog=_EXIT_CODES,
    )
    report.set_defaults(run=_commands.report)
    _add_model_and_table(report, "rows with their classes")
    report.add_argument(
        "--out",
        type=_page,
        metavar="FILE.html",
        help="file to write (default: report_<name of the table>.html in the model's folder)",
    )
    report.add_argument("--json", action="store_true", help="print the scores as JSON")


def _add_model_and_table(parser: argparse.ArgumentParser, rows: str) -> None:
    parser.add_argument("model", type=Path, help="folder that `skauto fit` has written")
    parser.add_argument("table", type=Path, help=f"{rows}: {_TABLE}{_STDIN}")


def _column_kind(text: str) -> tuple[str, str | list[str]]:
    name, _, kind = text.rpartition("=")
    if name and "," in kind:
        return name, [level.strip() for level in kind.split(",")]
    if not name or kind not in KINDS:
        raise argparse.ArgumentTypeError(
            f"must be COL=KIND with a kind among {', '.join(KINDS)}, or with levels in their "
            f"order, such as COL=low,high, got {text!r}"
        )
    return name, kind
