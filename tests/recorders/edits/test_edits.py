"""Edits do what they say: each is compared with an independent computation."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from torch import Tensor, nn

from glassformer.config import ModelConfig, RecurrentConfig
from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.model.transformer import Transformer
from glassformer.recorders.edits import AblateHead, CutEdge, FirstLayers, ScaleScores
from glassformer.recording import Recording
from tolerances import assert_near

SOURCE, TARGET = [7, 9, 11, 6, 8, 12], [9, 5, 6, 14]
HEADS, WIDTH = 4, 8  # of one head
EVERYTHING = ("weights", "values", "output", "hidden")


def sharpen(network: nn.Module, factor: float = 5.0) -> Any:
    with torch.no_grad():
        for weight in network.parameters():
            if weight.ndim == 2:
                weight.mul_(factor)
    return network.eval()


def make_theirs(shape: str) -> Any:
    torch.manual_seed(0)
    if shape == "decoder":
        config = hf.GPT2Config(
            vocab_size=30, n_embd=32, n_layer=3, n_head=HEADS, n_positions=32, bos_token_id=1, eos_token_id=2
        )
        return sharpen(hf.GPT2LMHeadModel(config))
    config = hf.BartConfig(
        vocab_size=30, d_model=32, encoder_layers=2, decoder_layers=3, encoder_attention_heads=HEADS,
        decoder_attention_heads=HEADS, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=32,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=3, forced_eos_token_id=None,
    )  # fmt: skip
    return sharpen(hf.BartForConditionalGeneration(config))


def make_ours(shape: str, **changes: Any) -> Transformer:
    torch.manual_seed(0)
    settings = {
        "vocabulary_size": 30, "shape": shape, "layers": 3, "width": 32, "heads": HEADS, "feed_forward": 32,
        "max_length": 32, "start_id": 3, "end_id": 2,
    }  # fmt: skip
    return sharpen(Transformer(ModelConfig(**settings | changes)), 2.0)


def make_subject(kind: str) -> tuple[Any, tuple[list[int], ...]]:
    """Something to record, and what it reads."""
    if kind == "GPT-2":
        return load(make_theirs("decoder")), (SOURCE,)
    if kind == "BART":
        return load(make_theirs("encoder-decoder")), (SOURCE, TARGET)
    if kind == "our decoder":
        return load(make_ours("decoder")), (SOURCE,)
    return load(make_ours("encoder-decoder")), (SOURCE, TARGET)


KINDS = ["GPT-2", "BART", "our decoder", "our translator"]
CROSSING = ["BART", "our translator"]


def find_projection(subject: Any, stack: str, kind: str, layer: int) -> nn.Module:
    """The module that reads the heads side by side, (…, token, head · width)."""
    if subject.library == "native":
        block = getattr(subject.network, stack).block(layer)
        return (block.attention if kind == "self" else block.cross).output
    if isinstance(subject.network, hf.GPT2LMHeadModel):
        return subject.network.transformer.h[layer].attn.c_proj
    block = getattr(subject.network.model, stack).layers[layer]
    return (block.self_attn if kind == "self" else block.encoder_attn).out_proj


@contextmanager
def changing_heads(module: nn.Module, change: Any) -> Iterator[list[Tensor]]:
    """Change what a projection reads, by hand; and see it."""
    seen: list[Tensor] = []

    def hook(_: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
        heads = inputs[0].unflatten(-1, (HEADS, WIDTH)).clone()  # (1, token, head, width)
        seen.append(heads[0].detach())
        return None if change is None else (change(heads).flatten(-2), *inputs[1:])

    handle = module.register_forward_pre_hook(hook)
    yield seen
    handle.remove()


def same_output(one: Recording, other: Recording) -> None:
    assert (one.output.ids == other.output.ids).all()
    assert_near(one.output.log_probabilities, other.output.log_probabilities, layers=2)
    for stack in one.hidden:
        assert_near(one.hidden[stack], other.hidden[stack], layers=2)


def differs(one: Recording, other: Recording) -> None:
    assert np.abs(one.output.log_probabilities - other.output.log_probabilities).max() > 1e-3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["zero", "mean"])
def test_an_ablated_head_is_one_whose_result_is_taken_away(kind: str, how: Any) -> None:
    subject, reads = make_subject(kind)
    attention = "cross" if kind in CROSSING else "self"
    edit = AblateHead("decoder", attention, 1, 2, how)

    def change(heads: Tensor) -> Tensor:
        heads[:, :, 2] = 0.0 if how == "zero" else heads[:, :, 2].mean(dim=1, keepdim=True)
        return heads

    plain = subject.record(*reads, want=EVERYTHING)
    edited = subject.record(*reads, want=EVERYTHING, edits=[edit])
    with changing_heads(find_projection(subject, "decoder", attention, 1), change):
        by_hand = subject.record(*reads, want=EVERYTHING)
    same_output(edited, by_hand)
    differs(edited, plain)
    found, before = edited.map("decoder", 1, attention), plain.map("decoder", 1, attention)
    expected = 0.0 if how == "zero" else before.dense[2].mean(axis=0)
    assert_near(found.dense[2], expected)
    others = [0, 1, 3]
    assert_near(found.dense[others], before.dense[others])
    assert tuple(map(str, edited.evidence.edits)) == (str(edit),)
    assert str(found.relaxed) == str(edit)
    assert all(each.relaxed is None for each in edited.maps if each is not found)
    assert plain.evidence.edits == ()


@pytest.mark.parametrize("kind", KINDS)
def test_a_cut_edge_is_renormalised(kind: str) -> None:
    subject, reads = make_subject(kind)
    attention = "cross" if kind in CROSSING else "self"
    edit = CutEdge("decoder", attention, 0, 1, 3, 2)
    plain = subject.record(*reads, want=EVERYTHING)
    projection = find_projection(subject, "decoder", attention, 0)
    with changing_heads(projection, None) as seen:
        edited = subject.record(*reads, want=EVERYTHING, edits=[edit])
    before, after = plain.map("decoder", 0, attention), edited.map("decoder", 0, attention)
    expected = before.dense[1, 3].astype(np.float64)
    expected[2] = 0.0
    expected /= expected.sum()
    assert after.dense[1, 3, 2] == 0.0
    assert_near(after.dense[1, 3], expected, layers=2)
    assert after.statistics.allowed[1, 3] == before.statistics.allowed[1, 3] - 1
    assert after.statistics.allowed[0, 3] == before.statistics.allowed[0, 3]
    untouched = np.ones(before.dense.shape[:2], bool)
    untouched[1, 3] = False
    assert_near(after.dense[untouched], before.dense[untouched])
    result = seen[-1][3, 1].numpy()  # what the head brought home, of the last pass
    assert_near(result, after.dense[1, 3] @ after.values[1], layers=2)
    differs(edited, plain)
    assert after.relaxed is None
    assert "query 3 may not look at key 2 in head 1" in str(edited.evidence.edits[0])


def test_an_edge_cut_everywhere_is_a_hole_in_the_mask() -> None:
    model = make_theirs("decoder")
    edited = load(model).record(SOURCE, edits=[CutEdge("decoder", "self", None, None, 4, 1)])
    allowed = torch.ones(6, 6, dtype=torch.bool).tril()
    allowed[4, 1] = False
    mask = torch.where(allowed, 0.0, torch.finfo(torch.float32).min)[None, None]
    model.set_attn_implementation("eager")
    with torch.no_grad():
        reference = model(torch.tensor([SOURCE]), attention_mask=mask, output_attentions=True)
    for each, weights in zip(edited.maps, reference.attentions, strict=True):
        assert np.array_equal(each.dense, weights[0].numpy())
    ours = load(make_ours("decoder")).record(SOURCE, edits=[CutEdge("decoder", "self", None, None, 4, 1)])
    assert all(not each.dense[:, 4, 1].any() for each in ours.maps)


@pytest.mark.parametrize("kind", KINDS)
def test_scaled_scores_are_those_of_scaled_queries(kind: str) -> None:
    subject, reads = make_subject(kind)
    edit = ScaleScores(0.25, layer=1, stack="decoder", kind="self")
    plain = subject.record(*reads, want=(*EVERYTHING, "scores"))
    edited = subject.record(*reads, want=(*EVERYTHING, "scores"), edits=[edit])
    network = subject.network
    changed = copy.deepcopy(network)
    scale_queries(changed, 0.25)
    by_hand = load(changed).record(*reads, want=EVERYTHING)
    same_output(edited, by_hand)
    differs(edited, plain)
    before, after = plain.map("decoder", 1), edited.map("decoder", 1)
    seen = np.isfinite(before.scores())
    assert_near(after.scores()[seen], 0.25 * before.scores()[seen], layers=2)
    assert np.array_equal(np.isfinite(after.scores()), seen)
    assert_near(after.dense, by_hand.map("decoder", 1).dense)
    assert tuple(map(str, edited.evidence.edits)) == ("scores times 0.25 in decoder layer 1, self",)


def scale_queries(network: Any, factor: float) -> None:
    """Multiply the queries of the second layer of a decoder's self-attention by changing weights."""
    with torch.no_grad():
        if isinstance(network, Transformer):
            projection = network.decoder.block(1).attention.qkv
            projection.weight[:32] *= factor
            projection.bias[:32] *= factor
        elif isinstance(network, hf.GPT2LMHeadModel):
            projection = network.transformer.h[1].attn.c_attn  # (input, output)
            projection.weight[:, :32] *= factor
            projection.bias[:32] *= factor
        else:
            projection = network.model.decoder.layers[1].self_attn.q_proj
            projection.weight *= factor
            projection.bias *= factor


