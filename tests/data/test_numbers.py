"""Numbers in the notations of files as people export them."""

import itertools

import numpy as np
import pandas as pd
import pytest

from skauto.data import TableReader
from skauto.data._numbers import NumberFormat
from skauto.exceptions import UnreadableCellsWarning
from tests.data.columns import fitted, kind, read


@pytest.mark.parametrize(
    "known, start",
    [
        ("$1", "-"),
        ("$1", "("),
        ("$1", "( -$"),
        ("$1", "($1"),
        ("2024-03-01 10:30", "2024-03-01 10:30"),
        ("2024-03-01 10:30", "1 Mar 2024 10:30 pm"),
    ],
)
def test_a_cell_of_many_spaces_takes_no_time(known, start):
    """To try all the ways in which parts of a pattern can share the spaces would take hours."""
    reader = TableReader().fit(pd.DataFrame({"a": [known, None, known.replace("1", "2")]}))
    with pytest.warns(UnreadableCellsWarning, match="1 of 2 cells"):
        Z = reader.transform(pd.DataFrame({"a": [start + " " * 1_000_000 + "x", known]}))
    np.testing.assert_array_equal(np.isnan(Z[:, 0]), [True, False])


DAY, MONTH, YEAR = 86_400.0, 2_626_560.0, 31_557_600.0


