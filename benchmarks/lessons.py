r"""How fast the lessons are: the walk and its chapters, its steps, the pages of the playground.

In:   a built page (web/), Chromium, Playwright, the zoo: an encoder, a decoder, an encoder-decoder.
Out:  rows for benchmarks/results.md. The bars: 300 ms from the click until a chapter is drawn, once the
      recording is there; 50 ms of script for a step of the walk.

    python benchmarks/lessons.py [--rounds 3] [--static folder]

1440 × 900, English, motion as the machine has it. The server runs no models: what a chapter of the playground
opens with ships, and a walk is of a recording that kept its trace. Each round is a new browser, so that code
and words are fetched again. Script is what Chromium counts as such (ScriptDuration) from the key until the
step is drawn with the arithmetic of its first cell; frames of its animation are counted one by one.
"""

import argparse
import statistics
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from page import Watched, percentile, print_row, serve

CHAPTER, STEP = 300, 50  # ms: the bars
REVEAL = 900  # ms until the animation of a step is over
WANT = ("weights", "output", "hidden", "queries", "keys", "values", "scores", "trace", "parameters")
TEXTS = {
    "bert": "The animal didn't cross the street because it was too [MASK].",
    "gpt2": "Once upon a time there was a little girl who lived in a small house near the forest.",
    "translator": "She bought a red car and drove it to the sea with her two children.",
}

# From now on, the milliseconds of script in each frame that an animation asks for.
FRAMES = """(() => {
  window.spent = [];
  const real = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (task) => real((now) => {
    const start = performance.now(); task(now); window.spent.push(performance.now() - start);
  });
  window.drawn = () => new Promise((done) => real(() => setTimeout(done)));
})()"""

# Milliseconds from a click until the page shows what was asked for, drawn.
UNTIL = """async ([name, ready]) => {
  const shown = new Function(`return ${ready}`)();
  const before = document.querySelector('.walk')?.dataset.scene;
  const start = performance.now();
  document.querySelector(name).click();
  while (!shown(before)) await window.drawn();
  await window.drawn();
  return performance.now() - start;
}"""

# Whether another scene is drawn, with the arithmetic of its first cell.
WALKED = """(before) => {
  if (document.querySelector('.walk')?.dataset.scene === before) return false;
  const scene = document.querySelector('.walk[data-scene] .walk-scene');
  if (!scene?.firstElementChild || scene.querySelector('[aria-busy=true]')) return false;
  const sums = scene.querySelector('.walk-arithmetic');
  return sums === null || sums.querySelector('h3') !== null;
}"""

# The next step of the walk; what it is called.
FORWARD = """async (ready) => {
  const shown = new Function(`return ${ready}`)();
  const walk = document.querySelector('.walk');
  const before = walk.dataset.scene;
  window.spent.length = 0;
  const key = new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true, cancelable: true });
  document.querySelector('.walk-title').dispatchEvent(key);
  while (!shown(before)) await window.drawn();
  await window.drawn();
  return walk.dataset.scene;
}"""

PLAYED = """() => {
  const view = document.querySelector('.playground-view:not(.asking)');
  const open = view?.querySelector('[data-topic][aria-current=page]');
  if (!open || view.querySelector('.play-head h2')?.textContent !== open.textContent) return false;
  return view.querySelector('.play-figures > *') !== null || view.querySelector('.play-found').textContent;
}"""


class Lesson(Watched):
    """A page on a recording that is drawn, before any lesson was opened."""

    def __init__(self, playwright: Any, address: str, name: str) -> None:
        super().__init__(playwright)
        self.page.add_init_script(FRAMES)
        self.page.goto(f"{address}/#recording={name}&view=overview")
        self.page.wait_for_selector(".stage[aria-busy=false] .over-canvas")
        self.page.wait_for_load_state("networkidle")
        self.session = self.page.context.new_cdp_session(self.page)
        self.session.send("Performance.enable")

    def click(self, name: str, ready: str) -> float:
        """Milliseconds from a click until something is drawn."""
        return float(self.page.evaluate(UNTIL, [name, ready]))

    def open(self, title: str, ready: str) -> float:
        """Milliseconds until a view is drawn for the first time: its code and words are fetched, too."""
        tab = self.page.get_by_role("tab", name=title, exact=True)
        return self.click(f'[id="{tab.get_attribute("id")}"]', ready)

    def script(self) -> float:
        """Milliseconds of script so far."""
        found = self.session.send("Performance.getMetrics")["metrics"]
        return 1000 * next(each["value"] for each in found if each["name"] == "ScriptDuration")


