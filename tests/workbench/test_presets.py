"""Presets: whole, in both languages, and requests that the workbench takes."""

import pytest

from glassformer.api.cards import read_card
from glassformer.api.jobs import JobRequest, ModelDescription, Preset
from glassformer.api.library import SHIPPED
from glassformer.messages import literal
from glassformer.workbench.models import Model
from glassformer.workbench.presets import list_presets, read_presets
from glassformer.workbench.requests import check_request
from glassformer.workbench.settings import WorkbenchSettings
from texts import text_of

TEXTS = [
    "Tom chase Jerry",
    "The animal didn't",
    "more difficult",
    "Law",
    "我爱你",
    "merci",
    "je suis étudiant",
]
TEXTS += ["青花瓷", "一步两步三步四步望着天", "The quick brown fox", "段誉"]
LANGUAGES = {"zoo/translator": ("de", "en", "fr", "zh"), "zoo/recurrent": ("en", "fr")}
VIEWS = (
    "canvas",
    "overview",
    "heatmap",
    "lines",
    "text",
    "encoder",
    "embeddings",
    "flow",
    "numbers",
    "inside",
    "generation",
    "playground",
)


def pretend(preset: Preset) -> Model:
    """The model of a preset as it would be described."""
    shape = {"translation": "encoder-decoder", "language_modelling": "decoder"}.get(preset.task, "encoder")
    description = ModelDescription.model_validate(
        {
            **dict.fromkeys(("layers", "heads", "width", "vocabulary", "max_tokens", "parameters", "note")),
            **{"name": preset.model, "label": preset.model, "family": "x", "shape": shape},
            **{
                "tasks": {preset.task: literal(preset.task)},
                "languages": LANGUAGES.get(preset.model, ()),
                "origin": "zoo",
            },
        }
    )
    return Model(preset.model, None, description, tagged=preset.model == "zoo/translator")


@pytest.mark.parametrize("text", TEXTS)
def test_the_examples_are_there(text: str) -> None:
    assert any(text in preset.text for preset in read_presets())


@pytest.mark.parametrize("preset", read_presets(), ids=lambda preset: preset.id)
def test_a_preset_is_a_request_that_can_be(preset: Preset) -> None:
    words = preset.model_dump(include=set(JobRequest.model_fields), exclude_none=True)
    check_request(JobRequest(kind="record", **words), pretend(preset), WorkbenchSettings())
    for phrase in (preset.title, preset.point):
        assert text_of(phrase, "en").strip()
        assert text_of(phrase, "zh").strip()
    assert any("\u4e00" <= letter <= "\u9fff" for letter in text_of(preset.point, "zh"))
    assert preset.selection is not None
    assert preset.selection["view"] in VIEWS


def test_ids_are_unique() -> None:
    ids = [preset.id for preset in read_presets()]
    assert len(set(ids)) == len(ids)


def test_what_cannot_be_run_is_left_out() -> None:
    assert list_presets(()) == []
    assert {preset.id for preset in list_presets(("zoo/sentiment",))} == {"film"}


def test_shipped_recordings_show_presets_that_there_are() -> None:
    shown = {read_card(path).preset for path in SHIPPED.glob("*.bundle")}
    assert None not in shown
    assert shown <= {preset.id for preset in read_presets()}