def test_scores_are_scaled_with_their_soft_cap_and_their_bias() -> None:
    torch.manual_seed(0)
    settings = {
        "vocab_size": 30, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "head_dim": 8,
        "num_key_value_heads": 2, "intermediate_size": 32, "attn_logit_softcapping": 3.0,
    }  # fmt: skip
    gemma = load(sharpen(hf.Gemma2ForCausalLM(hf.Gemma2Config(**settings)), 8.0))
    config = hf.T5Config(vocab_size=30, d_model=32, d_kv=8, num_layers=2, num_heads=4, d_ff=32)
    t5 = load(sharpen(hf.T5EncoderModel(config), 1.5))
    for subject in (gemma, t5):
        plain = subject.record(SOURCE, want=("weights", "scores")).maps[0]
        edited = subject.record(SOURCE, want=("weights", "scores"), edits=[ScaleScores(2.0)]).maps[0]
        scores = 2.0 * plain.scores().astype(np.float64)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        assert_near(edited.dense, weights / weights.sum(-1, keepdims=True), layers=2)
        assert np.abs(edited.dense - plain.dense).max() > 0.01


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_layers_are_a_network_that_has_no_more(kind: str) -> None:
    subject, reads = make_subject(kind)
    network = subject.network
    edited = subject.record(*reads, want=EVERYTHING, edits=[FirstLayers(2, "decoder")])
    shorter = copy.deepcopy(network)
    if isinstance(shorter, Transformer):
        shorter.decoder.depth = 2
        shorter.decoder.layers = shorter.decoder.layers[:2]
    else:
        stack = shorter.transformer if isinstance(shorter, hf.GPT2LMHeadModel) else shorter.model.decoder
        name = "h" if isinstance(shorter, hf.GPT2LMHeadModel) else "layers"
        setattr(stack, name, getattr(stack, name)[:2])
    by_hand = load(shorter).record(*reads, want=EVERYTHING)
    same_output(edited, by_hand)
    assert [each.layer for each in edited.maps if (each.stack, each.kind) == ("decoder", "self")] == [0, 1]
    assert edited.hidden["decoder"].shape[0] == 3
    assert tuple(map(str, edited.evidence.edits)) == ("only the first 2 layers of decoder",)
    again = subject.record(*reads)
    assert len([each for each in again.maps if (each.stack, each.kind) == ("decoder", "self")]) == 3


