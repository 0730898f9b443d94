"""Firefox: every view opens on a recording that ships, without an error, and draws something."""

import json
import os
import subprocess
import sys
import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import pytest
from PIL import Image

from atlases.invented import invent_atlas
from browser.conftest import serve, serve_workbench
from browser.test_picture import COLUMNS, ROWS, expected, read_covers
from browser.test_runs import training
from browser.waiting import COUNT, PATIENCE
from conftest import BuildOnce
from glassformer.api.library import Library
from glassformer.workbench import LocalTrainer, TrainerSettings
from inventions import invent_captioner, invent_listener
from machine import find_firefox
from media_models import build_media_zoo

pytestmark = [pytest.mark.firefox, pytest.mark.first]

WEB = Path(__file__).parents[2] / "web"
VIEWS = sorted(path.parent.name for path in (WEB / "src" / "views").glob("*/view.ts"))
SENSED = {"picture": invent_captioner, "sound": invent_listener}  # views of what is no text
MEASURE = {"effects", "patching"}  # without a model that can be run they say so, and draw nothing
POINTED = ((0, 0), (0, 4), (1, 2), (2, 4))  # patches, by row and column
SCRIPT = Path(__file__).with_name("firefox.mjs")


def address_of(served: Any, view: str) -> str:
    """A view on what it shows: a recording that ships, a training run, or an atlas."""
    code = (WEB / "src" / "views" / view / "view.ts").read_text(encoding="utf-8")
    if 'needs: "study"' in code:
        return str(served.address(study="firefox", view=view))
    if view in SENSED:
        served.ids[view] = served.library.add(SENSED[view]())
        return str(served.address(view, view=view))
    address: str = (
        served.address(run="live", view=view) if "runView" in code else served.address("shipped", view=view)
    )
    return address


@contextmanager
def being_written(folder: Path) -> Iterator[None]:
    """A run that a process writes, a step every moment."""
    over = threading.Event()
    with training(folder) as write:

        def go_on() -> None:
            for step in range(20, 100_000):
                write(step)
                if over.wait(0.5):
                    return

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


@pytest.fixture(scope="module")
def seen(
    served: Any, find_node: str, build_once: BuildOnce, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """What Firefox says of each view; one browser for all of them."""
    changes = {"curves": "[data-run=live]"}  # it is followed while it is written
    invent_atlas("invented", layers=2).save(served.runs.with_name("atlases") / "firefox")
    pages = [
        {"name": view, "address": address_of(served, view), "changes": changes.get(view)} for view in VIEWS
    ]
    folder = tmp_path_factory.mktemp("training")
    (folder / "text.txt").write_text("A text to learn from.\n" * 40)
    trainer = LocalTrainer(TrainerSettings(runs=folder / "runs", data=folder, offline=True))
    task = {
        "firefox": find_firefox(),
        "init": COUNT,
        "folder": str(tmp_path_factory.mktemp("pictures")),
        "patience": PATIENCE,
        "pages": pages,
    }
    with (
        being_written(served.runs / "live"),
        serve(Library(folder / "made"), runs=trainer.runs, trainer=trainer) as trains,
        serve_workbench(folder / "said", build_once("media_zoo", build_media_zoo)) as hears,
    ):
        form = '[data-dialog="new-run"] [data-field="task.path"]'  # it comes with the schema of recipes
        pages.append(
            {
                "name": "new-run",
                "view": "runs",
                "address": f"{trains}/#view=runs",
                "press": "[data-action=new-run]",
                "shows": form,
            }
        )
        pages.append(
            {
                "name": "patches",
                "view": "picture",
                "address": served.address("picture", view="picture", place="encoder.self.1", head=2),
                "point": [".patches", [[(x + 0.5) / COLUMNS, (y + 0.5) / ROWS] for y, x in POINTED]],
                "reads": ".picture-readout",
                "looks": ".patches canvas + canvas",
            }
        )
        pages.append(
            {
                "name": "drawing",
                "view": "canvas",
                "address": f"{hears.url}/#view=canvas",
                "choose": ["[data-field=model]", "zoo/digits"],
                "drag": ["[data-part=pad]", [0.5, 0.2], [0.5, 0.4], [0.5, 0.6], [0.5, 0.8]],
                "shows": "[data-outcome=classes]",
            }
        )
        pages.append(
            {
                "name": "playing",
                "view": "sound",
                "address": served.address("sound", view="sound", place="decoder.cross.0", head=0),
                "press": ".sound .drawn-bar button",
                "says": [".sound-clock", "1.00 of 1.00 s"],  # also where there is no loudspeaker
            }
        )
        pages.append(
            {
                "name": "microphone",
                "view": "canvas",
                "address": f"{hears.url}/#view=canvas",
                "choose": ["[data-field=model]", "zoo/listener"],
                "press": "[data-action=speak]",  # it stops by itself
                "shows": "[data-outcome=transcript]",
            }
        )
        done = subprocess.run(
            [find_node, str(SCRIPT)],
            input=json.dumps(task),
            cwd=WEB,
            env={**os.environ, "HOME": str(tmp_path_factory.mktemp("home"))},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.fixture(scope="module")
def find_node() -> str:
    """Node, of this environment or the machine's, with puppeteer-core installed in web/."""
    node = which("node", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if node is None or not (WEB / "node_modules" / "puppeteer-core").is_dir():
        sentence = "no Node, or no puppeteer-core (npm --prefix web ci)"
        if os.environ.get("CI") == "true":
            pytest.fail(sentence, pytrace=False)
        pytest.skip(sentence)
    return node


@pytest.mark.parametrize("view", [*VIEWS, "new-run", "microphone", "patches", "drawing", "playing"])
def test_a_view_opens_and_draws_something(seen: dict[str, Any], view: str) -> None:
    assert seen[view]["faults"] == []
    picture = Image.open(seen[view]["picture"]).convert("RGB")
    pixels = picture.width * picture.height
    counts = [count for count, _ in picture.getcolors(pixels) or ()]
    assert len(counts) > 20
    assert view in MEASURE or max(counts) < 0.995 * pixels  # not one colour almost everywhere


def test_the_patch_under_the_pointer_is_the_patch_of_the_number(seen: dict[str, Any]) -> None:
    weights = invent_captioner().maps[1].weights(2)  # (query, key); token 0 is the class token
    assert len(seen["patches"]["read"]) == len(POINTED)
    for (row, column), read in zip(POINTED, seen["patches"]["read"], strict=True):
        assert read["text"].startswith(f"patch {row},{column} looks at")
        image = Image.open(BytesIO(b64decode(read["canvas"].partition(",")[2]))).convert("RGBA")
        looking = weights[row * COLUMNS + column + 1, 1:]
        np.testing.assert_array_equal(read_covers(np.asarray(image)), expected(looking))


def test_every_view_is_looked_at() -> None:
    assert len(VIEWS) >= 12