@pytest.mark.parametrize(
    "texts, expected",
    [
        (["23.4 kmpl", "18 kmpl", "9,5 kmpl"], [23.4, 18, 9.5]),
        (["1248 CC", "998 CC", "1,197 CC"], [1248, 998, 1197]),
        (["8GB", "512 MB", "1 TB"], [8e9, 512e6, 1e12]),
        (["18.8 \u00b0C", "-3 \u00b0C", "20 \u00b0C"], [18.8, -3, 20]),
        (["19M", "201k", "1.5M", "Varies with device"], [19e6, 201e3, 1.5e6, np.nan]),
        (["$1.2M", "$300K", "$950"], [1.2e6, 3e5, 950]),
        (["2 months", "3 years", "10 days"], [2 * MONTH, 3 * YEAR, 10 * DAY]),
        (["1h 30m", "45m", "2h"], [5400, 2700, 7200]),
        (["1200 m", "850 m", "3.5 m"], [1200, 850, 3.5]),
        (["1.2M", "850M", "3.5M"], [1.2e6, 850e6, 3.5e6]),
        (["299.000 \u20ac", "1.250.000 \u20ac"], [299_000, 1_250_000]),
        (["7Std.5Min.", "1 Std. 30 Min.", "45Min."], [25_500, 5400, 2700]),
        (["($-1,440)", "($12)", "$-3.5"], [-1440, -12, -3.5]),
        (["14:30", "2:05", "23:59"], [52_200, 7500, 86_340]),
        (["3:45", "65:00", "0:30"], [225, 3900, 30]),
        (["18.00.00", "4.30.00", "23.59.59"], [64_800, 16_200, 86_399]),
        (["2:30 PM", "12:15 am", "9:00 a.m."], [52_200, 900, 32_400]),
        (["5'11\"", "6'", "5'2"], [71 * 0.0254, 72 * 0.0254, 62 * 0.0254]),
        (["10,000+", "500+", "1,000,000+"], [1e4, 500, 1e6]),
        (["<5", "7.5", "12"], [5, 7.5, 12]),
        (["2.5", "1,5", "3.25", "0,75"], [2.5, 1.5, 3.25, 0.75]),
        (["0,637", "0,112", "0,950"], [0.637, 0.112, 0.95]),
        (["under 18", "18-30", "31 to 50", "51+"], [18, 24, 40.5, 51]),
        (["$50,000-$74,999", "$75,000-$99,999", "$100,000+"], [62_499.5, 87_499.5, 1e5]),
        (["De 0 a 4", "De 5 a 14", "De 15 y más"], [2, 9.5, 15]),
        (["between 18 and 24", "25 to 30", "over 30"], [21, 27.5, 30]),
        (["von 18 bis 24 km", "zwischen 25 und 30 km"], [21, 27.5]),
        (["[0-10)", "[10-20)", "[20-30)"], [5, 15, 25]),
        (["(20, 30]", "(30, 40]", "(40, inf]"], [25, 35, 40]),
        (["Under 18 years old", "18-24 years old", "65 years or older"], [18, 21, 65]),
        (["10 to 19 employees", "20 to 99 employees", "100 or more employees"], [14.5, 59.5, 100]),
        (["1,23,456", "12,34,567", "4,567"], [123_456, 1_234_567, 4567]),
        (["32-", "15", "7-"], [-32, 15, -7]),
        (["1 bath", "2 baths", "3.5 baths"], [1, 2, 3.5]),
        (["3 days ago", "1 month ago"], [3 * DAY, MONTH]),
        (["Today", "yesterday", "3 weeks ago", "just now"], [0, DAY, 21 * DAY, 0]),
        (["17% off", "0", "5% off"], [17, 0, 5]),
        (["12%", "5", "0%"], [0.12, 0.05, 0]),
        (["1,234[a]", "12*", "5 [1][12]", "7"], [1234, 12, 5, 7]),
        (["~25", "ca. 3", "c. 60", "approx. 5", "about 4", "2"], [25, 3, 60, 5, 4, 2]),
        (["one", "Two", "3", "zero"], [1, 2, 3, 0]),
        (["25", "forty", "SIXTY THOUSAND", "twenty-five"], [25, 40, 60_000, 25]),
        (["two hundred", "300", "one million fifty"], [200, 300, 1_000_050]),
        (["1", "2", "=3", "=3", "4-8", "4-6"], [1, 2, 3, 3, 6, 5]),  # ranks
        (["within 1km", "1km - 3km", "more than 3km"], [1, 2, 3]),
        (["1--15", "20", "130"], [8, 20, 130]),
        (["12\x9618 kg", "18\x9630 kg"], [15, 24]),  # Windows-1252, read as Latin-1
        (["$4.99", "Free", "$1.99"], [4.99, 0, 1.99]),
        (["1 stop", "non-stop", "2 stops"], [1, 0, 2]),
        (
            ["$1 to $2 million (USD)", "$2 to $5 million (USD)", "$10+ million (USD)"],
            [1.5e6, 3.5e6, 1e7],
        ),
        (["$137K-$171K (est.)", "$75K-$131K (est.)"], [154e3, 103e3]),  # overlap
        (
            [*(f"${i}K-${i + 30}K (est.)" for i in range(30)), "$7K-$9K (other)"],
            [*range(15_000, 45_000, 1000), np.nan],
        ),
        (["9pm", "10 AM", "12am"], [75_600, 36_000, 0]),
        (["950 EUR", "1.200 EUR", "23.500 EUR"], [950, 1200, 23_500]),
        (["950", "-1.200", "23.500"], [950, -1200, 23_500]),
        (["12.500", "25.763", "1.125"], [12.5, 25.763, 1.125]),
        (["R$ 264.535,00", "R$ 1.200,50"], [264_535, 1200.5]),
        (["CHF 1'594.-", "CHF 95.-"], [1594, 95]),
        (["499,-", "1.299,-", "89,50"], [499, 1299, 89.5]),
        (["1.2M€", "300K€"], [1.2e6, 3e5]),
        (["$1,900.00/yr", "$25.50/yr"], [1900, 25.5]),
        (["₹4.5 Cr", "₹57.2 L"], [45e6, 5.72e6]),
        (["57.05N", "10.33S"], [57.05, -10.33]),
        (["#274", "#7"], [274, 7]),
        (["12:15 UTC", "07:40 02 Mar", "23:30"], [44_100, 27_600, 84_600]),
        (["9:05\u202fPM", "10:30\u202fAM"], [75_900, 37_800]),
        (["\ufeff12.5", "13\u200b", "\u200e7"], [12.5, 13, 7]),
        ([" $ (1,150.82)", " $ 466.83 ", " $ -   "], [-1150.82, 466.83, 0]),
        (["1.234,50 €", "-   €", "\u201312,00 €"], [1234.5, 0, -12]),
        (["Fr. 1'054.30", "SFr. 12.50"], [1054.3, 12.5]),
        (["AED 1,054", "AED 12.50", "AED 7"], [1054, 12.5, 7]),
        ([f"XY {x / 8}" for x in range(60)], np.arange(60) / 8),
        (["7,3 l/100km", "5,6 l/100 km"], [7.3, 5.6]),
        (["3 ‰", "12,5 ‰"], [0.003, 0.0125]),
        (["1:23.456", "0:59.9", "2:00"], [83.456, 59.9, 120]),
        (["13:12:00Z", "07:53:10Z"], [47_520, 28_390]),
        (["48.8566° N", "11.5° S"], [48.8566, -11.5]),
        (["unter 18", "18 bis 30", "31-50", "51 und mehr"], [18, 24, 40.5, 51]),
        (["moins de 18 ans", "18 à 30 ans", "31 ans et plus"], [18, 24, 31]),
        (["menos de 18", "18 a 30", "31 o más"], [18, 24, 31]),
        (["3 Tage", "2 Wochen", "1 Jahr"], [3 * DAY, 14 * DAY, YEAR]),
        (["2 ans", "5 mois", "3 jours"], [2 * YEAR, 5 * MONTH, 3 * DAY]),
        (["2Y 3M", "14 y 0 m", "5M"], [2 * YEAR + 3 * MONTH, 14 * YEAR, 5 * MONTH]),
        (["a year ago", "an hour ago", "2 days ago"], [YEAR, 3600, 2 * DAY]),
        (["3 1/2", "½", "12 3/16", "2¼", "7"], [3.5, 0.5, 12.1875, 2.25, 7]),
        (["1,150.82 Dr", "466.83 Cr", "7.00 Dr"], [-1150.82, 466.83, -7]),
        (["₹4.5 Cr", "₹12 Cr", "₹3 Cr"], [45e6, 12e7, 3e7]),
        (["38 Mbps", "2 Gbps"], [38e6, 2e9]),
        (["<b>1,054.3</b>", "<td class='x'>7</td>", "&nbsp;12&nbsp;&euro;"], [1054.3, 7, 12]),
        (['="512"', '="7"', '="30"'], [512, 7, 30]),
        (["'512", "'7", "30"], [512, 7, 30]),
        (['"51.2"', '"7"', "30"], [51.2, 7, 30]),
        (["48°51'N", "33° 52' 12\" S", "2°21.5'E"], [48.85, -33.87, 2 + 21.5 / 60]),
        (["99¢", "5 ¢"], [99, 5]),
        (["129:-", "1 250:-"], [129, 1250]),
        (["de 50 a 60", "ab 70", "ca. 20"], [55, 70, 20]),
        (["2 ha", "3 acres", "500 m2"], [2e4, 3 * 4046.8564224, 500]),
    ],
    ids=lambda value: str(value[0]),
)
def test_numbers(texts, expected):
    np.testing.assert_allclose(read(texts)[:, 0], expected, rtol=2e-5)


