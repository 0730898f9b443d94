"""Another language or other colours in the middle of something: it goes on, and nothing is lost."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import Bench, Served, serve
from browser.waiting import chosen, rest, settle
from glassformer import bundle
from glassformer.api.jobs import JobRequest
from glassformer.api.library import Library
from inventions import invent_decoder
from rehearsal import Rehearsal

pytestmark = pytest.mark.browser

Open = Callable[..., Page]


def speak(page: Page, language: str = "zh") -> None:
    page.locator("[data-action=language]").click()
    expect(page.locator("html")).to_have_attribute("lang", language)
    settle(page)


def darken(page: Page) -> None:
    """As the system does in the evening: nobody clicks, and nothing loses the focus."""
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    settle(page)


@pytest.fixture
def rerunning(served: Served, tmp_path: Path) -> Iterator[tuple[str, Rehearsal]]:
    """A recording whose model can run again, on a workbench that ends when it is told to."""
    library = Library(tmp_path / "library")
    ids = []
    for text in ("before", "after"):
        path = library.new_path()
        bundle.save(invent_decoder(), path)
        ids.append(library.adopt(path, request=JobRequest(kind="record", model="toy", text=text)))
    rehearsal = Rehearsal(ids[1])
    with serve(library, rehearsal) as url:
        yield f"{url}/#recording={ids[0]}&view=inside&inside.part=multiplier&query=4", rehearsal
    library.close()


def test_a_run_with_other_scores_goes_on(rerunning: tuple[str, Rehearsal], open_page: Open) -> None:
    address, rehearsal = rerunning
    page = open_page(address)
    settle(page)
    page.locator(".again button").first.click()
    rehearsal.reached = 3
    state = page.locator(".again .note")
    expect(state).to_contain_text("running")
    speak(page)
    darken(page)
    expect(state).to_contain_text("正在重新运行")
    rehearsal.ends = "done"
    expect(page.locator(".result .outline")).to_have_attribute("d", re.compile("^M"))
    expect(state).to_contain_text("重新运行")
    found = state.get_attribute("data-difference")
    speak(page, "en")  # what came of it stays, too
    expect(page.locator(".result .outline")).to_have_attribute("d", re.compile("^M"))
    expect(state).to_have_attribute("data-difference", found or "")
    assert len(rehearsal.requests) == 1
    assert not rehearsal.cancelled.is_set()


def click_both(page: Page, *selectors: str) -> None:
    """In the same breath: nothing can have come in between."""
    page.evaluate("names => names.forEach(name => document.querySelector(name).click())", list(selectors))


def test_a_training_goes_on(bench: Bench, open_page: Open) -> None:
    page = open_page(f"{bench.url}/#view=playground&playground.topic=output&playground.steps=20")
    state = page.locator(".play-training .play-state")
    expect(page.locator('[data-figure="loss"]')).to_be_visible()
    settle(page)
    click_both(page, ".play-training button", "[data-action=theme]", "[data-action=language]")
    expect(state).to_have_text("训练完成：共 20 步。")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator('[data-figure="loss"] circle')).to_have_count(21)
    speak(page, "en")  # what was trained is still there
    expect(state).to_have_text("Trained: 20 steps.")
    expect(page.get_by_role("button", name="Train again")).to_be_visible()
    trainings = [job for job in bench.workbench.jobs() if job.kind == "play"]
    assert [job.state for job in trainings] == ["done"]


def test_a_sentence_that_is_being_typed_stays(bench: Bench, open_page: Open) -> None:
    page = open_page(f"{bench.url}/#view=playground&playground.topic=heads")
    field = page.locator(".phrase input")
    field.fill("The animal was")
    field.press("End")
    field.press_sequentially(" ti")
    darken(page)
    expect(field).to_have_value("The animal was ti")
    expect(field).to_be_focused()
    field.press("Enter")
    speak(page)
    expect(page.locator(".phrase input")).to_have_value("The animal was ti")
    assert chosen(page)["playground.text"] == "The animal was ti"


def test_the_walk_plays_on(served: Served, open_page: Open) -> None:
    page = open_page(served.address("shipped", view="walk"))
    settle(page)
    page.get_by_label("Speed").select_option("4")
    page.evaluate(
        """async () => {
          const step = () => new URLSearchParams(location.hash.slice(1)).get('walk.step');
          const play = () => document.querySelector('.walk-play');
          play().click();
          await until(step);
          document.querySelector('[data-action=language]').click();
          await until(() => play()?.textContent === '暂停');
          const here = step();
          await until(() => step() !== here && play()?.ariaPressed === 'true');
          play().click();
        }"""
    )
    expect(page.locator(".walk-play")).to_have_text("播放")
    expect(page.get_by_label("速度")).to_have_value("4")


def test_layers_play_on_and_the_cloud_stays_where_it_was(served: Served, open_page: Open) -> None:
    page = open_page(served.address("wide", view="embeddings"))
    settle(page)
    cloud = page.locator(".cloud canvas")
    page.locator("[data-action=zoom-in]").click()
    page.locator("[data-action=zoom-in]").click()
    box = cloud.bounding_box()
    assert box is not None
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 80, middle[1] + 30, steps=4)
    page.mouse.up()
    page.mouse.move(5, 5)
    rest(page)
    drawn = "canvas => canvas.toDataURL()"  # not a screenshot: that has the frame's round corners, too
    before = cloud.evaluate(drawn)
    speak(page)
    speak(page, "en")
    assert cloud.evaluate(drawn) == before
    page.evaluate(
        """async () => {
          const find = (text) =>
            [...document.querySelectorAll('button')].find((each) => each.textContent === text);
          find('Play the layers').click();
          document.querySelector('[data-action=language]').click();
          await until(() => find('停止'));
        }"""
    )
    page.wait_for_url(re.compile("embeddings.layer=[2-9]"))


def test_a_map_that_was_just_moved_stays_there(served: Served, open_page: Open) -> None:
    page = open_page(served.address("wide", view="heatmap"))
    settle(page)
    page.locator("[data-action=zoom-in]").click()
    page.locator("[data-action=zoom-in]").click()
    click_both(page, "[data-action=zoom-in]", "[data-action=theme]")  # the link has not followed yet
    settle(page)
    moved = chosen(page)["heatmap.at"]
    page.locator("[data-action=zoom-out]").click()
    settle(page)
    assert chosen(page)["heatmap.at"] != moved
    page.locator("[data-action=zoom-in]").click()
    settle(page)
    assert chosen(page)["heatmap.at"] == moved


def test_what_is_scrolled_and_unfolded_stays(served: Served, open_page: Open) -> None:
    page = open_page(served.address("wide", view="numbers"))
    settle(page)
    page.locator(".numbers-view details summary").first.click()

    scrolled: list[Any] = page.evaluate(
        """() => [...document.querySelectorAll('.view-host, .view-host *')].filter(
          (each) => each.scrollHeight > each.clientHeight + 40
            && /auto|scroll/.test(getComputedStyle(each).overflowY)
        ).map((each) => { each.scrollTop = 37; return each.className; })"""
    )
    assert scrolled

    rest(page)
    speak(page)
    expect(page.locator(".numbers-view details").first).to_have_attribute("open", "")
    script = """(names) => names.every((name) =>
      [...document.querySelectorAll('.view-host, .view-host *')].some(
        (each) => each.className === name && Math.abs(each.scrollTop - 37) < 2))"""
    page.wait_for_function(script, arg=scrolled)


def test_open_dialogs_and_panels_stay(served: Served, open_page: Open) -> None:
    page = open_page(served.address("decoder", view="lines", query=3))
    settle(page)
    page.locator("[data-action=table]").click()
    expect(page.locator("[data-dialog=table] caption")).to_be_visible()
    words = page.locator("[data-dialog=table] tbody tr").all_inner_texts()
    darken(page)
    expect(page.locator("[data-dialog=table]")).to_be_visible()
    expect(page.locator("[data-dialog=table] tbody tr")).to_have_text(
        [re.sub(r"\s+", "", each) for each in words]
    )
    page.keyboard.press("Escape")
    expect(page.locator("[data-dialog=table]")).to_have_count(0)
    assert chosen(page)["query"] == "3"
