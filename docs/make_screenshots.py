"""The pictures of these documents: the page as it is, drawn by Chromium.

python docs/make_screenshots.py            # needs Playwright and a Chromium; writes docs/images/
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import which

from playwright.sync_api import Page, sync_playwright

import glassformer as gf

IMAGES = Path(__file__).with_name("images")
SENTENCE = "The animal didn't cross the street because it was too tired"


def take(page: Page, address: str, name: str, wait: int = 2500) -> None:
    """One picture."""
    page.goto(address)
    page.reload()
    page.wait_for_timeout(wait)
    page.screenshot(path=IMAGES / f"{name}.png")


def draw_figures() -> None:
    """The figures of docs/how-to/figures.md."""
    text, model = "Where is my umbrella?", gf.load("zoo/translator")
    edit = gf.AblateHead("encoder", "self", 0, head=2)
    recording = gf.record(model, text, target_language="fr")
    edited = gf.record(model, text, recording.target.text, target_language="fr", edits=[edit])
    grid = gf.figure(recording, place="decoder.cross.2", head=[0, 1, 2], width="page", vmax=1)
    grid.save(IMAGES / "figure-grid.png")
    change = gf.figure(recording, "difference", against=edited, place="decoder.cross.2", head=1)
    change.save(IMAGES / "figure-difference.png")


def main() -> None:
    """Record, serve, look."""
    IMAGES.mkdir(exist_ok=True)
    draw_figures()
    with tempfile.TemporaryDirectory() as folder:
        glassformer = [sys.executable, "-m", "glassformer"]
        bundles = {name: Path(folder) / f"{name}.bundle" for name in ("gpt2", "translator", "long")}
        everything = "weights,scores,queries,keys,values,hidden,output"
        texts = {"gpt2": [SENTENCE], "translator": ["Where is my umbrella?", "--target-language", "de"]}
        for name, words in texts.items():
            command = [*glassformer, "record", f"zoo/{name}", *words, "--want", everything]
            subprocess.run([*command, "--output", bundles[name]], check=True)
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


def _take_all(address: str) -> None:
    chromium = which("chromium") or which("chromium-browser") or which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900}, locale="en-GB")
        page.goto(address)
        found = page.evaluate("fetch('api/recordings').then(r => r.json())")
        ids = {entry["title"]["parameters"].get("text"): entry["id"] for entry in found}  # files by name
        shipped = [entry for entry in found if entry["origin"] == "shipped"]
        place = "&".join(f"{name}={value}" for name, value in shipped[0]["selection"].items())
        take(page, f"{address}#recording={shipped[0]['id']}&{place}", "first")
        take(page, f"{address}#recording={ids['gpt2']}&view=overview", "overview")
        translator, cross = f"{address}#recording={ids['translator']}", "place=decoder.cross.2&head=1"
        take(page, f"{translator}&view=heatmap&{cross}", "heatmap")
        take(page, f"{address}#recording={ids['gpt2']}&view=lines&place=decoder.self.2&head=3", "lines")
        take(page, f"{translator}&view=generation", "generation")
        take(page, f"{address}#recording={ids['gpt2']}&view=numbers", "numbers")
        take(page, f"{address}#recording={ids['long']}&view=heatmap", "long", wait=4000)
        browser.close()


if __name__ == "__main__":
    main()