@pytest.mark.parametrize(
    "odd, expected",
    [
        (["34.46 Sq. Meter", "4 Acres"], [np.nan, np.nan]),
        (["2100 - 2850"], [2475]),
        (["12 (new)", "13 (new)", "14 (old)"], [12, 13, np.nan]),
    ],
)
def test_a_few_cells_of_another_notation_do_not_decide(odd, expected):
    """Most cells of a column are plain numbers."""
    numbers = [1000 + 7 * i for i in range(100)]
    values = read([*map(str, numbers), *odd])[:, 0]
    np.testing.assert_array_equal(values, [*numbers, *expected])


def test_percent_signs_are_never_guessed():
    """95% may be 95 or .95 in a table without the sign."""
    texts = pd.DataFrame({"a": ["95%", "80%", "70%"]})
    for other in ([95.0, 80.0, 70.0], [0.95, 0.8, 0.7], ["95", "80", "70"]):
        table = pd.DataFrame({"a": other})
        for known, new in ((texts, table), (table, texts)):
            sign = " with their unit or percent sign such as '95%'" if known is texts else ""
            with pytest.raises(ValueError, match=f"must hold numbers{sign}"):
                TableReader().fit(known).transform(new)


@pytest.mark.parametrize("codes", [[0, 1, 2], ["0", "1", "2"], ["2"] * 3])
def test_codes_of_bands_are_no_numbers(codes):
    """A later export has codes, or single numbers, where `fit` saw "26-39"."""
    bands = ["under 18", "18-25", "26-39", "40+"]
    reader = TableReader().fit(pd.DataFrame({"a": bands}))
    assert reader.transform(pd.DataFrame({"a": ["26 to 39", "45+"]}))[0, 0] == 32.5
    with pytest.raises(ValueError, match="must hold numbers in intervals such as '.*18-25'"):
        reader.transform(pd.DataFrame({"a": codes}))
    reader = TableReader().fit(pd.DataFrame({"a": [*bands, "17"]}))
    assert reader.transform(pd.DataFrame({"a": ["2"]}))[0, 0] == 2


