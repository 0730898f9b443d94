"""Generation: words, chances, attention and beams as they were recorded; words as they come."""

import asyncio
import re
import threading
import xml.etree.ElementTree as ElementTree
from collections.abc import AsyncIterator, Callable, Iterator
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from browser.conftest import Bench, serve
from browser.waiting import catch, measure_overflow, rest
from browser.waiting import settle as settle_view
from glassformer import bundle
from glassformer.api.description import describe_step
from glassformer.api.jobs import Event, Job, JobRequest, WorkerState
from glassformer.api.library import Library
from glassformer.recording import Alternative, Generation, Output, Recording, Step, Tokens
from inventions import invent_evidence, invent_map, invent_tokens

pytestmark = pytest.mark.browser

Open = Callable[..., Page]
SAID = ("<s>", "le", " chat", " dort", " bien")  # ids are places


def choices(*shares: float) -> tuple[Alternative, ...]:
    return tuple(Alternative(90 + place, f" w{place}", log(share)) for place, share in enumerate(shares))


def node(index: int, token: int, share: float, **words: Any) -> Step:
    text = SAID[token] if token < len(SAID) else f" w{token}"
    return Step(index, token, text, log(share), choices(0.2, 0.1, 0.05), **words)


STEPS = (node(0, 1, 0.5), node(1, 2, 0.25), node(2, 3, 0.75), node(3, 4, 0.9))
NODES = (
    node(0, 1, 0.5, beam=0, score=log(0.5)),
    node(0, 7, 0.3, beam=1, score=log(0.3)),
    node(1, 2, 0.25, beam=0, parent=0, score=log(0.125)),
    node(1, 8, 0.2, beam=1, parent=1, score=log(0.06)),
    node(2, 3, 0.75, beam=0, parent=2, score=log(0.09)),
    node(2, 9, 0.5, beam=1, parent=3, score=log(0.03)),
    node(3, 4, 0.9, beam=0, parent=4, score=log(0.08)),
)


def invent_written() -> Recording:
    """A translation whose four words were written step by step, by beam search."""
    left = invent_tokens("source", 6)
    right = Tokens("target", SAID, np.arange(5), special=np.arange(5) == 0)
    maps = []
    for layer in range(2):
        maps.append(invent_map("encoder", layer, "self", left, left, 3))
        maps.append(invent_map("decoder", layer, "self", right, right, 3, causal=True))
        maps.append(invent_map("decoder", layer, "cross", right, left, 3))
    return Recording(
        model="writer",
        evidence=invent_evidence(),
        source=left,
        target=right,
        maps=tuple(maps),
        generation=Generation(STEPS, NODES, "beam"),
    )


def invent_encoder(kind: str) -> Recording:
    special = np.array([True, False, True, False])
    side = Tokens("source", ("[CLS]", "good", "[MASK]", "."), np.arange(4), special=special)
    shares = np.log(np.tile([0.625, 0.25, 0.125], (1 if kind == "classes" else 4, 1))).astype(np.float32)
    ids = np.arange(3) + (np.zeros((1, 1), int) if kind == "classes" else 10 * np.arange(4)[:, None])
    vocabulary = {int(each): f"word{each}" for each in ids.flatten()}
    return Recording(
        model=kind,
        evidence=invent_evidence(),
        source=side,
        maps=(invent_map("encoder", 0, "self", side, side, 2),),
        output=Output("encoder", ids, shares, vocabulary, kind=kind),  # type: ignore[arg-type]
    )


