"""Dates, as values of any type and as strings of any notation."""

import datetime

import numpy as np
import pandas as pd
import pytest

from skauto.data import TableReader
from skauto.exceptions import ColumnKindWarning
from tests.data.columns import first_output, fitted, kind, read


@pytest.mark.parametrize(
    "texts, expected",
    [
        (["2024-03-01", "2024-03-02 12:00"], ["2024-03-01", "2024-03-02T12"]),
        (
            ["2024-03-01T12:00:00Z", "2024-03-01T12:00+05:30"],
            ["2024-03-01T12", "2024-03-01T06:30"],
        ),
        (["13/02/2024", "01/02/2024"], ["2024-02-13", "2024-02-01"]),
        (["02/13/2024 3:30 PM", "01/02/24"], ["2024-02-13T15:30", "2024-01-02"]),
        (["1.2.2024", "3.4.1999"], ["2024-02-01", "1999-04-03"]),
        (["01.02.24", "31.12.99"], ["2024-02-01", "1999-12-31"]),
        (["1 March 2024", "Mar 2, 2024", "03-Mar-24"], ["2024-03-01", "2024-03-02", "2024-03-03"]),
        (
            ["Fri, 01 Mar 2024 10:00:00 +0100", "n/a", "3 May 2024"],
            ["2024-03-01T09", "NaT", "2024-05-03"],
        ),
        (
            ["11:37:15  3 Sep 2020", "9:05 PM UTC, Jan 2, 2021", "10:00 on 2020-12-31"],
            ["2020-09-03T11:37:15", "2021-01-02T21:05", "2020-12-31T10"],
        ),
        (
            ["End of watch: Friday, July 13, 1984", "End of Watch: 3 May 1985", "1985-05-04"],
            ["1984-07-13", "1985-05-03", "1985-05-04"],
        ),
        (["June 13, 1980 (United States)", "7 May 1980 (Japan)"], ["1980-06-13", "1980-05-07"]),
        (["1 maja 2024", "3 AĞUSTOS 1999"], ["2024-05-01", "1999-08-03"]),
        (["9 augusti 2024", "14. desember 2023"], ["2024-08-09", "2023-12-14"]),
        (["Posted on 3 May 1985", "Posted on 4 May 1985"], ["1985-05-03", "1985-05-04"]),
    ],
    ids=lambda v: str(v[0]),
)
def test_dates_written_as_strings(texts, expected):
    days = np.array(expected, dtype="datetime64[s]")
    number = np.where(np.isnat(days), np.nan, days.astype(float) / 86400)
    np.testing.assert_allclose(first_output(texts), number)


def test_words_before_a_date_that_vary_are_not_ignored():
    days = [f"{group}: 2024-03-{day}" for group in ("low", "high") for day in range(10, 30)]
    assert kind(days)[0] == "compound"


def test_a_year_among_dates_is_its_first_day():
    texts = ["2011-05-23", "1998", "March 2, 2004 (Japan)", "1998-07", "1985 (Taiwan)"]
    days = ["2011-05-23", "1998-01-01", "2004-03-02", "1998-07-01", "1985-01-01"]
    days = np.array(days, dtype="datetime64[D]")
    np.testing.assert_array_equal(first_output(texts), days.astype(float))
    reader = fitted(texts)[0]
    np.testing.assert_array_equal(reader.transform(pd.DataFrame({"a": [1998]}))[0, 0], 10_227)


N = 120
RNG = np.random.default_rng(0)
DAY, MONTH, YEAR = 86_400.0, 2_626_560.0, 31_557_600.0