def test_a_block_that_is_used_again_and_again_is_edited_at_one_depth() -> None:
    torch.manual_seed(0)
    config = hf.AlbertConfig(
        vocab_size=30, hidden_size=32, embedding_size=16, num_hidden_layers=3, num_attention_heads=HEADS,
        intermediate_size=32, max_position_embeddings=32,
    )  # fmt: skip
    theirs = load(sharpen(hf.AlbertModel(config)))
    ours = load(make_ours("encoder", share_layers=True, head="none"))
    for subject in (theirs, ours):
        plain = subject.record(SOURCE)
        edited = subject.record(SOURCE, edits=[AblateHead("encoder", "self", 1, 2)])
        assert np.array_equal(edited.maps[0].dense, plain.maps[0].dense)
        assert not edited.maps[1].dense[2].any()
        assert edited.maps[2].dense[2].any()
        short = subject.record(SOURCE, edits=[FirstLayers(2)])
        assert len(short.maps) == 2
        assert np.array_equal(short.maps[1].dense, plain.maps[1].dense)
        assert len(subject.record(SOURCE).maps) == 3


def test_edits_add_up() -> None:
    for kind in ("GPT-2", "our decoder"):
        subject, reads = make_subject(kind)
        edits = [
            CutEdge("decoder", "self", 0, 1, 3, 2),
            ScaleScores(0.5, layer=0),
            AblateHead("decoder", "self", 0, 3),
        ]
        recording = subject.record(*reads, edits=edits)
        weights = recording.maps[0].dense
        plain = subject.record(*reads, want=("weights", "scores")).maps[0].scores()[1, 3] * 0.5
        plain[2] = -np.inf
        expected = np.exp(plain - plain.max()) / np.exp(plain - plain.max()).sum()
        assert_near(weights[1, 3], expected)
        assert not weights[3].any()
        assert len(recording.evidence.edits) == 3


