"""Words, units and answer scales that columns of strings may hold."""

import html
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

# Strings that CSV readers take for missing, and those that mean a missing value, in lower case.
CSV_NULLS = frozenset(
    ["", "NA", "N/A", "#N/A", "n/a", "<NA>", "NULL", "null", "NaN", "nan", "None"]
)
NULL_WORDS = frozenset(["n.a.", "nil", "missing", *map(str.lower, CSV_NULLS)])
_PAIRS = (
    "no/yes n/y false/true f/t off/on nein/ja n/j falsch/wahr non/oui faux/vrai no/sí no/si"
    " falso/verdadero falso/vero no/sì não/sim nao/sim nee/ja nej/ja nei/ja nie/tak hayır/evet"
    " ne/ano nem/igen nu/da ei/kyllä нет/да"
)
BOOLEAN_PAIRS = tuple(tuple(pair.split("/")) for pair in _PAIRS.split())
# Currencies, each with its other names.
_CURRENCIES = (
    "$ us$ usd; € eur; £ gbp; ¥ jpy; ₹ inr rs rs.; ₩ krw; ₽ rub; ₺ try; ₫ vnd; ₦ ngn; ₪ ils"
    "; ฿ thb; r$ brl; fr. sfr. chf; zł pln; kč czk; rm myr; rp rp. idr; a$ au$ aud; c$ ca$ cad"
    "; hk$ hkd; mx$ mxn; nz$ nzd; nt$ twd; s$ sg$ sgd; kr kr.; sek; nok; dkk; cny; huf; ron; zar"
    "; egp; aed; sar; php; ars; clp; cop"
)
CURRENCY_OF = {
    name: names.split()[0] for names in _CURRENCIES.split(";") for name in names.split()
}
CURRENCY = f"(?:{'|'.join(map(re.escape, sorted(CURRENCY_OF, key=len, reverse=True)))})"
_NUMERALS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
)
NUMERALS = {word: i if i < 20 else 10 * i - 180 for i, word in enumerate(_NUMERALS.split())}
NUMERALS |= {"hundred": 100, "thousand": 1000, "million": 1_000_000}
# Words that mean 0 among numbers: a price, a number of stops, a floor.
ZEROS = frozenset(["free", "ground", "ground floor", "non-stop", "non stop", "nonstop"])
# Words among durations such as "3 days ago".
AGO = {"just now": "0 days", "just posted": "0 days", "today": "0 days", "yesterday": "1 day"}
# Words before a number that is not exact, "=" before a rank that is shared. "DE67" is a code.
ABOUT = r"(?:~|≈|=|ca?\.|circa|approx(?:\.|imately)?|about|around|roughly|de\s)"
# Words before a number, or after it and its unit, that make it a bound.
AT_MOST = (
    r"(?:<=?|≤|under|below|less than|fewer than|up to|within|at most|max(?:imum|\.)?"
    r"|unter|bis(?: zu)?|weniger als|höchstens|moins de|jusqu'à|menos de|hasta)"
)
AT_LEAST = (
    r"(?:>=?|≥|over|above|more than|greater than|at least|min(?:imum|\.)?|from"
    r"|über|mehr als|mindestens|ab\s|plus de|à partir de|más de|desde)"
)
_OR = r"(?:or|and|&|oder|und|ou|et|o|y)"
OR_LESS = rf"(?:{_OR} (?:less|fewer|under|below|younger|lower|weniger|jünger|moins|menos))"
OR_MORE = (
    rf"(?:\+|{_OR} (?:more|over|above|older|up|higher|upwards?|greater|later|mehr|älter|plus|más)"
    r"|plus|more)"
)
# Words around the ends of an interval, and marks between them.
FROM_TO = re.compile(
    r"\A(?:between|de|entre|from|von|zwischen) (.+) (?:a|à|and|bis|et|to|und|y) (\W*\d.*)"
)
RANGE = r"(?:--?|\.\.+|\bto\b|\bbis(?: unter)?\b|\bà\b|\ba\b)"

# Columns whose name ends with such a word, or has the word "id", hold identifiers if their values
# differ.
IDENTIFIER_WORDS = frozenset(
    ["ids", "uid", "uuid", "guid", "gid", "pid", "sid", "fid", "oid", "pk", "key", "idx", "isbn"]
    + ["no", "nr", "nbr", "num", "number", "nummer", "mrn", "ssn", "vin", "objectid", "rowid"]
    + ["rownum", "rownumber", "rownames", "rowname", "sno"]
)
IDENTIFIER_NAMES = frozenset(["index", "row", "row index", "record index", "unnamed 0", "level 0"])
# Nouns of names in lower case such as "customerid".
IDENTIFIED = (
    "account|acct|animal|app|applicant|application|article|book|booking|building|business|candidate"
    "|car|case|child|client|company|cust|customer|device|doc|document|emp|employee|event|family"
    "|file|group|hh|house|household|image|invoice|item|job|listing|loan|location|machine|member"
    "|message|movie|object|observation|order|parcel|passenger|patient|person|player|policy|post"
    "|product|project|property|record|request|resp|respondent|review|row|sale|sample|seller"
    "|session|shop|site|staff|station|store|student|subject|team|ticket|transaction|trip|tweet"
    "|txn|unique|unit|user|vehicle|visit|worker"
)