def measure_walk(lesson: Lesson) -> dict[str, list[float]]:
    """The walk itself, then its chapters from the last to the first, then step by step to the end."""
    page, found = lesson.page, defaultdict(list)
    found["opens"].append(lesson.open("Walk", WALKED))
    marks = page.locator(".walk-marks button").count()
    for number in reversed(range(marks)):
        found["chapter"].append(lesson.click(f".walk-marks button:nth-of-type({number + 1})", WALKED))
    last = int(page.locator(".walk-scrub input").get_attribute("max"))
    while int(page.locator(".walk-scrub input").input_value()) < last:
        before = lesson.script()
        page.evaluate(FORWARD, WALKED)
        found["step"].append(lesson.script() - before)
        page.wait_for_timeout(REVEAL)
        found["frame"] += page.evaluate("window.spent")
    return found


def measure_playground(lesson: Lesson) -> dict[str, float]:
    """The playground itself, then each of its topics, the first one last."""
    found = {"opens": lesson.open("Playground", PLAYED)}
    topics = lesson.page.locator("[data-topic]").evaluate_all("(all) => all.map((one) => one.dataset.topic)")
    for topic in (*topics[1:], topics[0]):
        ready = f"() => document.querySelector('[data-topic={topic}][aria-current]') && ({PLAYED})()"
        found[topic] = lesson.click(f"[data-topic={topic}]", ready)
    return found


def tell(values: list[float], bar: float) -> str:
    """Median, 95 %, largest, and whether all are within the bar."""
    high = max(values)
    kept = "" if high <= bar else f", above {bar}"
    return f"{statistics.median(values):.1f} / {percentile(values, 0.95):.1f} / {high:.1f}{kept}"


def record(folder: Path) -> dict[str, Path]:
    """Recordings with every step, by the names of their models."""
    from glassformer import bundle, load

    files = {}
    for name, text in TEXTS.items():
        files[name] = folder / f"{name}-walk.bundle"
        model = load(f"zoo/{name}")
        language = {"target_language": "fr"} if name == "translator" else {}
        bundle.save(model.record(text, want=WANT, **language), files[name])
    return files


def main() -> None:
    """Record, serve, measure, print."""
    look = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=look)
    parser.add_argument("--rounds", type=int, default=3, help="new browsers for each recording")
    parser.add_argument("--static", type=Path, help="a page built elsewhere")
    words = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        files = record(Path(folder))
        played: dict[str, list[float]] = defaultdict(list)
        with serve(list(files.values()), words.static) as (address, ids):
            for model, name in zip(files, ids, strict=True):
                walked: dict[str, list[float]] = defaultdict(list)
                for _ in range(words.rounds):
                    lesson = Lesson(playwright, address, name)
                    for key, times in measure_walk(lesson).items():
                        walked[key] += times
                    lesson.close()
                    lesson = Lesson(playwright, address, name)
                    for topic, time in measure_playground(lesson).items():
                        played[topic].append(time)
                    lesson.close()
                row = {
                    "opens, ms (median / 95 % / max)": tell(walked["opens"], CHAPTER),
                    "chapters, ms": tell(walked["chapter"], CHAPTER),
                    "steps": len(walked["step"]),
                    "script of a step, ms": tell(walked["step"], STEP),
                    "of a frame of its animation, ms": tell(walked["frame"] or [0.0], STEP),
                }
                print_row(f"walk, zoo/{model}", row)
        for topic, times in played.items():
            print_row(f"playground, {topic}", {"ms (median / 95 % / max)": tell(times, CHAPTER)})


if __name__ == "__main__":
    main()
