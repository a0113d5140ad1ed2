"""Pages of reports, and what a page must have."""

from html.parser import HTMLParser

from sklearn.naive_bayes import GaussianNB

PAGES = ["For the analyst", "For the engineer"]


PAGE_ONE = ["How good it is", "What drives it", "Where it errs", "What to watch"]


PAGE_TWO = ["Probabilities", "Operating points"]


PAGE_THREE = [
    "Leaderboard",
    "Members",
    "Where the seconds went",
    "Columns",
    "Settings and versions",
]


class Broken(GaussianNB):
    """A classifier whose error has characters of HTML."""

    def fit(self, X, y, sample_weight=None):
        raise ArithmeticError("a <b> & c")


class Outline(HTMLParser):
    """Headings, texts of articles, references to other files, and tags left open."""

    VOID = {"meta", "br", "img"}

    def __init__(self, page):
        super().__init__()
        self.headings, self.references, self.tags = {"h1": [], "h2": [], "h3": []}, [], []
        self.texts, self.sections, self.article = {}, {}, None
        self.open = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "article":
            self.article = dict(attrs)["id"]
            self.texts[self.article], self.sections[self.article] = "", []
        self.references += [v for k, v in attrs if k in ("src", "href", "xlink:href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in self.headings:
            self.headings[self.open[-1]].append(data)
        if self.open and self.open[-1] == "h3":
            self.sections[self.article].append(data)
        if self.article is not None and "svg" not in self.open:
            self.texts[self.article] += f" {data}"


def page_of(clf, folder, **rows):
    clf.save_report(folder / "report.html", **rows)
    return (folder / "report.html").read_text(encoding="utf-8")
