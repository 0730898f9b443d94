"""How fluid the page of training runs is: 10 runs of 100,000 points, panned and zoomed; a long list of runs.

    python benchmarks/runs_page.py --folder /tmp/runs-page

In:   a built page (web/), Chromium, Playwright; a folder that does not exist yet, with 200 MB of room.
Out:  a table. The folder is removed at the end.
"""

import argparse
import json
import shutil
import statistics
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
from serving import serving

from glassformer.runlog import Event, RunWriter

BATCH = 10_000
FRAMES = 120  # of each gesture

# From now on, milliseconds of script in each frame: handlers of pointers and wheels, and what draws.
WATCH = """() => {
    window.frames_ms = []; let spent = 0;
    const real = window.requestAnimationFrame.bind(window);
    const tick = () => { window.frames_ms.push(spent); spent = 0; real(tick); };
    real(tick);
    window.requestAnimationFrame = task => real(now => {
        const start = performance.now(); task(now); spent += performance.now() - start;
    });
    for (const kind of ['pointermove', 'wheel']) {
        let began = 0;
        window.addEventListener(kind, () => { began = performance.now(); }, { capture: true });
        window.addEventListener(kind, () => { spent += performance.now() - began; });
    }
}"""


def write_runs(folder: Path, runs: int, points: int) -> None:
    """Runs as training writes them, without training."""
    random = np.random.default_rng(0)
    for number in range(runs):
        with RunWriter(folder / f"run{number}") as writer:
            writer.write_event(Event(0, "started", "Go.", time=1.7e9))
            for first in range(1, points + 1, BATCH):
                steps = range(first, min(points + 1, first + BATCH))
                noise = random.standard_normal(len(steps)).tolist()
                writer.write_scalars(
                    (
                        step,
                        {
                            "loss": 2 + 6 * float(np.exp(-step / 2e4)) + 0.2 * each,
                            "norm": 1 + abs(each),
                            "rate": 1e-3 / step**0.5,
                            "tokens": 4096 * step,
                            "time": 1.7e9 + step / 10,
                        },
                    )
                    for step, each in zip(steps, noise, strict=True)
                )
            writer.write_event(Event(points, "finished", "Done.", time=1.7e9 + points / 10))


def drag(page: Any, box: dict[str, float]) -> None:
    """Pan to and fro, one move in each frame."""
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.down()
    for frame in range(FRAMES):
        page.mouse.move(box["x"] + box["width"] * (0.5 + 0.35 * np.sin(frame / 9)), middle)
    page.mouse.up()


def wheel(page: Any, box: dict[str, float]) -> None:
    """Zoom in and out about a point."""
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] / 2)
    page.keyboard.down("Control")
    for frame in range(FRAMES):
        page.mouse.wheel(0, -30 if frame % 40 < 20 else 30)
    page.keyboard.up("Control")


def measure_page(address: str, runs: int) -> None:
    """Print the script of each frame while charts are panned and zoomed."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        ids = ",".join(f"run{number}" for number in range(runs))
        start = time.perf_counter()
        page.goto(f"{address}/#run={ids}&view=curves&curves.at=20000-60000")
        page.wait_for_selector("[data-chart=loss] canvas", timeout=240_000)
        print(f"first picture of {runs} runs: {time.perf_counter() - start:.1f} s")
        page.wait_for_timeout(3000)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        box = page.locator("[data-chart=loss]").bounding_box()
        page.evaluate(WATCH)
        for name, gesture in (("pan", drag), ("zoom", wheel)):
            before = read_script_seconds(session)
            page.evaluate("() => { window.frames_ms.length = 0; }")
            gesture(page, box)
            page.wait_for_timeout(300)
            spent = [each for each in page.evaluate("window.frames_ms") if each > 0.05]
            used = 1000 * (read_script_seconds(session) - before) / max(1, len(spent))
            share = statistics.quantiles(spent, n=20)[-1]
            print(
                f"{name}: {len(spent)} frames; script median {statistics.median(spent):.1f} ms, "
                f"95 % {share:.1f} ms on the clock; mean {used:.1f} ms of the processor"
            )
        browser.close()


def read_script_seconds(session: Any) -> float:
    """Seconds of the processor that scripts have used in the page so far."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "ScriptDuration"))


def measure_list(address: str, count: int) -> None:
    """Print how long the list of many runs takes, at first and again."""
    for name in ("first", "again"):
        start = time.perf_counter()
        answer = urllib.request.urlopen(f"{address}/api/runs").read()
        print(
            f"list of {count:,} runs, {name}: {time.perf_counter() - start:.2f} s, {len(answer) / 1e3:.0f} kB"
        )
        assert len(json.loads(answer)) == count


def main() -> None:
    """Write, serve, measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--listed", type=int, default=1_000)
    arguments = parser.parse_args()
    few, many = arguments.folder / "few", arguments.folder / "many"
    try:
        if arguments.runs:
            write_runs(few, arguments.runs, arguments.points)
            with serving("--no-models", "--runs", str(few)) as (address, _):
                measure_page(address, arguments.runs)
        if not arguments.listed:
            return
        write_runs(many, arguments.listed, 200)
        with serving("--no-models", "--runs", str(many)) as (address, _):
            measure_list(address, arguments.listed)
        with serving("--no-models", "--runs", str(many)) as (address, _):
            print("after the server was started again:")
            measure_list(address, arguments.listed)
    finally:
        shutil.rmtree(arguments.folder, ignore_errors=True)


if __name__ == "__main__":
    main()
