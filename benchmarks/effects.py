"""Effects in the page: from the choice of a word to estimates of all heads, and to a real pass for each.

    python benchmarks/effects.py

In:   a built page (web/), Chromium, Playwright; zoo/gpt2.
Out:  a row for benchmarks/results.md: medians in seconds. The first word loads the model and is not counted.
"""

import argparse
import re
import statistics
import subprocess
import sys
import time
from datetime import UTC, datetime
from shutil import which

from playwright.sync_api import Page, sync_playwright

HEADS = 48  # of zoo/gpt2


def wait_for(page: Page, confirmed: str) -> None:
    """Until every head has such a number."""
    cells = page.locator(f".effects-grid button{confirmed}")
    while cells.count() < HEADS:
        pass


def choose(page: Page, word: int) -> tuple[float, float]:
    """Seconds to the estimates and to the real passes after a word is chosen."""
    begin = time.perf_counter()
    page.locator("[data-option=word] select").select_option(index=word)
    wait_for(page, "[data-confirmed=false]")
    estimated = time.perf_counter() - begin
    wait_for(page, "[data-confirmed=true]")
    return estimated, time.perf_counter() - begin


def main() -> None:
    """Serve, record, choose one word after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text", default="The cat sat on the")
    parser.add_argument("--words", type=int, default=7)
    options = parser.parse_args()
    command = [sys.executable, "-m", "glassformer", "serve", "--no-browser", "--port", "5123"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        address = re.search(r"http://\S+", server.stdout.readline())
        assert address is not None
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1440, "height": 900}, locale="en-GB")
            page.goto(address[0])
            page.get_by_label("Model", exact=True).select_option("zoo/gpt2")
            page.get_by_label("Text", exact=True).fill(options.text)
            page.get_by_role("button", name="Run model").click()
            page.wait_for_url(re.compile("recording=zoo-gpt2"))
            page.get_by_role("tab", name="Effects").click()
            found = [choose(page, word) for word in range(1, options.words + 1)][1:]
            browser.close()
    finally:
        server.terminate()
        server.wait()
    estimated, confirmed = (statistics.median(each) for each in zip(*found, strict=True))
    today = datetime.now(UTC).date()
    print(
        f"| {today} | {len(options.text.split())} words, {HEADS} heads | {estimated:.2f} | {confirmed:.2f} |"
    )


if __name__ == "__main__":
    main()
