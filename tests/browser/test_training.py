"""Training from the page: a form, a run that really trains, stopped, resumed, forked in the form, deleted."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import Served, require_page, serve
from glassformer.runlog import read_run
from glassformer.workbench import LocalTrainer, TrainerSettings

pytestmark = pytest.mark.browser
SMALL = {"model.width": "16", "model.heads": "2", "task.context": "16", "batches.tokens": "64"}


@pytest.fixture
def trainer(tmp_path: Path) -> Iterator[LocalTrainer]:
    data = tmp_path / "data"
    (data / "sub").mkdir(parents=True)
    (data / "fox.txt").write_text("The quick brown fox jumps over the lazy dog.\n" * 40)
    (data / "sub" / "more.txt").write_text("Another text.\n" * 40)
    made = LocalTrainer(TrainerSettings(runs=tmp_path / "runs", data=data, offline=True))
    yield made
    for child in made._children.values():
        child.process.kill()
        child.process.wait()


@pytest.fixture
def url(served: Served, trainer: LocalTrainer) -> Iterator[str]:
    require_page()
    with serve(served.library, runs=trainer.runs, trainer=trainer) as address:
        yield address


def fill(page: Page, name: str, text: str) -> None:
    field = page.locator(f'[data-field="{name}"]')
    field.fill(text)
    field.blur()


@pytest.mark.slow
def test_a_run_is_started_stopped_and_resumed(
    url: str, trainer: LocalTrainer, open_page: Callable[..., Page]
) -> None:
    page = open_page(url)
    page.locator("select[data-action=run]").select_option("/new")
    dialog = page.locator("[data-dialog=new-run]")
    expect(dialog.locator('[data-field="from"]')).to_have_value("first")
    expect(dialog.locator('[data-setting="task.path"] .fault')).to_be_visible()  # its data are not here
    expect(dialog.locator("[data-action=start-run]")).to_be_disabled()
    fill(page, "task.path", "../secret.txt")
    expect(dialog.locator('[data-setting="task.path"] .fault')).to_contain_text("data folder")
    fill(page, "task.path", "fox.txt")
    expect(dialog.locator(".fault")).to_have_count(0)
    for name, text in SMALL.items():
        fill(page, name, text)
    fill(page, "train.steps", "many")
    expect(dialog.locator('[data-setting="train.steps"] .fault')).to_be_visible()
    fill(page, "train.steps", "100000")
    fill(page, "name", "mine")
    expect(dialog.locator("[data-part=preview] pre")).to_contain_text("steps = 100000")
    dialog.locator("[data-action=start-run]").click()

    expect(page.locator('.runs [data-run="mine"], [data-run="mine"]').first).to_be_visible()
    stop = page.locator("[data-action=stop-training]")
    expect(stop).to_be_visible()
    expect(page.locator(".chart svg").first).to_be_attached()  # it is followed
    stop.click()
    resume = page.locator("[data-action=resume-training]")
    expect(resume).to_be_visible()
    stopped = read_run(trainer.runs / "mine")
    assert stopped.state == "stopped"
    resume.click()
    expect(stop).to_be_visible()
    stop.click()
    expect(resume).to_be_visible()
    assert read_run(trainer.runs / "mine").last_step > stopped.last_step

    page.locator("[data-action=fork-training]").click()
    expect(dialog.locator('[data-field="train.rate"]')).to_be_visible()
    expect(dialog.locator('[data-field="task.path"]')).to_have_count(0)
    expect(dialog.locator('[data-field="name"]')).to_have_value("mine-2")
    dialog.locator("[data-action=close]").click()
    page.locator("[data-action=delete-run]").click()
    page.locator("[data-action=delete-surely]").click()
    expect(page.locator("[data-part=run-controls]")).to_have_count(0)
    assert not (trainer.runs / "mine").exists()


@pytest.mark.parametrize(("locale", "width"), [("en-GB", 1440), ("zh-CN", 360)])
def test_the_form_can_be_used_by_all(
    url: str, open_page: Callable[..., Page], locale: str, width: int
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(url, locale=locale, width=width, height=800)
    page.locator("select[data-action=run]").select_option("/new")
    dialog = page.locator("[data-dialog=new-run]")
    expect(dialog.locator('[data-field="train.steps"]')).to_be_visible()
    for summary in dialog.locator("summary").all():
        summary.click()
    found = Axe().run(page, context={"include": [["[data-dialog=new-run]"]]}).response["violations"]
    assert not found, [(each["id"], [node["target"] for node in each["nodes"]][:4]) for each in found]
    over = dialog.locator(".dialog-frame").evaluate("frame => frame.scrollWidth - frame.clientWidth")
    assert over == 0
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
