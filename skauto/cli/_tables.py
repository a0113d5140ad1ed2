"""Tables in files: CSV, TSV, parquet and Excel."""

import contextlib
import csv
import gzip
import io
import itertools
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skauto.cli._messages import CommandError, listed, note

if TYPE_CHECKING:
    import pandas as pd

_TEXT = (".csv", ".txt", ".tsv", ".csv.gz", ".txt.gz", ".tsv.gz")
_PARQUET = (".parquet", ".pq")
_EXCEL = (".xlsx",)
_SEPARATORS = ",;\t|"
# Bytes, further lines, and largest number of rows of a file that show how it is written.
_N_BYTES, _N_LINES, _N_ROWS = 65_536, 20, 200
_COMMA_NUMBER = re.compile(r"\s*[-+]?\d+,\d+\s*")
_POINT_NUMBER = re.compile(r"\s*[-+]?\d+\.\d+\s*")


def read_table(path: Path, strings: Iterable[str] = ()) -> "pd.DataFrame":
    """Read a table with at least one row; columns in `strings` of a text file stay text."""
    return next(read_parts(path, strings))


def read_parts(
    path: Path, strings: Iterable[str] = (), n_rows: int | None = None
) -> Iterator["pd.DataFrame"]:
    """Read a table in parts of `n_rows` rows, those of an Excel file at once; see `read_table`."""
    if str(path) == "-":  # it is read several times
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "standard_input.csv"
            copy.write_bytes(sys.stdin.buffer.read())
            try:
                yield from read_parts(copy, strings, n_rows)
            except CommandError as error:
                text = str(error).replace(repr(str(copy)), "The standard input")
                raise CommandError(text) from error
        return
    form = format_of(path)
    if not path.is_file():
        raise CommandError(f"There is no file {str(path)!r}.")
    is_empty = True
    try:
        for frame in _without_short_parts(_frames(path, form, strings, n_rows), n_rows or 0):
            frame.columns = frame.columns.map(str)
            _check_names(path, frame.columns)
            if len(frame):
                is_empty = False
                yield frame
    except ImportError as error:
        raise _missing_package(path, error) from error
    except CommandError:
        raise
    except Exception as error:  # each format has errors of its own
        text = " ".join(str(error).split()) or type(error).__name__
        raise CommandError(f"{str(path)!r} cannot be read as {form[1:]}: {text}") from error
    if is_empty:
        raise CommandError(f"{str(path)!r} holds no rows.")


def _frames(
    path: Path, form: str, strings: Iterable[str], n_rows: int | None
) -> Iterable["pd.DataFrame"]:
    import pandas as pd

    if form in _TEXT:
        return _read_text(path, dict.fromkeys(strings, str), n_rows)
    if form in _EXCEL:
        return [_read_excel(path)]
    if n_rows is None:
        frames: Iterable[pd.DataFrame] = [pd.read_parquet(path)]
    else:
        from pyarrow.parquet import ParquetFile

        frames = (batch.to_pandas() for batch in ParquetFile(path).iter_batches(n_rows))
    return (frame.reset_index(drop=frame.index.names == [None]) for frame in frames)


def _without_short_parts(
    frames: Iterable["pd.DataFrame"], n_rows: int
) -> Iterator["pd.DataFrame"]:
    """Join parts of less than half of `n_rows`, where a few unreadable cells would be most."""
    import pandas as pd

    held: list[pd.DataFrame] = []
    for frame in frames:
        if held and 2 * min(sum(map(len, held)), len(frame)) >= n_rows:
            yield pd.concat(held, ignore_index=True)
            held = []
        held.append(frame)
    if held:
        yield pd.concat(held, ignore_index=True)


def write_table(frame: "pd.DataFrame", path: Path | None) -> None:
    """Write a table in the format of the name; to the standard output without a name."""
    if path is None:
        frame.to_csv(sys.stdout, index=False)
        return
    form = format_of(path)
    writers: dict[str, Callable[..., Any]] = {
        **dict.fromkeys(_PARQUET, frame.to_parquet),
        **dict.fromkeys(_EXCEL, frame.to_excel),
    }
    options = {"sep": "\t"} if form.startswith(".tsv") else {}
    try:
        writers.get(form, frame.to_csv)(path, index=False, **options)
    except ImportError as error:
        raise _missing_package(path, error) from error
    except OSError as error:
        raise CommandError(f"{str(path)!r} cannot be written: {error}.") from error


def format_of(path: Path) -> str:
    """Ending of a name, in lower case; an error if no format has it."""
    name = path.name.lower()
    for form in (*_TEXT, *_PARQUET, *_EXCEL):
        if name.endswith(form):
            return form
    raise CommandError(
        f"The name of a table must end with {', '.join((*_TEXT, *_PARQUET))} or {_EXCEL[0]}. Got "
        f"{str(path)!r}; convert or rename it."
    )


def _missing_package(path: Path, error: ImportError) -> CommandError:
    package = "openpyxl" if format_of(path) in _EXCEL else "pyarrow"
    return CommandError(
        f"{str(path)!r} needs a further package: {error} Install it with `pip install {package}`, "
        "or convert the table to CSV."
    )


def _check_names(path: Path, names: Iterable[str]) -> None:
    """Raise an error if two columns have the same name, or most have none."""
    uses = Counter(names)
    if 2 * uses[""] > uses.total():
        raise CommandError(
            f"The first row of {str(path)!r} must hold the names of the columns. Got no name of "
            f"{uses['']} of {uses.total()} columns; remove lines above the names."
        )
    twice = [name for name, n in uses.items() if name and n > 1]
    if twice:
        raise CommandError(
            f"The columns of {str(path)!r} must have different names. Got {listed(twice)} more "
            "than once; rename or drop the duplicates."
        )


