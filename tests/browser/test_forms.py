"""The input panel: every field, every stage of a run, cancelling, failures and examples."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.waiting import chosen, measure_overflow, rest, settle
from glassformer.messages import message
from rehearsal import Rehearsal

pytestmark = pytest.mark.browser

OpenPage = Callable[..., Page]


def test_running_shows_every_stage_and_opens_the_recording(
    working: Any, rehearsal: Rehearsal, open_page: OpenPage
) -> None:
    page = open_page(working.address("decoder", view="heatmap"))
    settle(page)
    expect(page.locator("[data-field=model]")).to_have_value("zoo/translator")
    page.locator("[data-field=text]").fill("我爱你")
    page.locator("[data-action=swap]").click()
    page.locator("[data-field=text]").press("Control+Enter")
    progress = page.locator("[data-part=progress]")
    for place, stage in enumerate(rehearsal.stages):
        rehearsal.reached = place
        expect(progress).to_have_attribute("data-stage", stage)
    expect(page.locator("[data-action=run]")).to_be_disabled()
    rehearsal.ends = "done"
    page.wait_for_url(re.compile(working.ids["translation"]))
    expect(progress).to_have_count(0)
    asked = rehearsal.requests[0]
    assert (asked.text, asked.source_language, asked.target_language) == ("我爱你", "zh", "en")
    assert (asked.kind, asked.task, asked.seed, asked.length) == ("record", "translation", None, None)


def test_a_task_of_a_plug_in_is_offered_by_its_title(
    working: Any, rehearsal: Rehearsal, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server lists it so: see tests/training/test_plugin.py."""
    first, *others = rehearsal.models()
    title = message("tasks.titles.toy_backwards", default="Toy backwards")
    toy = first.model_copy(update={"tasks": {**first.tasks, "toy_backwards": title}})
    monkeypatch.setattr(rehearsal, "models", lambda: [toy, *others])
    page = open_page(working.address("decoder", view="heatmap"))
    settle(page)
    field = page.locator("[data-field=task]")
    expect(field.locator("option")).to_have_text(["Translation", "Toy backwards"])
    field.select_option("toy_backwards")
    page.locator("[data-field=text]").fill("a")
    page.locator("[data-action=run]").click()
    expect(page.locator("[data-part=progress]")).to_be_visible()
    rest(page)  # the page shows a run before the server has answered
    assert rehearsal.requests[0].task == "toy_backwards"
    page.locator("[data-action=cancel]").click()


def test_a_run_can_be_cancelled(working: Any, rehearsal: Rehearsal, open_page: OpenPage) -> None:
    page = open_page(working.address("decoder", view="heatmap"))
    settle(page)
    page.locator("[data-action=run]").click()
    page.locator("[data-action=cancel]").click()
    expect(page.locator("[data-part=progress]")).to_have_count(0)
    assert rehearsal.cancelled.wait(300)
    expect(page.locator("[data-action=run]")).to_be_enabled()
    assert chosen(page)["recording"] == working.ids["decoder"]


def test_a_failure_is_a_sentence_with_a_way_out(
    working: Any, rehearsal: Rehearsal, open_page: OpenPage
) -> None:
    page = open_page(working.address("decoder", view="heatmap"))
    settle(page)
    page.locator("[data-action=run]").click()
    expect(page.locator("[data-part=progress]")).to_be_visible()
    rehearsal.ends = "failed"
    notice = page.locator("[data-notice=run-failed]")
    expect(notice).to_contain_text("There is not enough memory for this run.")
    rehearsal.ends = None
    notice.get_by_role("button", name="Try again").click()
    expect(page.locator("[data-part=progress]")).to_be_visible()
    rehearsal.ends = "done"
    page.wait_for_url(re.compile(working.ids["translation"]))


def test_a_refusal_is_told_in_the_pages_language(
    working: Any, rehearsal: Rehearsal, open_page: OpenPage
) -> None:
    for locale, sentence in (("en-GB", "8 jobs are waiting already"), ("zh-CN", "已有 8 个任务在等待")):
        page = open_page(working.address("decoder", view="heatmap"), locale=locale)
        settle(page)
        page.locator("[data-field=text]").fill("refuse me")
        page.locator("[data-action=run]").click()
        expect(page.locator("[data-notice=run-failed]")).to_contain_text(sentence)
    page.faults.clear()  # type: ignore[attr-defined]


