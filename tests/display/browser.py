"""A headless Chromium that loads a page and says what it sees."""

import base64
import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update --enable-logging=stderr --v=0"
)
_DARK, _LIGHT = 0, 1
# Runs in the page after everything else and writes what it measures into the document.
_PROBE = """
<script>
window.addEventListener("load", () => {
  const pictures = [...document.querySelectorAll("main svg[role=img], img")];
  const style = getComputedStyle(document.body);
  const seen = {
    sizes: pictures.map(e => [e.getBoundingClientRect().width, e.naturalWidth ?? 1]),
    width: document.documentElement.clientWidth,
    content: document.documentElement.scrollWidth,
    color: style.color.match(/[0-9]+/g).map(Number),
    background: style.backgroundColor.match(/[0-9]+/g).map(Number),
    requests: performance.getEntriesByType("resource").map(e => e.name),
    text: document.body.innerText,
  };
  const pre = parent.document.createElement("pre");
  pre.id = "seen";
  pre.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(seen))));
  parent.document.body.append(pre);
});
</script>
"""


# Windows of Chromium are at least 500 pixels wide; frames need not be.
_FRAME = (
    '<!DOCTYPE html><meta charset="utf-8"><html style="color-scheme: light dark">'
    '<iframe style="width: {width}px; height: 900px; border: 0" srcdoc="{page}"></iframe>'
)


def look_at(page: str, folder: Path, *, width: int, dark: bool = False) -> dict:
    """Load a page in a frame of some width; no console message may come."""
    file = folder / "frame.html"
    frame = _FRAME.format(width=width, page=html.escape(page + _PROBE))
    file.write_text(frame, encoding="utf-8")
    flags = [
        *_FLAGS.split(),
        f"--blink-settings=preferredColorScheme={_DARK if dark else _LIGHT}",
        "--window-size=1600,1000",
        "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}",
    ]
    command = [str(CHROMIUM), *flags, "--dump-dom", file.as_uri()]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "CONSOLE" not in run.stderr
    found = re.search(r'<pre id="seen">([^<]*)</pre>', run.stdout)
    assert found is not None
    return json.loads(base64.b64decode(found.group(1)))
