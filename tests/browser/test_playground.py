"""The playground with a real worker: what is drawn is what the API computes; controls, keys, training."""

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.request import urlopen
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.conftest import Bench, Served
from browser.waiting import catch, rest
from glassformer.api.jobs import JobRequest
from glassformer.messages import Message
from tolerances import shown

pytestmark = pytest.mark.browser

Open = Callable[..., Page]


@dataclass
class Played:
    """A running server that plays."""

    url: str

    def address(self, topic: str, **settings: object) -> str:
        words = "".join(f"&playground.{name}={value}" for name, value in settings.items())
        return f"{self.url}/#view=playground&playground.topic={topic}{words}"

    def ask(self, path: str) -> Any:
        with urlopen(f"{self.url}/api/playground{path}") as answer:
            return json.load(answer)

    def figure(self, path: str, name: str) -> Any:
        figures = self.ask(path)["figures"]
        return next(figure for figure in figures if figure["id"] == name)


@pytest.fixture(scope="module")
def played(bench: Bench) -> Played:
    """With a worker that has started: a run may wait for that for minutes, a question only for a while."""
    job = bench.workbench.submit(
        JobRequest(kind="record", model="zoo/decoder", sequence="text", text="the street")
    )
    while bench.workbench.job(job.id).state in ("queued", "running"):
        time.sleep(0.05)
    return Played(bench.url)


def format_text(message: Any, language: str = "en") -> str:
    return Message.from_json(message).text(language)


def find_figure(page: Page, name: str) -> Locator:
    figure = page.locator(f'[data-figure="{name}"]')
    expect(figure).to_be_visible()  # the first answer starts the worker
    rest(page)
    return figure


def read_numbers(figure: Locator) -> list[str]:
    """The texts inside the cells of a matrix."""
    return figure.locator("svg > .matrix > g:not(.colour-bar) text").all_text_contents()


def test_a_matrix_shows_the_numbers_of_the_api(played: Played, look: Open) -> None:
    page = look(played.address("masks", mask="causal"))
    figure = find_figure(page, "weights")
    answer = played.figure("/masks?mask=causal", "weights")
    cells = [value for row in answer["values"] for value in row]
    written = read_numbers(figure)
    numbers = [value for value in cells if value is not None]
    assert len(written) == len(numbers)
    for text, value in zip(written, numbers, strict=True):
        assert float(text.replace("−", "-")) == pytest.approx(value, abs=0.0051)
    # Later words are hidden: their scores are crossed out, one stroke each.
    strokes = find_figure(page, "scores").locator(".nothing").get_attribute("d") or ""
    scores = played.figure("/masks?mask=causal", "scores")["values"]
    assert strokes.count("M") == sum(value is None for row in scores for value in row)


def test_a_control_changes_picture_sentence_and_address(played: Played, look: Open) -> None:
    page = look(played.address("masks"))
    figure = find_figure(page, "allowed")
    page.get_by_role("radio", name="none", exact=True).check()
    expect(page).to_have_url(re.compile("playground.mask=none"))
    expect(page.locator(".play-found")).to_have_text(format_text(played.ask("/masks?mask=none")["found"]))
    allowed = played.figure("/masks?mask=none", "allowed")["values"]
    yes = sum(value == 1 for row in allowed for value in row)
    expect(figure.locator("text", has_text="✓")).to_have_count(yes)
    page.reload()
    expect(page.get_by_role("radio", name="none", exact=True)).to_be_checked()
    expect(page.locator(".play-found")).to_have_text(format_text(played.ask("/masks?mask=none")["found"]))


def test_a_slider_asks_when_it_rests(played: Played, look: Open) -> None:
    page = look(played.address("scaling"))
    find_figure(page, "variance")
    asked: list[str] = []
    page.on(
        "request", lambda request: asked.append(request.url) if "/api/playground/" in request.url else None
    )
    slider = page.locator('[data-parameter="width"] input')
    slider.focus()
    for _ in range(3):
        slider.press("ArrowRight")
    expect(page).to_have_url(re.compile("playground.width=9"))
    expect(page.locator(".play-found")).to_have_text(format_text(played.ask("/scaling?width=9")["found"]))
    rest(page)
    assert asked[-1].endswith("width=9")
    number = len(asked)
    slider.press("ArrowLeft")
    slider.press("ArrowRight")
    rest(page)
    expect(page.locator(".asking")).to_have_count(0)
    assert sum(url.endswith("width=9") for url in asked) == 1, (
        f"remembered, not asked again: {asked[number:]}"
    )


