"""The first minute: the page opens on what it shows best, and every example opens exactly at its point."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import Bench, require_page, serve_workbench
from browser.waiting import chosen, measure_overflow, settle
from campaigns import LONG
from glassformer.workbench.gallery import PIECES
from glassformer.workbench.presets import read_presets
from texts import text_of

pytestmark = pytest.mark.browser

PRESETS = {preset.id: preset for preset in read_presets()}
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """The page as it is started, with all that ships."""
    require_page()
    with serve_workbench(tmp_path_factory.mktemp("made")) as bench:
        yield bench


def test_the_page_opens_on_its_best_picture(zoo: Bench, open_page: Open) -> None:
    page = open_page(zoo.url)
    page.wait_for_url(re.compile("recording=red-car"))
    settle(page)
    first = PRESETS[PIECES[0].preset]
    assert first.selection is not None
    assert first.selection.items() <= chosen(page).items()
    expect(page.get_by_role("tab", name="Canvas")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".preset-note")).to_contain_text(text_of(first.point, "en"))
    expect(page.locator("[data-action=preset]")).to_have_value(first.id)
    expect(page.locator(".canvas-readout")).to_contain_text("“voiture” looks at “car”")


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_all_four_panels_are_in_sight_on_a_low_screen(locale: str, zoo: Bench, open_page: Open) -> None:
    page = open_page(zoo.url, width=1280, height=720, locale=locale)
    page.wait_for_url(re.compile("recording=red-car"))
    settle(page)
    expect(page.locator(".preset-note")).to_be_visible()
    for name in ("encoder", "attention", "input", "output"):
        expect(page.locator(f"[data-canvas={name}]")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize(
    ("locale", "layers"),
    [
        ("en-GB", "6 encoder + 3 decoder layers · 8 heads"),
        ("zh-CN", "编码器 6 层 + 解码器 3 层 · 8 个注意力头"),
    ],
)
def test_the_layers_of_both_stacks_are_said(locale: str, layers: str, zoo: Bench, look: Open) -> None:
    page = look(f"{zoo.url}/#recording={zoo.library.find_preset('red-car')}&view=canvas", locale=locale)
    page.locator("[data-field=model]").select_option("zoo/translator")
    expect(page.locator(".field:has([data-field=model]) .hint")).to_contain_text(layers)


def test_a_link_goes_before_the_example(zoo: Bench, look: Open) -> None:
    red_car = zoo.library.find_preset("red-car")
    page = look(f"{zoo.url}/#recording={red_car}&view=heatmap&map=2&head=5")
    settle(page)
    expect(page.get_by_role("tab", name="Heat map")).to_have_attribute("aria-selected", "true")
    place = chosen(page)
    assert (place["view"], place["place"], place["head"]) == ("heatmap", "encoder.self.2", "5")


def test_first_in_chinese_on_a_telephone(zoo: Bench, open_page: Open) -> None:
    page = open_page(zoo.url, width=360, height=740, locale="zh-CN", dark=True)
    expect(page.locator(".preset-note")).to_contain_text(text_of(PRESETS["red-car"].point, "zh"))
    assert measure_overflow(page) <= 0


def _view_of(name: str) -> str:
    return (PRESETS[name].selection or {})["view"]


@pytest.mark.long
def test_every_example_opens_at_its_point(zoo: Bench, open_page: Open) -> None:
    """All in `make test-long`; of each view, the last that ships and the last that runs in `make test`."""
    kinds = {(_view_of(name), zoo.library.find_preset(name) is None): name for name in PRESETS}
    page = open_page(zoo.url)
    settle(page)
    for name in PRESETS if LONG else kinds.values():
        preset = PRESETS[name]
        before = chosen(page)["recording"]
        page.locator("[data-action=preset]").select_option(name)
        shipped = zoo.library.find_preset(name)
        expect(page.locator(".preset-note")).to_contain_text(text_of(preset.point, "en"))
        expect(page.locator("[data-part=progress]")).to_have_count(0)
        expect(page.locator("[data-field=text]")).to_have_value(preset.text)
        if shipped is None:  # it runs now
            page.wait_for_function("(id) => !location.hash.includes(`recording=${id}`)", arg=before)
        page.wait_for_url(re.compile(f"recording={shipped or 'zoo-'}"))
        settle(page)
        assert preset.selection is not None
        assert preset.selection.items() <= chosen(page).items(), name
        recording = zoo.library.get(chosen(page)["recording"])
        assert recording.model == preset.model, name
        assert recording.source.text == preset.text
        expect(page.locator(".view-host")).not_to_be_empty()


def test_the_list_of_recordings_opens_the_example(zoo: Bench, open_page: Open) -> None:
    page = open_page(f"{zoo.url}/#recording={zoo.library.find_preset('red-car')}&view=canvas")
    expect(page.locator(".preset-note")).to_be_visible()
    page.get_by_role("tab", name="Overview").click()
    expect(page.locator(".preset-note")).to_have_count(0)  # it speaks of the canvas
    fox = zoo.library.find_preset("fox")
    assert fox is not None
    page.get_by_role("combobox", name="Recording").select_option(fox)
    page.wait_for_url(re.compile(f"recording={fox}"))
    expect(page.locator(".preset-note")).to_contain_text(text_of(PRESETS["fox"].point, "en"))
    where = PRESETS["fox"].selection
    assert where is not None
    seen = zoo.library.get(fox).map(where["place"]).weights(int(where["head"]))
    weight = seen[int(where["query"]), int(where["key"])]
    expect(page.locator(".view-host")).to_contain_text(f"{weight:.6f}"[:5])  # under the crosshair


@pytest.mark.parametrize(
    ("locale", "place"),
    [
        ("en-GB", "The example speaks of another place: Decoder, layer {}, cross-attention, head {}."),
        ("zh-CN", "这个示例说的是另一处：解码器第 {} 层交叉注意力第 {} 头。"),
    ],
)
def test_at_another_head_or_map_the_note_leads_back(locale: str, place: str, zoo: Bench, look: Open) -> None:
    preset = PRESETS["red-car"]
    assert preset.selection is not None
    words = "&".join(f"{name}={value}" for name, value in preset.selection.items())
    layer, head = preset.selection["place"].rpartition(".")[2], preset.selection["head"]
    page = look(f"{zoo.url}/#recording={zoo.library.find_preset('red-car')}&{words}", locale=locale)
    settle(page)
    point = text_of(preset.point, "zh") if locale == "zh-CN" else text_of(preset.point, "en")
    note = page.locator(".preset-note")
    expect(note).to_contain_text(point)
    for way in (
        f"button[data-head='{'3' if head != '3' else '4'}']",
        f"[data-action={'next' if layer == '0' else 'previous'}-layer]",
        ".segment:has([data-family=encoder-self])",
    ):
        page.locator(way).click()
        settle(page)
        expect(note).to_contain_text(place.format(layer, head))
        expect(note).not_to_contain_text(point)
        note.locator("[data-action=back-to-point]").click()
        settle(page)
        expect(note).to_contain_text(point)
        assert preset.selection.items() <= chosen(page).items()


def looked_at(page: Page, word: str) -> float:
    """The weights that the keys of a word show, added up: a word may be several tokens."""
    keys = page.get_by_role("listbox", name="Key tokens").get_by_role("option").all_inner_texts()
    parts = [key.replace("␣", "").split() for key in keys]  # number, token, weight
    return sum(float(weight) for _, token, weight in parts if token in word)


def test_the_weight_that_a_point_names_is_on_the_page(zoo: Bench, open_page: Open) -> None:
    page = open_page(zoo.url)
    settle(page)
    page.locator("[data-action=preset]").select_option("animal-street")
    said = PRESETS["animal-street"].point.parameters
    expect(page.locator(".view-host")).to_contain_text("it (10) looks at")
    settle(page)
    assert looked_at(page, "animal") == pytest.approx(said["animal"] / 100, abs=0.015)  # rounded weights
    page.locator("[data-action=sight-1]").click()  # the other head that the note speaks of
    expect(page.locator(".view-host")).to_contain_text(f"tired {said['tired'] / 100:.2f}")


def test_every_view_shows_the_first_recording(zoo: Bench, look: Open) -> None:
    page = look(f"{zoo.url}/#recording={zoo.library.find_preset('red-car')}&view=canvas")
    tabs = page.get_by_role("tablist").first.get_by_role("tab")
    expect(tabs.nth(10)).to_be_visible()
    for index in range(tabs.count()):
        tabs.nth(index).click()
        expect(tabs.nth(index)).to_have_attribute("aria-selected", "true")
        settle(page)
        expect(page.locator(".walk-notice")).to_be_hidden()  # the model that the walk runs is busy until then
        expect(page.locator(".view-host")).not_to_be_empty()
        expect(page.get_by_text("cannot show this recording")).to_have_count(0)