@pytest.mark.parametrize("cells", [["$1.2M", "$300K", "$0"], ["19M", "Free", "2.3M"]])
def test_numbers_where_all_had_a_magnitude_are_never_guessed(cells):
    """1.2 may be $1.2M, in a table with the unit in its header."""
    reader = TableReader().fit(pd.DataFrame({"a": cells}))
    assert reader.transform(pd.DataFrame({"a": [0]}))[0, 0] == 0
    with pytest.raises(ValueError, match="must hold numbers with their unit"):
        reader.transform(pd.DataFrame({"a": [1.2, 19.0, 0.0]}))


def test_a_number_beside_percent_signs_is_a_percentage():
    reader = TableReader().fit(pd.DataFrame({"a": ["12%", "5", "0%"]}))
    for five in (["5"], [5], [5.0], ["5%"]):
        assert reader.transform(pd.DataFrame({"a": five}))[0, 0] == 0.05


@pytest.mark.parametrize(
    "known, new", [("4 Acres", "24524"), ("95%", "0.8"), ("3.5 kg", "250")], ids=lambda v: v
)
def test_numbers_without_the_unit_of_others_are_doubtful(known, new):
    assert f"'{known}' and '{new}' are read in the same unit" in kind([known, new] * 9)[1]
    number = known.rstrip("% Acreskg")
    assert kind([known, number, str(1 + float(number))] * 9)[1] == ""


def test_points_of_groups_survive_a_csv_file():
    """A row alone that holds "1.234" is read back as 1.234."""
    reader = TableReader().fit(pd.DataFrame({"a": ["1.234", "980.000", "2.278.845", "17"]}))
    Z = reader.transform(pd.DataFrame({"a": [1.234, 17, np.nan, 45.07]}))
    np.testing.assert_array_equal(Z[:, 0], [1234, 17, 490_617, 45_070])


def test_notes_that_differ_are_not_ignored():
    assert kind(["1 (new)", "1 (old)", "2 (new)", "2 (old)"])[0] == "categorical"


def test_open_ends_are_beyond_their_bounds():
    values = read(["<5", "5", "5+", "4.9", ">5"])[:, 0]
    assert values[3] < values[0] < values[1] < values[2]
    assert values[2] == values[4]


@pytest.mark.parametrize(
    "texts",
    [
        ["1-2", "3-1", "0-0", "2-2"],  # results of matches, not intervals
        ["3 red", "4 blue", "5 green", "6 old"],
        ["A1", "B2", "C3", "A1"],
        ["DE8937", "DE1250", "DE7701", "DE8937"],
        ["AB12", "AB5", "AB977", "AB12"],
        ["1.2.3", "4.5.6", "1.2.4", "7.0.0"],
        ["Free", "Paid", "0", "Free"],
    ],
    ids=lambda value: value[0],
)
def test_strings_that_are_not_numbers(texts):
    assert kind(texts * 5)[0] in ("categorical", "compound")