@pytest.mark.parametrize(
    "texts, expected",
    [
        (["10/Oct/2000:13:55:36 -0700"], "2000-10-10T20:55:36"),
        (["10OCT2000:13:55:36"], "2000-10-10T13:55:36"),
        (["10OCT2000"], "2000-10-10"),
        (["Feb-01-2023"], "2023-02-01"),
        (["Fri Mar  1 10:00:00 2024"], "2024-03-01T10"),
        (["Fri, 01 Mar 2024 10:00:00 GMT"], "2024-03-01T10"),
        (["2024-03-01 10:00:00 CET"], "2024-03-01T09"),
        (["Jan-19"], "2019-01-01"),
        (["2019-01"], "2019-01-01"),
        (["03/2019"], "2019-03-01"),
        (["Q2 2019"], "2019-04-01"),
        (["20190131T093000Z"], "2019-01-31T09:30"),
        (["3. M\u00e4rz 2024"], "2024-03-03"),
        (["14 f\u00e9vrier 2023"], "2023-02-14"),
        (["5 de enero de 2021"], "2021-01-05"),
        (["3 maggio 2022"], "2022-05-03"),
        (["3 de maio de 2022"], "2022-05-03"),
        (["3 mei 2022"], "2022-05-03"),
        (["3. 5. 2022"], "2022-05-03"),
        (["2022.05.03."], "2022-05-03"),
        (["2022年5月3日"], "2022-05-03"),
        (["03.05.2022, 20:30 Uhr"], "2022-05-03T20:30"),
        (["03/05/2022 20h30", "31/12/2021 01h00"], "2022-05-03T20:30"),
        (["2022/05/03 8:30:42 PM GMT+1"], "2022-05-03T19:30:42"),
        (["2022/05/03 8:30:42 AM +0530"], "2022-05-03T03:00:42"),
        (
            ["Tue May 03 2022 20:30:42 GMT+0200 (Central European Summer Time)"],
            "2022-05-03T18:30:42",
        ),
        (["03-MAY-22 08.30.42.000000 PM"], "2022-05-03T20:30:42"),
        (["5/3/2022, 8:30:42\u202fPM", "12/31/2021, 1:00:00\u202fAM"], "2022-05-03T20:30:42"),
        (["\u200e5/\u200e3/\u200e2022", "12/31/2021"], "2022-05-03"),
        (["2022/05"], "2022-05-01"),
        (["1Q19"], "2019-01-01"),
        (["2019M03"], "2019-03-01"),
        (["2019-10-12T09:58:45+02:00[Europe/Berlin]"], "2019-10-12T07:58:45"),
        (["le 12 octobre 2019"], "2019-10-12"),
        (["el 12 de octubre del 2019"], "2019-10-12"),
        (["am 12.10.2019", "31.12.2019"], "2019-10-12"),
        (["T3 2019"], "2019-07-01"),
        (["2. Quartal 2019"], "2019-04-01"),
        (["2022-W18"], "2022-05-02"),
        (["2022-W18-2"], "2022-05-03"),
        (["KW 1/2021"], "2021-01-04"),
        (["2022 W18"], "2022-05-02"),
        (["Week 18, 2022"], "2022-05-02"),
        (["44684"], "2022-05-03"),  # a serial number among dates
        (["44684.854653"], "2022-05-03T20:30:42"),
        (["20220503_203042"], "2022-05-03T20:30:42"),
    ],
    ids=lambda value: str(value[0]) if isinstance(value, list) else value,
)
def test_dates(texts, expected):
    days = np.datetime64(expected, "s").astype(float) / DAY
    np.testing.assert_array_equal(read([*texts, "2001-01-01"])[0, 0], days)


def test_a_first_number_beyond_12_in_every_row_does_not_show_the_order():
    cells = [f"{year}/{month:02d}/{day:02d}" for year, month, day in zip(
        RNG.integers(13, 25, N), RNG.integers(1, 13, N), RNG.integers(1, 29, N), strict=True
    )]  # fmt: skip
    reader, doubts = fitted(cells)
    assert "the year is read first" in doubts
    year = reader.transform(pd.DataFrame({"a": ["14/02/03"]}))[0, 0]
    assert year == np.datetime64("2014-02-03").astype(float)


@pytest.mark.parametrize("form", ["01/{0:02}/{1}", "{0:02}/01/{1}"])
def test_dates_of_the_same_day_are_months(form):
    cells = [form.format(month, year) for year in (1957, 1958) for month in range(1, 13)]
    reader, doubts = fitted(cells)
    months = reader.transform(pd.DataFrame({"a": cells[3:4]}))[0, 1]
    assert months == 4 and not doubts
    days = [f"7/{9 + i % 2}/14 18:{i:02}" for i in range(60)]
    assert "is ambiguous" in fitted(days)[1]


@pytest.mark.parametrize(
    "years, later",
    [
        (range(1941, 2004), 1950),  # dates of birth
        (range(1925, 1999, 3), 1930),
        (range(1969, 2025), 2030),
        (range(2015, 2026), 2040),
        ([1999, 2003, 2045], 2060),
    ],
    ids=lambda years: f"{years[0]}-{years[-1]}" if not isinstance(years, int) else "",
)
@pytest.mark.parametrize("form", ["%d.%m.%y", "%d-%b-%y", "%m/%d/%y"])
def test_two_digit_years_stay_together(years, later, form):
    days = [datetime.date(year, 5, 1 + year % 28) for year in years]
    reader = fitted([day.strftime(form) for day in days])[0]
    for day in [*days, datetime.date(later, 5, 17)]:
        number = (day - datetime.date(1970, 1, 1)).days
        assert reader.transform(pd.DataFrame({"a": [day.strftime(form)]}))[0, 0] == number


@pytest.mark.parametrize("dtype", ["float64", "Int64"])
def test_compact_dates_may_be_missing_or_zero(dtype):
    """Integers with missing cells are floats, and "no date" of SAP is 0."""
    days = [20200100 + i % 28 + 1 for i in range(N)]
    cells = pd.Series([None if i % 9 == 4 else 0 if i % 9 == 5 else d for i, d in enumerate(days)])
    X = pd.DataFrame({"a": cells.astype(dtype)})
    with pytest.warns(ColumnKindWarning, match="0 is no date"):
        reader = TableReader().fit(X)
    assert reader.columns_[0].kind.name == "date" and reader.columns_[0].n_missing == 26
    first = reader.transform(X)[0, 0]
    assert first == np.datetime64("2020-01-01").astype(float)
    assert TableReader().fit(X + 0.5).columns_[0].kind.name == "numeric"