# Answers in their order; words of one place mean the same.
_SCALES = """
    never; almost never | hardly ever | very rarely; rarely | seldom; once in a while |
        occasionally | sometimes; about half the time; often | frequently | regularly ; usually |
        most of the time | very often; almost always; always
    nie | niemals; selten; manchmal | gelegentlich; oft | häufig; meistens; immer
    jamais; rarement; parfois; souvent; toujours
    nunca; raramente | rara vez; a veces; a menudo | frecuentemente; siempre
    sehr not | gar nicht | überhaupt nicht; not | nicht; eher not | eher nicht | weniger; neutral
        | teils/teils | teils-teils | teils, teils; eher; ; sehr | voll | völlig | voll und ganz
    très not | pas du tout; not | pas; plutôt not | plutôt pas | peu; neutral; plutôt | assez; ;
        très | tout à fait
    muy not | nada; not | no; poco; neutral; algo | bastante; ; muy | totalmente
    sehr schlecht; schlecht; mittelmässig; gut; sehr gut; ausgezeichnet
    ungenügend; mangelhaft; ausreichend; befriedigend; gut; sehr gut
    sehr niedrig | sehr gering; niedrig | gering; mittel; hoch; sehr hoch
    très faible; faible; moyen; élevé | fort; très élevé | très fort
    muy bajo; bajo | baja; medio | media; alto | alta; muy alto
    strongly not | extremely not | completely not; very not | not at all; not | not much;
        somewhat not | slightly not | rather not | not very | not so | not too; neutral; slightly |
        a little; somewhat | moderately | fairly | rather | some; ; quite | a lot; very; strongly |
        extremely | completely | a great deal
    less than high school | some high school | primary school; high school; some college | some
        college or associate; associate's degree; bachelor | bachelors | bachelor's degree ;
        graduate | master | masters | master's degree; doctorate | doctor | phd
    fair; good; very good; premium; ideal
    low; lower middle | lower-middle; upper middle | upper-middle; high
    terrible | awful; very poor | very bad; poor | bad; below average; fair | average | medium |
        satisfactory | ok | okay; above average; good; very good | vgood; excellent; outstanding
    none | no; very low | vlow | very little | minimal; low | little | minor | mild; medium | med |
        moderate | normal | mid | average | avg; high | major | severe; very high | veryhigh |
        vhigh | extreme | critical
    xxs; xs; s; m; l; xl; xxl | 2xl; xxxl | 3xl; 4xl; 5xl
    tiny; extra small; very small; small; medium; large | big | high; very large; extra large; huge
    daily | every day; weekly | every week | once a week; monthly | every month | once a month;
        quarterly; yearly | annually | once a year; rarely | seldom; never
    within an hour; within a few hours; within a day; a few days or more
    beginner | novice; intermediate; advanced; expert
    intern | trainee; junior; middle; senior; lead; head
"""
SCALES = tuple(
    {
        word.strip(): place
        for place, words in enumerate(scale.split(";"))
        for word in words.split("|")
    }
    for scale in re.sub(r"\n {8}", " ", _SCALES.strip()).split("\n")
)


@dataclass(frozen=True)
class Units:
    """Units that measure the same quantity, in multiples of the ``base`` unit.

    ``bare``: a number without a unit is a number of base units.
    """

    base: str
    sizes: dict[str, float]
    bare: bool = False


def _units(base: str, text: str, *, bare: bool = False) -> Units:
    """Return units from lines such as ``60 min minute minutes``."""
    lines = [line.split() for line in text.strip().split(";")]
    return Units(base, {unit: float(size) for size, *units in lines for unit in units}, bare)


