"""Edits written by hand, with torch's hooks on the modules of each architecture: nothing of Glassformer.

A `Family` says where the modules of an architecture are. `Hand` runs a model on one text with hooks: vectors
are read and replaced in what the projections of queries, keys and values give, and in what the output
projection reads.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from edited_models import HEADS, WIDTH, make_architectures, make_theirs, sharpen

SOURCE, OTHER, TARGET = [7, 9, 11, 6, 8, 12], [12, 5, 13, 9, 7, 6], [9, 5, 6, 14]
Change = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Family:
    """Where an architecture keeps its modules."""

    blocks: str  # the list of blocks; of shared layers, the one block
    attention: str  # in a block
    parts: tuple[str, str, str]  # in attention: what gives queries, keys and values
    output: str  # in attention: what reads the heads side by side
    added: str  # in a block: what gives the last sum
    stack: str = "decoder"
    kind: str = "self"
    key_heads: int = HEADS
    fused: str = ""  # "": a module for each part; "parts": one after the other; "heads": by head
    shared: bool = False
    beside: str = ""  # in a block: what reads the heads of its other attention

    def find(self, model: nn.Module, layer: int, path: str = "") -> nn.Module:
        blocks = model.get_submodule(self.blocks)
        block = blocks if self.shared else blocks[layer]  # type: ignore[index]
        return block.get_submodule(path)

    def slice_of(self, part: int, head: int) -> slice:
        """Where a head is in what the projection of a part gives."""
        start = {"": head, "parts": part * HEADS + head, "heads": 3 * head + part}[self.fused] * WIDTH
        return slice(start, start + WIDTH)


SEPARATE = ("q_proj", "k_proj", "v_proj")
LLAMA = Family("model.layers", "self_attn", SEPARATE, "o_proj", "mlp", key_heads=2)
FAMILIES = {
    "GPT-2": Family("transformer.h", "attn", ("c_attn",) * 3, "c_proj", "mlp", fused="parts"),
    "Llama": LLAMA,
    "Mistral": LLAMA,
    "Qwen3": LLAMA,
    "Gemma 2": LLAMA,
    "OPT": Family("model.decoder.layers", "self_attn", SEPARATE, "out_proj", "fc2"),
    "GPT-NeoX": Family(
        "gpt_neox.layers", "attention", ("query_key_value",) * 3, "dense", "mlp", fused="heads"
    ),
    "BERT": Family(
        "bert.encoder.layer", "attention", ("self.query", "self.key", "self.value"), "output.dense",
        "output.dense", "encoder",
    ),
    "ALBERT": Family(
        "albert.encoder.albert_layer_groups.0.albert_layers.0", "attention", ("query", "key", "value"),
        "dense", "ffn_output", "encoder", shared=True,
    ),
    "DistilBERT": Family(
        "distilbert.transformer.layer", "attention", ("q_lin", "k_lin", "v_lin"), "out_lin", "ffn", "encoder"
    ),
    "T5": Family(
        "decoder.block", "layer.1.EncDecAttention", ("q", "k", "v"), "o", "layer.2.DenseReluDense",
        kind="cross", beside="layer.0.SelfAttention.o",
    ),
    "BART": Family(
        "model.decoder.layers", "encoder_attn", SEPARATE, "out_proj", "fc2", kind="cross",
        beside="self_attn.out_proj",
    ),
}  # fmt: skip


def make_model(name: str, dtype: torch.dtype) -> Any:
    """A tiny one with random weights, whose attention is not flat."""
    torch.manual_seed(0)
    if name in ("GPT-2", "BART"):
        model = make_theirs("decoder" if name == "GPT-2" else "encoder-decoder")
    else:
        model = sharpen(make_architectures()[name](), 3.0)
    model.set_attn_implementation("eager")
    return model.to(dtype)


@dataclass
class Hand:
    """One model, and what it gives for a text under hooks."""

    family: Family
    model: Any
    hooks: list[tuple[nn.Module, int, bool, Change]] = field(default_factory=list)  # bool: of the input

    def change(self, module: nn.Module, layer: int, change: Change, *, given: bool = False) -> "Hand":
        """Also change what a module gives (or is given) in a layer."""
        return Hand(self.family, self.model, [*self.hooks, (module, layer, given, change)])

    def watch(self, module: nn.Module, layer: int, change: Change, *, given: bool = False) -> "Hand":
        """The same, before all other changes."""
        return Hand(self.family, self.model, [(module, layer, given, change), *self.hooks])

    def run(self, source: Sequence[int]) -> Tensor:
        """Logits (token, vocabulary)."""
        with ExitStack() as opened, torch.no_grad():
            for module, layer, given, change in self.hooks:
                opened.enter_context(self._open(module, layer, given, change))
            inputs: dict[str, Tensor] = {"input_ids": torch.tensor([list(source)])}
            if self.family.kind == "cross":
                start = self.model.config.decoder_start_token_id
                inputs["decoder_input_ids"] = torch.tensor([[start, *TARGET]])
            return self.model(**inputs).logits[0]

    def _open(self, module: nn.Module, layer: int, given: bool, change: Change) -> Any:
        calls = [0]

        def here() -> bool:
            calls[0] += 1
            return not self.family.shared or calls[0] - 1 == layer

        def put(value: Any) -> Any:
            states = value if isinstance(value, Tensor) else value[0]
            changed = change(states.clone())
            return changed if isinstance(value, Tensor) else (changed, *value[1:])

        if not given:
            return module.register_forward_hook(lambda _, __, output: put(output) if here() else output)

        def enter(_: nn.Module, positional: Any, named: Any) -> Any:
            if not here():
                return positional, named
            if positional:
                return put(positional), named
            return positional, named | {"hidden_states": put(named["hidden_states"])}

        return module.register_forward_pre_hook(enter, with_kwargs=True)

    # Places

    def find(self, layer: int, path: str = "") -> nn.Module:
        return self.family.find(self.model, layer, path)

    def find_output(self, layer: int) -> nn.Module:
        return self.find(layer, f"{self.family.attention}.{self.family.output}")

    def find_part(self, layer: int, part: int) -> nn.Module:
        return self.find(layer, f"{self.family.attention}.{self.family.parts[part]}")

    def find_added(self, layer: int) -> nn.Module:
        return self.find(layer, self.family.added)

    def read(self, source: Sequence[int], module: nn.Module, layer: int, *, given: bool = False) -> Tensor:
        """What a module gives (or is given) for a text, (token, width)."""
        seen: list[Tensor] = []

        def keep(states: Tensor) -> Tensor:
            seen.append(states.reshape(-1, states.shape[-1]).clone())
            return states

        self.watch(module, layer, keep, given=given).run(source)
        return seen[-1]

    def read_weights(self, source: Sequence[int], layer: int) -> Tensor:
        """(head, query, key), as the model reports them."""
        inputs: dict[str, Tensor] = {"input_ids": torch.tensor([list(source)])}
        name = "attentions"
        if self.family.kind == "cross":
            start = self.model.config.decoder_start_token_id
            inputs["decoder_input_ids"], name = torch.tensor([[start, *TARGET]]), "cross_attentions"
        with torch.no_grad():
            return self.model(**inputs, output_attentions=True)[name][layer][0]


def put(values: Tensor, at: Any = slice(None), columns: slice = slice(None)) -> Change:
    """A change that puts (token, width) into some tokens and columns; works on flattened batches, too."""

    def change(states: Tensor) -> Tensor:
        flat = states.view(-1, states.shape[-1])
        flat[at, columns] = values[at, columns]
        return states

    return change


def of_head(head: int) -> slice:
    """Where a head is in what the output projection reads."""
    return slice(head * WIDTH, (head + 1) * WIDTH)