class Reciter:
    """A workbench that recites the same text, a word at a time."""

    def __init__(self, recording: str) -> None:
        self.recording = recording
        self.requests: list[JobRequest] = []
        self.go_on = threading.Event()
        self.cancelled = False

    def models(self) -> list[Any]:
        return []

    presets = jobs = models

    keeps_jobs = False

    def measure_workers(self) -> list[WorkerState]:
        return []

    def warm_up(self) -> None:
        pass

    def submit(self, request: JobRequest, owner: str | None = None) -> Job:
        self.requests.append(request)
        return self.job("1")

    def job(self, id: str) -> Job:
        state = "cancelled" if self.cancelled else "running"
        words = {"share": None, "detail": None, "recording": None, "model": "writer"}
        return Job(id=id, kind="generate", state=state, stage="running", created=0.0, **words)  # type: ignore[arg-type]

    def cancel(self, id: str) -> Job:
        self.cancelled = True
        return self.job(id)

    async def events(self, id: str) -> AsyncIterator[Event]:
        yield Event(name="progress", data={"stage": "running", "share": 0.5, "detail": "2/4"})
        for step in STEPS[:2]:
            yield Event(name="step", data=describe_step(step).model_dump(mode="json"))
        while not self.go_on.is_set() and not self.cancelled:
            await asyncio.sleep(0.02)
        if self.cancelled:
            yield Event(name="cancelled", data={})
        else:
            yield Event(name="done", data={"recording": self.recording})

    def close(self) -> None:
        pass


Reciting = tuple[str, Reciter, str]


