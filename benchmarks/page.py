r"""How fast the page is: bytes, first paint, switching, hovering, panning, memory; two others beside it.

In:   a built page (web/), Chromium, Playwright; for long texts bundles of `glassformer long`; for the other
      two an interpreter that has bertviz 1.4.1 and circuitsvis, and a folder with the scripts that BertViz
      takes from a CDN (d3.min.js 5.7.0, jquery.min.js 2.1.0, require.js 2.3.6: `npm pack` has them).
Out:  rows for benchmarks/results.md.

    python benchmarks/page.py --recording gpt2-512.bundle --long 8192.bundle 100000.bundle \
        --peers /path/bin/python --scripts folder

The same invented attention (causal softmax, 12 layers x 12 heads) goes to all three.
"""

import argparse
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

LAYERS = HEADS = 12
LIMIT = 240  # seconds a page may take to appear

# Whether a canvas shows anything yet.
DRAWN = """name => {
    const canvas = document.querySelector(name);
    if (!canvas || !canvas.width) return false;
    const small = document.createElement('canvas');
    small.width = small.height = 32;
    const context = small.getContext('2d');
    context.drawImage(canvas, 0, 0, 32, 32);
    return context.getImageData(0, 0, 32, 32).data.some((byte, at) => at % 4 === 3 && byte > 0);
}"""

# From now on, the milliseconds that scripts run in every frame and in every handler of pointers and wheels.
WATCH = """() => {
    window.spent = [];
    const real = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = task => real(now => {
        const start = performance.now(); task(now); window.spent.push(performance.now() - start);
    });
    const add = EventTarget.prototype.addEventListener;
    for (const kind of ['pointermove', 'wheel']) {
        window.addEventListener(kind, () => { window.began = performance.now(); }, { capture: true });
        window.addEventListener(kind, () => { window.spent.push(performance.now() - window.began); });
    }
}"""

# Until the frame that shows the head; a timer that looks for it again and again would miss frames itself.
SWITCH = """async ([from, to]) => {
    const heading = document.querySelector('.heat-heading');
    const before = heading.textContent;
    const start = performance.now();
    const written = new Promise(done => {
        const observer = new MutationObserver(() => {
            if (heading.textContent === before) return;
            observer.disconnect();
            done();
        });
        observer.observe(heading, { subtree: true, childList: true, characterData: true });
    });
    location.hash = location.hash.replace(from, to);
    await written;
    await new Promise(done => requestAnimationFrame(done));
    return performance.now() - start;
}"""


# From now on, how long the page does not listen.
LONG_TASKS = """() => {
    window.tasks = [];
    new PerformanceObserver(list => window.tasks.push(...list.getEntries().map(each => each.duration)))
        .observe({ type: 'longtask' });
    window.painted = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    window.known = async () => {
        const list = document.querySelector('.recordings');
        while (list.getAttribute('aria-busy') !== 'false') await new Promise(done => setTimeout(done, 1));
        await painted();
    };
}"""

OPEN_LIST = """async () => {
    const start = performance.now();
    const chooser = document.querySelector('[data-action=recording]');
    chooser.value = '/';
    chooser.dispatchEvent(new Event('change', { bubbles: true }));
    while (!document.querySelector('.recordings-list [data-recording]'))
        await new Promise(done => setTimeout(done, 1));
    await known();
    return performance.now() - start;
}"""

# One letter more; and how long that takes to be shown, and answered.
TYPE = """async text => {
    const field = document.querySelector('[data-field=recordings]');
    const start = performance.now();
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, text);
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await painted();
    const shown = performance.now() - start;
    await known();
    return { shown, answered: performance.now() - start };
}"""

GROW = """async () => {
    const start = performance.now();
    document.querySelector('[data-action=more-recordings]').click();
    await painted();
    await known();
    return performance.now() - start;
}"""


def invent(tokens: int) -> np.ndarray:
    """Weights (layer, head, query, key): a causal softmax of random scores."""
    random = np.random.default_rng(0)
    weights = np.empty((LAYERS, HEADS, tokens, tokens), dtype=np.float32)
    hidden = np.triu(np.full((tokens, tokens), -np.inf, dtype=np.float32), 1)
    for layer in weights:
        scores = 2 * random.standard_normal((HEADS, tokens, tokens), dtype=np.float32) + hidden
        np.exp(scores - scores.max(axis=-1, keepdims=True), out=layer)
        layer /= layer.sum(axis=-1, keepdims=True)
    return weights


