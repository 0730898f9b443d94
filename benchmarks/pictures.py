"""How soon a drawn digit is classified and its attention shown; how closely the overlay follows the pointer.

In:   a built page, Chromium, Playwright; zoo/digits. `--rounds N` (20), `--moves N` (200).
Out:  two rows for benchmarks/results.md: milliseconds, median and 95 %.

    python benchmarks/pictures.py

Both are measured in the page: from the event of the pointer until the frame in which its result is painted.
The first two strokes are not counted: the worker loads the model.
"""

import argparse
import statistics
import sys
from shutil import which

from playwright.sync_api import Page, sync_playwright
from serving import serving

# The last event of a stroke, then each frame: is its recording open, its class told, its overlay there?
SHOWN = """() => {
    const small = document.createElement('canvas');
    small.width = small.height = 28;
    const context = small.getContext('2d', { willReadFrequently: true });
    const look = () => {
        const overlay = document.querySelectorAll('.patches canvas')[1];
        if (!overlay) return '';
        context.clearRect(0, 0, 28, 28);
        context.drawImage(overlay, 0, 0, 28, 28);
        return context.getImageData(0, 0, 28, 28).data.join();
    };
    window.took = [];
    window.addEventListener('pointerup', ({ target, timeStamp }) => {
        if (target.dataset.part !== 'pad') return;
        const [before, address] = [look(), location.hash];
        const wait = () => requestAnimationFrame(() => {
            const told = document.querySelector('[data-outcome=classes]');
            if (told && location.hash !== address && look() !== before)
                setTimeout(() => window.took.push(performance.now() - timeStamp));
            else wait();
        });
        wait();
    }, { capture: true });
}"""

# Each move over the picture: until the frame after it has been painted.
FOLLOWED = """() => {
    window.followed = [];
    document.querySelector('.patches').addEventListener('pointermove', ({ timeStamp }) =>
        requestAnimationFrame(() => setTimeout(() => window.followed.push(performance.now() - timeStamp))));
    window.script = [];
    const real = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = task => real(now => {
        const start = performance.now(); task(now); window.script.push(performance.now() - start);
    });
}"""


def main() -> None:
    """Serve, draw, point."""
    parser = argparse.ArgumentParser(description="A drawn digit, and the overlay.")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--moves", type=int, default=200)
    arguments = parser.parse_args()
    with serving() as (address, _), sync_playwright() as playwright:
        chromium = which("chromium-headless-shell") or which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900}, locale="en-GB")
        page.goto(address)
        page.locator("[data-field=model]").select_option("zoo/digits")
        draw(page, 0)
        page.locator(".patches").wait_for(timeout=120_000)
        page.evaluate(SHOWN)
        for number in range(1, arguments.rounds + 2):
            draw(page, number)
            page.wait_for_function(f"() => window.took.length === {number}", timeout=60_000)
            page.wait_for_timeout(250)
        print_times("drawn: stroke to attention", page.evaluate("window.took")[1:])
        box = page.locator(".patches").bounding_box()
        assert box is not None
        page.evaluate(FOLLOWED)
        for number in range(arguments.moves):
            across, down = (number * 37 % 97) / 97, (number * 53 % 89) / 89
            page.mouse.move(box["x"] + across * box["width"], box["y"] + down * box["height"])
            page.wait_for_timeout(20)
        print_times("overlay: pointer to painted frame", page.evaluate("window.followed"))
        print_times("overlay: script in each frame", page.evaluate("window.script"))
        browser.close()


def draw(page: Page, number: int) -> None:
    """A stroke, each time another one; every fifth time on an empty pad."""
    if number % 5 == 0 and number > 0:
        page.locator("[data-action=clear-pad]").click()
    pad = page.locator("[data-part=pad]")
    pad.scroll_into_view_if_needed()
    box = pad.bounding_box()
    assert box is not None
    start = 0.2 + 0.12 * (number % 5)
    for part, (x, y) in enumerate([(start, 0.2), (start + 0.1, 0.5), (start - 0.02 * number % 0.1, 0.8)]):
        page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=4)
        if part == 0:
            page.mouse.down()
    page.mouse.up()


def print_times(name: str, numbers: list[float]) -> None:
    """Median and 95 %."""
    ordered = sorted(numbers)
    high = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    sys.stdout.write(
        f"{name}: median {statistics.median(ordered):.1f} ms, 95 % {high:.1f} ms, {len(ordered)} times\n"
    )


if __name__ == "__main__":
    main()
