"""Every architecture that was tried: recorded maps are those that the model itself reports, to the last bit.

Tiny random configurations whose queries and keys are sharpened, so that a mix-up of heads or layers shows;
where the model reads text, a batch of two of which one is padded.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf
from torch import Tensor, nn

from campaigns import campaign
from glassformer.errors import RecordingError
from glassformer.loaded.opening import load
from glassformer.recorders.call import Call
from glassformer.recorders.edits import AblateHead, CutEdge, FirstLayers, ScaleScores
from glassformer.recorders.transformers.interface import Capture, capturing
from glassformer.recorders.transformers.layers import Stacks
from glassformer.recording import Recording, measure
from glassformer.rounding import rounding
from tolerances import assert_near, largest

VOCABULARY, LENGTH, PADDED = 90, 22, 17

SMALL = {
    "vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4,
    "intermediate_size": 48,
}  # fmt: skip
ENDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
GROUPED = SMALL | ENDS | {"num_key_value_heads": 2, "max_position_embeddings": 64}
WIDE = GROUPED | {"head_dim": 8}
BOTH = ENDS | {
    "vocab_size": VOCABULARY, "d_model": 32, "encoder_layers": 2, "decoder_layers": 3,
    "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48,
    "decoder_start_token_id": 2, "max_position_embeddings": 64,
}  # fmt: skip
VISION = {
    "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48,
    "image_size": 32, "patch_size": 8,
}  # fmt: skip
GPT = {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 3, "n_head": 4}
T5 = {
    "vocab_size": VOCABULARY, "d_model": 32, "d_kv": 8, "num_layers": 2, "num_decoder_layers": 3,
    "num_heads": 4, "d_ff": 48, "pad_token_id": 0, "decoder_start_token_id": 0,
}  # fmt: skip
DEEPSEEK = SMALL | {
    "num_key_value_heads": 4, "moe_intermediate_size": 16, "q_lora_rank": 16, "kv_lora_rank": 8,
    "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 6, "n_routed_experts": 4, "n_group": 2,
    "topk_group": 1, "num_experts_per_tok": 2, "n_shared_experts": 1, "first_k_dense_replace": 1,
}  # fmt: skip
PROPHET = {
    "vocab_size": VOCABULARY, "hidden_size": 32, "num_encoder_layers": 2, "num_decoder_layers": 2,
    "num_encoder_attention_heads": 4, "num_decoder_attention_heads": 4, "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """How to build one model, and what it reads."""

    model: str
    config: str
    settings: dict[str, Any]
    reads: str = "text"


ROUTED = {
    "GPT-2": Case("GPT2LMHeadModel", "GPT2Config", GPT),
    "BERT": Case("BertForMaskedLM", "BertConfig", SMALL),
    "BERT to BERT": Case("EncoderDecoderModel", "", {}, "both"),
    "RoBERTa": Case("RobertaForMaskedLM", "RobertaConfig", SMALL),
    "DistilBERT": Case(
        "DistilBertForMaskedLM", "DistilBertConfig",
        {"vocab_size": VOCABULARY, "dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 48},
    ),
    "ALBERT": Case("AlbertForMaskedLM", "AlbertConfig", SMALL | {"embedding_size": 16}),
    "ELECTRA": Case("ElectraForMaskedLM", "ElectraConfig", SMALL | {"embedding_size": 16}),
    "T5": Case("T5ForConditionalGeneration", "T5Config", T5, "both"),
    "BART": Case("BartForConditionalGeneration", "BartConfig", BOTH, "both"),
    "Marian": Case("MarianMTModel", "MarianConfig", BOTH, "both"),
    "Pegasus": Case("PegasusForConditionalGeneration", "PegasusConfig", BOTH, "both"),
    "Whisper": Case(
        "WhisperForConditionalGeneration", "WhisperConfig",
        BOTH | {"num_mel_bins": 20, "max_source_positions": 30, "max_target_positions": 40},
        "sound and target",
    ),
    "Llama": Case("LlamaForCausalLM", "LlamaConfig", WIDE),
    "Mistral": Case("MistralForCausalLM", "MistralConfig", WIDE | {"sliding_window": 8}),
    "Mixtral": Case("MixtralForCausalLM", "MixtralConfig", WIDE | {"num_local_experts": 4}),
    "Qwen2": Case("Qwen2ForCausalLM", "Qwen2Config", GROUPED),
    "Qwen3": Case("Qwen3ForCausalLM", "Qwen3Config", WIDE),
    "Gemma": Case("GemmaForCausalLM", "GemmaConfig", WIDE),
    "Gemma 2": Case(
        "Gemma2ForCausalLM", "Gemma2Config", WIDE | {"sliding_window": 8, "attn_logit_softcapping": 2.0},
    ),
    "Gemma 3": Case("Gemma3ForCausalLM", "Gemma3TextConfig", WIDE | {"sliding_window": 8}),
    "gpt-oss": Case(
        "GptOssForCausalLM", "GptOssConfig", WIDE | {"num_local_experts": 4, "sliding_window": 8},
    ),
    "DeepSeek-V3": Case("DeepseekV3ForCausalLM", "DeepseekV3Config", DEEPSEEK),
    "GPT-NeoX": Case("GPTNeoXForCausalLM", "GPTNeoXConfig", SMALL),
    "OPT": Case(
        "OPTForCausalLM", "OPTConfig",
        {key: value for key, value in SMALL.items() if key != "intermediate_size"}
        | {"ffn_dim": 48, "word_embed_proj_dim": 32},
    ),
    "Phi-3": Case("Phi3ForCausalLM", "Phi3Config", GROUPED),
    "ModernBERT": Case(
        "ModernBertForMaskedLM", "ModernBertConfig",
        SMALL | ENDS | {"local_attention": 8, "cls_token_id": 1, "sep_token_id": 2},
    ),
    "ViT": Case("ViTForImageClassification", "ViTConfig", VISION, "pixels"),
    "DINOv2": Case(
        "Dinov2Model", "Dinov2Config",
        {key: value for key, value in VISION.items() if key != "intermediate_size"}, "pixels",
    ),
    "CLIP": Case("CLIPModel", "CLIPConfig", {}, "text and pixels"),
    "Swin": Case(
        "SwinModel", "SwinConfig",
        {
            "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4], "image_size": 32, "patch_size": 2,
            "window_size": 4,
        },
        "pixels",
    ),
    "Wav2Vec2": Case(
        "Wav2Vec2Model", "Wav2Vec2Config",
        {
            "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48,
            "conv_dim": [16] * 7, "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4,
        },
        "sound",
    ),
}  # fmt: skip
FALLEN = {
    "GPT-J": Case(
        "GPTJForCausalLM", "GPTJConfig",
        {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 3, "n_head": 4, "rotary_dim": 4},
    ),
    "GPT-Neo": Case(
        "GPTNeoForCausalLM", "GPTNeoConfig",
        {
            "vocab_size": VOCABULARY, "hidden_size": 32, "num_layers": 4, "num_heads": 4, "window_size": 8,
            "attention_types": [[["global", "local"], 2]],
        },
    ),
    "BLOOM": Case(
        "BloomForCausalLM", "BloomConfig",
        {"vocab_size": VOCABULARY, "hidden_size": 32, "n_layer": 3, "n_head": 4},
    ),
    "Falcon": Case(
        "FalconForCausalLM", "FalconConfig",
        {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4},
    ),
    "MPT": Case(
        "MptForCausalLM", "MptConfig",
        {"vocab_size": VOCABULARY, "d_model": 32, "n_heads": 4, "n_layers": 3},
    ),
    "CodeGen": Case(
        "CodeGenForCausalLM", "CodeGenConfig",
        {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 3, "n_head": 4, "rotary_dim": 4},
    ),
    "DeBERTa-v2": Case(
        "DebertaV2ForMaskedLM", "DebertaV2Config",
        SMALL | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    ),
    "XLNet": Case(
        "XLNetLMHeadModel", "XLNetConfig",
        {"vocab_size": VOCABULARY, "d_model": 32, "n_layer": 3, "n_head": 4, "d_inner": 48},
    ),
    "Longformer": Case("LongformerForMaskedLM", "LongformerConfig", SMALL | {"attention_window": 8}),
    "LED": Case("LEDForConditionalGeneration", "LEDConfig", BOTH | {"attention_window": 8}, "both"),
    "ProphetNet": Case("ProphetNetForConditionalGeneration", "ProphetNetConfig", PROPHET, "both"),
}  # fmt: skip
WITHOUT = {
    "BigBird": Case("BigBirdForMaskedLM", "BigBirdConfig", SMALL),
    "Mamba": Case(
        "MambaForCausalLM",
        "MambaConfig",
        {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2},
    ),
}

SHARPENED = (
    "q_proj",
    "k_proj",
    "query",
    "key",
    "c_attn",
    "qkv",
    "q_lin",
    "k_lin",
    ".q.",
    ".k.",
    "q_b_proj",
    "kv_b_proj",
)


def build(case: Case, implementation: str | None = None) -> nn.Module:
    torch.manual_seed(0)
    if case.model == "EncoderDecoderModel":
        decoder = hf.BertConfig(**SMALL, is_decoder=True, add_cross_attention=True)
        config: Any = hf.EncoderDecoderConfig.from_encoder_decoder_configs(hf.BertConfig(**SMALL), decoder)
    elif case.model == "CLIPModel":
        text = SMALL | {"eos_token_id": 2}
        config = hf.CLIPConfig(text_config=text, vision_config=VISION, projection_dim=16)
    else:
        config = getattr(hf, case.config)(**case.settings)
    if implementation is not None:
        config._attn_implementation = implementation
    model: nn.Module = getattr(hf, case.model)(config).eval()
    factor = 2 if case.config == "T5Config" else 8  # T5 does not scale its products down
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim == 2 and any(part in name.lower() for part in SHARPENED):
                weight.mul_(factor)
    return model


def feed(case: Case) -> dict[str, Tensor]:
    """A batch of two; the second text is padded."""
    generator = torch.Generator().manual_seed(1)

    def words(length: int) -> Tensor:
        return torch.randint(5, VOCABULARY, (2, length), generator=generator)

    inputs: dict[str, Tensor] = {}
    if "text" in case.reads or case.reads == "both":
        mask = torch.ones(2, LENGTH, dtype=torch.long)
        mask[1, PADDED:] = 0
        inputs |= {"input_ids": words(LENGTH), "attention_mask": mask}
    if case.reads in ("both", "sound and target"):
        inputs["decoder_input_ids"] = words(9)
    if "pixels" in case.reads:
        inputs["pixel_values"] = torch.randn(2, 3, 32, 32, generator=generator)
    if case.reads == "sound and target":
        inputs["input_features"] = torch.randn(2, 20, 60, generator=generator)
    if case.reads == "sound":
        inputs["input_values"] = torch.randn(2, 4000, generator=generator)
    return inputs


def second(inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    """The padded text alone."""
    return {name: value[1:] for name, value in inputs.items()}


def ask_eager(model: Any, inputs: dict[str, Tensor]) -> Any:
    """What the model says itself, asked in the usual way and independently of any recorder."""
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with torch.no_grad():
        outputs = model(**inputs, output_attentions=True)
    model.set_attn_implementation(before)
    return outputs


def read_eager(outputs: Any) -> dict[tuple[str, str], list[Tensor]]:
    """Reported maps by stack and kind; the stack of a model that has one is called "only"."""
    found = {
        ("encoder", "self"): outputs.get("encoder_attentions"),
        ("decoder", "self"): outputs.get("decoder_attentions"),
        ("decoder", "cross"): outputs.get("cross_attentions"),
        ("only", "self"): outputs.get("attentions"),
    }
    for name in ("text", "vision"):
        if f"{name}_model_output" in outputs:
            found[name, "self"] = outputs[f"{name}_model_output"].attentions
    return {place: list(maps) for place, maps in found.items() if maps}


def collect(model: nn.Module, inputs: dict[str, Tensor]) -> tuple[list[Call], Any]:
    calls: list[Call] = []
    with capturing(model, Capture(Stacks(model), "exact", calls.append)):
        outputs = model(**inputs)
    return calls, outputs


def group(calls: list[Call], stacks: set[str]) -> dict[tuple[str, str], list[Tensor]]:
    groups: dict[tuple[str, str], list[Tensor]] = {}
    for call in calls:
        stack = call.place.stack
        if stack not in stacks:  # the path of the blocks: text_model.encoder.layers
            stack = next((name for name in stacks if stack.startswith(name)), "only")
        assert call.weights is not None
        groups.setdefault((stack, call.place.kind), []).append(call.weights)
    return groups


def first_output(outputs: Any) -> Tensor:
    names = ("logits", "last_hidden_state", "logits_per_image")
    return next(outputs[name] for name in names if outputs.get(name) is not None)


def dense(recording: Recording, place: tuple[str, str]) -> list[np.ndarray]:
    stack, kind = place
    stacks = {each.stack for each in recording.maps}
    name = next(iter(stacks)) if stack == "only" else stack
    return [each.weights() for each in recording.maps if (each.stack, each.kind) == (name, kind)]


@pytest.mark.parametrize("name", ROUTED)
def test_routed_maps_are_those_of_eager_to_the_last_bit(name: str) -> None:
    model, inputs = build(ROUTED[name]), feed(ROUTED[name])
    reference = ask_eager(model, inputs)
    calls, outputs = collect(model, inputs)
    assert torch.equal(first_output(outputs), first_output(reference))
    theirs = read_eager(reference)
    ours = group(calls, {stack for stack, _ in theirs})
    if name == "Swin":  # it reports the last block of each stage only
        ours["only", "self"] = ours["only", "self"][1::2]
    assert ours.keys() == theirs.keys()
    for place, maps in theirs.items():
        assert len(ours[place]) == len(maps) > 0
        for mine, reported in zip(ours[place], maps, strict=True):
            assert torch.equal(mine, reported), place
            assert float(reported.std()) > 0.015, "near-uniform attention would hide a mix-up"


@pytest.mark.parametrize("name", [name for name in ROUTED if name != "Swin"])
def test_a_subject_records_the_padded_text_exactly(name: str) -> None:
    model, inputs = build(ROUTED[name]), second(feed(ROUTED[name]))
    reference = ask_eager(model, inputs)
    subject = load(model, name=name)
    recording = subject.record(
        inputs, want=("weights", "scores", "queries", "keys", "values", "hidden", "output")
    )
    assert recording.evidence.largest_error == 0.0
    assert str(recording.evidence.kernel) == "eager"
    assert not any("not" in str(note) for note in recording.evidence.notes if "left out" not in str(note))
    theirs = read_eager(reference)
    assert len(recording.maps) == sum(map(len, theirs.values()))
    for place, maps in theirs.items():
        for ours, reported in zip(dense(recording, place), maps, strict=True):
            assert np.array_equal(ours, reported[0].numpy())
    for each in recording.maps:
        check_scores(each)
        check_statistics(each)
    if "input_ids" in inputs and "pixel_values" not in inputs:
        rows = recording.maps[0].statistics.rows
        assert rows.tolist() == inputs["attention_mask"][0].bool().tolist()


def check_scores(each: Any) -> None:
    """Softmax over recorded scores gives recorded weights."""
    rows = np.flatnonzero(each.statistics.rows & (each.statistics.allowed[0] > 0))
    scores = each.scores()[:, rows].astype(np.float64)
    columns = scores if each.sink_weights is None else np.concatenate(
        [scores, (np.log(each.sink_weights.astype(np.float64)) + each.statistics.log_sum_exp)[:, rows, None]],
        axis=-1,
    )  # fmt: skip
    exponentials = np.exp(columns - columns.max(-1, keepdims=True))
    weights = (exponentials / exponentials.sum(-1, keepdims=True))[..., : scores.shape[-1]]
    assert_near(weights, each.weights()[:, rows])


def check_statistics(each: Any) -> None:
    """Streamed statistics are those of the recorded weights."""
    statistics = each.statistics
    allowed = each.scores() > -np.inf
    reference = measure(each.weights(), allowed, statistics.rows, sink_weights=each.sink_weights)
    real = np.flatnonzero(statistics.rows & (statistics.allowed[0] > 0))
    assert_near(statistics.entropy[:, real], reference.entropy[:, real], layers=2)
    assert_near(statistics.peak[:, real], reference.peak[:, real], layers=2)
    assert_near(statistics.mass, reference.mass, layers=2)
    assert (statistics.allowed == reference.allowed)[:, real].all()


@pytest.mark.parametrize("name", [name for name in ROUTED if name != "Swin"])
def test_the_fast_kernel_forms_no_matrix_and_says_the_same(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glassformer.recorders.maps.LONGEST_DENSE", 4)
    model, inputs = build(ROUTED[name]), second(feed(ROUTED[name]))
    reference = ask_eager(model, inputs)
    subject = load(model, name=name)
    recording = subject.record(inputs, want=("weights", "hidden"), kernel="fast")
    assert str(recording.evidence.kernel).startswith("blocks of rows")
    sharpest = max(largest(each.scores()) for each in recording.maps)
    assert 0 < recording.evidence.largest_error < rounding(layers=2, scores=sharpest)
    for place, maps in read_eager(reference).items():
        for each, reported in zip(
            [each for each in recording.maps if (each.stack, each.kind) == place or place[0] == "only"],
            maps,
            strict=True,
        ):
            assert each.dense is None
            rows = each.statistics.rows & (each.statistics.allowed[0] > 0)
            scores = largest(each.scores())
            assert_near(each.weights()[:, rows], reported[0].numpy()[:, rows], layers=2, scores=scores)
            assert (each.statistics.log_sum_exp[:, rows] == each.factors.log_sum_exp[:, rows]).all()


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")  # transformers still uses it
@pytest.mark.parametrize("name", FALLEN)
@pytest.mark.slow
def test_architectures_off_the_interface_are_asked_for_eager_attention(name: str) -> None:
    model, inputs = build(FALLEN[name]), second(feed(FALLEN[name]))
    reference = ask_eager(build(FALLEN[name], "eager"), inputs)
    with torch.no_grad():
        plain = first_output(model(**inputs))
    subject = load(model, name=name)
    recording = subject.record(inputs, want=("weights", "hidden", "output", "scores"))
    assert str(recording.evidence.kernel) == "eager, as the model reports it"
    assert any("scores cannot be recorded" in str(note) for note in recording.evidence.notes)
    with torch.no_grad():
        assert torch.equal(first_output(model(**inputs)), plain)
    likeliest = plain[0].log_softmax(-1).max(-1).values.numpy()
    assert_near(recording.output.log_probabilities[:PADDED, 0], likeliest[:PADDED], layers=2)
    assert recording.maps
    for place, maps in read_eager(reference).items():
        ours = dense(recording, place)
        if name == "ProphetNet" and place != ("decoder", "self"):
            assert not ours
            continue
        for mine, reported in zip(ours, maps, strict=True):
            expected = reported[0].numpy()
            if mine.shape != expected.shape:  # a band
                expected = spread_by_hand(expected)
            assert np.array_equal(mine, expected)


EDITS = ("zero", "uniform", "mean", "cut", "scale", "first layers")
EDITED = [
    (name, how)
    for name, case in ROUTED.items()
    for how in EDITS
    if name != "Swin" and (how != "mean" or case.reads == "text")  # the reference of a mean is text
]


@campaign("name, how", EDITED, sample=18)
def test_every_edit_does_what_it_says(name: str, how: str) -> None:
    model, inputs = build(ROUTED[name]), second(feed(ROUTED[name]))
    subject = load(model, name=name)
    plain = subject.record(inputs, want=("weights", "scores"))
    before = next(each for each in plain.maps if each.layer == 1)
    rows = np.flatnonzero(before.statistics.rows & (before.statistics.allowed[0] > 1))
    query, key = int(rows[-1]), int(before.dense[1, rows[-1]].argmax())
    edit = {
        "zero": AblateHead(before.stack, before.kind, 1, 1),
        "uniform": AblateHead(before.stack, before.kind, 1, 1, "uniform"),
        "mean": AblateHead(before.stack, before.kind, 1, 1, "mean", [[5, 6, 7, 8], [9, 10]]),
        "cut": CutEdge(before.stack, before.kind, 1, 1, query, key),
        "scale": ScaleScores(0.0, before.stack, before.kind, 1),
        "first layers": FirstLayers(1, before.stack),
    }[how]
    edited = subject.record(inputs, want=("weights", "scores"), edits=[edit])
    assert [str(each) for each in edited.evidence.edits] == [str(edit)]
    if how == "first layers":
        layers = [
            each.layer for each in edited.maps if (each.stack, each.kind) == (before.stack, before.kind)
        ]
        assert layers == [0]
    else:
        (after,) = [each for each in edited.maps if each.name == before.name]
        check_edit(how, before, after, query, key)
    if how == "mean":
        above = [(one, other) for one, other in zip(plain.maps, edited.maps, strict=True) if one.layer == 2]
        assert any(np.abs(one.dense - other.dense).max() > 1e-6 for one, other in above)
    again = subject.record(inputs, want=("weights",))
    for one, other in zip(plain.maps, again.maps, strict=True):
        assert np.array_equal(one.dense, other.dense)


def check_edit(how: str, before: Any, after: Any, query: int, key: int) -> None:
    """What an edit of head 1 in layer 1 leaves of the weights."""
    others = [head for head in range(len(before.dense)) if head != 1]
    rows = np.flatnonzero(before.statistics.rows & (before.statistics.allowed[0] > 0))
    if how in ("scale", "uniform"):
        heads = slice(None) if how == "scale" else slice(1, 2)
        allowed = before.scores()[heads, rows] > -np.inf
        shares = np.where(allowed, after.dense[heads, rows], np.nan)
        assert_near(np.nanmax(shares, axis=-1), np.nanmin(shares, axis=-1))
        if how == "scale":
            return
    assert_near(after.dense[others], before.dense[others])
    if how == "zero":
        assert (after.dense[1] == 0).all()
    elif how == "mean":  # the head looks where it did; what it gives is replaced
        assert_near(after.dense[1], before.dense[1])
    elif how == "cut":
        expected = before.dense[1, query].copy()
        expected[key] = 0
        sink = 0.0 if before.sink_weights is None else before.sink_weights[1, query]
        assert_near(after.dense[1, query], expected / (expected.sum() + sink))


def spread_by_hand(band: np.ndarray) -> np.ndarray:
    heads, count, width = band.shape
    whole = np.zeros((heads, count, count), dtype=np.float32)
    for query in range(count):
        for column in range(width):
            key = query + column - width // 2
            if 0 <= key < count:
                whole[:, query, key] = band[:, query, column]
    return whole


@pytest.mark.parametrize("name", WITHOUT)
def test_no_attention_is_said_plainly(name: str) -> None:
    model, inputs = build(WITHOUT[name]), second(feed(WITHOUT[name]))
    with pytest.raises(RecordingError, match="There is no attention to record"):
        load(model, name=name).record(inputs)


def test_attention_within_pieces_of_a_text_is_left_out_by_name() -> None:
    long = Case(
        "LongT5ForConditionalGeneration", "LongT5Config",
        T5 | {"local_radius": 4, "encoder_attention_type": "local"}, "both",
    )  # fmt: skip
    blocks = {"block_size": 8, "num_global_tokens": 4}
    pegasus = Case("PegasusXForConditionalGeneration", "PegasusXConfig", BOTH | blocks, "both")
    for case in (long, pegasus):
        recording = load(build(case)).record(second(feed(case)), want=("weights", "hidden"))
        assert {each.stack for each in recording.maps} == {"decoder"}
        assert any(
            "maps of queries and keys there: encoder (self)" in str(note) for note in recording.evidence.notes
        )


def test_attention_within_pieces_alone_is_refused() -> None:
    local = {
        "vocab_size": VOCABULARY, "hidden_size": 32, "num_attention_heads": 4, "attention_head_size": 8,
        "attn_layers": ["local", "local"], "axial_pos_embds": False, "local_attn_chunk_length": 4,
        "is_decoder": False,
    }  # fmt: skip
    case = Case("ReformerForMaskedLM", "ReformerConfig", local)
    with pytest.raises(RecordingError, match=r"not a map of queries and keys \(self\): it attends"):
        load(build(case), name="Reformer").record(feed(case)["input_ids"][0, :16].tolist())


def test_all_were_tried() -> None:
    assert (len(ROUTED), len(FALLEN)) == (31, 11)