def test_pointer_and_arrow_keys_read_numbers(played: Played, look: Open) -> None:
    page = look(played.address("masks", mask="none"))
    figure = find_figure(page, "weights")
    values = played.figure("/masks?mask=none", "weights")["values"]
    svg = figure.locator("svg")
    svg.focus()
    svg.press("ArrowRight")
    svg.press("ArrowRight")
    svg.press("ArrowDown")
    read = figure.locator(".play-readout")
    expect(read).not_to_be_empty()
    rest(page)
    assert float(read.inner_text().split(": ")[1]) == shown(values[1][1])
    cell = figure.locator("svg .play-ring").bounding_box()
    assert cell
    before = read.inner_text()
    page.mouse.move(cell["x"] + cell["width"] / 2, cell["y"] + 3 * cell["height"] / 2)
    expect(read).not_to_have_text(before)
    assert float(read.inner_text().split(": ")[1]) == shown(values[2][1])


def test_topics_by_keyboard_and_both_languages(played: Played, look: Open) -> None:
    page = look(played.address("masks"), locale="zh-CN")
    find_figure(page, "weights")
    topics = played.ask("")
    names = [topic["name"] for topic in topics]
    buttons = page.locator(".play-topics button")
    assert buttons.all_text_contents() == [format_text(topic["title"], "zh") for topic in topics]
    page.locator('[data-topic="masks"]').focus()
    page.keyboard.press("ArrowDown")
    after = names[names.index("masks") + 1]
    expect(page.locator(f'[data-topic="{after}"]')).to_be_focused()
    expect(page).to_have_url(re.compile(f"playground.topic={after}"))
    rest(page)
    words = page.locator(".play-page").inner_text()
    assert re.search(r"[\u4e00-\u9fff]", words)
    for label in ("Why it matters", "Change", "Answered in"):
        assert label not in words


@pytest.mark.parametrize(("width", "height"), [(360, 740), (1440, 900), (3840, 2160)])
def test_nothing_leaves_the_page_at_any_size(played: Played, look: Open, width: int, height: int) -> None:
    page = look(played.address("positions"), width=width, height=height, dark=True)
    find_figure(page, "codes")
    room = page.evaluate(
        "(() => { const e = document.querySelector('.view-host'); return [e.scrollWidth, e.clientWidth]; })()"
    )
    assert room[0] <= room[1]
    for figure in page.locator(".play-figure svg").all():
        box = figure.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


def test_training_is_watched_and_stopped(played: Played, open_page: Open) -> None:
    page = open_page(played.address("output", steps=20))
    curve = find_figure(page, "loss")
    page.get_by_role("button", name="Train it now").click()
    state = page.locator(".play-training .play-state")
    expect(state).to_have_text("Trained: 20 steps.")
    expect(curve.locator("circle")).to_have_count(21)
    expect(page.get_by_role("button", name="Train again")).to_be_visible()
    catch(page, ".play-training button", "Stop")
    page.evaluate("document.querySelector('.play-training button').click()")
    expect(state).to_have_text(re.compile(r"Stopped after step \d+\."))


def test_training_starts_before_the_first_answer(played: Played, open_page: Open) -> None:
    page = open_page(played.address("output", steps=12, seed=3))
    page.get_by_role("button", name="Train it now").click()
    expect(page.locator(".play-training .play-state")).to_have_text("Trained: 12 steps.")
    expect(find_figure(page, "loss").locator("circle")).to_have_count(13)
    expect(page.locator(".play-trouble")).to_be_hidden()


