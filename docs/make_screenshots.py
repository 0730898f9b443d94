"""The pictures of these documents: the page as it is, drawn by Chromium.

python docs/make_screenshots.py            # needs Playwright and a Chromium; writes docs/images/
"""

import io
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import which

from PIL import Image
from playwright.sync_api import Page, sync_playwright

import glassformer as gf

IMAGES = Path(__file__).with_name("images")


def keep(picture: bytes, name: str) -> None:
    """Write a picture in 256 colours: a third of the bytes, and no difference that is seen."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    image.quantize(256, dither=Image.Dither.NONE).save(IMAGES / f"{name}.png", optimize=True)


def take(page: Page, address: str, name: str) -> None:
    """One picture of the page."""
    page.goto(address)
    page.reload()
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(4000)  # tiles are drawn after they have come
    keep(page.screenshot(), name)


def draw_figures() -> None:
    """The figures of docs/how-to/figures.md."""
    text, model = "Where is my umbrella?", gf.load("zoo/translator")
    edit = gf.AblateHead("encoder", "self", 0, head=2)
    recording = gf.record(model, text, target_language="fr")
    edited = gf.record(model, text, recording.target.text, target_language="fr", edits=[edit])
    grid = gf.figure(recording, place="decoder.cross.2", head=[0, 1, 2], width="page", vmax=1)
    keep(grid.encode("png"), "figure-grid")
    change = gf.figure(recording, "difference", against=edited, place="decoder.cross.2", head=1)
    keep(change.encode("png"), "figure-difference")


def main() -> None:
    """Record, serve, look."""
    IMAGES.mkdir(exist_ok=True)
    draw_figures()
    with tempfile.TemporaryDirectory() as folder:
        glassformer = [sys.executable, "-m", "glassformer"]
        bundles = {name: Path(folder) / f"{name}.bundle" for name in ("translator", "long")}
        everything = "weights,scores,queries,keys,values,hidden,output"
        words = ["zoo/translator", "Where is my umbrella?", "--to", "de", "--want", everything]
        subprocess.run([*glassformer, "record", *words, "--output", bundles["translator"]], check=True)
        subprocess.run([*glassformer, "long", "--tokens", "20000", "--output", bundles["long"]], check=True)
        server = subprocess.Popen(
            [*glassformer, "serve", *bundles.values(), "--no-browser", "--port", "5111"],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert server.stdout is not None
            address = re.search(r"http://\S+", server.stdout.readline())
            assert address is not None
            _take_all(address[0])
        finally:
            server.terminate()
            server.wait()


def _take_effects(page: Page, address: str) -> None:
    """Effects of every head of zoo/gpt2, for docs/how-to/causes.md."""
    page.goto(address)
    page.get_by_label("Model", exact=True).select_option("zoo/gpt2")
    page.get_by_label("Text", exact=True).fill("The cat sat on the")
    page.get_by_role("button", name="Run model").click()
    page.wait_for_url(re.compile("recording=zoo-gpt2"))
    page.get_by_role("tab", name="Effects").click()
    page.get_by_role("button", name="Measure").click()
    page.get_by_role("button", name="Lines").wait_for()  # of every edge: all is measured
    keep(page.screenshot(), "effects")


def _take_picture(page: Page, address: str) -> None:
    """A drawn seven, for docs/tutorial.md and docs/how-to/pictures-and-sound.md."""
    page.goto(address)
    page.get_by_label("Model", exact=True).select_option("zoo/digits")
    page.get_by_role("button", name="Example").click()
    page.locator(".patches").wait_for()
    page.wait_for_timeout(1000)
    keep(page.screenshot(), "picture")


def _take_caption(page: Page, address: str) -> None:
    """A tree and its caption, with the foot of its trunk cut out, for docs/how-to/pictures-and-sound.md."""
    page.goto(address)
    page.get_by_label("Model", exact=True).select_option("zoo/captioner")
    page.get_by_role("button", name="Example").click()
    box = page.locator(".patches").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 0.95 * box["height"])
    page.get_by_role("button", name="Cut this patch out").click()
    page.locator("[data-edits]").wait_for()
    page.wait_for_timeout(1000)
    keep(page.screenshot(), "caption")


def _take_sound(page: Page, address: str) -> None:
    """A synthetic voice that says three digits, for docs/how-to/pictures-and-sound.md."""
    page.goto(address)
    page.get_by_label("Model", exact=True).select_option("zoo/listener")
    page.get_by_role("button", name="Example").click()
    page.locator(".sound-chart").wait_for()
    page.wait_for_timeout(1000)
    keep(page.screenshot(), "sound")


def _take_all(address: str) -> None:
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(which, names)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900}, locale="en-GB")
        page.goto(address)
        found = page.evaluate("fetch('api/recordings').then(r => r.json())")
        ids = {entry["title"]["parameters"].get("text"): entry["id"] for entry in found}  # files by name
        shipped = [entry for entry in found if entry["origin"] == "shipped"]
        chosen = {name: value for name, value in shipped[0]["selection"].items() if name != "view"}
        first = f"{address}#recording={shipped[0]['id']}"
        words = "&".join(f"{name}={value}" for name, value in chosen.items())
        take(page, f"{first}&view=canvas&{words}", "canvas")
        all_rows = f"place={chosen['place']}&head={chosen['head']}"  # no word in focus
        take(page, f"{first}&view=lines&{all_rows}", "first")
        cross = "view=heatmap&place=decoder.cross.2&head=1"
        take(page, f"{address}#recording={ids['translator']}&{cross}", "heatmap")
        take(page, f"{address}#recording={ids['long']}&view=heatmap", "long")
        take(page, f"{address}#study=gpt2&view=atlas&place=decoder.self.5&head=1", "atlas")
        _take_effects(page, address)
        _take_picture(page, address)
        _take_caption(page, address)
        _take_sound(page, address)
        browser.close()


if __name__ == "__main__":
    main()
