"""Requests that cannot be are refused in one sentence, before anything runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from glassformer.api.effects import EffectsRequest, OutcomeRequest, PatchingRequest
from glassformer.api.jobs import JobRequest
from glassformer.errors import ApiError
from glassformer.workbench.models import ModelCatalog
from glassformer.workbench.requests import check_measurement, check_request
from glassformer.workbench.settings import WorkbenchSettings

Ask = Callable[..., JobRequest]

SETTINGS = WorkbenchSettings(new_tokens=50, beams=4)
CUT = {"kind": "cut", "stack": "decoder", "attention": "self", "query": 1, "key": 0}


@pytest.fixture(scope="session")
def catalog(zoo: Path) -> ModelCatalog:
    return ModelCatalog(zoo, (), offline=False)


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        ({"text": None}, "text", "no text"),
        ({"text": "  \n"}, "text", "no text"),
        ({"sequence": "random", "length": 4, "text": "the"}, "text", "cannot be combined with"),
        ({"sequence": "random"}, "length", "needs a length"),
        ({"seed": 3}, "seed", "remove it for your own text"),
        ({"task": "translation"}, "task", "does language modelling and text generation, not translation"),
        (
            {"task": "language_modeling"},
            "task",
            "text generation, not language_modeling",
        ),
        ({"target_language": "fr"}, "language", "does not translate"),
        ({"model": "zoo/translator"}, "language", "needs to know the language"),
        ({"model": "zoo/translator", "target_language": "xx"}, "language", "does not know the language 'xx'"),
        (
            {"model": "zoo/translator", "source_language": "fr", "target_language": "fr"},
            "language",
            "two different",
        ),
        (
            {"model": "zoo/recurrent", "source_language": "fr", "target_language": "en"},
            "language",
            "only from en into fr",
        ),
        ({"layers": 3}, "layers", "has 2"),
        ({"target": "the"}, "target", "no target side"),
        ({"model": "zoo/translator", "target_language": "fr", "target": " "}, "target", "empty"),
        ({"model": "zoo/masked", "decode": {}}, "decode", "generates no text"),
        ({"second_text": "the"}, "second_text", "reads one text"),
        ({"edits": [{"kind": "layers", "count": 0}]}, "edit", "At least one layer"),
        ({"edits": [{"kind": "scale", "factor": 1e7}]}, "edit", "between -1,000,000 and 1,000,000"),
        ({"multiplier": -1e7}, "edit", "between -1,000,000 and 1,000,000"),
        ({"decode": {"max_new_tokens": 51}}, "decode", "51 new tokens"),
        ({"decode": {"method": "beam", "beams": 5}}, "decode", "5 beams"),
        ({"decode": {"temperature": 0.5}}, "decode", "temperature belongs to sampling only"),
        ({"decode": {"method": "sampling", "beams": 2}}, "decode", "beams belongs to beam search only"),
        (
            {"model": "zoo/translator", "target_language": "fr", "target": "the", "decode": {}},
            "decode",
            "nothing to generate",
        ),
    ],
)
def test_what_cannot_be_is_one_sentence(
    ask: Ask, catalog: ModelCatalog, words: dict[str, object], code: str, part: str
) -> None:
    request = ask(**words)
    with pytest.raises(ApiError) as caught:
        check_request(request, catalog.find(request.model), SETTINGS)
    assert part in str(caught.value)
    assert caught.value.code == f"bad_{code}"
    assert caught.value.status == 422
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "words",
    [
        {},
        {"sequence": "random", "length": 100, "seed": 1},
        {"sequence": "task", "seed": 1},
        {"sequence": "task", "seed": 1, "length": 5},
        {"length": 3},
        {"layers": 2, "multiplier": 0.0},
        {"edits": [CUT, {"kind": "scale", "factor": -1.0}, {"kind": "layers", "count": 1}]},
        {"decode": {"method": "sampling", "temperature": 0.5, "top_k": 3, "top_p": 0.9, "seed": 1}},
        {"model": "zoo/translator", "source_language": "en", "target_language": "fr", "target": "the"},
        {"model": "zoo/recurrent", "source_language": "en", "target_language": "fr"},
        {"model": "zoo/recurrent"},
        {"model": "zoo/masked", "second_text": "the", "task": "masked_language_modelling"},
        {"model": "owner/unknown", "task": "translation"},
    ],
)
def test_what_can_be_passes(ask: Ask, catalog: ModelCatalog, words: dict[str, object]) -> None:
    request = ask(**words)
    check_request(request, catalog.find(request.model), SETTINGS)


def test_a_measurement_of_another_model_than_asked_for_is_refused(ask: Ask) -> None:
    outcome = OutcomeRequest(token=7)
    check_measurement(EffectsRequest(run=ask(edits=[CUT]), outcome=outcome))
    check_measurement(PatchingRequest(run=ask(multiplier=1.0), corrupted="a", outcome=outcome))
    for run in (ask(edits=[CUT]), ask(layers=1), ask(multiplier=2.0)):
        with pytest.raises(ApiError) as refused:
            check_measurement(PatchingRequest(run=run, corrupted="a", outcome=outcome))
        assert (refused.value.code, refused.value.status) == ("bad_edit", 422)
    branch = ask(kind="generate", parent="a", branch={"step": 1})
    with pytest.raises(ApiError, match="branch") as refused:
        check_measurement(EffectsRequest(run=branch, outcome=outcome))
    assert refused.value.status == 422
