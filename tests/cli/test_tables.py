"""Files are read as they were written: separators, decimal marks, encodings, formats."""

import gzip
from pathlib import Path

import pandas as pd
import pytest

from skauto.cli._messages import CommandError
from skauto.cli._tables import read_parts, read_table, write_table

TABLE = pd.DataFrame({"name": ["Zoë", "Ann, B."], "size": [1.5, -2.25], "n": [3, 4]})


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".xlsx"])
def test_a_written_table_is_read_back(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"table{ending}"
    write_table(TABLE, path)
    pd.testing.assert_frame_equal(read_table(path), TABLE)


@pytest.mark.parametrize("separator", list(",;\t|"))
@pytest.mark.parametrize("decimal", list(".,"))
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_notation_is_found(tmp_path: Path, separator: str, decimal: str, encoding: str) -> None:
    path = tmp_path / "table.csv"
    TABLE.to_csv(path, index=False, sep=separator, decimal=decimal, encoding=encoding)
    if separator == decimal:  # the numbers are quoted, and skauto reads them as such
        assert read_table(path)["size"].tolist() == ["1,5", "-2,25"]
    else:
        pd.testing.assert_frame_equal(read_table(path), TABLE)


def test_decimal_commas_do_not_hide_decimal_points(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a;b\n1,234;1.5\n2,345;2.5\n")
    table = read_table(path)
    assert table["a"].tolist() == ["1,234", "2,345"]
    assert table["b"].tolist() == [1.5, 2.5]


def test_separators_in_quoted_cells_and_short_lines_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('text;class\n"a, b, c";x\n"line\nbreak, d";y\n\n')
    assert read_table(path).to_dict("list") == {
        "text": ["a, b, c", "line\nbreak, d"],
        "class": ["x", "y"],
    }


def test_a_file_longer_than_the_sample_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "table.csv.gz"
    lines = "".join(f"{i};{i / 4}\n".replace(".", ",") for i in range(20_000))
    path.write_bytes(gzip.compress(f"a;b\n{lines}".encode()))
    table = read_table(path)
    assert table["b"].tolist() == [i / 4 for i in range(20_000)]


def test_the_header_may_be_longer_than_the_sample(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    names = [f"{'x' * 200}{i}" for i in range(400)]
    path.write_text("\n".join(f"{';'.join(row)}" for row in (names, ["1,5"] * 400)))
    assert (read_table(path) == 1.5).all(axis=None)


def test_columns_of_strings_stay_strings(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("zip,n\n00123,1\n,2\n")
    table = read_table(path, ["zip", "not there"])
    assert table["zip"][0] == "00123"
    assert table["zip"].isna().tolist() == [False, True]
    assert table["n"].tolist() == [1, 2]


def test_first_sheet_is_read_with_a_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        TABLE.to_excel(book, sheet_name="rows", index=False)
        TABLE.to_excel(book, sheet_name="copy", index=False)
    pd.testing.assert_frame_equal(read_table(path), TABLE)
    assert "Of 2 sheets" in (told := capsys.readouterr().err)
    assert "move it to the front or save it as CSV" in told


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"\xef\xbb\xbf \n", "is empty"),
        ("a.csv", b"a,b\n", "holds no rows"),
        ("a.csv", b"a,b\n" + b"1,2\n" * 500 + b"1,2,3,4\n", "cannot be read as csv"),
        ("a.csv", b"a,b\n1,5,2,5\n", "Got 2 names and up to 4 fields"),
        ("a.csv", b"a,b\n1,'x, y'\n2,z\n3,z\n", "Got 2 names and up to 3 fields"),
        ("a.csv", b"a,b\n1,2\n3,4\n1,2,5,6\n", "Got 2 names and up to 4 fields"),
        ("a.csv", b"a,b\n\xe9\x81,2\n", "neither UTF-8 nor Windows-1252; save"),
        ("a.csv", "a,b\n1,2\n".encode("utf-16-le"), "Got bytes of 0; save the table as UTF-8"),
        ("a.csv", gzip.compress(b"a,b\n1,2\n"), "Got bytes of 0"),
        ("a.csv", b"# a comment\na,b\n1,x\n2,y\n", "remove lines above the names"),
        ("a.csv", b"a,b,a\n1,2,3\n", "Got 'a' more than once"),
        ("a.csv", b"Orders;;\n;;\na;b;c\n1;2;3\n", "no name of 2 of 3 .*remove lines above"),
        ("a.csv.gz", b"no gzip", "cannot be read as csv.gz"),
        ("a.parquet", b"no parquet", "cannot be read as parquet"),
        ("a.xlsx", b"no workbook", "cannot be read as xlsx"),
        ("a.docx", b"", "must end with .csv"),
    ],
)
def test_unreadable_files_are_refused(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(CommandError, match=message):
        read_table(path)


def test_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    pd.DataFrame([[1, 2], [3, 4]], columns=[7, "b"]).to_excel(path, index=False)
    assert read_table(path).columns.tolist() == ["7", "b"]  # names are text
    twice = pd.DataFrame([[1, 2]], columns=pd.Index([7, "7"], dtype=object))
    twice.to_excel(path, index=False)
    with pytest.raises(CommandError, match="'7' more than once"):
        read_table(path)


def test_workbooks_with_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    twice = pd.DataFrame([[1, 2, 3]], columns=["a", "a", "a.1"])
    twice.to_excel(path, index=False)
    with pytest.raises(CommandError, match="Got 'a' more than once"):
        read_table(path)


def test_a_workbook_with_a_title_above_the_names_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    titled = pd.DataFrame([["Orders", None, None], ["a", "b", "c"], [1, 2, 3]])
    titled.to_excel(path, index=False, header=False)
    with pytest.raises(CommandError, match="no name of 2 of 3 columns; remove lines above"):
        read_table(path)


def test_rows_that_repeat_the_names_are_left_out_with_a_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "joined.csv"
    path.write_text(";a;b;c\n0;1,5;x;a\n;a;b;c\n0;2,5;;007\n")
    columns = {"Unnamed: 0": [0.0, 0.0], "a": [1.5, 2.5], "b": ["x", None], "c": ["a", "007"]}
    pd.testing.assert_frame_equal(read_table(path, ["c"]), pd.DataFrame(columns))
    assert "repeat the names of the columns are left out" in capsys.readouterr().err


def test_separators_at_the_end_of_rows_make_no_column(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a;b\n1,5;x;\n2,5;y;\n")
    assert read_table(path).to_dict("list") == {"a": [1.5, 2.5], "b": ["x", "y"]}


def test_row_names_of_r_are_left_out_with_a_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "table.csv"
    path.write_text("a,b\nfirst,1,x\nsecond,2,y\n")
    assert read_table(path).to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}
    assert "The first field of each row" in capsys.readouterr().err


def test_a_named_index_is_a_column(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    TABLE.set_index("n").to_parquet(path)
    assert read_table(path).columns.tolist() == ["n", "name", "size"]


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".parquet", ".xlsx"])
def test_parts_are_the_rows_in_their_order(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"table{ending}"
    long = pd.concat([TABLE] * 25, ignore_index=True).assign(n=range(50))
    write_table(long, path)
    parts = list(read_parts(path, n_rows=20))
    assert [len(part) for part in parts] == ([50] if ending == ".xlsx" else [20, 20, 10])
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), long)


def test_a_short_last_part_joins_the_one_before(tmp_path: Path) -> None:
    """Else its few unreadable cells would be most of a part, and refused."""
    path = tmp_path / "table.csv"
    long = pd.concat([TABLE] * 22, ignore_index=True).assign(n=range(44))
    write_table(long, path)
    parts = list(read_parts(path, n_rows=20))
    assert [len(part) for part in parts] == [20, 24]
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), long)


def test_a_letter_that_is_not_utf_8_in_a_late_part_changes_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"name,n\n" + b"Ann,1\n" * 30_000 + b"Zo\xeb,2\n")
    assert [len(part) for part in read_parts(path, n_rows=20_000)] == [20_000, 10_001]
    assert "read as Windows-1252" in capsys.readouterr().err
