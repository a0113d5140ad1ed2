"""Notations of numbers, dates, levels and identifiers in files as people export them."""

import pytest

from tests.data.columns import fitted

N = 120


@pytest.mark.parametrize("mark", ["-", "   ----", "?", "???", ".....", "-.-"])
def test_marks_are_missing(mark):
    reader, doubts = fitted([f"{i}.5" if i % 4 else mark for i in range(N)])
    assert reader.columns_[0].n_missing == N // 4 and not doubts


PHRASE = "withheld, since fewer than a hundred persons answered"


@pytest.mark.parametrize("word", ["unknown", "#REF!", "\\N", PHRASE, "0000-00-00"])
@pytest.mark.parametrize("values", ["numbers", "dates"])
def test_one_word_among_numbers_or_dates_is_missing(word, values):
    cells = [f"{i}.5" if values == "numbers" else f"2020-03-{i % 31 + 1:02d}" for i in range(N)]
    cells[::3] = [word] * len(cells[::3])  # a third of the cells
    reader, doubts = fitted(cells)
    assert reader.columns_[0].kind.name == ("numeric" if values == "numbers" else "date")
    assert repr(word) in doubts and "read as missing" in doubts
    assert reader.columns_[0].n_missing == N // 3
