"""The shell in a real browser: languages, colours, the address, saving, the keyboard, small screens."""

import gzip
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import STATIC_HERE
from browser.waiting import catch, chosen, measure_overflow, settle
from campaigns import LONG, campaign
from glassformer import bundle
from inventions import invent_decoder

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Page]


# ── first minute ─────────────────────────────────────────────────────────


def test_opens_by_itself_on_a_recording(served: Any, open_page: OpenPage) -> None:
    page = open_page(served.url)
    settle(page)
    page.wait_for_url(re.compile("#recording="))
    (first,) = (each for each in served.library.entries() if each.default)
    assert chosen(page)["recording"] == first.id
    expect(page.locator("[data-action=recording]")).to_have_value(first.id)
    expect(page.locator(".view-host")).not_to_be_empty()
    assert page.locator(".view-host").inner_text().strip()


def test_lists_say_what_they_are_for_at_every_width(served: Any, look: OpenPage) -> None:
    """The open recording and the chosen example often have the same name."""
    page = look(served.address("decoder", view="canvas"))
    label = page.locator(".chooser", has=page.locator("[data-action=recording]")).locator(".chooser-label")
    for width in (360, 1000, 1440):
        page.set_viewport_size({"width": width, "height": 740})
        assert measure_overflow(page) <= 0, width
        box = label.bounding_box()
        assert box is not None, width
        assert box["width"] > 30, "hidden except for screen readers"
        assert box["height"] > 10, width


@campaign(
    ("locale", "tab", "other"),
    [("en-GB", "Interpretability", "可解释性"), ("zh-CN", "可解释性", "Interpretability")],
    sample=[("zh-CN", "可解释性", "Interpretability")],
)
def test_speaks_the_browsers_language_and_remembers_another(
    served: Any, open_page: OpenPage, locale: str, tab: str, other: str
) -> None:
    page = open_page(served.address("decoder"), locale=locale)
    settle(page)
    expect(page.get_by_role("tab", name=tab, exact=True)).to_be_visible()
    assert page.locator("html").get_attribute("lang") == {"en-GB": "en", "zh-CN": "zh"}[locale]
    page.locator("[data-action=language]").click()
    expect(page.get_by_role("tab", name=other, exact=True)).to_be_visible()
    expect(page.get_by_role("tab", name=tab, exact=True)).to_have_count(0)
    page.reload()
    settle(page)
    expect(page.get_by_role("tab", name=other, exact=True)).to_be_visible()


def test_in_chinese_nothing_of_the_shell_is_english(served: Any, look: OpenPage) -> None:
    page = look(served.address("translation", view="canvas"), locale="zh-CN")
    settle(page)
    for panel in ("input", "interpretability", "debugging", "about"):
        page.locator(f".panels [data-name={panel}]").click()
        expect(page.locator(f"[data-panel={panel}]")).not_to_be_empty()
        settle(page)
        labels = page.locator(".panel :is(label, legend, dt, button, summary)").all_inner_texts()
        names = re.compile(r"Glassformer|Hugging Face|τ|API|[\d\W_]+")
        english = [text for text in labels if re.search(r"[A-Za-z]{3}", names.sub(" ", text))]
        assert not english, f"{panel}: {english}"


@campaign("dark", [False, True], sample=[True])
def test_follows_the_systems_colours_until_told_otherwise(
    served: Any, open_page: OpenPage, dark: bool
) -> None:
    page = open_page(served.address("decoder"), dark=dark)
    settle(page)
    first, second = ("dark", "light") if dark else ("light", "dark")
    assert page.locator("html").get_attribute("data-theme") == first
    before = page.evaluate("getComputedStyle(document.querySelector('.stage')).backgroundColor")
    page.locator("[data-action=theme]").click()
    expect(page.locator("html")).to_have_attribute("data-theme", second)
    assert page.evaluate("getComputedStyle(document.querySelector('.stage')).backgroundColor") != before
    page.reload()
    settle(page)
    assert page.locator("html").get_attribute("data-theme") == second