# Generation under edits


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("beams", [1, 3])
@pytest.mark.parametrize(
    "edit",
    [
        CutEdge("decoder", "self", None, None, 5, 3),
        AblateHead("decoder", "self", 1, 2),
        ScaleScores(0.2),
        FirstLayers(1),
    ],
    ids=["cut", "ablate", "scale", "first"],
)
def test_what_is_written_under_an_edit_is_what_the_edited_network_says(
    kind: str, beams: int, edit: Any
) -> None:
    subject, reads = make_subject(kind)
    settings = GenerationSettings(max_new_tokens=6, min_new_tokens=6, beams=beams)
    written = subject.record(reads[0], decode=settings, edits=[edit], want=EVERYTHING)
    tokens = written.source if written.target is None else written.target
    given = [tokens.ids.tolist()] if written.target is None else [reads[0], tokens.ids.tolist()[1:]]
    again = subject.record(*given, edits=[edit], want=EVERYTHING)
    same_output(written, again)
    for one, other in zip(written.maps, again.maps, strict=True):
        assert_near(one.dense, other.dense, layers=2)
    if beams == 1:  # each word is the likeliest after the ones before it
        steps = written.generation.steps
        best = again.output.ids[len(tokens) - len(steps) - 1 : -1, 0]
        ends = again.output.ids[len(tokens) - len(steps) - 1 : -1]
        chosen = [step.token for step in steps]
        allowed = [next(int(each) for each in row if each != 2) for row in ends]  # no end before six words
        assert chosen == allowed, best


