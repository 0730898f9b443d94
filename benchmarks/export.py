"""The exported file beside BertViz's page: 12 × 12 heads × 256 tokens, written and opened.

    python benchmarks/export.py [--peers PYTHON] [--rounds 5]

Ours: seconds from a recording to the file, its size, and seconds from opening it (file://, network off) to
the first picture. BertViz (where PYTHON has it installed): size of its head view's page, seconds to write it.
Also: seconds of `glassformer --help` and of `import glassformer`.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from shutil import which

import numpy as np
from playwright.sync_api import sync_playwright

from glassformer.place import Place
from glassformer.recording import AttentionMap, Evidence, Recording, Tokens, measure
from glassformer.render.html.export import export

LAYERS, HEADS, TOKENS = 12, 12, 256

BERTVIZ = """
import sys, time, numpy, torch
from bertviz import head_view
weights = torch.tensor(numpy.load(sys.argv[1]))
tokens = [f"t{place}" for place in range(weights.shape[-1])]
begun = time.perf_counter()
page = head_view([each[None] for each in weights], tokens, html_action="return").data
open(sys.argv[2], "w").write(page)
print(time.perf_counter() - begun, len(page))
"""


def invent() -> tuple[Recording, np.ndarray]:
    """Causal attention with sinks, neighbours and noise, as real heads have them."""
    random = np.random.default_rng(0)
    place = np.arange(TOKENS)
    distance = place[:, None] - place
    maps, all_weights = [], []
    tokens = Tokens("source", tuple(f"t{each}" for each in place), place)
    for layer in range(LAYERS):
        scores = (
            random.normal(0, 1.5, (HEADS, TOKENS, TOKENS))
            - 0.02 * random.gamma(2, 1, (HEADS, 1, 1)) * distance
        )
        scores[:, :, 0] += 3
        scores = np.where(distance >= 0, scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights = (weights / weights.sum(-1, keepdims=True)).astype(np.float32)
        place = Place("decoder", "self", layer)
        maps.append(AttentionMap(place, tokens, tokens, measure(weights), dense=weights))
        all_weights.append(weights)
    stamp = Evidence("invented", "0" * 12, "eager", "float32", True)
    return Recording("invented", stamp, tokens, maps=tuple(maps)), np.stack(all_weights)


def open_page(path: Path) -> float:
    """Seconds from navigation to the first picture of heads."""
    chromium = which("chromium") or which("chromium-browser") or which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_context(offline=True).new_page()
        begun = time.perf_counter()
        page.goto(f"{path.as_uri()}#view=overview")
        page.locator(".view-host canvas").first.wait_for()
        seconds = time.perf_counter() - begun
        browser.close()
    return seconds


def clock(*words: str) -> float:
    """Seconds of a command."""
    begun = time.perf_counter()
    subprocess.run(words, check=True, capture_output=True)
    return time.perf_counter() - begun


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", help="a Python that has bertviz")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    recording, weights = invent()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ours.html"
        written, opened = [], []
        for _ in range(arguments.rounds):
            begun = time.perf_counter()
            export(recording, path)
            written.append(time.perf_counter() - begun)
            opened.append(open_page(path))
        size = path.stat().st_size
        print(
            f"ours: written in {statistics.median(written):.2f} s, {size / 1e6:.2f} MB "
            f"({size / weights.size:.2f} bytes a weight), first picture {statistics.median(opened):.2f} s"
        )
        if arguments.peers:
            np.save(Path(folder) / "weights.npy", weights)
            words = [arguments.peers, "-c", BERTVIZ, f"{folder}/weights.npy", f"{folder}/theirs.html"]
            done = subprocess.run(words, check=True, capture_output=True, text=True)
            seconds, length = done.stdout.split()[-2:]
            print(f"BertViz: written in {float(seconds):.2f} s, {int(length) / 1e6:.1f} MB")
    helped = statistics.median(clock(sys.executable, "-m", "glassformer", "--help") for _ in range(5))
    imported = statistics.median(clock(sys.executable, "-c", "import glassformer") for _ in range(5))
    bare = statistics.median(clock(sys.executable, "-c", "pass") for _ in range(5))
    print(f"--help {helped:.2f} s, import {imported:.2f} s (an empty Python {bare:.2f} s)")


if __name__ == "__main__":
    main()
