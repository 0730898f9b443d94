"""Edits and ways of decoding, as a person writes them in a terminal.

In:   `zero encoder self 2 5`, `cut decoder self all all 7 3`, `scale 2 decoder`, `first 4`; `beam 4`.
Out:  edits; settings of a generation; or an error that names the part that is wrong.

    zero STACK KIND LAYER HEAD             silence a head
    mean STACK KIND LAYER HEAD             give every query the mean of its rows
    cut STACK KIND LAYER HEAD QUERY KEY    hide one key from one query; layer and head may be `all`
    scale FACTOR [STACK [KIND [LAYER]]]    multiply scores before the softmax; each may be `all`
    first COUNT [STACK]                    run the first layers only
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from glassformer.errors import InputError
from glassformer.messages import Message, literal, message
from glassformer.registry import suggestion

if TYPE_CHECKING:
    from glassformer.model.generation_settings import GenerationSettings
    from glassformer.recorders.edits import Edit

ALL = "all"
STACKS, KINDS = ("encoder", "decoder"), ("self", "cross")
METHODS = ("greedy", "beam", "sample")
ALTERNATIVES = 5  # recorded for each token that is generated


class Slot(NamedTuple):
    """One part of an edit: its name, how it is read, whether it may be `all` or left out."""

    name: str
    read: Callable[[str], Any]
    expected: Message
    all: bool = False
    optional: bool = False


def _number(name: str, *, all: bool = False, optional: bool = False) -> Slot:
    return Slot(name, _read_count, message("cli.edits.count"), all, optional)


def _choice(name: str, known: Sequence[str], *, all: bool = False, optional: bool = False) -> Slot:
    def read(text: str) -> str:
        if text not in known:
            raise ValueError
        return text

    return Slot(name, read, message("cli.edits.one_of", names=known), all, optional)


def _read_count(text: str) -> int:
    if not text.isdecimal():
        raise ValueError
    return int(text)


_HEAD = (_choice("STACK", STACKS), _choice("KIND", KINDS), _number("LAYER"), _number("HEAD"))
GRAMMAR = {
    "zero": _HEAD,
    "mean": _HEAD,
    "cut": (
        *_HEAD[:2],
        _number("LAYER", all=True),
        _number("HEAD", all=True),
        _number("QUERY"),
        _number("KEY"),
    ),
    "scale": (
        Slot("FACTOR", float, message("cli.edits.number")),
        _choice("STACK", STACKS, all=True, optional=True),
        _choice("KIND", KINDS, all=True, optional=True),
        _number("LAYER", all=True, optional=True),
    ),
    "first": (_number("COUNT"), _choice("STACK", STACKS, all=True, optional=True)),
}


def read_edit(text: str) -> "Edit":
    """One edit, such as `zero encoder self 2 5`."""
    from glassformer.recorders.edits import AblateHead, CutEdge, FirstLayers, ScaleScores

    verb, *parts = text.split() or [""]
    if verb not in GRAMMAR:
        raise InputError("cli.edits.unknown", verb=verb, suggestion=suggestion(verb, GRAMMAR))
    values = _read_parts(verb, parts)
    match verb:
        case "zero" | "mean":
            stack, kind, layer, head = values
            return AblateHead(stack, kind, layer, head, verb)
        case "cut":
            return CutEdge(*values)
        case "scale":
            factor, stack, kind, layer = values
            return ScaleScores(factor, layer=layer, stack=stack, kind=kind)
        case _:
            return FirstLayers(*values)


def _read_parts(verb: str, parts: Sequence[str]) -> list[Any]:
    """A value for each slot of a verb; None for `all` and for what was left out."""
    slots = GRAMMAR[verb]
    form = f"{verb} " + " ".join(f"[{slot.name}]" if slot.optional else slot.name for slot in slots)
    if len(parts) > len(slots):
        raise InputError("cli.edits.too_long", extra=parts[len(slots)], form=form)
    values: list[Any] = []
    for place, slot in enumerate(slots):
        if place >= len(parts):
            if not slot.optional:
                edit = " ".join([verb, *parts])
                raise InputError("cli.edits.too_short", edit=edit, name=slot.name, form=form)
            values.append(None)
            continue
        part = parts[place]
        try:
            values.append(None if slot.all and part == ALL else slot.read(part))
        except ValueError:
            expected = (slot.expected, literal(ALL)) if slot.all else (slot.expected,)
            raise InputError(
                "cli.edits.wrong_part", part=part, name=slot.name, expected=expected, form=form
            ) from None
    return values


def read_decoding(parts: Sequence[str], habit: "GenerationSettings") -> "GenerationSettings":
    """`greedy`, `beam N` or `sample [SEED]`, in place of the model's own settings."""
    method, *rest = parts
    numbers = []
    for part in rest:
        if not part.isdecimal():
            form = "sample 1" if method == "sample" else "beam 4"
            raise InputError("cli.edits.not_a_count", part=part, method=method, form=form)
        numbers.append(int(part))
    habit = replace(habit, alternatives=ALTERNATIVES, n_best=1)
    match method, numbers:
        case "greedy", []:
            return replace(habit, beams=1, sample=False)
        case "beam", [count]:
            return replace(habit, beams=count, sample=False)
        case "sample", [] | [_]:
            return replace(habit, beams=1, sample=True, seed=next(iter(numbers), None))
    if method not in METHODS:
        raise InputError("cli.edits.unknown_method", method=method, suggestion=suggestion(method, METHODS))
    raise InputError("cli.edits.wrong_method", text=" ".join(parts))