def write_peer(name: str, arrays: Path, page: Path) -> None:
    """In the peers' interpreter: the page that BertViz or CircuitsVis makes."""
    import torch

    weights = torch.from_numpy(np.load(arrays))
    tokens = [f"t{index}" for index in range(weights.shape[-1])]
    if name == "bertviz":
        from bertviz import head_view

        made = head_view(list(weights[:, None]), tokens, html_action="return").data
    else:
        from circuitsvis.attention import attention_heads

        made = attention_heads(attention=weights[0], tokens=tokens).local_src
    page.write_text(f"<!doctype html><meta charset=utf-8><body>{made}", encoding="utf-8")


@contextmanager
def serve(bundles: list[Path], static: Path | None) -> Iterator[tuple[str, list[str]]]:
    """A server over bundles in a process of its own; its address and the ids of the bundles."""
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        port = line.getsockname()[1]
    words = [sys.executable, "-m", "glassformer", "serve", "--no-browser", "--no-models", "--port", str(port)]
    words += ["--static", str(static)] if static else []
    with subprocess.Popen([*words, *map(str, bundles)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1].rstrip("/")
        threading.Thread(target=process.stdout.read, daemon=True).start()
        import urllib.request

        entries = json.load(urllib.request.urlopen(f"{address}/api/recordings"))
        stems = [bundle.stem for bundle in bundles]
        ids = [next((each["id"] for each in entries if each["id"].startswith(stem)), "") for stem in stems]
        yield address, ids
        process.terminate()


class Watched:
    """A page of a fresh browser, its bytes and its memory."""

    def __init__(self, playwright: Any) -> None:
        from shutil import which

        path = (
            which("chromium-headless-shell")
            or which("chromium")
            or which("chromium-browser")
            or which("google-chrome")
        )
        arguments = ["--no-sandbox", "--enable-precise-memory-info"]
        self.browser = playwright.chromium.launch(executable_path=path, args=arguments)
        self.page = self.browser.new_page(viewport={"width": 1440, "height": 900})
        self.page.set_default_timeout(LIMIT * 1000)
        self.wire = 0
        session = self.page.context.new_cdp_session(self.page)
        session.send("Network.enable")
        session.on("Network.loadingFinished", self._count)

    def _count(self, event: dict[str, Any]) -> None:
        self.wire += int(event["encodedDataLength"])

    def memory(self) -> float:
        """MB that the page's process holds for itself."""
        session = self.browser.new_browser_cdp_session()
        most = 0.0
        for process in session.send("SystemInfo.getProcessInfo")["processInfo"]:
            if process["type"] == "renderer":
                text = Path(f"/proc/{process['id']}/smaps_rollup").read_text()
                kinds = [line for line in text.splitlines() if line.startswith(("Private_", "Pss_Anon"))]
                most = max(most, sum(int(line.split()[1]) for line in kinds if "Private" in line) / 1024)
        return most

    def watch_processor(self) -> Callable[[], float]:
        """Milliseconds of processor that the page's main thread has taken since the last time."""
        session = self.page.context.new_cdp_session(self.page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        last = [0.0]

        def read() -> float:
            metrics = {
                each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]
            }
            before, last[0] = last[0], 1000 * metrics["TaskDuration"]
            return last[0] - before

        read()
        return read

    def close(self) -> None:
        self.browser.close()


def measure_ours(playwright: Any, address: str, name: str, pause: float) -> dict[str, float]:
    """Overview first, then every head of every layer in the heat map, then the pointer over one."""
    watched = Watched(playwright)
    page, found = watched.page, {}
    start = time.perf_counter()
    page.goto(f"{address}/#recording={name}&view=overview")
    page.wait_for_function(DRAWN, arg=".over-canvas")
    found["first paint, s"] = time.perf_counter() - start
    found["MB before it"] = watched.wire / 1e6
    described = page.request.get(f"{address}/api/recordings/{name}").json()
    maps = [each["place"]["address"] for each in described["maps"]]
    page.goto(f"{address}/#recording={name}&view=heatmap&place={maps[0]}&head=0")
    page.wait_for_function(DRAWN, arg=".heat-cells canvas")
    spent = []
    shown = [f"place={place}&head={head}" for place in maps for head in range(HEADS)]
    processor = watched.watch_processor()
    for words in pairwise(shown):
        page.wait_for_timeout(pause)
        spent.append(page.evaluate(SWITCH, list(words)))
    found["processor of a switch, ms"] = processor() / len(spent)
    found["switch head, ms (median)"] = statistics.median(spent)
    found["switch head, ms (95 %)"] = sorted(spent)[int(0.95 * len(spent))]
    found["MB for all heads"] = watched.wire / 1e6
    page.evaluate(WATCH)
    box = page.locator(".heat-cells").bounding_box()
    for step in range(60):
        page.mouse.move(box["x"] + 40 + 8 * step, box["y"] + 60 + 6 * step)
        page.wait_for_timeout(16)
    found["hover script, ms (95 %)"] = percentile(page.evaluate("window.spent"), 0.95)
    found["memory, MB"] = watched.memory()
    watched.close()
    return found


def measure_long(playwright: Any, address: str, name: str) -> dict[str, float]:
    """Pan and zoom over a long text, from all of it to single tokens and back."""
    watched = Watched(playwright)
    page = watched.page
    start = time.perf_counter()
    page.goto(f"{address}/#recording={name}&view=heatmap&place=decoder.self.0&head=0")
    page.wait_for_function(DRAWN, arg=".heat-cells canvas")
    found = {"first paint, s": time.perf_counter() - start}
    page.evaluate(WATCH)
    box = page.locator(".heat-cells").bounding_box()
    x, y = box["x"] + 0.3 * box["height"], box["y"] + 0.6 * box["height"]
    page.mouse.move(x, y)
    for step in range(60):
        page.mouse.wheel(0, -200 if step < 40 else 200)
        page.wait_for_timeout(20)
        if step % 5 == 0:
            page.mouse.down()
            for part in range(6):
                page.mouse.move(x + 12 * part, y + 9 * part)
                page.wait_for_timeout(16)
            page.mouse.up()
            page.mouse.move(x, y)
    spent = page.evaluate("window.spent")
    found["frames"] = len(spent)
    found["script, ms (95 %)"] = percentile(spent, 0.95)
    found["longest script, ms"] = max(spent)
    page.wait_for_function("document.querySelector('.heat-plot').getAttribute('aria-busy') === 'false'")
    found["MB over the wire"] = watched.wire / 1e6
    found["memory, MB"] = watched.memory()
    watched.close()
    return found


def measure_list(playwright: Any, address: str) -> dict[str, float]:
    """The list of all recordings: opened, searched letter by letter, then grown to a thousand."""
    watched = Watched(playwright)
    page = watched.page
    page.goto(f"{address}/#view=heatmap")
    page.wait_for_function(DRAWN, arg=".heat-cells canvas")
    page.wait_for_timeout(1000)  # what is fetched when nothing else is to do
    page.evaluate(LONG_TASKS)
    processor = watched.watch_processor()
    opening = page.evaluate(OPEN_LIST)
    opened = processor()
    texts = ("t", "te", "tex", "text", "text 7", "text 77", "text 777", "")
    typed = [page.evaluate(TYPE, text) for text in texts]
    letter = processor() / len(texts)
    grown = []
    while page.locator("[data-action=more-recordings]").count():
        grown.append(page.evaluate(GROW))
    found = {
        "opened, ms": opening,
        "letter, ms until it is in the field (longest)": max(each["shown"] for each in typed),
        "letter, ms until it is answered (longest)": max(each["answered"] for each in typed),
        "grown, ms (longest)": max(grown, default=0.0),
        "task, ms (longest)": page.evaluate("() => Math.max(0, ...window.tasks)"),
        "processor, ms: opened": opened,
        "a letter and its answer": letter,
        "grown, each time": processor() / max(1, len(grown)),
        "entries": page.locator(".recordings-list [data-recording]").count(),
    }
    watched.close()
    return found


def measure_peer(playwright: Any, name: str, file: Path, scripts: Path | None) -> dict[str, float | str]:
    """The page as its library wrote it; addresses of CDNs are answered from a folder."""
    found: dict[str, float | str] = {"page, MB": file.stat().st_size / 1e6}
    if name == "bertviz" and scripts is None:
        return found | {"first paint, s": "not drawn: its scripts come from a CDN (--scripts)"}
    watched = Watched(playwright)
    page = watched.page

    def answer(route: Any) -> None:
        wanted = route.request.url.rsplit("/", 1)[-1].replace("require.min.js", "require.js")
        local = None if scripts is None else scripts / wanted
        route.fulfill(path=local) if local and local.is_file() else route.abort()

    page.route("**://cdnjs.cloudflare.com/**", answer)
    start = time.perf_counter()
    try:
        page.goto(file.as_uri())
        if name == "bertviz":
            page.wait_for_function("() => document.querySelectorAll('svg line').length > 100")
        else:
            page.wait_for_function(DRAWN, arg="canvas")
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        found["first paint, s"] = time.perf_counter() - start
        found["memory, MB"] = watched.memory()
    except Exception as trouble:  # a page that never comes is a result
        found["first paint, s"] = f"not after {LIMIT} s ({type(trouble).__name__})"
    watched.close()
    return found


def percentile(values: list[float], share: float) -> float:
    """The value that a share of them stays below."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def print_row(title: str, found: dict[str, Any]) -> None:
    """One line of a table."""
    parts = [
        f"{key} {value if isinstance(value, str) else format(value, '.4g')}" for key, value in found.items()
    ]
    print(f"| {title} | {' · '.join(parts)} |", flush=True)


def save_list(folder: Path, count: int) -> list[Path]:
    """So many recordings, each of a text of its own."""
    weights = invent(8)[:1]
    files = [folder / f"listed-{number}.bundle" for number in range(count)]
    for number, file in enumerate(files):
        save_recording(weights, file, f"text {number}")
    return files


def save_recording(weights: np.ndarray, path: Path, text: str | None = None) -> None:
    """The weights as a recording of a decoder."""
    from glassformer import bundle
    from glassformer.place import Place
    from glassformer.recording import AttentionMap, Evidence, Recording, Tokens, measure

    count = weights.shape[-1]
    texts = tuple(f"t{index}" for index in range(count)) if text is None else (text,) * count
    tokens = Tokens("source", texts, np.arange(count))
    allowed = np.tril(np.ones((HEADS, count, count), dtype=bool))
    maps = tuple(
        AttentionMap(Place("decoder", "self", number), tokens, tokens, measure(layer, allowed), dense=layer)
        for number, layer in enumerate(weights)
    )
    evidence = Evidence("invented", "0" * 16, "eager", "float32", True, 0.0, "eager")
    bundle.save(Recording(model="invented", evidence=evidence, source=tokens, maps=maps), path)


def read_words() -> argparse.Namespace:
    """What was asked for."""
    look = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=look)
    parser.add_argument("--recording", type=Path, nargs="*", default=[], help="bundles of 12 x 12 heads")
    parser.add_argument("--tokens", type=int, nargs="*", default=[64, 128], help="of invented ones")
    parser.add_argument("--long", type=Path, nargs="*", default=[], help="bundles of long texts")
    parser.add_argument("--pause", type=float, default=33, help="ms between switches; 33: a key is held down")
    parser.add_argument("--list", type=int, default=0, help="recordings in the list of all")
    parser.add_argument("--static", type=Path, help="a page built elsewhere")
    parser.add_argument("--peers", help="an interpreter with bertviz and circuitsvis")
    parser.add_argument("--scripts", type=Path, help="folder with d3.min.js, jquery.min.js, require.js")
    parser.add_argument("--write", nargs=3, metavar=("PEER", "ARRAYS", "PAGE"), help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Measure everything that was asked for."""
    words = read_words()
    if words.write:
        write_peer(words.write[0], Path(words.write[1]), Path(words.write[2]))
        return
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        here = Path(folder)
        invented = [here / f"invented-{tokens}.bundle" for tokens in words.tokens]
        for tokens, file in zip(words.tokens, invented, strict=True):
            weights = invent(tokens)
            save_recording(weights, file)
            np.save(file.with_suffix(".npy"), weights)
        if words.list:
            with serve(save_list(here, words.list), words.static) as (address, _):
                print_row(f"Glassformer, {words.list} recordings", measure_list(playwright, address))
        short = [*invented, *words.recording]
        with serve([*short, *words.long], words.static) as (address, ids):
            for file, name in zip(short, ids, strict=False):
                print_row(f"Glassformer, {file.stem}", measure_ours(playwright, address, name, words.pause))
                if words.peers and file in invented:
                    for peer, what in (("bertviz", "12 x 12"), ("circuitsvis", "1 x 12")):
                        page = here / f"{peer}.html"
                        command = [words.peers, __file__, "--write", peer, file.with_suffix(".npy"), page]
                        subprocess.run([str(word) for word in command], check=True)
                        found = measure_peer(playwright, peer, page, words.scripts)
                        print_row(f"{peer}, {what} heads, {file.stem}", found)
            for file, name in zip(words.long, ids[len(short) :], strict=True):
                print_row(f"Glassformer, {file.stem}", measure_long(playwright, address, name))


if __name__ == "__main__":
    main()
