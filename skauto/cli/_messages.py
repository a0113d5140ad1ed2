"""Notes and errors of the command line, on the standard error."""

import contextlib
import re
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator

from skauto import exceptions
from skauto.utils import closest

# Options for parameters that messages advise.
_OPTIONS = {
    "column_kinds": "--column-kind",
    "scoring": "--scoring",
    "time_limit": "--time-limit",
    "max_evals": "--max-evals",
}
# Number of names that an error lists.
_N_NAMES = 20


class CommandError(Exception):
    """The data, the model or the files are at fault; the message says what to do."""


def note(text: str) -> None:
    """Write a note to the standard error."""
    print(f"skauto: note: {text}", file=sys.stderr)


def listed(names: Iterable[object]) -> str:
    """Write names with quotes and commas; of many, the first ones."""
    every = [repr(str(name)) for name in names]
    more = f" and {len(every) - _N_NAMES} more" if len(every) > _N_NAMES else ""
    return ", ".join(every[:_N_NAMES]) + more


def check_column(name: str, columns: Iterable[str], rule: str) -> None:
    """Raise an error with the rule and the nearest name if a table has no such column."""
    names = list(columns)
    if name not in names:
        raise CommandError(
            f"{rule} It has no column {name!r}.{closest(name, names)} Its columns are "
            f"{listed(names)}."
        )


@contextlib.contextmanager
def warnings_as_notes() -> Iterator[list[str]]:
    """Write the warnings of skauto as notes, and hide those of other packages.

    Yields the list of the notes, which grows.
    """
    notes: list[str] = []

    def show(message: Warning | str, *_: object, **__: object) -> None:
        text = _by_options(str(message))
        notes.append(text)
        note(text)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of other packages
        for name in exceptions.__all__:
            category = getattr(exceptions, name)
            if issubclass(category, Warning):
                warnings.simplefilter("always", category)
        warnings.showwarning = show
        yield notes


def _by_options(text: str) -> str:
    """Name the option of the command line for the parameter that a message advises."""
    text = re.sub(r"column_kinds=\{'?(.+?)'?: '(\w+)'\}", r"--column-kind '\1=\2'", text)
    text = re.sub(r"column_kinds=\{'(.+?)': \[.*?\]\}", r"--column-kind '\1=low,high'", text)
    for name, option in _OPTIONS.items():
        text = re.sub(rf"([Tt]he )?'{name}'( parameter)?|\b{name}\b", option, text)
        text = re.sub(rf"{option}='(\w+)'", rf"{option} \1", text)
    return text


@contextlib.contextmanager
def refusals_as_errors() -> Iterator[None]:
    """Turn the errors by which skauto refuses a table or an argument into errors of a command.

    A ``raise`` statement has raised them. Other errors are bugs and keep their traceback.
    """
    try:
        yield
    except (ValueError, TypeError) as error:
        line = traceback.extract_tb(error.__traceback__)[-1].line or ""
        if not line.startswith("raise"):
            raise
        raise CommandError(_by_options(str(error))) from error
