"""Edits and ways of decoding, as a person writes them in a terminal.

In:   `zero encoder self 2 5`, `cut decoder self all all 7 3`, `scale 2 decoder`, `first 4`; `beam 4`.
Out:  edits; settings of a generation; or an error that names the part that is wrong.

    zero, mean    silence a head, or give every query the mean of its rows
    cut           hide one key from one query
    scale         multiply scores before the softmax
    first         run the first layers only
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from glassformer.errors import InputError
from glassformer.messages import Message, literal, message
from glassformer.registry import suggestion

if TYPE_CHECKING:
    from glassformer.model.generation_settings import GenerationSettings
    from glassformer.recorders.edits import Edit

ALL = "all"
METHODS = ("greedy", "beam", "sample")
ALTERNATIVES = 5  # recorded for each token that is generated
FORMS = {
    "zero": "STACK KIND LAYER HEAD",
    "mean": "STACK KIND LAYER HEAD",
    "cut": "STACK KIND LAYER|all HEAD|all QUERY KEY",
    "scale": "FACTOR [STACK|all] [KIND|all] [LAYER|all]",
    "first": "COUNT [STACK|all]",
}
CHOICES = {"STACK": ("encoder", "decoder"), "KIND": ("self", "cross")}


def read_edit(text: str) -> "Edit":
    """One edit, such as `zero encoder self 2 5`."""
    from glassformer.recorders.edits import AblateHead, CutEdge, FirstLayers, ScaleScores

    verb, *parts = text.split() or [""]
    if verb not in FORMS:
        raise InputError("cli.edits.unknown", verb=verb, suggestion=suggestion(verb, FORMS))
    values = _read_parts(verb, parts)
    match verb:
        case "zero" | "mean":
            stack, kind, layer, head = values
            return AblateHead(stack, kind, layer, head, verb)
        case "cut":
            return CutEdge(*values)
        case "scale":
            return ScaleScores(*values)
        case _:
            return FirstLayers(*values)


def _read_parts(verb: str, parts: Sequence[str]) -> list[Any]:
    """A value for each part of the form; None for `all` and for what was left out."""
    form, slots = f"{verb} {FORMS[verb]}", FORMS[verb].split()
    if len(parts) > len(slots):
        raise InputError("cli.edits.too_long", extra=parts[len(slots)], form=form)
    values: list[Any] = []
    for slot, part in zip_longest(slots, parts):
        name, may_be_all, _ = slot.strip("[]").partition("|")
        if part is None and not slot.startswith("["):
            raise InputError("cli.edits.too_short", edit=" ".join([verb, *parts]), name=name, form=form)
        try:
            values.append(None if part is None or (may_be_all and part == ALL) else _read_part(name, part))
        except ValueError:
            expected = (_describe_part(name), *([literal(ALL)] if may_be_all else []))
            raise InputError(
                "cli.edits.wrong_part", part=part, name=name, expected=expected, form=form
            ) from None
    return values


def _read_part(name: str, part: str) -> str | int | float:
    if name == "FACTOR":
        return float(part)
    if part not in CHOICES[name] if name in CHOICES else not part.isdecimal():
        raise ValueError
    return part if name in CHOICES else int(part)


def _describe_part(name: str) -> Message:
    if name in CHOICES:
        return message("cli.edits.one_of", names=CHOICES[name])
    return message("cli.edits.number" if name == "FACTOR" else "cli.edits.count")


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
