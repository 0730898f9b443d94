"""What an edit is: a new one is one file, and runs on our networks and those of transformers."""

import importlib
import json
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import glassformer
import glassformer.api
from glassformer.cli import main
from glassformer.cli.edits import read_edit
from glassformer.config import ModelConfig
from glassformer.errors import InputError
from glassformer.model.transformer import Transformer
from glassformer.place import Place
from glassformer.recorders import edits
from glassformer.recorders.edits import (
    EDITS,
    AblateHead,
    CutEdge,
    Edit,
    FirstLayers,
    PatchHead,
    ScaleScores,
    Steer,
)
from tolerances import assert_near

TOY = '''
"""Attention that fades with distance, and one head whose weights are halved."""

from dataclasses import dataclass

import torch

from glassformer.messages import Message, message
from glassformer.place import Place
from glassformer.recorders.edits import EDITS, Edit, Scores, Weights


@EDITS.register("fade")
@dataclass(frozen=True, slots=True)
class Fade(Edit):
    layer: int
    slope: float
    halved: int

    def touches(self, place: Place) -> bool:
        return place.kind == "self" and place.layer == self.layer

    def change_scores(self, scores: Scores) -> None:
        queries, keys = torch.arange(scores.shape[2]), torch.arange(scores.shape[3])
        scores.add(-self.slope * (queries[:, None] - keys).abs())

    def change_weights(self, weights: Weights) -> None:
        weights.replace(self.halved, weights.rows(self.halved) / 2)

    def as_message(self) -> Message:
        text = "fades by {slope} in layer {layer}"
        return message("toy.fade", default=text, slope=self.slope, layer=self.layer)
'''


IDS = [7, 9, 11, 6, 8, 12]


