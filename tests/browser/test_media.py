"""A visitor's own picture: drawn in the page, and answered by a model."""

import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from browser.conftest import Bench, require_page, serve_workbench
from browser.test_heatmap import read_pixels
from browser.waiting import measure_height, measure_overflow, settle
from conftest import BuildOnce
from glassformer import bundle, load
from glassformer.media import Waveform
from glassformer.recording import Recording
from media_models import RATE, build_media_zoo, encode_picture, encode_sound

pytestmark = pytest.mark.browser

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def bench(build_once: BuildOnce, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A server with tiny networks that look and listen."""
    require_page()
    zoo = build_once("media_zoo", build_media_zoo)
    with serve_workbench(tmp_path_factory.mktemp("made"), zoo) as bench:
        yield bench


def choose_model(page: Page, name: str) -> None:
    page.locator("[data-field=model]").select_option(f"zoo/{name}")


def shown(page: Page) -> str:
    """The id of the recording that is open."""
    return re.findall(r"recording=([^&]+)", page.url)[0]


def draw_line(page: Page) -> None:
    """From top to bottom, in the middle."""
    pad = page.locator("[data-part=pad]")
    pad.scroll_into_view_if_needed()
    box = pad.bounding_box()
    assert box is not None
    x, y = box["x"] + 0.5 * box["width"], box["y"]
    page.mouse.move(x, y + 0.2 * box["height"])
    page.mouse.down()
    for part in (0.4, 0.6, 0.8):
        page.mouse.move(x, y + part * box["height"])
    page.mouse.up()


def test_a_stroke_is_looked_at_when_it_ends(open_page: Open, bench: Bench) -> None:
    page = open_page(bench.url)
    choose_model(page, "digits")
    draw_line(page)
    expect(page.locator("[data-outcome=classes]")).to_be_visible()
    expect(page.locator(".patches")).to_be_visible()
    expect(page).to_have_url(re.compile("view=picture&place=encoder.self.1&head=mean"))  # its last layer
    first = shown(page)
    recording = bundle.open(bench.library.path(first))
    assert recording.source.picture is not None
    pixels = recording.source.picture.pixels[..., 0]
    ink = pixels > 127  # light on dark, in the middle, as the card of the model says
    assert ink[8:20, 13:15].all()
    assert not ink[:, :10].any()
    assert 0.6 < ink.any(axis=1).mean() < 0.8
    assert first not in [entry.id for entry in bench.library.entries()]
    pad = page.locator("[data-part=pad]")
    box = pad.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + 0.5 * box["height"])
    expect(page).not_to_have_url(re.compile(first))
    drawn = read_pixels(pad)
    assert drawn[len(drawn) // 2, int(0.8 * len(drawn)), 0] == 255  # a dot has no length, and is seen
    page.locator("[data-action=undo-stroke]").click()
    page.locator("[data-action=clear-pad]").click()
    expect(page.locator("button[data-action=run]")).to_be_disabled()


def test_the_keyboard_draws(open_page: Open, bench: Bench) -> None:
    page = open_page(bench.url, width=360, height=740, locale="zh-CN")
    choose_model(page, "digits")
    pad = page.locator("[data-part=pad]")
    pad.focus()
    for key in ("Space", *["ArrowDown"] * 5, "Space"):
        page.keyboard.press(key)
    expect(page.locator("[data-outcome=classes]")).to_be_visible()
    expect(pad).to_have_attribute("aria-label", re.compile("1 笔"))
    assert measure_overflow(page) <= 0
    page.keyboard.press("Delete")
    expect(pad).to_have_attribute("aria-label", re.compile("0 笔"))


def test_a_patch_is_cut_out_of_an_example_and_put_back(open_page: Open, bench: Bench) -> None:
    page = open_page(bench.url)
    choose_model(page, "captioner")
    assert measure_height(page) == 0  # fields scroll in their panel, all of them
    page.locator("[data-action=draw-example]").click()
    expect(page.locator("[data-outcome=caption]")).to_be_visible()
    expect(page).to_have_url(re.compile("view=picture&place=decoder.cross.1"))
    drawn = read_pixels(page.locator("[data-part=pad]"))
    assert tuple(drawn[int(0.9 * len(drawn)), len(drawn) // 2, :3]) == (0x66, 0x21, 0x13)  # a trunk, filled
    first = shown(page)
    box = page.locator(".patches").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 0.4 * box["width"], box["y"] + 0.1 * box["height"])
    page.locator("[data-action=cut-out]").click()
    expect(page.locator("[data-edits='2']")).to_be_visible()
    edited = shown(page)
    assert edited != first
    settle(page)
    image = read_pixels(page.locator(".patches canvas").nth(1))
    side = len(image) / 4  # of a patch
    places = (np.arange(4) + 0.25) * side  # on a diagonal, beside the number
    opaque = [
        [image[int(y) - 3 : int(y) + 4, int(x) - 3 : int(x) + 4, 3].max() for x in places] for y in places
    ]
    assert np.argwhere(np.array(opaque) > 240).tolist() == [[0, 1]]  # crossed out
    recording: Any = bundle.open(bench.library.path(edited))
    patch = recording.source.texts.index("0,1")
    expect(page.locator("[data-edits]")).to_contain_text(f"key {patch} (patch 0,1) hidden")
    for attention_map in recording.maps:
        if attention_map.key.side == "source":
            weights = attention_map.dense.copy()
            if attention_map.kind == "self":
                weights[:, patch, patch] = 0  # a patch may see itself
            assert not weights[:, :, patch].any()
    page.locator("[data-action=undo-edit]").click()
    expect(page).to_have_url(re.compile(first))


DROP = """([data, name, type]) => {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([bytes], name, { type }));
  const target = document.querySelector('.stage');
  for (const event of ['dragover', 'drop'])
    target.dispatchEvent(new DragEvent(event, { bubbles: true, cancelable: true, dataTransfer }));
}"""


@pytest.mark.parametrize(
    ("model", "content", "name", "outcome"),
    [
        ("captioner", encode_picture(), "stroke.png", "caption"),
        ("listener", encode_sound(), "tone.wav", "transcript"),
    ],
)
def test_a_file_that_is_dropped_is_chosen_and_run(
    open_page: Open, bench: Bench, model: str, content: bytes, name: str, outcome: str
) -> None:
    page = open_page(bench.url)
    choose_model(page, model)
    expect(page.locator("button[data-action=run]")).to_be_disabled()
    page.evaluate(DROP, [b64encode(content).decode(), name, ""])
    expect(page.locator("[data-part=chosen]")).to_contain_text(name)
    page.locator("button[data-action=run]").click()
    expect(page.locator(f"[data-outcome={outcome}]")).to_be_visible()
    source: Any = bundle.open(bench.library.path(shown(page))).source
    if source.picture is not None:
        assert (source.picture.pixels[6:22, 14] > 200).all()  # the stroke
    else:
        loudest = np.abs(np.fft.rfft(source.sound.samples)).argmax()
        assert loudest / source.sound.seconds == pytest.approx(440, rel=0.02)  # the tone
    assert shown(page) in [entry.id for entry in bench.library.entries()]


def test_what_is_said_is_heard_at_the_rate_of_the_model(open_page: Open, bench: Bench) -> None:
    page = open_page(bench.url)  # the microphone is the browser's own, which beeps
    choose_model(page, "listener")
    expect(page.locator("[data-action=speak]")).to_be_visible()
    page.evaluate(
        """async () => {
          document.querySelector('[data-action=speak]').click();
          await until(() => document.querySelector('meter'));  // there for two seconds
        }"""
    )
    expect(page.locator("[data-action=speak]")).to_be_visible()  # it has stopped
    expect(page.locator("[data-part=microphone]")).to_have_text(re.compile("Stopped after 2.0 s"))
    expect(page.locator("[data-outcome=transcript]")).to_be_visible()
    sound = bundle.open(bench.library.path(shown(page))).source.sound
    assert sound is not None
    assert sound.rate == RATE
    assert 1.0 < len(sound.samples) / RATE <= 2.0
    assert np.abs(sound.samples.astype(float)).max() > 0.01 * np.iinfo(np.int16).max
    expect(page).to_have_url(re.compile("view=sound&place=decoder.cross.1"))  # words, and where they listen
    assert shown(page) not in [entry.id for entry in bench.library.entries()]


@pytest.mark.slow
def test_the_listener_that_ships_understands_the_example(open_page: Open, tmp_path: Path) -> None:
    with serve_workbench(tmp_path) as shipped:
        page = open_page(shipped.url)
        choose_model(page, "listener")
        for wanted in ("three one four", "zero six eight", "four nine one"):
            page.locator("[data-action=sound-example]").click()
            expect(page.locator("[data-outcome=transcript]")).to_contain_text(wanted)
            recording: Any = bundle.open(shipped.library.path(shown(page)))
            sound = recording.source.sound
            assert " ".join(word.text for word in sound.words) == wanted  # it is known what is said when
            listening = recording.map("decoder", "cross", 1).weights(1)[:3, : len(sound.spans)]
            peaks = sound.spans.mean(axis=1)[listening.argmax(axis=1)]
            inside = sum(
                word.start - 0.08 <= peak <= word.end + 0.08
                for word, peak in zip(sound.words, peaks, strict=True)
            )
            expect(page.locator(".sound-readout")).to_contain_text(f"{inside} of 3 words listen most")
        expect(page).to_have_url(re.compile("view=sound&place=decoder.cross.1&head=1"))  # as its card says
        expect(page.locator(".token-list-token.special")).to_have_text("</s>")  # nothing that was heard


@pytest.mark.parametrize(
    ("model", "example", "view"),
    [("digits", "draw-example", "picture"), ("listener", "sound-example", "sound")],
)
def test_axe_finds_nothing_in_fields_and_views(
    open_page: Open, bench: Bench, model: str, example: str, view: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(bench.url, dark=model == "listener")
    choose_model(page, model)
    page.locator(f"[data-action={example}]").click()
    expect(page.locator(f".view-host > .view-{view}")).to_be_visible()
    for name in (view, "canvas", "text", "lines"):
        page.locator(f".pictures [data-name={name}]").click()
        settle(page)
        found = Axe().run(page).response["violations"]
        assert not [(each["id"], [node["target"] for node in each["nodes"]][:4]) for each in found], name


def test_without_a_microphone_a_sentence_says_what_to_do(open_page: Open, bench: Bench) -> None:
    page = open_page(bench.url)
    refusal = "() => Promise.reject(new DOMException('no', 'NotAllowedError'))"
    page.evaluate(f"() => {{ navigator.mediaDevices.getUserMedia = {refusal}; }}")
    choose_model(page, "listener")
    page.locator("[data-action=speak]").click()
    expect(page.locator("[data-part=microphone]")).to_have_text(re.compile("does not allow the microphone"))
    expect(page.locator("[data-action=speak]")).to_be_enabled()


def open_first_scene(open_page: Open, bench: Bench, recording: Recording) -> np.ndarray:
    """The picture or the sound with which the walk begins, (row, column, red green blue alpha)."""
    added = bench.library.add(recording)
    page = open_page(f"{bench.url}/#recording={added}&view=walk")
    settle(page)
    return read_pixels(page.locator(".walk-media canvas")).astype(int)


def test_the_walk_begins_with_the_picture_cut_into_patches(
    open_page: Open, bench: Bench, build_once: BuildOnce
) -> None:
    pixels = np.random.default_rng(3).integers(0, 256, (28, 28), dtype=np.uint8)
    digits: Any = load(build_once("media_zoo", build_media_zoo) / "digits")
    recording = digits.record(pixels, want=("weights", "trace"))
    image = open_first_scene(open_page, bench, recording)
    middles = (np.arange(4) * 2 + 1) * len(image) // 8  # of 4 × 4 patches
    edges = np.arange(1, 4) * len(image) // 4
    np.testing.assert_array_equal(image[middles][:, middles, 0], pixels[3::7, 3::7])
    assert (image[middles][:, middles, 3] == 255).all()
    assert not image[edges][:, :, 3].any()  # patches stand apart


def test_the_walk_begins_with_the_sound_cut_into_frames(
    open_page: Open, bench: Bench, build_once: BuildOnce
) -> None:
    time = np.arange(RATE) / RATE
    wave = Waveform((0.8 * np.sin(2 * np.pi * 1600 * time) * (time > 0.5)).astype(np.float32), RATE)
    listener: Any = load(build_once("media_zoo", build_media_zoo) / "listener")
    recording = listener.record(wave, want=("weights", "trace"))
    image = open_first_scene(open_page, bench, recording)
    middles = recording.source.sound.spans.mean(axis=1)
    columns = (middles * image.shape[1]).astype(int)  # the sound lasts a second
    painted = (image[:120, columns, 3] > 0).sum(axis=0)
    assert (painted[::2] == 120).all()  # every second frame is shaded
    assert (painted[1::2][middles[1::2] < 0.5] <= 2).all()  # silence is a line
    assert (painted[1::2][middles[1::2] > 0.5] > 100).all()  # five samples are a wave
