"""Edits and ways of decoding, as a person writes them in a terminal.

In:   `zero encoder self 2 5`, `cut decoder self all all 7 3`, `scale 2 decoder`, `first 4`; `beam 4`.
Out:  the edits of recorders/edits.py; settings of a generation; or a sentence that names the wrong word.

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
from glassformer.registry import suggest

if TYPE_CHECKING:
    from glassformer.model.generation_settings import GenerationSettings
    from glassformer.recorders.edits import Edit

ALL = "all"
STACKS, KINDS = ("encoder", "decoder"), ("self", "cross")
ALTERNATIVES = 5  # kept for each word that is written


class Slot(NamedTuple):
    """A place for one word: what it is called, how it is read, whether `all` or nothing will do."""

    name: str
    read: Callable[[str], Any]
    wanted: str
    all: bool = False
    optional: bool = False


def _number(name: str, *, all: bool = False, optional: bool = False) -> Slot:
    return Slot(name, _read_count, "a whole number from 0", all, optional)


def _choice(name: str, known: Sequence[str], *, all: bool = False, optional: bool = False) -> Slot:
    def read(word: str) -> str:
        if word not in known:
            raise ValueError
        return word

    return Slot(name, read, " or ".join(known), all, optional)


def _read_count(word: str) -> int:
    if not word.isdecimal():
        raise ValueError
    return int(word)


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
        Slot("FACTOR", float, "a number"),
        _choice("STACK", STACKS, all=True, optional=True),
        _choice("KIND", KINDS, all=True, optional=True),
        _number("LAYER", all=True, optional=True),
    ),
    "first": (_number("COUNT"), _choice("STACK", STACKS, all=True, optional=True)),
}


def read_edit(text: str) -> "Edit":
    """One edit, such as `zero encoder self 2 5`."""
    from glassformer.recorders.edits import AblateHead, CutEdge, FirstLayers, ScaleScores

    verb, *words = text.split() or [""]
    if verb not in GRAMMAR:
        raise InputError(f"An edit cannot begin with {verb!r}.{suggest(verb, GRAMMAR)}")
    values = _read_words(verb, words)
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


def _read_words(verb: str, words: Sequence[str]) -> list[Any]:
    """A value for each slot of a verb; None for `all` and for what was left out."""
    slots = GRAMMAR[verb]
    form = f"{verb} " + " ".join(f"[{slot.name}]" if slot.optional else slot.name for slot in slots)
    if len(words) > len(slots):
        raise InputError(f"{words[len(slots)]!r} is one word too many in an edit; write `{form}`.")
    values: list[Any] = []
    for place, slot in enumerate(slots):
        if place >= len(words):
            if not slot.optional:
                raise InputError(f"`{' '.join([verb, *words])}` ends before its {slot.name}; write `{form}`.")
            values.append(None)
            continue
        word = words[place]
        try:
            values.append(None if slot.all and word == ALL else slot.read(word))
        except ValueError:
            wanted = slot.wanted + (" or all" if slot.all else "")
            raise InputError(
                f"{word!r} cannot be the {slot.name} of an edit; it is {wanted}: `{form}`."
            ) from None
    return values


def read_decoding(words: Sequence[str], habit: "GenerationSettings") -> "GenerationSettings":
    """`greedy`, `beam N` or `sample [SEED]`, in place of how a model likes to write."""
    verb, *rest = words
    numbers = []
    for word in rest:
        if not word.isdecimal():
            form = "sample 1" if verb == "sample" else "beam 4"
            raise InputError(f"{word!r} after --decode {verb} is no whole number from 0 up; write `{form}`.")
        numbers.append(int(word))
    habit = replace(habit, alternatives=ALTERNATIVES, n_best=1)
    match verb, numbers:
        case "greedy", []:
            return replace(habit, beams=1, sample=False)
        case "beam", [count]:
            return replace(habit, beams=count, sample=False)
        case "sample", [] | [_]:
            return replace(habit, beams=1, sample=True, seed=next(iter(numbers), None))
    if verb not in ("greedy", "beam", "sample"):
        raise InputError(f"Nothing decodes by {verb!r}.{suggest(verb, ('greedy', 'beam', 'sample'))}")
    raise InputError(
        f"`--decode {' '.join(words)}` has the wrong number of words; "
        "write `greedy`, `beam N` or `sample [SEED]`."
    )
