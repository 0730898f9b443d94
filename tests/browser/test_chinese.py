"""The Chinese page speaks Chinese: in every view, in its hints and labels, in saved pictures and tables."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import Served
from browser.waiting import rest, settle
from campaigns import campaign

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
VIEWS = (
    "canvas", "overview", "walk", "heatmap", "lines", "text", "flow", "encoder", "embeddings", "numbers",
    "inside", "generation", "effects", "patching",
)  # fmt: skip
MORE = ("inside&inside.part=values", "inside&inside.part=multiplier", "encoder&encoder.by=change")
PANELS = ("输入", "可解释性", "调试", "关于")

# What is read or heard: texts and labels, but for tokens, names in lists and the way to the English page.
READ = """() => {
  const names = ['title', 'aria-label', 'aria-valuetext', 'placeholder', 'alt'];
  const others = '[dir=auto], bdi, noscript, [lang=en], .header select, textarea, .code';
  return [...document.body.querySelectorAll('*')].filter((each) => !each.closest(others)).flatMap((each) => [
    ...[...each.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data),
    ...names.map((name) => each.getAttribute(name) ?? ''),
  ]).map((text) => text.trim()).filter((text) => text !== '');
}"""
ENGLISH = re.compile(
    r"[A-Za-z][a-z]+(?:[ ,;:]+[a-z]{2,}){2,}|\b(?:is|are|has|the|not|of|no) [a-z]{2,}|\b(?:against|kernel)\b"
)
NAMES = re.compile(r"invented (?:decoder|translator)|<b>bold</b>")


def find_english(texts: list[str]) -> list[str]:
    return [text for text in texts if ENGLISH.search(NAMES.sub("", text))]


def test_english_would_be_found() -> None:
    assert find_english(["没有值", "There is no key."]) == ["There is no key."]
    assert find_english(["invented decoder：softmax 之后", "kernel: eager, as the model reports it"])


@campaign("name", ["decoder", "translation", "single"], sample=["translation"])
def test_no_view_has_a_sentence_in_english(served: Served, look: Open, name: str, tmp_path: Path) -> None:
    page = look(served.address(name, view="overview"), locale="zh-CN")
    found: dict[str, list[str]] = {}
    for view in (*VIEWS, *MORE):
        page.evaluate(f"location.hash = 'recording={served.ids[name]}&view={view}'")
        expect(page.locator(f".view-{view.split('&')[0]}, [data-notice=does-not-fit]").first).to_be_attached()
        rest(page)
        found[view] = page.evaluate(READ)
        if page.locator("[data-notice=does-not-fit]").count() > 0:
            continue
        with page.expect_download() as download:
            page.locator("[data-action=save-svg]").click()
        download.value.save_as(tmp_path / "picture.svg")
        found[f"{view}, saved"] = re.findall(r">([^<>]+)<", (tmp_path / "picture.svg").read_text("utf-8"))
        page.locator("[data-action=table]").click()
        expect(page.locator("[data-dialog=table] caption")).to_be_attached()
        found[f"{view}, table"] = page.locator("[data-dialog=table] :is(th, caption)").all_text_contents()
        page.keyboard.press("Escape")
        expect(page.locator("[data-dialog=table]")).to_have_count(0)
    assert {view: find_english(texts) for view, texts in found.items() if find_english(texts)} == {}


def test_no_panel_has_a_sentence_in_english(served: Served, look: Open) -> None:
    page = look(served.address("decoder", view="heatmap"), locale="zh-CN")
    settle(page)
    for panel in PANELS:
        page.get_by_role("tab", name=panel, exact=True).click()
        rest(page)
        assert find_english(page.evaluate(READ)) == []
    page.locator("[data-action=help]").click()
    expect(page.locator("[data-dialog=help]")).to_be_visible()
    assert find_english(page.evaluate(READ)) == []
    page.keyboard.press("Escape")
    expect(page.locator("[data-dialog=help]")).to_have_count(0)


def test_why_there_is_no_number(served: Served, open_page: Open) -> None:
    """In the view, the panel and the overview."""
    page = open_page(served.address("single", view="numbers"), locale="zh-CN")
    sentence = "允许的权重没有一个为零，因此没有除数。"
    value = page.locator(".cards [data-metric=overall_sparsity]").first
    expect(value).to_have_attribute("title", sentence)
    expect(value.locator("span")).to_have_text(sentence)
    page.get_by_role("tab", name="可解释性", exact=True).click()
    cell: Any = page.locator("tr[data-metric=overall_sparsity] [data-level=model] span")
    expect(cell).to_have_attribute("title", sentence)
    assert cell.evaluate("(each) => each.getClientRects().length") == 1  # a word that is not broken
    page.locator("[data-action=language]").click()
    english = "No allowed weight is zero, so there is nothing to divide by."
    expect(value).to_have_attribute("title", english)
    expect(cell).to_have_attribute("title", english)