_DAYS = (
    "86400 d day days tag tage tagen jour jours día días"
    "; 604800 w wk wks week weeks woche wochen semaine semaines semana semanas"
    "; 2626560 mo mos mon mons mth mths month months monat monate monaten mois mes meses"
    "; 31557600 y yr yrs year years jahr jahre jahren an ans année années año años"
)
# The first entry with all units of a column decides.
UNITS = (
    _units(
        "",
        "1e3 k thousand tsd; 1e5 lakh lakhs lac lacs; 1e6 m mn mio mill million millions mil"
        "; 1e7 cr crore crores; 1e9 b bn billion billions mrd; 1e12 tn trillion trillions",
        bare=True,
    ),
    _units("seconds", f"{_DAYS}; 2626560 m"),  # "2y 3m"
    _units(
        "seconds",
        f"{_DAYS};"
        " 1e-3 ms msec; 1 s sec secs second seconds sek sekunde sekunden seconde secondes"
        " segundo segundos"
        "; 60 m min mins minute minutes minuten minuto minutos"
        "; 3600 h hr hrs hour hours std stunde stunden heure heures hora horas",
    ),
    _units(
        "m",
        "1e-3 mm; 1e-2 cm; 1 m metre metres meter meters; 1e3 km; 0.0254 in inch inches \" ''"
        "; 0.3048 ft foot feet '; 0.9144 yd yard yards; 1609.344 mi mile miles",
    ),
    _units(
        "kg",
        "1e-6 mg; 1e-3 g gram grams gr; 1 kg kgs kilo kilos; 1e3 t ton tons tonne tonnes"
        "; 0.45359237 lb lbs pound pounds; 0.028349523125 oz ounce ounces",
    ),
    _units("l", "1e-3 ml cc ccm; 1e-2 cl; 0.1 dl; 1 l liter liters litre litres ltr"),
    _units(
        "bytes",
        "1 b byte bytes; 1e3 k kb; 1e6 m mb; 1e9 g gb; 1e12 t tb; 1e15 pb; 1024 kib"
        "; 1048576 mib; 1073741824 gib; 1099511627776 tib",
    ),
    _units(
        "m²",
        "1 m² sqm qm; 1e6 km²; 1e4 ha hectare hectares; 4046.8564224 ac acre acres"
        "; 0.09290304 ft² sqft; 0.83612736 yd²",
    ),
    _units("", "1e-2 % pct percent; 1e-3 ‰"),
    _units("", "1e3 k; 1e5 l lac lacs lakh; 1e7 cr crore crores", bare=True),
    _units("degrees", "1 n e °n °e; -1 s w °s °w"),
    _units("", "1 cr; -1 dr"),  # credit and debit
    _units("bit/s", "1 bps; 1e3 kbps; 1e6 mbps; 1e9 gbps"),
    _units("Hz", "1 hz; 1e3 khz; 1e6 mhz; 1e9 ghz"),
    _units("W", "1 w watt watts; 1e3 kw; 1e6 mw; 1e9 gw"),
    _units("Wh", "1 wh; 1e3 kwh; 1e6 mwh; 1e9 gwh"),
)
# The unit of a number without one, after a number with one: 5'10 and 1h30.
NEXT_UNIT = {"'": '"', "ft": "in", "h": "min", "min": "s"}

# Dates that stand for "no date".
FILLER_DATES = (
    *("0001-01-01", "1111-11-11", "1753-01-01", "1899-12-30", "1899-12-31", "1900-01-01"),
    *("1970-01-01", "2099-12-31", "2999-12-31", "9999-12-31"),
)

# Characters without width (spaces, joiners, marks of direction, the byte order mark), and others
# that look like one of ASCII: dashes, quotes, and full-width letters and digits. Those below 0xA0
# are of Windows-1252, read as Latin-1.
_USUAL: dict[int, str | None] = dict.fromkeys(
    [0xAD, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)]
)
_USUAL |= dict.fromkeys([*range(0x2010, 0x2016), 0x2212, 0xFE63, 0x96, 0x97], "-")
_USUAL |= dict.fromkeys(map(ord, "\x91\x92‘’‚‛‹›′´ʼ"), "'") | dict.fromkeys(
    map(ord, "“”„‟«»″"), '"'
)
_USUAL |= {0xFEE0 + code: chr(code) for code in range(0x21, 0x7F)}
_USUAL |= {0xFFE5: "¥", 0xFFE1: "£", 0x80: "€", 0xBC: ".25", 0xBD: ".5", 0xBE: ".75"}
_SPACE = re.compile(r"\s")
# Tags of HTML, and quotes around a cell, as spreadsheets and Python write them, or before it:
# ="007", '007.
_TAG = re.compile(
    r"</?(?:a|b|i|u|p|br|em|td|th|tr|li|ul|div|span|font|strong|su[bp]|small|h\d)\b[^<>]*>",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"""\s*[=b]?(?:(["'])(?P<text>.*)\1|'(?P<rest>.*))\s*""", re.DOTALL)


def usual(text: str) -> str:
    """Return a string with usual spaces, dashes and quotes, and without markup.

    Markup is invisible characters, tags and entities of HTML, and quotes around the string.
    """
    if "&" in text or "<" in text:
        text = html.unescape(_TAG.sub(" ", text))
    if not text.isascii():
        text = _SPACE.sub(" ", unicodedata.normalize("NFC", text.translate(_USUAL)))
    if ("'" in text or '"' in text) and (quoted := _QUOTED.fullmatch(text)):
        text = quoted["text"] or quoted["rest"] or ""
    return text


def plain(text: str) -> str:
    """Return a string in lower case, as `usual` and without surrounding spaces."""
    return usual(text).strip().lower()


def is_null_word(text: str) -> bool:
    """Return whether a string is one of `NULL_WORDS`, or has dashes, points or "?" only."""
    return (word := plain(text)) in NULL_WORDS or not word.strip("-.?")


def is_foreign_word(text: str) -> bool:
    """Return whether a string has no digit but zeros: "unknown", "#REF!", "0000-00-00"."""
    return not any("1" <= char <= "9" for char in text)


def spellings(texts: Iterable[str]) -> list[list[str]]:
    """Group strings that differ only by case and spaces."""
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault(folded(text), []).append(text)
    return list(groups.values())


def folded(text: str) -> str:
    """Return a string without differences of case, of surrounding and of repeated spaces."""
    return " ".join(plain(text).split()).casefold()
