"""Loaded models: what each kind can do, and that it does it; what it cannot do is refused by name."""

import inspect
from typing import Any

import pytest
import torch

import glassformer as gf
from glassformer.config import ModelConfig
from glassformer.errors import InputError
from glassformer.loaded.model import CAPABILITIES, LoadedModel
from glassformer.loaded.opening import load
from glassformer.model.transformer import Transformer
from live_models import EVERY, TOKENIZER, make

LIVE = {
    "LlamaForCausalLM": EVERY | {"generates"},
    "GPT2LMHeadModel": EVERY | {"generates"},
    "T5ForConditionalGeneration": EVERY | {"translates"},
    "BartForConditionalGeneration": EVERY | {"translates"},
    "BertForMaskedLM": EVERY | {"fills"},
    "BertForSequenceClassification": EVERY | {"classifies"},
    "BertModel": EVERY,
}


TEXT = "the animal was tired"


@pytest.mark.parametrize("kind", LIVE)
def test_capabilities_of_live_models(kind: str) -> None:
    model = load(make(kind), TOKENIZER)
    assert model.capabilities == LIVE[kind]
    assert model.library == "transformers"
    assert "reads_text" not in load(make(kind)).capabilities


@pytest.mark.parametrize("kind", LIVE)
def test_every_capability_is_true(kind: str) -> None:
    """What is declared works, and what is not declared is refused before anything runs."""
    model = load(make(kind), TOKENIZER)
    masked = "the <mask> was tired"
    asked: dict[str, Any] = {
        "generates": lambda: gf.generate(model, [TEXT], decode={"max_new_tokens": 3}),
        "translates": lambda: gf.translate(model, [TEXT], decode={"max_new_tokens": 3}),
        "classifies": lambda: gf.classify(model, [TEXT]),
        "fills": lambda: gf.fill(model, [masked]),
        "traces": lambda: gf.record(model, TEXT, want=("trace",)),
    }
    for capability, ask in asked.items():
        if model.can(capability):  # type: ignore[arg-type]
            assert ask()
        else:
            with pytest.raises(InputError) as error:
                ask()
            assert error.value.message.code == f"loaded.cannot.{capability}"
    edits = [gf.AblateHead(model.record(TEXT).maps[0].stack, "self", 0, 1)]
    assert len(gf.record(model, TEXT, edits=edits).evidence.edits) == 1
    words = {"decoder_input_ids": torch.tensor([[2]])} if model.shape == "encoder-decoder" else {}
    model.network(torch.tensor([[5, 6]]), **words)[0].sum().backward()
    assert any(each.grad is not None for each in model.network.parameters())


def test_the_method_takes_what_the_function_takes() -> None:
    function = dict(inspect.signature(gf.record).parameters)
    method = dict(inspect.signature(LoadedModel.record).parameters)
    assert set(function) - set(method) == {"model", "tokenizer", "device"}
    for name in set(method) - {"self"}:
        assert method[name].default == function[name].default, name
        assert method[name].kind == function[name].kind, name


def test_help_lists_everything_that_can_be_asked_for() -> None:
    from glassformer.recorders.request import TRACES, WANTS

    text = inspect.getdoc(gf.record) or ""
    for word in (*WANTS, *TRACES):
        assert f'"{word}"' in text
    for edit in ("AblateHead", "CutEdge", "ScaleScores", "FirstLayers"):
        assert f"{edit}(" in text
        assert hasattr(gf, edit)


def test_every_capability_has_a_text_that_refuses() -> None:
    class Nothing(LoadedModel):
        library = "native"
        describe: Any = lambda self: "nothing"
        shape: Any = "encoder"
        head: Any = "none"
        limit = vocabulary_size = start_id = None
        end_ids = special_ids = frozenset()
        generate = classify = tag = predict_numbers = fill = None  # type: ignore[assignment]
        capabilities = frozenset()

    model = Nothing(Transformer(ModelConfig(8, width=8, heads=2, layers=1)))  # type: ignore[abstract]
    for capability in CAPABILITIES:
        with pytest.raises(InputError, match=r"^Transformer|not of Transformer"):
            model.require(capability)