SHAPE = {"vocab_size": 30, "n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 32}


def make(executor: str) -> Any:
    torch.manual_seed(0)
    if executor == "windows":
        return Transformer(
            ModelConfig(vocabulary_size=30, shape="decoder", layers=3, width=32, heads=4, max_length=32)
        ).eval()
    if executor == "interface":
        return hf.GPT2LMHeadModel(hf.GPT2Config(**SHAPE)).eval()
    return hf.GPTJForCausalLM(hf.GPTJConfig(**SHAPE, rotary_dim=4)).eval()  # reports its own attention


@pytest.fixture
def fade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The class of the toy, in a folder that belongs to the package for the length of a test."""
    (tmp_path / "toy_of_a_test.py").write_text(TOY, encoding="utf-8")
    monkeypatch.setattr(edits, "__path__", [*edits.__path__, str(tmp_path)])
    monkeypatch.setattr(EDITS, "_things", dict(EDITS._things))
    monkeypatch.setattr(EDITS, "_complete", False)
    yield EDITS["fade"]
    del sys.modules[f"{edits.__name__}.toy_of_a_test"]


LAYERS, HEADS = st.integers(0, SHAPE["n_layer"] - 1), st.integers(0, SHAPE["n_head"] - 1)
SOME_EDITS = st.lists(
    st.one_of(
        st.builds(AblateHead, st.just("decoder"), st.just("self"), LAYERS, HEADS),
        st.builds(ScaleScores, st.floats(0, 4), st.just("decoder"), st.just("self"), LAYERS),
        st.builds(
            lambda layer, head, edge: CutEdge("decoder", "self", layer, head, max(edge), min(edge)),
            LAYERS,
            HEADS,
            st.tuples(st.integers(0, 5), st.integers(0, 5)),
        ),
        st.builds(
            lambda layer, size, at: Steer("decoder", layer, np.full(32, size), (at,)),
            LAYERS,
            st.floats(-2, 2),
            st.integers(0, 5),
        ),
    ),
    max_size=3,
)
SIX_TOKENS = st.lists(st.integers(0, 29), min_size=6, max_size=6)


@pytest.fixture(scope="module")
def networks() -> dict[str, Any]:
    return {executor: make(executor) for executor in ("windows", "interface")}


@pytest.mark.parametrize("executor", ["windows", "interface"])
@given(ids=SIX_TOKENS, others=SIX_TOKENS, first=st.integers(1, 5), edited=SOME_EDITS)
def test_no_edit_lets_a_token_see_a_later_one(
    networks: dict[str, Any], executor: str, ids: list[int], others: list[int], first: int, edited: Any
) -> None:
    """Whatever is edited, tokens from `first` on change nothing that is computed before them."""
    texts = (ids, [*ids[:first], *others[first:]])
    one, other = (glassformer.record(networks[executor], text, want="logits", edits=edited) for text in texts)
    before, after = one.output.logits[:first], other.output.logits[:first]
    assert_near(after, before, layers=SHAPE["n_layer"], scores=64, where=edited)


@given(ids=SIX_TOKENS, padding=st.integers(1, 3), edited=SOME_EDITS)
def test_padding_changes_nothing_whatever_is_edited(
    networks: dict[str, Any], ids: list[int], padding: int, edited: Any
) -> None:
    model = networks["interface"]
    padded = {
        "input_ids": torch.tensor([[*ids, *[0] * padding]]),
        "attention_mask": torch.tensor([[1] * len(ids) + [0] * padding]),
    }
    plain, longer = (glassformer.record(model, text, want="logits", edits=edited) for text in (ids, padded))
    found = longer.output.logits[: len(ids)]
    assert_near(found, plain.output.logits, layers=SHAPE["n_layer"], scores=64, where=edited)


@pytest.mark.parametrize("executor", ["windows", "interface"])
@given(ids=SIX_TOKENS, layer=LAYERS, head=HEADS, position=st.integers(0, 5))
def test_an_edit_that_puts_back_what_was_there_changes_no_bit(
    networks: dict[str, Any], executor: str, ids: list[int], layer: int, head: int, position: int
) -> None:
    """With weights: without them a plain pass of transformers takes a fused kernel and rounds otherwise."""
    edit = PatchHead("decoder", "self", layer, head, tuple(ids), (position,))
    plain, *others = (
        glassformer.record(networks[executor], ids, want=("weights", "logits"), edits=edited)
        for edited in ((), [], [edit])
    )
    for other in others:
        np.testing.assert_array_equal(other.output.logits, plain.output.logits)


@pytest.mark.parametrize("executor", ["windows", "interface", "softmaxes"])
def test_a_new_edit_is_one_file(executor: str, fade: Any) -> None:
    model = make(executor)
    plain = glassformer.record(model, IDS)
    edited = glassformer.record(model, IDS, edits=[fade(1, 0.7, 2)])
    distance = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    expected = plain.maps[1].weights() * np.exp(-0.7 * distance)
    expected /= expected.sum(axis=-1, keepdims=True)
    expected[2] /= 2
    assert_near(edited.maps[1].weights(), expected)
    np.testing.assert_array_equal(edited.maps[0].weights(), plain.maps[0].weights())
    assert np.abs(edited.maps[2].weights() - plain.maps[2].weights()).max() > 1e-6  # the layer above reads it
    assert [str(edit) for edit in edited.evidence.edits] == ["fades by 0.7 in layer 1"]
    assert edited.maps[1].relaxed == edited.evidence.edits[0]
    assert glassformer.record(model, IDS).maps[1].relaxed is None


def test_the_command_line_reads_a_new_edit(fade: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert read_edit("fade 1 0.7 2") == fade(1, 0.7, 2)
    with pytest.raises(InputError, match="'x' cannot be the SLOPE of an edit"):
        read_edit("fade 1 x 2")
    with pytest.raises(SystemExit):
        main(["record", "--help"])
    assert '"fade LAYER SLOPE HALVED"' in " ".join(capsys.readouterr().out.split())


def test_the_server_reads_a_new_edit(fade: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its schema is made when the server starts, so that its module is imported again here."""
    for name in ("edits", "jobs"):
        module = importlib.import_module(f"glassformer.api.{name}")
        monkeypatch.setattr(glassformer.api, name, module)  # put back after the test
        monkeypatch.delitem(sys.modules, module.__name__)
    jobs = importlib.import_module("glassformer.api.jobs")
    edit = {"kind": "fade", "layer": 1, "slope": 0.7}
    body = {"kind": "record", "model": "m", "text": "t", "edits": [edit]}
    with pytest.raises(ValidationError, match="halved"):
        jobs.JobRequest.model_validate_json(json.dumps(body))
    edit["halved"] = 2
    request = jobs.JobRequest.model_validate_json(json.dumps(body))
    assert request.read_edits() == [fade(1, 0.7, 2)]
    assert jobs.JobRequest.model_validate(request.model_dump()) == request  # as the worker process gets it
    assert set(jobs.JobRequest.model_json_schema()["$defs"]["FadeEdit"]["required"]) == {
        "kind", "layer", "slope", "halved",
    }  # fmt: skip


def test_what_is_added_is_scaled_by_a_later_edit() -> None:
    class Add(Edit):
        def change_scores(self, scores: Any) -> None:
            scores.add(torch.arange(scores.shape[3]) * 0.5)

        def as_message(self) -> Any:
            return ScaleScores(1.0).as_message()

    results = [
        [each.weights() for each in glassformer.record(make(executor), IDS, edits=edits).maps[:1]]
        for executor in ("windows", "interface", "softmaxes")
        for edits in ([Add(), ScaleScores(0.0)], [ScaleScores(0.0)])
    ]
    for added, plain in zip(results[::2], results[1::2], strict=True):
        assert_near(added, plain)


@pytest.mark.parametrize("executor", ["windows", "interface", "softmaxes"])
def test_all_keys_of_a_query_cannot_be_hidden(executor: str) -> None:
    edits = [CutEdge("decoder", "self", 0, 1, 2, key) for key in range(3)]
    with pytest.raises(InputError) as error:
        glassformer.record(make(executor), IDS, edits=edits)
    assert error.value.message.code == "recorders.edits.no_key_left"
    assert error.value.message.parameters["query"] == 2


@pytest.mark.parametrize("executor", ["windows", "interface", "softmaxes"])
def test_a_key_that_the_mask_hides_cannot_be_cut(executor: str) -> None:
    model = make(executor)
    for head, layer in ((1, 0), (None, None)):
        with pytest.raises(InputError) as error:
            glassformer.record(model, IDS, edits=[CutEdge("decoder", "self", layer, head, 2, 4)])
        assert error.value.message.code == "recorders.edits.already_hidden"
    cut = CutEdge("decoder", "self", 0, 1, 4, 2)
    assert not glassformer.record(model, IDS, edits=[cut]).maps[0].weights(1)[4, 2]
    with pytest.raises(InputError) as error:
        glassformer.record(model, IDS, edits=[cut, cut])
    assert error.value.message.code == "recorders.edits.already_hidden"


def test_what_is_no_edit_is_refused() -> None:
    for wrong in ("zero", [object()], AblateHead("decoder", "self", 0, 0)):
        with pytest.raises(InputError):
            glassformer.record(make("windows"), IDS, edits=wrong)  # type: ignore[arg-type]


def test_edits_are_made_by_the_address_of_a_map() -> None:
    place = Place("decoder", "cross", 3)
    assert AblateHead.at(place, 2, "mean", ("It rained.",)) == AblateHead(
        "decoder",
        "cross",
        3,
        head=2,
        how="mean",
        reference=["It rained."],  # type: ignore[arg-type]
    )
    assert CutEdge.at(place, None, 4, 5) == CutEdge("decoder", "cross", 3, None, 4, 5)
    assert ScaleScores.at(place, 2.0) == ScaleScores(2.0, "decoder", "cross", 3)


@pytest.mark.parametrize(
    ("edit", "english", "chinese"),
    [
        (AblateHead("decoder", "self", 1, 2), "head 2 of decoder layer 1, self: silenced", "解码器"),
        (
            CutEdge("encoder", "self", None, None, 3, 4),
            "every head of every layer of encoder (self)",
            "每一层",
        ),
        (ScaleScores(0.5, layer=2), "scores times 0.5 in layer 2 of every stack (self and cross)", "第 2 层"),
        (FirstLayers(2, "encoder"), "only the first 2 layers of encoder", "前 2 层"),
    ],
    ids=["ablate", "cut", "scale", "first"],
)
def test_edits_are_described_in_every_language(edit: Edit, english: str, chinese: str) -> None:
    assert english in edit.as_message().text("en")
    assert chinese in edit.as_message().text("zh")
    assert pickle.loads(pickle.dumps(edit)) == edit


@pytest.mark.parametrize(
    "make",
    [
        lambda: AblateHead("decoder", "self", -1, 0),
        lambda: AblateHead("decoder", "self", 0, True),
        lambda: AblateHead("decoder", "self", 0, 0, "median"),  # type: ignore[arg-type]
        lambda: AblateHead("decoder", "self", None, 0),  # type: ignore[arg-type]
        lambda: AblateHead("decoder", "slef", 0, 0),  # type: ignore[arg-type]
        lambda: AblateHead("decodr", "self", 0, 0),
        lambda: AblateHead("Encoder", "self", 0, 0),
        lambda: AblateHead("", "self", 0, 0),
        lambda: AblateHead("the decoder", "self", 0, 0),
        lambda: CutEdge("decoder", "Self", 0, 0, 1, 0),  # type: ignore[arg-type]
        lambda: CutEdge("decoder", "self", 0, 0, 1, None),  # type: ignore[arg-type]
        lambda: CutEdge("decoder", "self", 0, 0, None, -2),
        lambda: CutEdge("decoder", "self", 0, 0, True, 0),
        lambda: ScaleScores(2.0, "decoders"),
        lambda: ScaleScores(2.0, "decoder", "both"),  # type: ignore[arg-type]
        lambda: ScaleScores(True),
        lambda: FirstLayers(1, "encoders"),
        lambda: FirstLayers(1.0),  # type: ignore[arg-type]
        lambda: CutEdge("decoder", "self", 0, 0, 1, -2),
        lambda: ScaleScores(float("nan")),
        lambda: ScaleScores(1e40),  # beyond what single precision holds
        lambda: ScaleScores(-(10**400)),
        lambda: FirstLayers(0),
    ],
)
def test_an_edit_that_cannot_be_is_refused(make: Any) -> None:
    with pytest.raises(InputError):
        make()