# ── one selection, one address ───────────────────────────────────────────


def test_a_link_reopens_the_exact_view(served: Any, look: OpenPage, open_page: OpenPage) -> None:
    page = look(served.address("translation", view="heatmap"))
    settle(page)
    page.locator("[data-family=decoder-cross]").check()
    page.locator("[data-head='1']").click()
    page.locator("[data-action=step]").fill("3")
    page.wait_for_url(re.compile("query=3"))
    page.locator("[data-name=lines]").click()
    page.wait_for_url(re.compile("view=lines"))
    settle(page)
    again = open_page(page.evaluate("location.href"))
    settle(again)
    assert chosen(again) == chosen(page)
    expect(again.locator("[data-family=decoder-cross]")).to_be_checked()
    expect(again.locator("[data-head='1']")).to_have_attribute("aria-checked", "true")
    expect(again.locator("[data-name=lines]")).to_have_attribute("aria-selected", "true")
    expect(again.locator("[data-action=step]")).to_have_value("3")


def test_the_back_button_undoes_views_and_recordings_not_every_move(served: Any, look: OpenPage) -> None:
    page = look(served.address("decoder", view="overview"))
    settle(page)
    page.locator("[data-name=heatmap]").click()
    for head in (1, 2, 3):
        page.locator(f"[data-head='{head}']").click()
    page.wait_for_url(re.compile("head=3"))
    page.locator("[data-action=recording]").select_option(served.ids["translation"])
    page.wait_for_url(re.compile(served.ids["translation"]))
    page.go_back()
    page.wait_for_url(re.compile("head=3"))
    expect(page.locator("[data-action=recording]")).to_have_value(served.ids["decoder"])
    expect(page.locator("[data-head='3']")).to_have_attribute("aria-checked", "true")
    page.go_back()
    expect(page.locator("[data-name=overview]")).to_have_attribute("aria-selected", "true")
    page.go_forward()
    expect(page.locator("[data-name=heatmap]")).to_have_attribute("aria-selected", "true")


def test_choosing_a_layer_a_head_and_an_average(served: Any, look: OpenPage) -> None:
    page = look(served.address("decoder", view="heatmap"))
    settle(page)
    maps = served.library.get(served.ids["decoder"]).maps
    page.locator("[data-action=next-layer]").click()
    page.wait_for_url(re.compile(r"place=decoder\.self\.1"))
    page.locator("[data-action=layer]").select_option(str(maps[-1].layer))
    page.wait_for_url(re.compile(f"place={re.escape(maps[-1].place.address)}&"))
    expect(page.locator("[data-action=next-layer]")).to_be_disabled()
    page.get_by_role("radio", name="Layer average").click()
    page.wait_for_url(re.compile("head=mean"))
    page.get_by_role("radio", name="Model average").click()
    page.wait_for_url(re.compile("head=model"))
    page.locator("[data-action=reset]").click()
    page.wait_for_url(re.compile(r"place=decoder\.self\.0&head=0$"))


def test_the_weight_in_focus_is_the_recordings(served: Any, look: OpenPage) -> None:
    page = look(served.address("decoder", view="heatmap", map=1, head=2, query=9, key=4))
    settle(page)
    weights = served.library.get(served.ids["decoder"]).maps[1].weights(2, slice(9, 10), slice(4, 5))
    shown = page.locator("[data-weight]")
    expect(shown).to_be_visible()
    assert float(shown.get_attribute("data-weight") or "") == pytest.approx(float(weights.item()), rel=1e-6)


def test_play_walks_through_the_tokens_and_stops_at_the_end(served: Any, look: OpenPage) -> None:
    page = look(served.address("translation", view="heatmap", query=3))
    settle(page)
    catch(page, "[data-action=play]", "Pause")
    expect(page.locator("[data-action=step]")).to_have_value("5")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    page.wait_for_url(re.compile("step=5"))


# ── what can be taken along ──────────────────────────────────────────────


