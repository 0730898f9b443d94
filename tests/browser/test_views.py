"""What every view owes, over tokens that would break in: nothing for axe to find, a picture, a table."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import inventions
from browser.waiting import go, settle
from glassformer import bundle

pytestmark = pytest.mark.browser

VIEWS = (
    "canvas",
    "overview",
    "heatmap",
    "lines",
    "text",
    "encoder",
    "embeddings",
    "flow",
    "numbers",
    "inside",
    "generation",
    "walk",
    "playground",
)
BREAK_IN = "document.title='broken in'"
HOSTILE = (
    f'<img src=x onerror="{BREAK_IN}">',
    f"</text></svg><script>{BREAK_IN}</script>",
    f'" onload="{BREAK_IN}" x="',
    f"' onclick='{BREAK_IN}' y='",
    "]]>&<!--",
    "&#60;b&#62;",
    "\x00\x08\x1b[31m",
    "\u202eabc\u2066",
    '=HYPERLINK("x")',
    "\t@x",
    "👩‍👩‍👧 我爱你 שלום",
    "javascript:alert(1)",
)


@pytest.fixture(scope="module")
def hostile(served: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A decoder and what it wrote, in words of a stranger; its id."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inventions, "WORDS", HOSTILE)
        recording = inventions.invent_decoder()
    path = tmp_path_factory.mktemp("hostile") / f"{'<b onclick=x>' * 3}.bundle"
    bundle.save(recording, path)
    id: str = served.library.open_file(path)
    return id


@pytest.mark.parametrize(("locale", "views"), [("en-GB", VIEWS[::2]), ("zh-CN", VIEWS[1::2])])
def test_views_over_hostile_tokens(
    served: Any, hostile: str, open_page: Callable[..., Page], locale: str, views: tuple[str, ...]
) -> None:
    page = open_page(f"{served.url}/#recording={hostile}&view={views[0]}&query=3&key=1", locale=locale)
    for view in views:
        go(page, f"{served.url}/#recording={hostile}&view={view}&query=3&key=1")
        check_view(page, view)


def check_view(page: Page, view: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    expect(page.locator(f".view-host > .view-{view}")).to_have_count(1)
    settle(page)
    found = Axe().run(page, context={"include": [[".view-host"]]}).response["violations"]
    assert not found, [(each["id"], [node["target"] for node in each["nodes"]][:4]) for each in found]

    with page.expect_download() as saved:
        page.locator("[data-action=save-svg]").click()
    root = ElementTree.parse(saved.value.path()).getroot()
    for element in root.iter():
        assert not element.tag.endswith(("script", "foreignObject", "}a")), element.tag
        assert not any(name.lower().startswith("on") for name in element.attrib), element.attrib
    with page.expect_download() as saved:
        page.locator("[data-action=save-png]").click()
    assert Path(saved.value.path()).read_bytes()[:4] == b"\x89PNG"

    page.locator("[data-action=table]").click()
    dialog = page.locator("[data-dialog=table]")
    expect(dialog.locator("tbody tr").first).to_be_visible()
    with page.expect_download() as saved:
        dialog.locator("[data-action=save-table]").click()
    written = Path(saved.value.path()).read_text(encoding="utf-8-sig")
    assert not re.search(r'(^|[,\n])"?\s*[=@]', written), "a formula"
    assert "broken" not in page.title()
    assert page.locator("img[src=x]").count() == 0
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