def _read_excel(path: Path) -> "pd.DataFrame":
    import pandas as pd

    with pd.ExcelFile(path) as book:
        first, *others = book.sheet_names
        if others:
            note(
                f"Of {len(others) + 1} sheets of {str(path)!r} the first is read: {first!r}. To "
                "read another one, move it to the front or save it as CSV."
            )
        header = pd.read_excel(book, sheet_name=first, header=None, nrows=1)
        _check_names(path, header.astype(object).fillna("").to_numpy().ravel().astype(str))
        return pd.read_excel(book, sheet_name=first)


def _read_text(path: Path, types: dict[str, type], n_rows: int | None) -> Iterator["pd.DataFrame"]:
    import pandas as pd

    encoding, sample = _beginning(path)
    if not sample.strip():
        raise CommandError(f"{str(path)!r} is empty.")
    if "\0" in sample.partition("\n")[0]:
        raise CommandError(
            f"{str(path)!r} must hold text, in UTF-8 or with a byte order mark. Got bytes of 0; "
            "save the table as UTF-8, or give the file the ending of its format."
        )
    separator, decimal = _notation(sample)
    header, *rows = _split(sample, separator)
    _check_names(path, header)  # pandas would rename the duplicates
    options: dict[str, Any] = {"decimal": decimal, "dtype": types}
    options["low_memory"], index = False, None  # else a long column can have two types
    longer = [row for row in rows if len(row) > len(header)]
    if longer and all(len(row) == len(header) + 1 and not row[-1].strip() for row in longer):
        index = False  # separators at the end of rows make no column
    elif longer:
        _check_row_names(path, separator, header, rows)
    whole: dict[str, Any] = {
        "sep": separator,
        "encoding": _checked(path, encoding),
        "index_col": index,
    }
    read: Any = pd.read_csv(path, chunksize=n_rows, **whole, **options)
    for part in [read] if n_rows is None else read:
        unnamed = part.isna() & (np.array(header) == "")
        repeats = ((part == part.columns) | unnamed).all(axis=1)
        if repeats.any():  # of joined files: numbers were read as strings
            note(f"Rows of {str(path)!r} that repeat the names of the columns are left out.")
            rest = part[~repeats].to_csv(index=False, decimal=decimal)
            part = pd.read_csv(io.StringIO(rest), **options)
        yield part.reset_index(drop=True)


def _checked(path: Path, encoding: str) -> str:
    """Return the encoding, or Windows-1252 if the whole file is not of this encoding."""
    for candidate in (encoding, "cp1252"):
        with contextlib.suppress(UnicodeDecodeError), _opened(path) as opened:
            for _ in io.TextIOWrapper(opened, candidate):
                pass
            if candidate != encoding:
                note(f"{str(path)!r} is not UTF-8 and is read as Windows-1252.")
            return candidate
    raise CommandError(
        f"{str(path)!r} is neither UTF-8 nor Windows-1252; save the table as UTF-8."
    )


def _check_row_names(
    path: Path, separator: str, header: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """Raise an error unless each row has one field more than the names: its own, as of R."""
    n_fields = [len(row) for row in rows[:-1] or rows]  # the last one may be cut
    odd = [n for n in n_fields if n != len(header) + 1]
    if odd or len(header) == 1:
        raise CommandError(
            f"The first row of {str(path)!r} must hold the names of the columns, and each other "
            f"row as many fields. Got {len(header)} names and up to {max(map(len, rows))} fields; "
            f"remove lines above the names, and put cells that hold {separator!r} in double "
            "quotes."
        )
    note(f"The first field of each row of {str(path)!r} has no name and is not used.")


def _opened(path: Path) -> Any:
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    return opener(path, "rb")


def _beginning(path: Path) -> tuple[str, str]:
    """Encoding by the byte order mark, and the first complete lines of a file."""
    with _opened(path) as opened:
        content = opened.read(_N_BYTES)
        content += b"".join(itertools.islice(opened, _N_LINES))  # the header may be long
        is_whole = not opened.read(1)
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    text = content.decode(encoding, errors="replace").removeprefix("\ufeff")
    if not is_whole and "\n" in text:
        text = text[: text.rindex("\n") + 1]
    return encoding, text


def _notation(text: str) -> tuple[str, str]:
    """Separator and decimal mark of the beginning of a file.

    The separator gives the most rows as many fields as the first one, which has two or more. The
    decimal mark is a comma if a number has it, none has a point, and it is not the separator.
    """
    best, separator, rows = (0.0, 0), ",", []
    for candidate in _SEPARATORS:
        found = _split(text, candidate)
        width = len(found[0]) if found else 0
        share = sum(len(row) == width for row in found) / max(1, len(found))
        if width > 1 and (share, width) > best:
            best, separator, rows = (share, width), candidate, found
    cells = [cell for row in rows[1:] for cell in row]
    commas = separator != "," and any(map(_COMMA_NUMBER.fullmatch, cells))
    return separator, "," if commas and not any(map(_POINT_NUMBER.fullmatch, cells)) else "."


def _split(text: str, separator: str) -> list[list[str]]:
    """Return the first rows that are not empty; none if the text is no CSV."""
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        return list(itertools.islice(filter(None, rows), _N_ROWS))
    except csv.Error:
        return []