def test_saved_svg_opens_again_with_legend_and_caption(
    served: Any, look: OpenPage, open_page: OpenPage, tmp_path: Path
) -> None:
    page = look(served.address("decoder", view="heatmap", map=1, head=2))
    expect(page.locator(".heat-plot")).to_have_attribute("aria-busy", "false")
    settle(page)
    with page.expect_download() as waiting:
        page.locator("[data-action=save-svg]").click()
    path = tmp_path / "picture.svg"
    waiting.value.save_as(path)
    assert re.fullmatch(
        r"decoder-[\w.-]*heatmap-[\w.-]*layer-1-head-2\.svg", waiting.value.suggested_filename
    )
    root = ElementTree.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    text = " ".join(root.itertext())
    assert served.library.get(served.ids["decoder"]).evidence.model in text
    seen = open_page(path.as_uri())
    box = seen.locator("svg").first.bounding_box()
    assert box is not None
    assert box["width"] > 200
    assert box["height"] > 200
    colours = seen.evaluate(
        "new Set([...document.querySelectorAll('[fill]')].map(e => e.getAttribute('fill'))).size"
    )
    assert colours > 5 or seen.locator("image").count() > 0


def test_saved_png_is_the_same_picture_twice_as_fine(served: Any, look: OpenPage, tmp_path: Path) -> None:
    page = look(served.address("decoder", view="heatmap", map=1, head=2), dark=True)
    expect(page.locator(".heat-plot")).to_have_attribute("aria-busy", "false")
    settle(page)
    with page.expect_download() as svg:
        page.locator("[data-action=save-svg]").click()
    with page.expect_download() as png:
        page.locator("[data-action=save-png]").click()
    data = Path(png.value.path()).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width = int.from_bytes(data[16:20], "big")
    root = ElementTree.parse(svg.value.path()).getroot()
    assert width == pytest.approx(2 * float(re.match(r"[\d.]+", root.attrib["width"])[0]), abs=2)  # type: ignore[index]
    assert len(data) > 5_000  # not one flat colour


def test_the_data_table_and_its_file(served: Any, look: OpenPage) -> None:
    page = look(served.address("decoder", view="heatmap"))
    settle(page)
    page.locator("[data-action=table]").click()
    dialog = page.locator("[data-dialog=table]")
    expect(dialog.locator("tbody tr").first).to_be_visible()
    with page.expect_download() as waiting:
        dialog.locator("[data-action=save-table]").click()
    lines = Path(waiting.value.path()).read_text(encoding="utf-8-sig").splitlines()
    assert len(lines) > 3
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_copied_link_is_the_address(served: Any, open_page: OpenPage) -> None:
    page = open_page(served.address("decoder", view="heatmap", head=1))
    settle(page)
    page.wait_for_url(re.compile(r"place=decoder\.self\.0"))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("[data-action=link]").click()
    expect(page.locator(".message")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.evaluate("location.href")


def test_a_recording_can_be_downloaded(served: Any, look: OpenPage, tmp_path: Path) -> None:
    page = look(served.address("decoder", view="heatmap"))
    settle(page)
    page.locator("[data-name=about]").click()
    with page.expect_download() as waiting:
        page.locator("[data-action=download]").click()
    path = tmp_path / "mine.bundle"
    waiting.value.save_as(path)
    assert len(bundle.open(path).maps) == len(served.library.get(served.ids["decoder"]).maps)


def test_a_recording_can_be_opened_and_removed(served: Any, open_page: OpenPage, tmp_path: Path) -> None:
    bundle.save(invent_decoder(tokens=5, layers=2), tmp_path / "mine.bundle")
    page = open_page(served.address("decoder"))
    settle(page)
    page.locator("[data-name=about]").click()
    with page.expect_file_chooser() as chooser:
        page.locator("[data-action=upload]").click()
    chooser.value.set_files(tmp_path / "mine.bundle")
    page.wait_for_function("id => !location.hash.includes(id)", arg=served.ids["decoder"])
    settle(page)
    expect(page.locator(".token-list summary")).to_contain_text("5 tokens")
    mine = chosen(page)["recording"]
    page.locator("[data-action=remove]").click()
    expect(page.locator(f"[data-action=recording] option[value='{mine}']")).to_have_count(0)
    settle(page)


def test_what_is_no_recording_is_refused_in_a_sentence(
    served: Any, open_page: OpenPage, tmp_path: Path
) -> None:
    page = open_page(served.address("decoder"))
    settle(page)
    page.locator("[data-name=about]").click()
    path = tmp_path / "letter.bundle"
    path.write_text("Dear reader")
    page.locator("[data-field=upload]").set_input_files(path)
    banner = page.locator("[data-banner=trouble]")
    expect(banner).to_contain_text(re.compile(r"\w+ \w+ \w+.*\."))
    banner.get_by_role("button", name="Dismiss").click()
    expect(banner).to_have_count(0)
    page.faults.clear()  # type: ignore[attr-defined]


# ── for everyone ─────────────────────────────────────────────────────────


def test_keyboard_alone_leads_to_another_head(served: Any, open_page: OpenPage) -> None:
    page = open_page(served.address("decoder", view="heatmap"))
    settle(page)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the picture")).to_be_focused()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement?.dataset.head !== undefined"):
            break
    expect(page.locator("[data-head='0']")).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("[data-head='2']")).to_be_focused()
    page.wait_for_url(re.compile("head=2"))
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_view_tabs_are_one_stop_and_arrows_move(served: Any, look: OpenPage) -> None:
    page = look(served.address("decoder", view="canvas"))
    settle(page)
    tabs = page.locator(".pictures [role=tab]")
    assert tabs.evaluate_all("all => all.filter(tab => tab.tabIndex === 0).length") == 1
    second = tabs.nth(1).get_attribute("data-name")
    tabs.first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(f".pictures [data-name={second}]")).to_be_focused()
    page.wait_for_url(re.compile(f"view={second}"))
    page.keyboard.press("Home")
    page.wait_for_url(re.compile("view=canvas"))


