"""Edits of models off the attention interface, compared with independent computations."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from torch import Tensor, nn

from glassformer.errors import InputError, RecordingError
from glassformer.loaded.opening import load
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recorders.edits import AblateHead, CutEdge, FirstLayers, ScaleScores
from glassformer.recorders.record import find_recorder
from glassformer.recorders.transformers import softmaxes
from glassformer.recording import Recording
from tolerances import assert_near

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")

IDS = [7, 9, 11, 6, 8, 12, 5, 10]
WIDTH, HEADS = 32, 4
EVERYTHING = ("weights", "output", "hidden")
ROLES = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
USUAL = {"vocab_size": 30, "hidden_size": WIDTH, "num_hidden_layers": 3} | ROLES
SHORT = {"vocab_size": 30, "n_embd": WIDTH, "n_layer": 3, "n_head": HEADS, "n_positions": 32} | ROLES


def make_led() -> Any:
    """An encoder whose attention is a band, and a decoder whose attention is not."""
    settings = {"vocab_size": 30, "d_model": WIDTH, "encoder_layers": 2, "decoder_layers": 2}
    for side in ("encoder", "decoder"):
        settings |= {f"{side}_attention_heads": HEADS, f"{side}_ffn_dim": 32}
        settings |= {f"max_{side}_position_embeddings": 32}
    config = hf.LEDConfig(**settings, **ROLES, attention_window=4, decoder_start_token_id=2)
    return hf.LEDForConditionalGeneration(config)


def make(kind: str) -> Any:
    """A tiny random model, its queries and keys sharpened."""
    torch.manual_seed(0)
    model: Any
    match kind:
        case "GPT-Neo":
            types = [[["global", "local"], 1], [["global"], 1]]
            settings = USUAL | {
                "num_layers": 3,
                "num_heads": HEADS,
                "attention_types": types,
                "window_size": 3,
            }
            settings.pop("num_hidden_layers")
            model = hf.GPTNeoForCausalLM(hf.GPTNeoConfig(**settings, max_position_embeddings=32))
        case "GPT-J" | "CodeGen" as name:
            config = hf.GPTJConfig if name == "GPT-J" else hf.CodeGenConfig
            kind = hf.GPTJForCausalLM if name == "GPT-J" else hf.CodeGenForCausalLM
            model = kind(config(**SHORT, rotary_dim=4))
        case "BLOOM":
            model = hf.BloomForCausalLM(
                hf.BloomConfig(vocab_size=30, hidden_size=WIDTH, n_layer=3, n_head=4, **ROLES)
            )
        case "Falcon":
            settings = USUAL | {
                "num_attention_heads": HEADS,
                "alibi": False,
                "new_decoder_architecture": False,
            }
            model = hf.FalconForCausalLM(hf.FalconConfig(**settings))
        case "MPT":
            config = hf.MptConfig(
                d_model=WIDTH, n_heads=4, n_layers=3, max_seq_len=32, vocab_size=30, **ROLES
            )
            model = hf.MptForCausalLM(config)
        case "DeBERTa-v2":
            settings = USUAL | {
                "num_attention_heads": HEADS,
                "intermediate_size": 32,
                "relative_attention": True,
            }
            settings |= {"pos_att_type": ["p2c", "c2p"], "max_position_embeddings": 32}
            model = hf.DebertaV2ForMaskedLM(hf.DebertaV2Config(**settings))
        case "XLNet":
            settings = {"vocab_size": 30, "d_model": WIDTH, "n_layer": 3, "n_head": HEADS, "d_inner": 32}
            model = hf.XLNetLMHeadModel(hf.XLNetConfig(**settings, **ROLES))
        case _:
            model = make_led()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim >= 2:
                weight.mul_(4)
    return model.eval()


# The module that reads heads side by side in the second layer.
PROJECTIONS = {
    "GPT-Neo": "transformer.h.1.attn.attention.out_proj",
    "GPT-J": "transformer.h.1.attn.out_proj",
    "CodeGen": "transformer.h.1.attn.out_proj",
    "BLOOM": "transformer.h.1.self_attention.dense",
    "Falcon": "transformer.h.1.self_attention.dense",
    "MPT": "transformer.blocks.1.attn.out_proj",
    "DeBERTa-v2": "deberta.encoder.layer.1.attention.output.dense",
}
KINDS = [*PROJECTIONS, "XLNet"]
GENERATING = ["GPT-Neo", "GPT-J", "CodeGen", "BLOOM", "Falcon", "MPT"]


@contextmanager
def changing_heads(model: nn.Module, kind: str, change: Any) -> Iterator[None]:
    """Change what the projection of the second layer reads, by hand."""

    def hook(_: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        heads = inputs[0].unflatten(-1, (HEADS, WIDTH // HEADS)).clone()  # (1, token, head, width)
        return (change(heads).flatten(-2), *inputs[1:])

    handle = model.get_submodule(PROJECTIONS[kind]).register_forward_pre_hook(hook)
    yield
    handle.remove()


def stack_of(recording: Recording) -> str:
    return recording.maps[0].stack


def same_output(one: Recording, other: Recording) -> None:
    assert_near(one.output.log_probabilities, other.output.log_probabilities, layers=2)
    for stack in one.hidden:
        assert_near(one.hidden[stack], other.hidden[stack], layers=2)


@pytest.mark.parametrize("how", ["zero", "uniform", "mean", "resample"])
@pytest.mark.parametrize("kind", PROJECTIONS)
def test_an_ablated_head_gives_what_its_definition_says(kind: str, how: Any) -> None:
    model = make(kind)
    subject = load(model)
    plain = subject.record(IDS, want=EVERYTHING)
    assert str(plain.evidence.kernel) == "eager, as the model reports it"
    seen: list[Tensor] = []

    def read(ids: list[int]) -> Tensor:
        def look(heads: Tensor) -> Tensor:
            seen.append(heads[0].clone())
            return heads

        with changing_heads(model, kind, look):
            subject.record(ids)
        return seen[-1][:, 2]

    texts = {"mean": ([5, 6, 7], [9, 8, 7, 6]), "resample": (IDS[::-1],)}.get(how, ())
    edit = AblateHead(stack_of(plain), "self", 1, 2, how, texts)
    expected = torch.zeros(1) if how == "zero" else None
    if texts:
        outputs = torch.cat([read(each) for each in texts])
        expected = outputs.mean(dim=0) if how == "mean" else outputs

    def change(heads: Tensor) -> Tensor:
        heads[:, :, 2] = expected
        return heads

    edited = subject.record(IDS, want=EVERYTHING, edits=[edit])
    if expected is not None:
        with changing_heads(model, kind, change):
            by_hand = subject.record(IDS, want=EVERYTHING)
        same_output(edited, by_hand)
    assert np.abs(edited.output.log_probabilities - plain.output.log_probabilities).max() > 1e-4
    before, found = plain.map(layer=1), edited.map(layer=1)
    allowed = (before.dense > 0).any(axis=0)
    rows = {"zero": 0.0, "uniform": allowed / allowed.sum(-1, keepdims=True)}
    assert_near(found.dense[2], rows.get(how, before.dense[2]))
    others = [0, 1, 3]
    assert np.array_equal(found.dense[others], before.dense[others])
    assert np.array_equal(found.statistics.allowed[others], before.statistics.allowed[others])
    assert (found.relaxed is None) == (how != "zero")
    assert tuple(map(str, edited.evidence.edits)) == (str(edit),)
    assert all(each.relaxed is None for each in edited.maps if each is not found)
    again = subject.record(IDS, want=EVERYTHING)
    assert np.array_equal(again.map(layer=2).dense, plain.map(layer=2).dense)


def test_a_head_whose_output_is_an_einsum_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make("XLNet")
    subject = load(model)
    attention = model.transformer.layer[1].rel_attn
    own, seen, replaced = attention.post_attention, [], []

    def project(
        hidden: Tensor, heads: Tensor, *rest: Any, **named: Any
    ) -> Tensor:  # (token, text, head, width)
        seen.append(heads[:, 0, 2].clone())
        for mean in replaced:
            heads = heads.clone()
            heads[:, :, 2] = mean
        return own(hidden, heads, *rest, **named)

    monkeypatch.setattr(attention, "post_attention", project)
    subject.record([5, 6, 7])
    mean = seen[-1].mean(dim=0)
    edit = AblateHead(stack_of(subject.record(IDS)), "self", 1, 2, "mean", [[5, 6, 7]])
    edited = subject.record(IDS, want=EVERYTHING, edits=[edit])
    replaced.append(mean)
    same_output(edited, subject.record(IDS, want=EVERYTHING))
    assert (seen[-1] - mean).abs().max() > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_a_cut_edge_is_renormalised(kind: str) -> None:
    subject = load(make(kind))
    plain = subject.record(IDS)
    key = int(plain.map(layer=0).dense[1, 3].argmax())
    edited = subject.record(IDS, edits=[CutEdge(stack_of(plain), "self", 0, 1, 3, key)])
    before, after = plain.map(layer=0), edited.map(layer=0)
    expected = before.dense[1, 3].astype(np.float64)
    expected[key] = 0.0
    expected /= expected.sum()
    assert_near(after.dense[1, 3], expected, layers=2)
    assert after.statistics.allowed[1, 3] == before.statistics.allowed[1, 3] - 1
    assert after.statistics.allowed[0, 3] == before.statistics.allowed[0, 3]
    untouched = np.ones(before.dense.shape[:2], dtype=bool)
    untouched[1, 3] = False
    assert np.array_equal(after.dense[untouched], before.dense[untouched])
    assert after.relaxed is None


@pytest.mark.parametrize("factor", [0.5, -1.0, 0.0])
@pytest.mark.parametrize("kind", KINDS)
def test_scaled_scores_are_powers_of_weights(kind: str, factor: float) -> None:
    subject = load(make(kind))
    plain = subject.record(IDS)
    edited = subject.record(IDS, edits=[ScaleScores(factor, layer=0)])
    before, after = plain.map(layer=0), edited.map(layer=0)
    allowed = (before.dense > 0).any(axis=0)
    # softmax of f s is w**f, made to sum to one: over what the mask allows, which an edit does not change.
    sure = before.dense.min(axis=-1, where=allowed, initial=1.0) > 1e-6  # enough digits for a power
    with np.errstate(divide="ignore"):
        powers = np.where(allowed, before.dense.astype(np.float64) ** factor, 0.0)
    expected = powers / powers.sum(axis=-1, keepdims=True)
    assert sure.sum() > 4
    assert np.abs(after.dense - expected)[sure].max() < 1e-4
    assert not after.dense[:, ~allowed].any()


@pytest.mark.parametrize("kind", GENERATING)
@pytest.mark.slow
def test_what_is_written_under_an_edit_is_what_the_edited_model_says(kind: str) -> None:
    subject = load(make(kind))
    settings = GenerationSettings(max_new_tokens=5)
    for edit in (AblateHead("decoder", "self", 0, 1), CutEdge("decoder", "self", None, None, 4, 1)):
        edited = subject.record(IDS, decode=settings, edits=[edit])
        ids = IDS
        for step in edited.generation.steps:  # as by hand: one pass over the text so far for each word
            output = subject.record(ids, edits=[edit]).output
            assert step.token == int(output.ids[-1, 0])
            ids = [*ids, step.token]
    plain = subject.record(IDS, decode=settings)
    silenced = [AblateHead("decoder", "self", layer, head) for layer in range(3) for head in range(HEADS)]
    quiet = subject.record(IDS, decode=settings, edits=silenced)
    assert not any(each.dense.any() for each in quiet.maps)
    assert plain.generation.steps[0].log_probability != quiet.generation.steps[0].log_probability


def test_a_long_prompt_is_written_under_its_edits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glassformer.recorders.transformers.recorder.LONGEST_DENSE", 4)
    torch.manual_seed(0)
    subject = load(hf.GPT2LMHeadModel(hf.GPT2Config(**SHORT)).eval())
    settings = GenerationSettings(max_new_tokens=3)
    edits = [ScaleScores(-40.0)]
    edited = subject.record(IDS, decode=settings, edits=edits)
    ids = IDS
    for step in edited.generation.steps:
        output = subject.record(ids, edits=edits).output
        assert_near(step.log_probability, float(output.log_probabilities[-1, 0]), layers=2)
        ids = [*ids, step.token]
    assert "maps are those of one pass over the finished text" in map(str, edited.evidence.notes)


def test_edits_add_up_with_first_layers() -> None:
    subject = load(make("BLOOM"))
    edits = [FirstLayers(2), AblateHead("decoder", "self", 1, 0), ScaleScores(0.5, layer=0)]
    edited = subject.record(IDS, edits=edits)
    assert len(edited.maps) == 2
    assert not edited.map(layer=1).dense[0].any()
    assert tuple(map(str, edited.evidence.edits)) == tuple(map(str, edits))


def test_a_map_that_no_softmax_gives_is_named() -> None:
    subject = load(make("LED"))
    reads = (IDS, [9, 5, 6])
    cut = subject.record(*reads, edits=[CutEdge("decoder", "cross", 0, None, 1, 1)])
    assert not cut.map("decoder", "cross", 0).dense[:, 1, 1].any()
    silenced = subject.record(*reads, edits=[AblateHead("decoder", "self", 1, 2)])
    assert not silenced.map("decoder", layer=1).dense[2].any()
    for edit in (AblateHead("encoder", "self", 0, 0), ScaleScores(2.0)):
        with pytest.raises(InputError, match=r"no softmax gives what it reports as encoder layer 0, self"):
            subject.record(*reads, edits=[edit])
    with pytest.raises(InputError, match=r"its generation cannot be edited.*Give it a target"):
        subject.record(IDS, edits=[AblateHead("decoder", "self", 1, 2)])


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            AblateHead("decoder", "self", 9, 0),
            r"nothing to edit .*in: decoder\.self\.0, decoder",
        ),
        (AblateHead("decoder", "self", 0, 9), "There is no head 9 in decoder layer 0, self"),
        (CutEdge("decoder", "self", 0, 0, 50, 1), "There was nothing to edit"),
        (CutEdge("decoder", "self", 0, 0, 0, 0), "No key is left for query 0"),
    ],
)
def test_an_edit_that_meets_nothing_is_refused(edit: Any, message: str) -> None:
    model = make("BLOOM")
    with pytest.raises(InputError, match=message):
        load(model).record(IDS, edits=[edit])
    assert not any(module._forward_pre_hooks for module in model.modules())
    (torch.zeros(2, 3, 4) + 1).softmax(-1)  # nobody meets it any more


def test_what_was_edited_is_what_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = load(make("BLOOM"))
    stacks = find_recorder(subject).stacks  # type: ignore[attr-defined]
    subject.record(IDS)
    spots, places = softmaxes.find_softmaxes(subject.network, stacks, {"input_ids": torch.tensor([IDS])})
    assert [spot.place for _, spot in sorted(spots.items())] == places
    wrong = {0: spots[1], 1: spots[0], 2: spots[2]}  # as if the long pass had another order
    monkeypatch.setattr(softmaxes, "find_softmaxes", lambda *_: (wrong, places))
    with pytest.raises(RecordingError, match="are not those that the model reports"):
        subject.record(IDS, edits=[AblateHead("decoder", "self", 0, 1)])


@pytest.mark.slow
def test_an_attention_that_goes_past_the_softmax_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = load(make("BLOOM"))
    subject.record(IDS)
    stacks = find_recorder(subject).stacks  # type: ignore[attr-defined]
    spots, places = softmaxes.find_softmaxes(subject.network, stacks, {"input_ids": torch.tensor([IDS])})
    later = {number + 3: spot for number, spot in spots.items()}
    monkeypatch.setattr(softmaxes, "find_softmaxes", lambda *_: (later, places))
    with pytest.raises(RecordingError, match=r"did not call the softmax of decoder layer 0, self"):
        subject.record(IDS, edits=[AblateHead("decoder", "self", 0, 1)], decode=GenerationSettings())


def test_another_thread_does_not_disturb_an_edit() -> None:
    model = make("BLOOM")
    subject = load(model)
    edits = [AblateHead("decoder", "self", 2, 1), ScaleScores(0.5, layer=1)]
    alone = subject.record(IDS, edits=edits)
    with torch.no_grad():
        expected = model(torch.tensor([IDS])).logits
    main, found = threading.get_ident(), []

    def run() -> None:
        with torch.no_grad():
            found.append(model(torch.tensor([IDS])).logits)

    def interrupt(*_: object) -> None:  # between two layers, somebody else runs the model
        if threading.get_ident() == main:
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()

    handle = model.transformer.h[1].register_forward_pre_hook(interrupt)
    recording = subject.record(IDS, edits=edits)
    handle.remove()
    for seen, wanted in zip(recording.maps, alone.maps, strict=True):
        assert np.array_equal(seen.dense, wanted.dense)
    assert found
    assert all((each - expected).abs().max() < 1e-4 for each in found)
