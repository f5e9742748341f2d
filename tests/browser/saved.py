"""Pages from a disk with the network off, and what they must not do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

#: Names as a trace may hold them.
HOSTILE = (
    "</script><script>window.bad=1</script>",
    "<img src=x onerror='window.bad=1'>",
    "]]><svg onload=window.bad=1>",
    "<!--<script>",
    "\u2028window.bad=1//",
    "'\"&amp;${window.bad=1}`",
)


def open_from_disk(page: Page, path: Path, *, guarded: bool = True) -> list[str]:
    """Open a file with the network off; returns the addresses that it asks for, as they come.

    With ``guarded=False`` the page's own policy is taken out, so that only escaping protects it.
    """
    if not guarded:
        text = path.read_text(encoding="utf-8")
        begin = text.index('<meta http-equiv="Content-Security-Policy"')
        path.write_text(text[:begin] + text[text.index(">", begin) + 1 :], encoding="utf-8")
    asked: list[str] = []
    page.context.set_offline(True)
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector(".stepviz")
    return asked


def nothing_left(page: Page, asked: list[str], path: Path) -> None:
    """Check that a page asked nobody for anything, and that no name in it did anything."""
    own = ("data:", "blob:")
    others = [url for url in asked if url != path.as_uri() and not url.startswith(own)]
    assert others == []
    assert page.evaluate("window.bad") is None
    assert page.locator("img").count() == 0


def downloaded(page: Page, button: Any) -> bytes:
    """Return what a button saves."""
    with page.expect_download() as found:
        button.click()
    content: bytes = found.value.path().read_bytes()
    return content


def drawn(content: bytes) -> str:
    """Return all texts of a drawing, which must be sound XML that loads nothing."""
    root = ET.fromstring(content)  # noqa: S314  # of our own making
    for element in root.iter():
        assert not element.tag.endswith(("script", "foreignObject"))
        for name, value in element.attrib.items():
            assert not name.lower().startswith("on")
            assert "http" not in value or name.startswith("xmlns"), (name, value[:80])
    return " ".join(" ".join(root.itertext()).split())