def test_where_tabs_do_not_fit_an_arrow_shows_the_others(served: Any, look: OpenPage) -> None:
    page = look(served.address("decoder", view="heatmap"), width=1000)
    settle(page)
    row, tabs = page.locator(".pictures .tab-row"), page.locator(".pictures [role=tab]")
    expect(row).to_have_attribute("data-more", "right")
    expect(tabs.last).not_to_be_in_viewport(ratio=1)
    page.locator(".pictures .tab-more.right").click()
    expect(row).to_have_attribute("data-more", re.compile("left"))
    tabs.last.focus()  # keys: the row follows
    expect(row).to_have_attribute("data-more", "left")
    expect(tabs.last).to_be_in_viewport(ratio=1)


def test_shortcuts_and_their_list(served: Any, open_page: OpenPage) -> None:
    page = open_page(served.address("decoder", view="heatmap"))
    settle(page)
    page.keyboard.press("]")
    page.keyboard.press(".")
    page.wait_for_url(re.compile(r"place=decoder\.self\.1&head=1"))
    page.keyboard.press("a")
    page.wait_for_url(re.compile("head=mean"))
    page.keyboard.press("1")
    page.wait_for_url(re.compile("view=canvas"))
    page.keyboard.press("?")
    dialog = page.locator("[data-dialog=help]")
    expect(dialog).to_be_visible()
    dialog.locator("[data-field=shortcuts]").uncheck()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.keyboard.press("[")
    settle(page)
    assert chosen(page)["place"] == "decoder.self.1"  # switched off


