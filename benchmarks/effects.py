"""Effects in the page: from the choice of a word to estimates of all heads, and to a real pass for each.

    python benchmarks/effects.py

In:   a built page (web/), Chromium, Playwright; zoo/gpt2.
Out:  a row for benchmarks/results.md: seconds to estimates and to real passes, and seconds of processor
      (server, worker, browser) for both: median (least, most). The first word loads the model.
"""

import argparse
import os
import re
import statistics
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from shutil import which

from playwright.sync_api import Page, sync_playwright
from serving import serving

HEADS = 48  # of zoo/gpt2


# In the page, so that nothing asks it again and again from outside: seconds until every head has a number.
CHOOSE = """([word, heads]) => new Promise((done) => {
  const begin = performance.now();
  const since = () => (performance.now() - begin) / 1000;
  const count = (how) => document.querySelectorAll(`.effects-grid button[data-confirmed=${how}]`).length;
  let fresh = count("true") === 0; // otherwise numbers of the word before are still there
  let estimated = null;
  const look = () => {
    fresh ||= count("true") === 0;
    if (fresh && estimated === null && count("false") + count("true") === heads) estimated = since();
    if (!fresh || count("true") < heads) return;
    watcher.disconnect();
    done([estimated, since()]);
  };
  const watcher = new MutationObserver(look);
  watcher.observe(document.body, { childList: true, subtree: true, attributes: true });
  const list = document.querySelector("[data-option=word] select");
  list.selectedIndex = word;
  list.dispatchEvent(new Event("change", { bubbles: true }));
  look();
})"""


def read_cpu() -> dict[int, float]:
    """Seconds of processor of each process that this one has started: server, worker and browser."""
    ticks, parents = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            process = int(path.parent.name)
            parents[process], ticks[process] = int(fields[1]), int(fields[11]) + int(fields[12])

    def is_ours(process: int) -> bool:
        parent = parents.get(process, 0)
        return parent == os.getpid() or (parent > 1 and is_ours(parent))

    return {each: ticks[each] / os.sysconf("SC_CLK_TCK") for each in ticks if is_ours(each)}


def choose(page: Page, word: int) -> tuple[float, float, float]:
    """Seconds to the estimates and to the real passes of a word; seconds of processor for both."""
    before = read_cpu()
    estimated, confirmed = page.evaluate(CHOOSE, [word, HEADS])
    used = sum(seconds - before.get(process, 0) for process, seconds in read_cpu().items())
    return estimated, confirmed, used


def main() -> None:
    """Serve, record, choose one word after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text", default="The cat sat on the")
    parser.add_argument("--words", type=int, default=7)
    options = parser.parse_args()
    with serving() as (address, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900}, locale="en-GB")
        page.set_default_timeout(120_000)  # on a busy machine
        page.goto(address)
        page.get_by_label("Model", exact=True).select_option("zoo/gpt2")
        page.get_by_label("Text", exact=True).fill(options.text)
        page.get_by_role("button", name="Run model").click()
        page.wait_for_url(re.compile("recording=zoo-gpt2"))
        page.get_by_role("tab", name="Effects").click()
        page.locator("[data-option=word] select").wait_for()
        found = [choose(page, word) for word in range(1, options.words + 1)][1:]
        browser.close()
    figures = [
        f"{statistics.median(each):.2f} ({min(each):.2f}, {max(each):.2f})"
        for each in zip(*found, strict=True)
    ]
    load = f"load of {os.getloadavg()[0]:.0f}"
    what = f"{len(options.text.split())} words, {HEADS} heads; {load}"
    print(f"| {datetime.now(UTC).date()} | {what} | {' | '.join(figures)} |")


if __name__ == "__main__":
    main()