@pytest.fixture(scope="module")
def written(served: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The recordings of this file, added to those that are served."""
    folder = tmp_path_factory.mktemp("written")
    for name, recording in {
        "written": invent_written(),
        "classes": invent_encoder("classes"),
        "masks": invent_encoder("tokens"),
    }.items():
        bundle.save(recording, folder / f"{name}.bundle")
        served.ids[name] = served.library.open_file(folder / f"{name}.bundle")
    return served


def settle(page: Page) -> None:
    settle_view(page)
    expect(page.locator(".generation .bars-row").first).to_be_visible()
    settle_view(page)


def bars(page: Page) -> list[tuple[str, float]]:
    """Words and how long their bars are, as a share of their track."""
    script = """rows => rows.map(row => {
      const [text, track] = row.children;
      const wide = element => element.getBoundingClientRect().width;
      return [text.textContent, wide(track.firstChild) / wide(track)];
    })"""
    found: list[tuple[str, float]] = page.locator(".bars-row").evaluate_all(script)
    return found


def darkness(page: Page, text: int) -> np.ndarray:
    script = """element => [...element.querySelectorAll('.passage-token')].map(span => {
      const part = getComputedStyle(span).backgroundColor.match(/[\\d.]+/g).map(Number);
      return part[3] === 0 ? 0 : 765 - part[0] - part[1] - part[2];
    })"""
    return np.array(page.locator(".generation .passage").nth(text).evaluate(script))


def test_words_stand_in_order_with_their_chances(written: Any, look: Open) -> None:
    page = look(written.address("written", view="generation"))
    settle(page)
    assert page.locator(".words-word bdi").all_inner_texts() == ["le", "␣chat", "␣dort", "␣bien"]
    script = "all => all.map(each => parseFloat(each.querySelector('.words-line').style.width))"
    assert page.locator(".words-word").evaluate_all(script) == pytest.approx([50, 25, 75, 90], abs=1e-3)
    assert page.locator("form.decoding").count() == 0  # no workbench: the form is hidden, and why is said
    expect(page.locator(".generation-note").first).to_contain_text("no model behind this page")


def test_bars_of_a_step_are_as_long_as_its_chances(written: Any, look: Open) -> None:
    page = look(written.address("written", view="generation", map=2, query=1))  # the second word
    settle(page)
    found = bars(page)
    assert [text for text, _ in found] == ["␣chat", "␣w0", "␣w1", "␣w2"]
    assert [share for _, share in found] == pytest.approx([0.25, 0.2, 0.1, 0.05], abs=0.01)
    expect(page.locator(".bars-row[data-chosen]")).to_contain_text("25.0 %")
    expect(page.locator(".generation-where")).to_have_text("step 2 of 4")


def test_texts_are_coloured_by_where_the_model_looked(written: Any, look: Open) -> None:
    page = look(written.address("written", view="generation", map=5, head=1, query=2))
    settle(page)
    maps = written.library.get(written.ids["written"]).maps
    cross, self_ = maps[5].weights(1)[2], maps[4].weights(1)[2]
    source, target = darkness(page, 0), darkness(page, 1)
    assert np.all(np.diff(source[np.argsort(cross)]) >= 0)
    assert np.all(np.diff(target[np.argsort(self_[:3])]) >= 0)
    assert target[3:].tolist() == [0, 0]  # not read yet
    later = page.locator(".generation .passage").nth(1).locator("[data-later]").all_inner_texts()
    assert later == ["bien"]
    expect(page.locator(".generation-layer")).to_have_text("layer 1, head 1")


def test_opening_the_view_turns_to_the_decoder(written: Any, look: Open) -> None:
    page = look(written.address("written", view="generation", map=0))
    settle(page)
    expect(page).to_have_url(re.compile(r"place=decoder\.cross\.0"))


def test_slider_words_keyboard_and_play_walk_through_the_steps(written: Any, look: Open) -> None:
    page = look(written.address("written", view="generation", map=2, query=0))
    settle(page)
    page.locator(".words-word").nth(2).click()
    expect(page).to_have_url(re.compile("query=2"))
    page.locator(".generation-written .words").focus()
    page.keyboard.press("ArrowLeft")
    expect(page).to_have_url(re.compile("query=1"))
    page.locator(".generation-transport input").focus()
    page.keyboard.press("Home")
    expect(page.locator(".generation-where")).to_have_text("step 1 of 4")
    catch(page, ".generation-play", "Pause")
    expect(page.locator(".generation-where")).to_have_text("step 4 of 4")
    expect(page.locator(".generation-play")).to_have_text("Play")
    expect(page.locator(".words-word").nth(3)).to_have_attribute("aria-selected", "true")


def test_the_tree_can_be_clicked_and_walked(written: Any, look: Open) -> None:
    page = look(written.address("written", view="generation", map=2, query=0))
    settle(page)
    nodes = page.locator(".tree-node")
    assert nodes.count() == len(NODES)
    kept = page.locator(".tree-node[data-kept]").evaluate_all("all => all.map(each => +each.dataset.node)")
    assert kept == [0, 2, 4, 6]
    texts = page.locator(".tree-score").all_text_contents()
    assert texts == [f"{each.score:.2f}".replace("-", "−") for each in NODES]
    page.locator(".tree-node[data-node='5']").click()
    expect(page.locator(".generation-path")).to_contain_text("␣w7 ␣w8 ␣w9")
    expect(page).to_have_url(re.compile("generation.node=5"))
    expect(page.locator(".generation-looked h2")).to_contain_text("dropped")
    settle(page)
    assert bars(page)[0][1] == pytest.approx(0.5, abs=0.01)
    page.reload()
    settle(page)
    expect(page.locator(".tree-node[data-node='5']")).to_have_attribute("aria-selected", "true")
    page.locator(".tree").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("query=3"))
    expect(page).not_to_have_url(re.compile("generation.node"))


def test_the_view_can_be_zoomed_and_the_tree_scrolls(written: Any, look: Open) -> None:
    page = look(written.address("written", view="generation", map=2, query=3))
    settle(page)
    expect(page.locator("[data-action=step]")).to_have_count(0)  # the view has the only slider of time
    page.locator(".tree").focus()
    before = page.locator(".tree-node").first.bounding_box()
    page.keyboard.press("+")
    settle(page)
    after = page.locator(".tree-node").first.bounding_box()
    assert before
    assert after
    assert after["width"] == pytest.approx(1.25 * before["width"], rel=0.05)
    for _ in range(4):
        page.keyboard.press("+")
    settle(page)
    page.locator(".tree").evaluate("tree => { tree.scrollLeft = 0; }")
    start = page.locator(".tree-node").first.bounding_box()
    page.locator(".tree").evaluate("tree => { tree.scrollLeft = 20; }")
    moved = page.locator(".tree-node").first.bounding_box()
    assert start
    assert moved
    assert moved["x"] == pytest.approx(start["x"] - 20 * 1.25**5, abs=2)
    page.locator("[data-action=fit]").click()
    settle(page)
    fitted = page.locator(".tree-node").first.bounding_box()
    assert fitted
    assert fitted["width"] == pytest.approx(before["width"], rel=0.01)


def test_classes_and_masked_words(written: Any, look: Open) -> None:
    page = look(written.address("classes", view="generation"))
    settle(page)
    assert [text for text, _ in bars(page)] == ["word0", "word1", "word2"]
    assert [share for _, share in bars(page)] == pytest.approx([0.625, 0.25, 0.125], abs=0.01)
    page = look(written.address("masks", view="generation"))
    settle(page)
    assert bars(page)[0][0] == "word20"  # the masked position comes first
    page.locator(".generation [data-token='1']").click()
    expect(page.locator(".bars-text").first).to_have_text("word10")
    expect(page).to_have_url(re.compile("query=1"))


def test_the_saved_picture_has_bars_words_and_tree(written: Any, look: Open, tmp_path: Path) -> None:
    page = look(written.address("written", view="generation", map=2, query=1))
    settle(page)
    with page.expect_download() as download:
        page.locator("button:has-text('SVG')").click()
    path = tmp_path / "generation.svg"
    download.value.save_as(path)
    tree = ElementTree.parse(path)
    lengths = [
        float(each.get("width", 0)) / float(each.get("data-share", 1))
        for each in tree.iter("{http://www.w3.org/2000/svg}rect")
        if each.get("data-share")
    ]
    assert len(lengths) == 4
    assert max(lengths) - min(lengths) < 0.5  # in proportion
    text = " ".join(each.text or "" for each in tree.iter("{http://www.w3.org/2000/svg}text"))
    assert "␣w9" in text
    assert "writer" in text


def test_a_narrow_screen_in_chinese(written: Any, look: Open) -> None:
    address = written.address("written", view="generation", map=2, query=1)
    page = look(address, width=360, height=740, locale="zh-CN", dark=True)
    settle(page)
    assert measure_overflow(page) <= 0
    expect(page.locator(".generation-where")).to_have_text("第 2 步，共 4 步")


@pytest.fixture
def reciting(served: Any, tmp_path: Path) -> Iterator[Reciting]:
    """A server of its own whose workbench recites: its address, the workbench, the recording that comes."""
    library = Library(tmp_path / "library")
    ids = []
    for text in ("before", "after"):
        path = library.new_path()
        bundle.save(invent_written(), path)
        ids.append(library.adopt(path, request=JobRequest(kind="record", model="writer", text=text)))
    reciter = Reciter(ids[1])
    with serve(library, reciter) as url:
        yield f"{url}/#recording={ids[0]}&view=generation&map=2", reciter, ids[1]
    library.close()


def test_words_come_one_by_one_and_the_new_recording_is_opened(reciting: Reciting, open_page: Open) -> None:
    address, reciter, after = reciting
    page = open_page(address)
    settle(page)
    form = page.locator("form.decoding")
    form.get_by_label("Method").select_option("sampling")
    expect(form.get_by_label("Beams")).to_be_hidden()
    form.locator("[name=max_new_tokens]").fill("4")
    form.get_by_label("Temperature").fill("0.5")
    form.get_by_label("Seed").fill("7")
    page.locator("form.decoding button[type=submit]").click()
    expect(page.locator(".generation-live .words-word bdi")).to_have_text(["le", "␣chat"])
    expect(page.locator(".decoding-said")).to_contain_text("Writing")
    request = reciter.requests[0]
    assert request.kind == "generate"
    assert request.text == "before"
    assert request.decode is not None
    wanted = {
        "method": "sampling",
        "max_new_tokens": 4,
        "temperature": 0.5,
        "top_k": 50,
        "top_p": 1,
        "seed": 7,
    }
    assert request.decode.model_dump(exclude_none=True) == wanted
    reciter.go_on.set()
    expect(page).to_have_url(re.compile(f"recording={after}"))
    expect(page.locator(".generation-live")).to_be_hidden()
    settle(page)


def test_predicting_can_be_cancelled(reciting: Reciting, open_page: Open) -> None:
    address, reciter, _ = reciting
    page = open_page(address + "&generation.predict=1")  # as the shell's button asks for it
    expect(page.locator(".generation-live .words-word")).to_have_count(2)
    page.locator("form.decoding").get_by_role("button", name="Cancel").click()
    expect(page.locator(".decoding-said")).to_have_text("Cancelled.")
    rest(page)  # the page does not wait for the server to hear of it
    assert reciter.cancelled
    expect(page).not_to_have_url(re.compile("generation.predict"))


def test_fields_keep_what_is_out_of_range_from_being_sent(reciting: Reciting, open_page: Open) -> None:
    address, reciter, _ = reciting
    page = open_page(address)
    settle(page)
    form = page.locator("form.decoding")
    form.locator("[name=max_new_tokens]").fill("0")
    page.locator("form.decoding button[type=submit]").click()
    expect(form.locator("[name=max_new_tokens]:invalid")).to_be_focused()  # nothing is sent
    settle(page)
    assert reciter.requests == []


def switch(page: Page) -> None:
    """Another language, then other colours: the view is mounted anew, twice."""
    page.locator("[data-action=language]").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    settle(page)
    page.locator("[data-action=theme]").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    settle(page)


def test_predicting_outlives_another_language_and_other_colours(reciting: Reciting, open_page: Open) -> None:
    address, reciter, after = reciting
    page = open_page(address)
    settle(page)
    form = page.locator("form.decoding")
    form.locator("[name=method]").select_option("sampling")
    form.locator("[name=temperature]").fill("0.5")
    form.locator("[type=submit]").click()
    words = page.locator(".generation-live .words-word bdi")
    expect(words).to_have_text(["le", "␣chat"])
    form.locator("[name=seed]").fill("")  # half typed: no number yet
    switch(page)
    expect(words).to_have_text(["le", "␣chat"])
    expect(form.get_by_role("button", name="取消")).to_be_visible()
    expect(page.locator(".decoding-said")).to_contain_text("正在写")
    expect(form.locator("[type=submit]")).to_be_disabled()
    expect(form.locator("[name=temperature]")).to_have_value("0.5")
    expect(form.locator("[name=seed]")).to_have_value("")
    assert not reciter.cancelled
    reciter.go_on.set()
    expect(page).to_have_url(re.compile(f"recording={after}"))
    settle(page)
    assert len(reciter.requests) == 1


def test_a_prediction_is_cancelled_in_the_language_it_is_shown_in(
    reciting: Reciting, open_page: Open
) -> None:
    address, reciter, _ = reciting
    page = open_page(address + "&generation.predict=1")
    expect(page.locator(".generation-live .words-word")).to_have_count(2)
    switch(page)
    page.locator("form.decoding").get_by_role("button", name="取消").click()
    expect(page.locator(".decoding-said")).to_have_text("已取消。")
    rest(page)
    assert reciter.cancelled
    page.locator("[data-action=language]").click()
    expect(page.locator(".decoding-said")).to_have_text("Cancelled.")


def test_a_prediction_goes_on_behind_another_tab(reciting: Reciting, open_page: Open) -> None:
    address, reciter, after = reciting
    page = open_page(address + "&generation.predict=1")
    expect(page.locator(".generation-live .words-word")).to_have_count(2)
    page.get_by_role("tab", name="Heat map").click()
    settle_view(page)
    page.get_by_role("tab", name="Generation").click()
    settle(page)
    expect(page.locator(".generation-live .words-word")).to_have_count(2)
    page.get_by_role("tab", name="Heat map").click()
    settle_view(page)
    reciter.go_on.set()
    expect(page).to_have_url(re.compile(f"recording={after}.*view=heatmap"))
    settle_view(page)
    assert not reciter.cancelled


def test_another_recording_ends_the_prediction(reciting: Reciting, open_page: Open) -> None:
    address, reciter, after = reciting
    page = open_page(address + "&generation.predict=1")
    expect(page.locator(".generation-live .words-word")).to_have_count(2)
    page.locator("[data-action=recording]").select_option(after)
    expect(page).to_have_url(re.compile(f"recording={after}"))
    expect(page.locator(".generation-live")).to_be_hidden()
    settle(page)
    assert reciter.cancelled


def test_a_prediction_behind_another_view_is_seen_and_can_be_stopped(
    reciting: Reciting, open_page: Open
) -> None:
    address, reciter, _ = reciting
    page = open_page(address + "&generation.predict=1")
    expect(page.locator(".generation-live .words-word")).to_have_count(2)
    behind = page.locator("[data-background-run=generation]")
    expect(behind).to_have_count(0)  # it is seen in its own place
    for view in ("Heat map", "Playground"):
        page.get_by_role("tab", name=view).click()
        expect(behind).to_contain_text("Generation runs on behind this view · Running · 2/4")
        behind.get_by_role("button", name="Show").click()
        expect(page.locator(".generation-live .words-word")).to_have_count(2)
        expect(behind).to_have_count(0)
    page.get_by_role("tab", name="Heat map").click()
    settle_view(page)
    page.locator("[data-action=language]").click()
    expect(behind).to_contain_text("仍在后台运行")
    behind.get_by_role("button", name="取消").press("Enter")
    expect(behind).to_have_count(0)
    expect(page.get_by_role("tab", selected=True).first).to_be_focused()
    rest(page)
    assert reciter.cancelled
    page.get_by_role("tab", name="生成").click()
    expect(page.locator(".decoding-said")).to_have_text("已取消。")
    expect(page.locator("form.decoding [type=submit]")).to_be_enabled()
    # The playground may have asked while the model was busy (409); it asks again later.
    page.faults[:] = [fault for fault in page.faults if "409" not in fault]  # type: ignore[attr-defined]


def test_a_prediction_that_another_window_stops_did_not_fail(reciting: Reciting, open_page: Open) -> None:
    address, reciter, _ = reciting
    page = open_page(address + "&generation.predict=1")
    expect(page.locator(".generation-live .words-word")).to_have_count(2)
    reciter.cancel("1")
    expect(page.locator(".decoding-said")).to_have_text("Cancelled.")
    expect(page.locator("form.decoding [type=submit]")).to_be_enabled()


def test_a_branch_by_a_listed_word_is_in_the_tree_and_in_the_link(bench: Bench, open_page: Open) -> None:
    page = open_page(bench.url)
    run = {"model": "zoo/decoder", "text": "the animal was too tired", "decode": {"max_new_tokens": 3}}
    job = page.request.post(f"{bench.url}/api/jobs", data={"kind": "generate", **run}).json()["id"]
    page.request.get(f"{bench.url}/api/jobs/{job}/events")  # ends with the job
    root = page.request.get(f"{bench.url}/api/jobs/{job}").json()["recording"]
    page.goto(f"{bench.url}/#recording={root}&view=generation")
    page.locator(".generation-written .words-word").nth(1).click()
    row = page.locator(".bars-row:not([data-chosen])").first
    word = row.locator(".bars-text").inner_text()
    row.locator(".bars-track").click()  # the whole row is a button
    form = page.locator(".branch-form")
    expect(form.get_by_label("Word")).to_have_value(word)
    form.get_by_label("Name").fill("mine")
    form.get_by_role("button", name="Branch").click()

    def check(page: Page) -> None:
        expect(page.locator(".branch-go")).to_have_text(["First text", "mine"])
        expect(page.locator(".branch-go[aria-current]")).to_have_text("mine")
        expect(page.locator(".generation-where")).to_have_text("step 2 of 3")
        expect(page.locator(".generation-written .words-word bdi").nth(1)).to_have_text(word)
        expect(page.locator(".branch-table caption")).to_have_text("The texts part at step 2.")

    check(page)
    check(open_page(page.url))
    page.get_by_role("button", name="Rename").click()
    page.keyboard.type("yours")  # the field has the focus, and its name is selected
    page.keyboard.press("Enter")
    expect(page.locator(".branch-go")).to_have_text(["First text", "yours"])
