"""The page as the server delivers it: it loads under its strict policy and asks nobody else."""

from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page

from browser.waiting import settle

pytestmark = pytest.mark.browser


def test_the_page_loads_without_a_single_error(served, open_page: Callable[..., Page]) -> None:
    page = open_page(served.address("decoder"))
    settle(page)
    assert "Glassformer" in page.title()
    assert page.locator("script:not([src])").count() == 0
    assert "script-src 'self'" in httpx.get(served.url, timeout=None).headers["content-security-policy"]


def test_a_page_of_another_origin_gets_nothing(served, open_page: Callable[..., Page]) -> None:
    # The same machine by another name is another origin to a browser.
    other = served.url.replace("localhost", "127.0.0.1")
    page = open_page(f"{served.url}/api/docs")
    outcome = page.evaluate(
        "url => fetch(url).then(answer => String(answer.status), error => String(error))",
        f"{other}/api/about",
    )
    assert "TypeError" in outcome
    page.faults.clear()  # type: ignore[attr-defined]
