"""The exported file in a real browser: from disk, with the network off."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from browser.conftest import write_probes, write_training_run
from browser.waiting import settle
from glassformer.place import Place
from glassformer.recording import AttentionMap, Evidence, Recording, Tokens, measure
from glassformer.render.html.export import EMBEDDED, export
from glassformer.runlog import read_run
from inventions import invent_decoder, invent_translation

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not EMBEDDED.is_file(), reason="the page is not built: npm run build in web/"),
]

HOSTILE = (
    "<img src=x onerror=\"document.title='broken in'\"></script><script>document.title='broken in'</script>"
)

Open = Callable[..., Page]


def test_every_view_that_fits_is_there(open_file: Open, tmp_path: Path) -> None:
    page = open_file(export(invent_decoder(), tmp_path / "a.html", hidden=True, vectors=True))
    tabs = page.get_by_role("tab")
    expect(tabs.filter(has_text="Heat map")).to_be_visible()
    output = page.locator("[data-canvas=output] .canvas-note")  # of what opens first
    expect(output).to_contain_text("of variance")
    for name in ("Overview", "Heat map", "Lines", "Text", "Numbers"):
        page.get_by_role("tab", name=name, exact=True).click()
        expect(page.locator(".view-host")).not_to_be_empty()
        expect(page.get_by_text("does not answer")).to_have_count(0)


def test_weights_are_the_recording_s(open_file: Open, tmp_path: Path) -> None:
    recording = invent_decoder()
    place = "#view=heatmap&map=1&head=2&query=5&key=3"
    page = open_file(export(recording, tmp_path / "a.html", exact=True), place)
    weight = recording.maps[1].weights(2)[5, 3]
    expect(page.locator(".view-host")).to_contain_text(f"{weight:.5f}"[:6])


def test_an_incomplete_file_says_so(open_file: Open, tmp_path: Path) -> None:
    whole = export(invent_decoder(), tmp_path / "a.html")
    expect(open_file(whole).get_by_text("is being opened")).to_be_hidden()
    half = tmp_path / "half.html"
    half.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    expect(open_file(half).get_by_text("incomplete or damaged")).to_be_visible()


def test_two_texts_and_beams(open_file: Open, tmp_path: Path) -> None:
    page = open_file(export(invent_translation(), tmp_path / "a.html"), "#view=generation")
    expect(page.get_by_role("tab", name="Generation", exact=True)).to_be_visible()


def test_a_file_without_hidden_states_says_why_there_is_no_canvas(open_file: Open, tmp_path: Path) -> None:
    page = open_file(export(invent_decoder(), tmp_path / "a.html"))
    expect(page.get_by_role("tab", selected=True).first).to_have_text("Overview")
    page.get_by_role("tab", name="Canvas", exact=True).click()
    expect(page.get_by_text("Export the recording again with hidden states")).to_be_visible()


def test_a_file_of_a_run_is_scrubbed_and_says_what_it_leaves_out(
    open_file: Open, tmp_path: Path, invented: dict[str, Path]
) -> None:
    run = tmp_path / "probed"
    write_training_run(run)
    write_probes(run, invented["decoder"])
    page = open_file(export(read_run(run), tmp_path / "run.html"))
    expect(page.locator(".chart canvas").first).to_be_visible()
    page.locator("[data-action=watch-training]").click()
    where = page.locator(".training-time output")
    expect(where).to_contain_text("60")
    page.locator("[data-action=previous-training-step]").click()
    expect(where).to_contain_text("20")
    expect(page.locator(".heat-cells canvas").first).to_be_visible()
    for name in ("Canvas", "Walk"):
        page.get_by_role("tab", name=name, exact=True).click()
        expect(page.get_by_text("A file of a training run leaves this view out")).to_be_visible()
    page.locator("[data-action=open-run]").click()
    expect(page.locator(".view-learning")).to_be_visible()
    page.get_by_role("tab", name="Training runs").click()
    expect(page.get_by_text("Training runs cannot be shown here.")).to_be_visible()


def test_what_needs_a_model_says_why(open_file: Open, tmp_path: Path) -> None:
    page = open_file(export(invent_decoder(), tmp_path / "a.html"))
    page.get_by_role("tab", name="Input", exact=True).click()
    expect(page.get_by_text(re.compile("cannot be run here"))).to_be_visible()
    expect(page.get_by_role("button", name="Run model")).to_have_count(0)
    for view in ("effects", "patching"):
        page.evaluate("(view) => { location.hash = `view=${view}`; }", view)
        expect(page.locator(f".pictures [data-name={view}]")).to_have_attribute("aria-selected", "true")
        expect(page.locator("[data-notice=does-not-fit]")).to_contain_text("a file does not have")


def test_hostile_tokens_stay_text(open_file: Open, tmp_path: Path) -> None:
    tokens = Tokens("source", (HOSTILE, "{{7*7}}", "'\"`"), np.arange(3), text=f"{HOSTILE} {{{{7*7}}}} '\"`")
    weights = np.full((2, 3, 3), 1 / 3, dtype=np.float32)
    each = AttentionMap(Place("encoder", "self", 0), tokens, tokens, measure(weights), dense=weights)
    stamp = Evidence(HOSTILE, "0" * 12, "eager", "float32", True)
    path = export(Recording(HOSTILE, stamp, tokens, maps=(each,)), tmp_path / "a.html", title="plain")
    for view in ("overview", "heatmap", "lines", "text", "numbers"):
        page = open_file(path, f"#view={view}")
        expect(page.get_by_role("tab").first).to_be_visible()
        settle(page)
        assert not page.title().startswith("broken in")  # the text itself may stand there, as text
        assert page.locator("img[src=x]").count() == 0


def test_chinese_and_dark(open_file: Open, tmp_path: Path) -> None:
    page = open_file(export(invent_decoder(), tmp_path / "a.html"), locale="zh-CN", color_scheme="dark")
    expect(page.get_by_role("tab", name="热力图")).to_be_visible()
    settle(page)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_why_there_is_no_number_is_said_in_chinese(open_file: Open, tmp_path: Path) -> None:
    recording = invent_decoder(tokens=1, layers=1)  # nothing to choose between
    path = export(recording, tmp_path / "a.html")
    page = open_file(path, "#view=numbers", locale="zh-CN")
    value = page.locator(".cards [data-metric=overall_sparsity]").first
    expect(value).to_have_attribute("title", "允许的权重没有一个为零，因此没有除数。")
    page.get_by_role("tab", name="关于", exact=True).click()
    expect(page.locator(".stamp")).to_contain_text("精确")
    page.locator("[data-action=language]").click()
    expect(value).to_have_attribute("title", "No allowed weight is zero, so there is nothing to divide by.")
    expect(page.locator(".stamp")).to_have_text(str(recording.evidence))


def test_a_link_opens_the_same_view(open_file: Open, tmp_path: Path) -> None:
    path = export(invent_decoder(), tmp_path / "a.html")
    page = open_file(path, "#view=numbers&map=2&head=1")
    expect(page.get_by_role("tab", name="Numbers", exact=True)).to_have_attribute("aria-selected", "true")
    settle(page)
    assert "head=1" in page.evaluate("location.hash")


def test_a_recording_without_a_trace_says_why_there_is_no_walk(open_file: Open, tmp_path: Path) -> None:
    page = open_file(export(invent_decoder(), tmp_path / "a.html"))
    settle(page)
    page.get_by_role("tab", name="Walk", exact=True).click()
    expect(page.locator("[data-notice=does-not-fit]")).to_contain_text("trace")


@pytest.mark.parametrize(
    ("locale", "sentence"),
    [("en-GB", "Walk cannot show this recording."), ("zh-CN", "“逐步演示”无法显示此记录。")],
)
def test_a_link_to_a_walk_that_is_not_there_says_so(
    locale: str, sentence: str, open_file: Open, tmp_path: Path
) -> None:
    page = open_file(export(invent_decoder(), tmp_path / "a.html"), "#view=walk", locale=locale)
    expect(page.locator("[data-notice=does-not-fit]")).to_contain_text(sentence)
    expect(page.get_by_role("tab", selected=True).first).to_have_id(re.compile("walk$"))
    page.locator(".pictures [data-name=overview]").click()
    settle(page)
    expect(page.locator("[data-notice=does-not-fit]")).to_have_count(0)
