"""The page with a real worker: texts run, words come, a run is cancelled, a mistake is said."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

import glassformer as gf
from browser.conftest import Bench
from browser.waiting import rest, settle
from tolerances import assert_near

pytestmark = pytest.mark.browser

TEXT = "the animal was too tired to cross the street"
Open = Callable[..., Page]


def fill(page: Page, model: str, text: str | None = TEXT) -> None:
    settle(page)  # the page has opened something by itself
    page.get_by_label("Model", exact=True).select_option(f"zoo/{model}")
    if text is not None:
        page.get_by_label("Text", exact=True).fill(text)


def press_run(page: Page) -> str:
    """Press *Run model*; the id of the recording that comes of it."""
    before = find_recording(page.url)
    page.get_by_role("button", name="Run model").click()
    return wait_for_another(page, before)


def wait_for_another(page: Page, before: str) -> str:
    """The recording that is shown next."""
    page.wait_for_url(lambda url: find_recording(url) not in ("", before))
    return find_recording(page.url)


def find_recording(url: str) -> str:
    found = re.search(r"recording=([^&]*)", url)
    return found[1] if found else ""


def test_a_text_runs_and_is_shown(bench: Bench, open_page: Open) -> None:
    page = open_page(bench.url)
    fill(page, "decoder")
    recording = bench.library.get(press_run(page))
    assert recording.source.text == TEXT
    assert recording.model == "zoo/decoder"
    expect(page.get_by_role("combobox", name="Recording")).to_contain_text(TEXT)
    expect(page.locator("[data-part=progress]")).to_have_count(0)


def test_the_keyboard_runs_it_too(bench: Bench, open_page: Open) -> None:
    page = open_page(bench.url)
    fill(page, "encoder", "the street was too tired")
    before = find_recording(page.url)
    page.get_by_label("Text", exact=True).press("Control+Enter")
    recording = bench.library.get(wait_for_another(page, before))
    assert recording.model == "zoo/encoder"
    assert recording.source.text == "the street was too tired"


def test_only_the_first_layers_run(bench: Bench, open_page: Open) -> None:
    page = open_page(bench.url)
    fill(page, "decoder")
    page.get_by_text("Model configuration").click()
    page.get_by_label("Layers that run").fill("1")
    recording = bench.library.get(press_run(page))
    assert [map.layer for map in recording.maps] == [0]
    assert tuple(map(str, recording.evidence.edits)) == ("only the first 1 layer of every stack",)


def test_random_sequences_have_a_length_and_a_seed(bench: Bench, open_page: Open) -> None:
    page = open_page(bench.url)
    fill(page, "endless", None)
    page.locator("[data-sequence=random]").check()
    page.get_by_label("Sentence length").fill("7")
    page.get_by_label("Random seed").fill("5")
    recording = bench.library.get(press_run(page))
    assert len(recording.source) == 8  # and the end


def test_a_translator_is_told_its_languages(bench: Bench, open_page: Open) -> None:
    page = open_page(bench.url)
    fill(page, "translator")
    page.get_by_label("Source language").select_option("fr")
    page.get_by_label("Target language").select_option("en")
    recording = bench.library.get(press_run(page))
    assert recording.source.texts[0] == ">>en<<"
    assert recording.target is not None


def is_in_reach(page: Page, name: str) -> bool:
    """Whether a click on the middle of an element would meet it: in the window, and behind nothing."""
    met: bool = page.locator(name).evaluate(
        """(element) => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return element.contains(document.elementFromPoint(x + width / 2, y + height / 2));
        }"""
    )
    return met


@pytest.mark.parametrize("width", [1280, 360])
def test_a_long_run_shows_how_far_it_is_and_can_be_cancelled(
    width: int, bench: Bench, open_page: Open
) -> None:
    # The form follows the open recording: one that ships, not what another test has made last.
    page = open_page(
        f"{bench.url}/#recording={bench.library.find_preset('red-car')}", width=width, height=740
    )
    fill(page, "slow", None)
    page.locator("[data-sequence=random]").check()
    page.get_by_label("Sentence length").fill("12000")
    before = find_recording(page.url)
    page.get_by_role("button", name="Run model").click()
    expect(page.locator("[data-part=progress][data-stage=running]")).to_be_visible()
    expect(page.get_by_text(re.compile(r"^\d+/24$"))).to_be_visible()
    assert is_in_reach(page, "[data-part=place]")
    assert is_in_reach(page, "[data-action=cancel]")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("[data-part=progress]")).to_have_count(0)
    rest(page)  # the page does not wait for the server to hear of it
    assert bench.workbench.jobs()[0].state == "cancelled"
    assert find_recording(page.url) == before
    fill(page, "decoder", None)
    page.locator("[data-sequence=text]").check()
    page.get_by_label("Text", exact=True).fill("the animal")
    press_run(page)


def test_what_cannot_be_is_said_in_a_sentence(bench: Bench, open_page: Open) -> None:
    page = open_page(bench.url)
    fill(page, "decoder", "the animal " * 30)
    page.get_by_role("button", name="Run model").click()
    said = page.locator("[data-notice=run-failed]")
    expect(said).to_contain_text("The text has 61 tokens, but zoo/decoder reads at most 24. Shorten it.")
    page.get_by_label("Text", exact=True).fill(TEXT)
    press_run(page)
    expect(said).to_have_count(0)


def test_words_come_one_by_one(bench: Bench, open_page: Open) -> None:
    page = open_page(bench.url)
    fill(page, "decoder", "the animal")
    made = press_run(page)
    page.get_by_role("button", name="Predict output words", exact=True).click()
    generation = bench.library.get(wait_for_another(page, made)).generation
    assert generation is not None
    assert len(generation.steps) > 1
    expect(page.locator("main")).to_contain_text(generation.steps[0].text)


def test_effects_of_heads_are_measured_and_a_head_is_silenced(bench: Bench, open_page: Open) -> None:
    page = open_page(bench.url)
    fill(page, "decoder")
    first = press_run(page)
    page.get_by_role("tab", name="Effects").click()
    page.get_by_role("button", name="Measure").click()
    heads = bench.library.get(first).maps[0].heads
    expect(page.locator(".effects-grid button[data-confirmed=true]")).to_have_count(2 * heads)
    word = re.compile(r"effects\.word=(?:%23|#)(\d+)")
    expect(page).to_have_url(word)  # the address follows a moment later
    token = int(word.search(page.url)[1])  # type: ignore[index]
    sweep = gf.sweep(
        gf.load(bench.workbench.catalog.find("zoo/decoder").folder), TEXT, outcome=gf.LogProbability(token)
    )
    cell = page.locator('[data-key="decoder.self.1 1"]')
    assert_near(
        float(cell.get_attribute("data-effect") or "nan"), sweep.heads()[1, 1], layers=6, magnitude=32
    )
    cell.click()
    page.get_by_role("tab", name="Overview").click()
    settle(page)  # it listens to keys now
    page.locator(".over-scroll").focus()
    page.keyboard.press("ContextMenu")
    page.get_by_role("menuitem", name="Silence this head").click()
    silenced = bench.library.get(wait_for_another(page, first))
    assert not silenced.maps[1].weights(head=1).any()
    expect(page.locator(".edits-sides dd")).to_have_count(2)
    page.get_by_role("button", name="Undo").click()
    page.wait_for_url(lambda url: find_recording(url) == first)


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_in_views_that_run_a_model(bench: Bench, open_page: Open, dark: bool) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(bench.url, dark=dark)
    fill(page, "decoder")
    press_run(page)
    for view in ("effects", "patching"):
        page.locator(f".pictures [data-name={view}]").click()
        settle(page)
        if view == "effects":
            page.get_by_role("button", name="Measure").click()
            expect(page.locator(".effects-grid button[data-confirmed=true]").first).to_be_visible()
            expect(page.get_by_role("button", name="Measure")).to_be_visible()  # all is here
            rest(page)
        found = Axe().run(page, context={"include": [[".view-host"]]}).response["violations"]
        assert not [(each["id"], [node["target"] for node in each["nodes"]][:4]) for each in found], view