def test_opening_a_topic_computes_nothing_and_computing_again_does(played: Played, open_page: Open) -> None:
    page = open_page(played.address("masks"))
    find_figure(page, "weights")
    evidence = page.locator(".play-evidence span")
    expect(evidence).to_have_text("Computed beforehand by the project's own code.")
    page.get_by_role("button", name="Compute again").click()
    expect(evidence).to_have_text(re.compile(r"Answered in .+ s by the project's own code\."))


def test_while_a_model_runs_it_waits_and_computes_by_itself(
    bench: Bench, played: Played, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as running:
        running.setattr(bench.workbench.store, "count_unfinished", lambda: 1)
        page = open_page(played.address("masks", mask="causal"))
        trouble = page.locator(".play-trouble")
        expect(trouble).to_contain_text("This is computed as soon as it has ended.")
        expect(trouble.get_by_role("button", name="Try again")).to_be_visible()
        expect(page.locator(".play-figure")).to_have_count(0)
    find_figure(page, "weights")  # nobody has clicked
    expect(trouble).to_be_hidden()
    assert all("429" in fault for fault in page.faults)  # type: ignore[attr-defined]
    page.faults.clear()  # type: ignore[attr-defined]


def test_a_slider_names_the_words_of_the_sentence(played: Played, look: Open) -> None:
    page = look(played.address("heads"))
    find_figure(page, "heads")
    words = played.ask("/heads")["ranges"]["query"]["labels"]
    slider = page.locator('[data-parameter="query"] input')
    expect(slider).to_have_attribute("max", str(len(words) - 1))
    expect(page.locator('[data-parameter="query"] output')).to_have_text(f"10: {words[10]}")
    desk, field = (
        page.locator(each).bounding_box() for each in (".play-controls", '[data-parameter="text"]')
    )
    assert desk
    assert field
    assert field["width"] > 0.9 * desk["width"], "a text takes its row"


def test_what_belongs_to_a_recording_is_away_while_one_plays(served: Served, look: Open) -> None:
    page = look(served.address("decoder", view="playground"))
    find_figure(page, "table")
    panel, transport = page.locator(".panel"), page.locator(".transport")
    expect(panel).to_be_hidden()
    expect(transport).to_have_count(0)
    page.get_by_role("tab", name="Heat map").click()
    expect(panel).to_be_visible()
    expect(transport).to_be_visible()


def test_picture_and_table(played: Played, look: Open) -> None:
    page = look(played.address("masks", mask="both"))
    find_figure(page, "weights")
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG").click()
    picture = download.value.path().read_text("utf-8")
    ElementTree.fromstring(picture)  # well-formed
    topic = next(each for each in played.ask("") if each["name"] == "masks")
    assert format_text(topic["title"]) in picture
    assert "✓" in picture
    assert "&lt;pad&gt;" in picture


def test_without_a_workbench_the_first_settings_are_there(served: Served, open_page: Open) -> None:
    link = {"view": "playground", "playground.topic": "masks", "playground.mask": "none"}
    page = open_page(served.address("decoder", **link))
    figure = find_figure(page, "weights")
    expect(page.locator(".play-hint")).to_contain_text("Without a model")
    expect(page.get_by_role("radio", name="both", exact=True)).to_be_checked()
    expect(page.get_by_role("radio", name="both", exact=True)).to_be_disabled()
    assert len(read_numbers(figure)) == 25
    # Before the page knows that nothing runs here it may ask for what the link says, and is refused.
    page.faults[:] = [fault for fault in page.faults if "playground/masks?mask=none" not in fault]  # type: ignore[attr-defined]


def test_keys_leave_the_recording_behind_it_alone(played: Played, look: Open) -> None:
    page = look(played.address("masks"))
    find_figure(page, "weights")
    before = page.evaluate("() => location.hash")
    for key in (".", ",", "]", "[", "a", "m", "p"):
        page.locator(".play-page").press(key)
    rest(page)
    assert page.evaluate("() => location.hash") == before
    page.locator(".play-page").press("1")  # views are still chosen by their numbers
    expect(page.get_by_role("tab", name="Canvas", exact=True)).to_have_attribute("aria-selected", "true")