def test_months_with_a_point_are_no_decimals():
    months = pd.date_range("2019-01-01", periods=N, freq="MS")
    texts, days = (pd.DataFrame({"a": x}) for x in (months.strftime("%m.%Y"), months))
    expected = TableReader().fit_transform(days)
    np.testing.assert_array_equal(TableReader().fit_transform(texts), expected)
    assert (
        TableReader().fit(texts.replace("01.2019", "13.2019")).columns_[0].kind.name == "numeric"
    )


@pytest.mark.parametrize("form", ["%m%d%Y", "%d%m%Y"])
@pytest.mark.parametrize("dtype", [str, "int64", "float64"])
def test_compact_dates_with_the_year_last(form, dtype):
    days = pd.date_range("2001-01-20", periods=N, freq="17D")
    X = pd.DataFrame({"a": days.strftime(form).astype(dtype)})
    reader = TableReader().fit(X)
    expected = TableReader().fit_transform(pd.DataFrame({"a": days}))
    np.testing.assert_array_equal(reader.transform(X), expected)
    np.testing.assert_array_equal(reader.transform(X.astype("int64").astype(str)), expected)
    np.testing.assert_array_equal(reader.transform(pd.DataFrame({"a": days})), expected)


@pytest.mark.parametrize("filler", ["1900-01-01", "9999-12-31"])
def test_frequent_filler_dates_are_missing(filler):
    days = [f"2020-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(N)]
    reader, doubts = fitted([filler if i % 10 == 0 else day for i, day in enumerate(days)])
    assert reader.columns_[0].n_missing == N // 10 and filler in doubts
    months = reader.transform(pd.DataFrame({"a": [filler, "2020-05-01"]}))[:, 1]
    assert np.isnan(months[0]) and months[1] == 5
    assert fitted([*days, "1900-01-01"])[0].columns_[0].n_missing == 0  # one old date is a date


@pytest.mark.parametrize("timezone", [None, "Europe/Vienna"])
def test_dates_agree_with_pandas(timezone):
    dates = pd.Series(pd.date_range("1969-12-30 05:30", periods=400, freq="31h", tz=timezone))
    reader = TableReader()
    Z = reader.fit_transform(pd.DataFrame({"d": dates}))
    utc = dates if timezone is None else dates.dt.tz_convert("UTC").dt.tz_localize(None)
    expected = np.column_stack(
        [
            (utc - pd.Timestamp(0)).dt.total_seconds() / 86400,
            utc.dt.month,
            utc.dt.day,
            utc.dt.day_of_week,
            utc.dt.hour,
        ]
    )
    np.testing.assert_allclose(Z[:, :5], expected)
    days = utc.dt.day_of_year - 1 + expected[:, 4] / 24 + utc.dt.minute / 1440
    hours = expected[:, 4] + utc.dt.minute / 60
    phases = np.column_stack([days / 365.25, (expected[:, 3] + hours / 24) / 7, hours / 24])
    np.testing.assert_allclose(Z[:, 5::2], np.sin(2 * np.pi * phases), atol=1e-12)
    np.testing.assert_allclose(Z[:, 6::2], np.cos(2 * np.pi * phases), atol=1e-12)
    assert list(reader.get_feature_names_out())[:7] == [
        "d_day_number",
        "d_month",
        "d_day",
        "d_weekday",
        "d_hour",
        "d_year_sin",
        "d_year_cos",
    ]


def test_python_dates_and_missing_dates():
    X = pd.DataFrame({"d": [datetime.date(2020, 1, 1), None, datetime.date(2021, 2, 3)]})
    Z = TableReader().fit_transform(X.astype(object))
    assert np.isnan(Z[1]).all()
    assert not np.isnan(Z[[0, 2]]).any()


@pytest.mark.parametrize("form", ["%m/%d/%Y", "%Y-%m-%d", "%d-%b-%Y", None])
def test_two_digit_years_are_near_the_dates_of_fit(form):
    """A later export writes "7/1/62" where `fit` saw "7/1/1962", an ISO date or a datetime."""
    days = pd.Series(pd.date_range("1962-07-01", "2006-01-31", periods=N))
    reader = fitted(days if form is None else days.dt.strftime(form).tolist())[0]
    for text, day in (
        ("7/31/62", "1962-07-31"),
        ("1/31/06", "2006-01-31"),
        ("5/17/45", "1945-05-17"),
    ):
        number = reader.transform(pd.DataFrame({"a": [text]}))[0, 0]
        assert number == np.datetime64(day).astype(float)
