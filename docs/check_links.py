"""Check the internal links of the built documentation.

Usage: ``python docs/check_links.py docs/_build/html``. Every link to a file of the site must lead
to a file, every link to an anchor to an element with that id, and every picture must be there.
Links to other sites are not followed: building and checking need no network.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """Links of a page, and the anchors that it offers."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if name in ("href", "src") and value:
                self.links.add(value)


def broken_links(site: Path) -> list[str]:
    """Find the links of a site that lead nowhere.

    Parameters
    ----------
    site : Path
        Folder with the HTML pages.

    Returns
    -------
    broken : list of str
        One line a link: the page, and the link.
    """
    pages = {
        path.resolve(): _Page(path.read_text(encoding="utf-8"))
        for path in site.rglob("*.html")
        if "_static" not in path.parts  # templates of the theme
    }
    broken = []
    for path, page in sorted(pages.items()):
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            anchor = unquote(parts.fragment)
            missing_anchor = anchor and target in pages and anchor not in pages[target].anchors
            if not target.exists() or missing_anchor:
                broken.append(f"{path.relative_to(site.resolve())}: {link}")
    return broken


if __name__ == "__main__":
    found = broken_links(Path(sys.argv[1]))
    print("\n".join(found) or "all internal links lead somewhere")
    sys.exit(bool(found))