def test_a_grouped_zero_is_no_decimal_comma():
    reader, doubts = fitted(["45,000 km", "1,200 km", "0,000 km", "73 km"])
    assert reader.table_report()["why"][0] == "numbers written as strings, in km"
    assert reader.transform(pd.DataFrame({"a": ["0,000 km"]}))[0, 0] == 0
    assert doubts == ""


def test_a_comma_with_three_decimals_is_doubtful():
    assert "decimal comma" in kind(["1,234", "5,678", "2,500"])[1]
    assert kind(["$1,234", "$5,678", "$2,500"])[1] == ""
    assert kind(["less than RM25,000", "RM25,000 - RM50,000"])[1] == ""


@pytest.mark.parametrize(
    ("codes", "others", "are_codes"),
    [
        ([-999], range(0, 5000, 25), True),  # no other number is negative
        ([-9999.0], range(-40, 50), True),
        ([999], range(18, 96), True),
        ([97, 98, 99], range(11), True),
        ([77, 99], [0, 1], True),
        ([999.9], [x / 10 for x in range(300)], True),
        ([-32768], range(500), True),
        ([99_999], range(500), True),
        ([99], range(18, 99), False),  # not far
        ([99], [95, 96, 97, 98], False),
        ([9999], range(0, 5000, 25), False),
        ([99_999], range(0, 28_000, 250), False),  # the highest income that is told
        ([-9], range(10), False),
        ([-99], range(-80, 80), False),
        ([77], range(11), False),  # not without nines
    ],
)
@pytest.mark.parametrize("form", [None, float, "{:.1f}".format])
def test_codes_of_missing_numbers(codes, others, are_codes, form):
    values = [*others, *codes, *codes, *codes] * 2
    reader, doubts = fitted(list(map(form, values)) if form else values)
    assert reader.columns_[0].n_missing == 6 * len(codes) * are_codes
    assert ("read as missing" in doubts) == are_codes
    rows = pd.DataFrame({"a": [codes[0], others[0], others[1]]})
    read = [np.nan if are_codes else codes[0], *others[:2]]
    np.testing.assert_array_equal(reader.transform(rows)[:, 0], read)
    as_text = rows.astype("float").astype("str")
    np.testing.assert_array_equal(reader.transform(as_text)[:, 0], read)


def test_rare_codes_of_missing_numbers_are_numbers_and_a_set_kind_keeps_them():
    assert not fitted([*range(50), -999, -999])[1]
    reader, doubts = fitted([*range(50), *[-999] * 5], column_kinds={"a": "numeric"})
    assert reader.columns_[0].n_missing == 0 and not doubts


def test_booleans_beside_a_code_of_missing_numbers():
    reader, _ = fitted([0, 1, 99] * 20)
    np.testing.assert_array_equal(
        reader.transform(pd.DataFrame({"a": [True, False]}))[:, 0], [1, 0]
    )


def test_currencies_are_not_mixed_up():
    reader, doubts = fitted(["$1.50", "US$ 20", "7 USD", "3", None])
    assert not doubts
    table = pd.DataFrame({"a": ["$5", "€7", "9"]})
    with pytest.warns(UnreadableCellsWarning, match="1 of 3 cells of column 'a', such as '€7'"):
        np.testing.assert_array_equal(reader.transform(table)[:, 0], [5, np.nan, 9])
    with pytest.raises(ValueError, match="Got 'EUR 5', '€7' instead"):
        reader.transform(pd.DataFrame({"a": ["EUR 5", "€7"]}))
    assert "amounts in $ and € are read in the same unit" in fitted(["$5", "€7", "12 EUR"])[1]


@pytest.mark.parametrize(
    "units", list(itertools.permutations(["apple", "pear", "fig", "plum"], 2))
)
def test_of_units_that_are_as_frequent_the_first_one_is_the_base(units):
    assert NumberFormat.of(["3 {} 2 {}".format(*units)]).base == units[0]  # in any hash order
