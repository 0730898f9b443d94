"""The trace: every number of every step is what the parameters say, for every kind of network of ours."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from glassformer import bundle
from glassformer.config import ModelConfig
from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.media import Waveform
from glassformer.model.transformer import Transformer
from glassformer.recorders.edits import FirstLayers, ScaleScores
from glassformer.recording import Recording
from glassformer.walk import make_plan
from proof import prove, prove_cells, prove_steps

EVERYTHING = ("weights", "hidden", "output", "trace", "parameters")
SOURCE = (5, 9, 7, 5, 11, 3)
TARGET = (6, 10, 4, 8)
ENCODER: dict[str, Any] = {"shape": "encoder", "head": "masked", "activation": "gelu", "output_bias": True}
DECODER: dict[str, Any] = {
    "shape": "decoder",
    "norm_position": "pre",
    "positions": "learned",
    "scale_embeddings": False,
    "activation": "gelu-tanh",
}
CLASSES: dict[str, Any] = {**ENCODER, "head": "classes", "classes": 3}

NETWORKS: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "both stacks, norms first": {"norm_position": "pre", "positions": "learned"},
    "marian": {
        "positions": "sinusoidal-halves",
        "activation": "silu",
        "output_bias": True,
        "decoder_layers": 1,
    },
    "both stacks, one shared block": {"share_layers": True},
    "bert": {**ENCODER, "segments": 2, "embedding_norm": True, "positions": "learned"},
    "albert": {**ENCODER, "segments": 2, "embedding_norm": True, "embedding_width": 8, "share_layers": True},
    "gpt2": DECODER,
    "rotary": {**DECODER, "positions": "rotary"},
    "no positions, words of their own": {**DECODER, "positions": "none", "tie_embeddings": False},
    "narrow words": {**DECODER, "embedding_width": 8},
    "relative, looking back": {**DECODER, "positions": "relative"},
    "relative, both ways": {**ENCODER, "positions": "relative"},
    "dot": {**DECODER, "similarity": "dot"},
    "cosine": {**DECODER, "similarity": "cosine"},
    "bilinear": {"similarity": "bilinear"},
    "additive": {"similarity": "additive"},
    "hard": {**ENCODER, "best_keys": 2},
    "hardest": {**DECODER, "best_keys": 1},
    "basic": {**ENCODER, "basic_attention": True},
    "basic, both stacks": {"basic_attention": True},
    "batch norm": {**ENCODER, "norm": "batch"},
    "alibi, looking back": {**DECODER, "positions": "alibi", "heads": 4},
    "alibi, both ways, three heads": {**ENCODER, "positions": "alibi", "width": 18, "heads": 3},
    "grouped queries": {**DECODER, "positions": "rotary", "heads": 4, "key_heads": 2},
    "one key head, normed": {"heads": 4, "key_heads": 1, "query_key_norm": True},
    "normed and turned": {"positions": "rotary", "query_key_norm": True},
    "normed, one shared block": {"share_layers": True, "query_key_norm": True},
    "window, looking back": {**DECODER, "window": 3},
    "window, both ways": {**ENCODER, "window": 2},
    "window and alibi": {"positions": "alibi", "window": 2},
    "window of one": {**DECODER, "window": 1},
    "a scale of its own": {**DECODER, "score_scale": 0.7},
    "dot and scale": {**DECODER, "similarity": "dot", "score_scale": 0.3},
    "cosine and scale": {**DECODER, "similarity": "cosine", "score_scale": 8.0},
    "bilinear, scale, grouped": {"similarity": "bilinear", "score_scale": 2.0, "heads": 4, "key_heads": 2},
    "additive, scale, grouped": {"similarity": "additive", "score_scale": 3.0, "heads": 4, "key_heads": 1},
    "hard in a window": {**DECODER, "best_keys": 2, "window": 3, "heads": 4, "key_heads": 2},
    "basic in a window": {**ENCODER, "basic_attention": True, "window": 2, "score_scale": 0.1},
    "scaled residuals": {**DECODER, "residual_scale": True},
    "classes, first": {**CLASSES, "pooler": True},
    "classes, last": {**CLASSES, "pooling": "last"},
    "classes, mean": {**CLASSES, "pooling": "mean", "norm_position": "pre"},
    "classes, max": {**CLASSES, "pooling": "max"},
    "tags": {**CLASSES, "head": "tags"},
    "numbers": {**CLASSES, "head": "numbers", "pooler": True},
    "no head": {**ENCODER, "head": "none"},
}


SHOWN: dict[str, Any] = {"reads": "picture", "picture_size": 12, "patch_size": 4}
HEARD: dict[str, Any] = {"reads": "sound", "sample_rate": 8000, "hop": 80, "mel_bins": 12, "frame_stride": 4}
PERCEIVING: dict[str, dict[str, Any]] = {
    "classes of pictures": {**SHOWN, **CLASSES, "positions": "learned", "norm_position": "pre"},
    "grey, waves in two dimensions": {**SHOWN, **CLASSES, "color": False, "pooling": "mean"},
    "no class token, waves": {**SHOWN, "class_token": False, "embedding_norm": True},
    "turned in two dimensions": {**SHOWN, "positions": "rotary"},
    "no positions": {**SHOWN, **CLASSES, "positions": "none"},
    "colours of their own": {
        **SHOWN,
        **CLASSES,
        "pixel_mean": (0.2, 0.4, 0.5),
        "pixel_deviation": (0.2, 0.25, 0.3),
    },
    "narrow words below a picture": {**SHOWN, "positions": "learned", "embedding_width": 8},
    "sound": {**HEARD, "positions": "learned", "norm_position": "pre"},
    "sound, every column": {**HEARD, "frame_stride": 1, "positions": "sinusoidal-halves"},
    "sound, every second column": {**HEARD, **CLASSES, "frame_stride": 2, "embedding_norm": True},
    "sound, turned": {**HEARD, **CLASSES, "positions": "rotary", "embedding_norm": True},
}
PIXELS = np.random.default_rng(0).integers(0, 256, (12, 12, 3)).astype(np.uint8)
NOISE = Waveform(np.random.default_rng(0).normal(size=1100) * 0.1, 8000)


def build(**words: Any) -> Transformer:
    """A tiny network with nothing in it that is zero or one by chance of initialisation."""
    settings: dict[str, Any] = {
        "layers": 2,
        "width": 16,
        "heads": 2,
        "feed_forward": 24,
        "max_length": 300,
        "start_id": 2,
        "end_id": 3,
        "dropout": 0.3,
        "attention_dropout": 0.3,
    }
    torch.manual_seed(3)
    network = Transformer(ModelConfig(vocabulary_size=40, **{**settings, **words}))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
        for name, buffer in network.named_buffers():
            if "running" in name or name in ("head.center", "head.scale"):
                buffer.add_(torch.rand_like(buffer))
    return network


def record(network: nn.Module, want: tuple[str, ...] = EVERYTHING, **words: Any) -> Recording:
    config = network.config
    assert isinstance(config, ModelConfig)
    source = {"text": SOURCE, "picture": PIXELS, "sound": NOISE}[config.reads]
    target = TARGET if config.shape == "encoder-decoder" else None
    return load(network).record(source, target, want=want, **words)


@pytest.mark.parametrize("name", [*NETWORKS, *PERCEIVING])
def test_every_number_of_every_step_is_what_the_parameters_say(name: str) -> None:
    plan = prove(record(build(**{**NETWORKS, **PERCEIVING}[name])))
    assert plan.traced
    assert plan.parameters


@pytest.mark.parametrize("count", [1, 2])
def test_of_equal_keys_those_are_followed_that_the_network_took(count: int) -> None:
    network = build(**ENCODER, best_keys=count, positions="none")
    recording = load(network).record((5, 9, 5, 5, 9, 5), want=EVERYTHING)  # one word, one score
    steps = [step for chapter in make_plan(recording).chapters for step in chapter.steps]
    prove_steps(recording, steps)
    prove_cells(recording, [step for step in steps if step.operation == "softmax"], count=40)


def test_a_wrong_number_would_be_seen() -> None:
    recording = record(build())
    arrays = {name: array.copy() for name, array in recording.trace.items()}
    arrays["encoder/1/feed_forward/inner"][2, 3] *= 1 + 1e-4
    spoilt = Recording(
        recording.model,
        recording.evidence,
        recording.source,
        recording.target,
        recording.maps,
        recording.hidden,
        recording.output,
        architecture=recording.architecture,
        trace=arrays,
    )
    with pytest.raises(AssertionError, match=r"encoder\.1\.feed_forward"):
        prove(spoilt)


def test_looking_changes_nothing() -> None:
    network = build()
    before = load(network).record(SOURCE, TARGET, want=("weights", "hidden", "output"))
    hooks = [len(module._forward_hooks) for module in network.modules()]
    traced = record(network)
    assert [len(module._forward_hooks) for module in network.modules()] == hooks
    for one, other in zip(before.maps, traced.maps, strict=True):
        assert (one.weights() == other.weights()).all()
    for stack, states in before.hidden.items():
        assert (states == traced.hidden[stack]).all()
    assert before.trace == {}


def test_a_trace_of_the_first_layers_ends_there() -> None:
    plan = make_plan(record(build(**DECODER), edits=[FirstLayers(1)]))
    assert {chapter.layer for chapter in plan.chapters} == {None, 0}
    assert all(step.arithmetic for chapter in plan.chapters for step in chapter.steps)


def test_parameters_that_half_precision_holds_are_kept_in_it() -> None:
    network = build(**DECODER)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(parameter.half().float())
    trace = record(network).trace
    assert {array.dtype for name, array in trace.items() if name.startswith("parameters/")} == {
        np.dtype("float16")
    }
    assert trace["decoder/0/self/queries"].dtype == np.float32


def test_a_trace_comes_back_from_its_bundle(tmp_path: Path) -> None:
    recording = record(build())
    bundle.save(recording, tmp_path / "traced.bundle")
    again = bundle.open(tmp_path / "traced.bundle")
    assert dict(again.architecture or {}) == dict(recording.architecture or {})
    assert set(again.trace) == set(recording.trace)
    assert all((again.trace[name] == array).all() for name, array in recording.trace.items())
    assert make_plan(again) == make_plan(recording)


@pytest.mark.parametrize(
    ("want", "words", "sentence"),
    [
        (("trace",), {"edits": [ScaleScores(2.0)]}, "an edit breaks this"),
        (("trase",), {}, "trace"),
    ],
)
def test_what_cannot_be_traced_is_refused(
    want: tuple[str, ...], words: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        record(build(), want, **words)


def test_a_long_text_is_refused() -> None:
    with pytest.raises(InputError, match="at most 256 tokens; this input has 257"):
        load(build(**DECODER)).record([5] * 257, want=("trace",))
    assert load(build(**DECODER)).record([5] * 257, want=("parameters",)).trace


def test_the_fast_kernel_and_a_trace_exclude_each_other() -> None:
    subject: Any = load(build(**DECODER))
    with pytest.raises(InputError, match="without edits or traces"):
        subject.record(SOURCE, want=("trace",), kernel="fast")


def test_without_a_trace_steps_say_why() -> None:
    plan = make_plan(record(build(), ("weights", "scores", "hidden")))
    steps = {step.id: step for chapter in plan.chapters for step in chapter.steps}
    assert steps["encoder.0.self.weights"].missing is None
    assert steps["encoder.0.self.weights"].arithmetic  # nothing is masked: it read the scores
    assert steps["encoder.0.feed_forward.norm"].missing is None  # a hidden state
    assert steps["encoder.0.feed_forward.inner"].missing is not None
    assert not plan.traced
    assert len(plan.notes) == 2


def build_llama() -> Any:
    """Four heads share two keys and values."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    sizes: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
    heads: dict[str, Any] = {"num_attention_heads": 4, "num_key_value_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=40, max_position_embeddings=32, **sizes, **heads)).eval()


def build_t5() -> Any:
    """Scores with a bias of distances."""
    from transformers import T5Config, T5ForConditionalGeneration

    torch.manual_seed(0)
    sizes: dict[str, Any] = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 1, "num_heads": 4}
    config = T5Config(vocab_size=40, decoder_start_token_id=2, pad_token_id=0, eos_token_id=3, **sizes)
    return T5ForConditionalGeneration(config).eval()


LOOKED_AT = ("weights", "scores", "queries", "keys", "values", "hidden", "output")


def test_a_model_of_transformers_has_no_trace_and_is_told_so() -> None:
    with pytest.raises(InputError, match="recorded only of our own networks, not"):
        load(build_llama()).record(SOURCE, want=("trace",))


def test_heads_that_share_keys_are_followed() -> None:
    recording = load(build_llama()).record(SOURCE, want=LOOKED_AT)
    steps = [step for chapter in make_plan(recording).chapters for step in chapter.steps]
    told = [step for step in steps if step.arithmetic]
    assert {step.operation for step in told} == {"dot", "softmax", "mix"}
    prove_steps(recording, told)
    prove_cells(recording, told, count=6)


def test_scores_that_are_no_plain_products_are_shown_and_not_explained() -> None:
    recording = load(build_t5()).record(SOURCE, TARGET, want=LOOKED_AT)
    steps = {step.id: step for chapter in make_plan(recording).chapters for step in chapter.steps}
    assert steps["encoder.0.self.scores"].operation == "states"
    assert steps["encoder.0.self.scores"].missing is None
    assert steps["decoder.0.cross.scores"].operation == "dot"
    prove_cells(recording, [step for step in steps.values() if step.arithmetic])