@pytest.mark.parametrize("kind", CROSSING)
@pytest.mark.parametrize("beams", [1, 3])
def test_an_edge_to_the_source_is_cut_in_every_beam(kind: str, beams: int) -> None:
    subject, reads = make_subject(kind)
    settings = GenerationSettings(max_new_tokens=5, min_new_tokens=5, beams=beams)
    edits = [CutEdge("decoder", "cross", None, None, 2, key) for key in range(5)]  # one of six keys is left
    written = subject.record(reads[0], decode=settings, edits=edits, want=EVERYTHING)
    for layer in range(3):
        assert np.array_equal(written.map("decoder", layer, "cross").dense[:, 2], np.eye(6)[[5] * HEADS])
    again = subject.record(reads[0], written.target.ids.tolist()[1:], edits=edits, want=EVERYTHING)
    same_output(written, again)
    if beams == 1:
        return  # rules change what a greedy search compares; a beam search keeps its logarithms
    nodes = written.generation.nodes
    third = [node for node in nodes if node.index == 2]  # chosen by what the third query saw
    assert len(third) >= 3
    for node in third:
        parent = nodes[node.parent]
        words = [nodes[parent.parent].token, parent.token]
        output = subject.record(reads[0], words, edits=edits).output
        known = dict(zip(output.ids[2].tolist(), output.log_probabilities[2].tolist(), strict=True))
        if node.token in known:
            assert_near(node.log_probability, known[node.token], layers=2)


def test_a_mean_needs_the_whole_text() -> None:
    for kind in KINDS:
        subject, reads = make_subject(kind)
        with pytest.raises(InputError, match="one token at a time"):
            subject.record(
                reads[0],
                decode=GenerationSettings(max_new_tokens=3),
                edits=[AblateHead("decoder", "self", 0, 0, "mean")],
            )


# What is refused


@pytest.mark.parametrize("kind", ["GPT-2", "our decoder"])
@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (AblateHead("decoder", "self", 3, 0), "nothing to edit.*decoder layer 2, self"),
        (
            AblateHead("decoder", "self", 0, 4),
            "no head 4 in decoder layer 0, self. .* from 0 to 3",
        ),
        (AblateHead("encoder", "self", 0, 0), "nothing to edit"),
        (CutEdge("decoder", "cross", 0, 0, 1, 0), "nothing to edit"),
        (CutEdge("decoder", "self", 0, 0, 9, 0), "nothing to edit"),
        (CutEdge("decoder", "self", 0, 0, 0, 0), "No key is left for query 0"),
        (ScaleScores(2.0, layer=7), "nothing to edit"),
        (FirstLayers(4), "no such layers to run"),
        (FirstLayers(1, "encoder"), "no such layers to run"),
    ],
)
def test_an_edit_that_meets_nothing_is_refused(kind: str, edit: Any, message: str) -> None:
    subject, reads = make_subject(kind)
    with pytest.raises(InputError, match=message):
        subject.record(*reads, edits=[edit])
    assert subject.record(*reads).evidence.edits == ()


@pytest.mark.parametrize(
    "make",
    [
        lambda: AblateHead("decoder", "self", -1, 0),
        lambda: AblateHead("decoder", "self", 0, True),
        lambda: AblateHead("decoder", "self", 0, 0, "median"),  # type: ignore[arg-type]
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


def test_a_recurrent_decoder_is_silenced_but_not_cut() -> None:
    torch.manual_seed(0)
    config = RecurrentConfig(vocabulary_size=30, width=16, embedding_width=16, start_id=3, end_id=2)
    subject = load(RecurrentTranslator(config).eval())
    plain = subject.record(SOURCE, TARGET)
    edited = subject.record(SOURCE, TARGET, edits=[AblateHead("decoder", "cross", 0, 0)])
    assert not edited.maps[0].dense.any()
    differs(edited, plain)
    for edit in (CutEdge("decoder", "cross", 0, 0, 1, 1), AblateHead("decoder", "cross", 0, 0, "mean")):
        with pytest.raises(InputError, match="attends once for each word"):
            subject.record(SOURCE, TARGET, edits=[edit])


def test_hooks_are_gone_after_an_edit() -> None:
    network = make_ours("encoder-decoder")
    subject = load(network)
    edits = [CutEdge("decoder", "cross", 0, 1, 3, 2), AblateHead("encoder", "self", 0, 0), FirstLayers(2)]
    subject.record(SOURCE, TARGET, edits=edits)
    with pytest.raises(InputError):
        subject.record(SOURCE, TARGET, edits=[*edits, CutEdge("decoder", "self", 0, 0, 0, 0)])
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in network.modules())
    assert (network.encoder.depth, network.decoder.depth) == (3, 3)