def test_every_field_of_the_input_panel(working: Any, rehearsal: Rehearsal, open_page: OpenPage) -> None:
    page = open_page(working.address("decoder", view="heatmap"))
    settle(page)
    page.locator("[data-field=model]").select_option("zoo/bert")
    page.locator("[data-field=task]").select_option("classification")
    expect(page.locator("[data-field=source-language]")).to_have_count(0)
    page.locator("[data-field=second-text]").fill("A second text.")
    expect(page.locator("[data-field=seed]")).to_have_count(0)  # it would do nothing
    expect(page.locator("[data-sequence=task]")).to_have_count(0)  # this model has no samples
    page.locator("[data-sequence=random]").check()
    expect(page.locator("[data-field=text]")).to_have_count(0)
    page.locator("[data-field=length]").fill("9999")
    page.locator("[data-field=seed]").fill("42")
    page.locator("[data-part=configuration] summary").click()
    page.locator("[data-field=layers]").fill("2")
    page.locator("[data-field=keep-auto]").uncheck()
    page.locator("[data-field=keep-queries]").check()
    page.locator("[data-action=run]").click()
    expect(page.locator("[data-part=progress]")).to_be_visible()
    rest(page)  # the page shows a run before the server has answered
    asked = rehearsal.requests[0]
    assert (asked.model, asked.task, asked.sequence) == ("zoo/bert", "classification", "random")
    assert (asked.length, asked.seed, asked.layers) == (128, 42, 2)  # no longer than the model reads
    assert set(asked.want or ()) == {"weights", "output", "hidden", "queries"}
    assert (asked.text, asked.second_text) == (None, None)
    page.locator("[data-action=cancel]").click()


@pytest.mark.parametrize(
    ("locale", "sentence", "button"),
    [
        ("en-GB", "The text is Chinese, the source language chosen is English.", "Choose Chinese → English"),
        ("zh-CN", "文本是中文，而所选源语言是英语。", "改为 中文 → 英语"),
    ],
)
def test_a_text_in_another_script_gets_a_hint_and_nothing_is_changed_unasked(
    locale: str, sentence: str, button: str, working: Any, open_page: OpenPage
) -> None:
    page = open_page(working.address("decoder", view="overview"), locale=locale)
    settle(page)
    source, target = (page.locator(f"[data-field={side}-language]") for side in ("source", "target"))
    hint = page.locator(".language-hint")
    expect(source).to_have_value("en")
    expect(hint).to_have_count(0)
    page.locator("[data-field=text]").fill("我爱你。")
    expect(hint).to_contain_text(sentence)
    assert measure_overflow(page) <= 0
    expect(source).to_have_value("en")
    page.get_by_role("button", name=button).click()
    expect(source).to_have_value("zh")
    expect(target).to_have_value("en")
    expect(hint).to_have_count(0)
    page.locator("[data-field=text]").fill("I love you.")
    expect(hint).to_have_attribute("data-hint", "not-chinese")


def test_an_example_opens_its_recording_and_says_what_to_see(
    working: Any, rehearsal: Rehearsal, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working.library, "find_preset", lambda _: working.ids["translation"])
    page = open_page(working.address("decoder", view="overview"))
    settle(page)
    page.locator("[data-action=preset]").select_option("tom")
    page.wait_for_url(re.compile(f"{working.ids['translation']}&view=heatmap"))
    expect(page.locator(".preset-note")).to_contain_text("Look at the diagonal.")
    settle(page)
    assert chosen(page)["head"] == "1"
    assert not rehearsal.requests


def test_an_example_without_a_recording_runs(working: Any, rehearsal: Rehearsal, open_page: OpenPage) -> None:
    page = open_page(working.address("decoder", view="overview"))
    settle(page)
    page.locator("[data-action=preset]").select_option("tom")
    expect(page.locator("[data-part=progress]")).to_be_visible()
    rehearsal.ends = "done"
    page.wait_for_url(re.compile(working.ids["translation"]))
    expect(page.locator(".preset-note")).to_contain_text("Look at the diagonal.")
    page.wait_for_url(re.compile("view=heatmap.*head=1"))
    assert rehearsal.requests[0].text == "Tom chase Jerry"
    expect(page.locator("[data-field=text]")).to_have_value("Tom chase Jerry")