@campaign("width", [360, 768, 1440, 3840], sample=[360])
def test_no_sideways_scrolling_at_any_width(served: Any, look: OpenPage, width: int) -> None:
    page = look(served.address("wide", view="heatmap"), width=width, height=740 if width < 800 else 1200)
    settle(page)
    buttons = page.locator(".toolbar-buttons > button:visible").evaluate_all(
        "all => all.map(button => button.getBoundingClientRect().top)"
    )
    assert len(set(buttons)) == 1, "one row"
    for view in page.locator(".pictures [role=tab]").evaluate_all("all => all.map(tab => tab.dataset.name)"):
        tab = page.locator(f".pictures [data-name={view}]")
        tab.click()
        expect(tab).not_to_be_focused()  # arrow keys are for the view
        expect(page.locator(f".view-host > .view-{view}, [data-notice=does-not-fit]")).to_be_visible()
        assert measure_overflow(page) <= 0, view
    page.locator(".pictures [data-name=heatmap]").click()  # the playground has no panel
    for panel in ("input", "interpretability", "debugging", "about"):
        page.locator(f".panels [data-name={panel}]").click()
        expect(page.locator(f"[data-panel={panel}]")).not_to_be_empty()
        assert measure_overflow(page) <= 0, panel


@pytest.mark.long
@pytest.mark.parametrize("dark", [False, True])
def test_the_shell_is_axe_clean(working: Any, look: OpenPage, dark: bool) -> None:
    """All panels in both colours in `make test-long`; in `make test` two of them in each."""
    from axe_playwright_python.sync_playwright import Axe

    page = look(working.address("translation", view="heatmap", query=2, key=1), dark=dark)
    panels = ("input", "interpretability", "debugging", "about")
    for panel in panels if LONG else panels[dark::2]:
        page.locator(f".panels [data-name={panel}]").click()
        expect(page.locator(f"[data-panel={panel}]")).not_to_be_empty()
        settle(page)
        found = Axe().run(page, context={"exclude": [[".view-host"]]}).response["violations"]
        seen = [(each["id"], [node["target"] for node in each["nodes"]][:4]) for each in found]
        assert not seen, panel


def test_a_view_that_does_not_fit_says_why(served: Any, look: OpenPage) -> None:
    page = look(served.address("long", view="heatmap"))
    settle(page)
    muted = page.locator(".pictures .tab.muted")
    expect(muted.first).to_be_visible()
    muted.first.click()
    notice = page.locator("[data-notice=does-not-fit]")
    expect(notice).to_be_visible()
    assert len(notice.inner_text().split()) > 6


# ── panels ───────────────────────────────────────────────────────────────


def test_interpretability_numbers_are_the_apis_and_follow_tau(served: Any, look: OpenPage) -> None:
    page = look(served.address("decoder", view="heatmap", map=1, head=2))
    settle(page)
    page.locator("[data-name=interpretability]").click()
    entropy = page.locator("[data-metric=entropy] [data-level=head] [data-value]")
    expect(entropy).to_be_visible()
    settle(page)
    answer = page.request.get(
        f"{served.url}/api/recordings/{served.ids['decoder']}/scores/entropy?over=head"
    ).json()
    part = answer["parts"][1]
    assert float(entropy.get_attribute("data-value") or "") == part["values"][2]
    sparse = page.locator(
        "[data-metric=overall_sparsity] [data-level=head], tr[data-metric*=sparsity] [data-level=head]"
    )
    before = sparse.first.inner_text()
    page.locator("[data-field=tau]").fill("0.9")
    page.wait_for_url(re.compile("numbers.tau="))
    expect(sparse.first).not_to_have_text(before)
    page.locator("[data-action=open-numbers]").click()
    page.wait_for_url(re.compile("view=numbers"))


def test_debugging_shows_how_numbers_are_spread(served: Any, look: OpenPage) -> None:
    page = look(served.address("decoder", view="heatmap"))
    settle(page)
    page.locator("[data-name=debugging]").click()
    spread = page.locator("[data-spread=attention]")
    expect(spread.locator("svg rect").first).to_be_attached()
    settle(page)
    assert spread.locator("svg rect").evaluate_all("all => all.some(bar => bar.height.baseVal.value > 10)")
    page.locator("[data-action=open-inside]").click()
    page.wait_for_url(re.compile("view=inside"))


def test_about_shows_the_evidence(served: Any, look: OpenPage) -> None:
    page = look(served.address("decoder", view="heatmap"))
    settle(page)
    page.locator("[data-name=about]").click()
    evidence = served.library.get(served.ids["decoder"]).evidence
    expect(page.locator(".facts")).to_contain_text(evidence.model)
    expect(page.locator(".stamp")).to_be_visible()


