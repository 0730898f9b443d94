"""The outputs of a model of transformers as a recording keeps them: hidden states and likeliest outputs.

In:   the outputs of one forward pass over one text.
Out:  hidden states by stack, `Output`; and notes on what could not be kept.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.config import Head
from glassformer.messages import Message, message
from glassformer.place import name_term
from glassformer.recorders.outputs import (
    NOTHING,
    Show,
    Wanted,
    read_classes,
    read_numbers,
    read_tags,
    read_words,
)
from glassformer.recorders.store import Array
from glassformer.recorders.transformers.layers import Stacks
from glassformer.recording import AttentionMap, Output


def read_hidden(
    outputs: Any, stacks: Stacks, lengths: Collection[int], reader: str
) -> tuple[dict[str, Array], list[Message]]:
    """By stack (layer + 1, token, width): embeddings, then the state after each block, the last normed.

    Those without a name of a part are the reader's, the stack that reads the text.
    """
    hidden: dict[str, Array] = {}
    notes = []
    for part, name, states in walk_outputs(outputs):
        if not name.endswith("hidden_states") or not isinstance(states, tuple):
            continue
        if not states or not isinstance(states[0], Tensor):
            continue
        named = part or name.removesuffix("hidden_states").removesuffix("_")
        stack = named or stacks.names.get("", reader)
        if (
            not all(isinstance(each, Tensor) for each in states)  # of PegasusX, some are pairs
            or len({each.shape for each in states}) != 1
            or states[0].dim() != 3
        ):
            notes.append(message("recorders.notes.hidden_left_out", stack=name_term(stack)))
            continue
        if states[0].shape[1] not in lengths:
            count, known = states[0].shape[1], max(lengths)
            code = "recorders.notes.hidden_of_other_length"
            notes.append(message(code, stack=name_term(stack), count=count, known=known))
            continue
        hidden[stack] = torch.stack([each[0] for each in states]).float().cpu().numpy()
    if not hidden and not notes:
        notes.append(message("recorders.notes.no_hidden"))
    return hidden, notes


def read_output(
    model: nn.Module, outputs: Any, stack: str, show: Show, head: Head, wanted: Wanted = NOTHING
) -> Output | None:
    """The likeliest tokens or tags of each position, the likeliest classes, or numbers; None: no such."""
    logits = outputs.get("logits")
    if not isinstance(logits, Tensor) or logits.shape[0] != 1:
        return None
    labels: Mapping[int, str] = getattr(model.config, "id2label", None) or {}
    if logits.dim() == 2:
        numbers, names = head == "numbers", _name_classes(labels, logits)
        row = logits[0]
        return read_numbers(row, stack, names) if numbers else read_classes(row, stack, names, wanted)
    if logits.dim() != 3:
        return None
    if head == "tags" and len(labels) == logits.shape[2]:
        return read_tags(logits[0], stack, _name_classes(labels, logits), wanted)
    predicts_tokens = model.get_output_embeddings() is not None  # type: ignore[operator]
    if predicts_tokens or logits.shape[2] != len(labels):
        return read_words(logits[0], stack, show, wanted)
    return read_words(logits[0], stack, lambda ids: [labels[each] for each in ids], wanted)


def _name_classes(labels: Mapping[int, str], logits: Tensor) -> list[str]:
    """One for each logit; not for the words of a vocabulary, which are many."""
    return [labels.get(each, f"class {each}") for each in range(logits.shape[-1])]


def place_output(
    output: Output | None, maps: Sequence[AttentionMap], lengths: Collection[int]
) -> tuple[Output | None, list[Message]]:
    """The output in the stack that has as many queries: that of DETR is its decoder's. It is left out, with a
    note, where no stack and no text has: that of BLIP is of a text decoder that it does not report."""
    if output is None or not output.per_token:
        return output, []
    count = len(output.ids)
    stacks = {each.stack: None for each in maps if each.shape[1] == count}
    if output.stack in stacks or (not stacks and count in lengths):
        return output, []
    if not stacks:
        return None, [message("recorders.notes.output_left_out", count=count)]
    return replace(output, stack=next(reversed(stacks))), []


def walk_outputs(outputs: Any, part: str = "") -> Iterator[tuple[str, str, Any]]:
    """Part, name and value of all outputs; a model's parts, such as stacks, may have their own."""
    for name, value in outputs.items():
        if isinstance(value, Mapping):
            yield from walk_outputs(value, f"{part}{name.removesuffix('_output').removesuffix('_model')}")
        else:
            yield part, name, value