# ── when things go wrong ─────────────────────────────────────────────────


def test_a_server_that_goes_and_comes_back(served: Any, open_page: OpenPage) -> None:
    page = open_page(served.address("decoder", view="heatmap"))
    settle(page)
    page.context.set_offline(True)
    page.locator("[data-action=recording]").select_option(served.ids["translation"])
    expect(page.locator("[data-banner=unreachable]")).to_be_visible()
    page.context.set_offline(False)
    expect(page.locator("[data-banner=unreachable]")).to_have_count(0)
    expect(page.locator("[data-action=recording]")).to_have_value(served.ids["translation"])
    page.faults.clear()  # type: ignore[attr-defined]


def test_a_link_to_a_recording_that_is_gone(served: Any, open_page: OpenPage) -> None:
    page = open_page(f"{served.url}/#recording=gone&view=heatmap")
    notice = page.locator("[data-notice=trouble]")
    expect(notice).to_be_visible()
    notice.get_by_role("button", name="Open the first recording").click()
    settle(page)
    page.faults.clear()  # type: ignore[attr-defined]


# ── size ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("locale", "other"), [("en-GB", "zh"), ("zh-CN", "en")])
def test_the_page_is_small(served: Any, open_page: OpenPage, locale: str, other: str) -> None:
    """At most 110 kB gzip of scripts and styles for the shell and its first view, the canvas, which has 40 kB
    at most with what it shares with others; 150 kB with all other views but the lessons, in one language;
    and 1 MB before the first picture. The rest is fetched when it is wanted: dialogs and panels count for
    the shell, as one of them may be open at first."""
    alone = (
        "walk",
        "playground",
        "runs",
        "recipes",
        "training",
        "comparing",
        "atlas",
        "atlases",
        "media",
        "input",
        "patching",
    )  # chunks that are fetched when wanted
    unread = (f"{name}-{other}-" for name in ("words", "later", "more", "people"))
    wanted_later = (*(f"{name}-" for name in alone), *unread)
    parts = [path for path in (STATIC_HERE / "assets").glob("*.*s") if not path.name.startswith(wanted_later)]
    sizes = {path.name: len(gzip.compress(path.read_bytes(), 9)) for path in parts}
    assert 0 < sum(size for name, size in sizes.items() if name.startswith("canvas-")) <= 40_000
    assert sum(size for name, size in sizes.items() if not name.startswith(("later-", "canvas-"))) <= 150_000
    assert sum(size for name, size in sizes.items() if not name.startswith("more-")) <= 110_000
    for part in alone[2:]:  # views of training runs, the form that starts one, the slider of training time
        paths = [
            path for path in (STATIC_HERE / "assets").glob(f"{part}-*") if f"{part}-{other}-" not in path.name
        ]
        assert sum(len(gzip.compress(path.read_bytes(), 9)) for path in paths) <= 40_000
    page = open_page(served.address("wide", view="canvas"), locale=locale)
    settle(page)
    loaded = page.evaluate("performance.getEntriesByType('resource').map(e => [e.name, e.transferSize])")
    assert sum(size for _, size in loaded) <= 1_000_000, loaded
    names = "performance.getEntriesByType('resource').map(e => e.name.split('/').pop())"
    page.wait_for_function(f"() => {names}.some(name => name.startsWith('more-'))")  # the other views
    assert not [name for name in page.evaluate(names) if name.startswith(wanted_later)]


def test_a_page_without_words_says_what_to_do(served: Any, open_page: OpenPage) -> None:
    page = open_page(served.address("decoder"))
    settle(page)
    page.route("**/words-en-*", lambda route: route.abort())
    page.reload()
    expect(page.locator("#glassformer")).to_contain_text("reload")
    page.unroute("**/words-en-*")
    page.faults.clear()  # type: ignore[attr-defined]
    page.reload()
    expect(page.get_by_role("tablist").first).to_be_visible()
