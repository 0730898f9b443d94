"""Rules that carry weights between another library's names and ours, in both directions.

In:   a table of rules, and tensors under one side's names.
Out:  the same numbers under the other side's names, or one error that lists everything that does not fit.

A name may hold `{}` where a layer's number stands: such a rule counts for every layer that the network has.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Protocol

import torch
from torch import Tensor

from glassformer.errors import CheckpointError
from glassformer.messages import Message, message

MAX_GROUPS = 8  # names in one error; the others are counted
ROUNDING = 1e-2  # of numbers up to 1 that may have been stored as bfloat16


@dataclass(frozen=True, slots=True)
class Operation:
    """How tensors change on the way: `read` makes ours of theirs, `write` undoes it, into so many tensors."""

    read: Callable[[Sequence[Tensor]], Tensor]
    write: Callable[[Tensor, int], list[Tensor]]
    leave: Callable[[Tensor], Tensor] | None = None  # the part of ours that is not written, and must be zero


PLAIN = Operation(lambda theirs: theirs[0], lambda ours, _: [ours])
TRANSPOSED = Operation(lambda theirs: theirs[0].t(), lambda ours, _: [ours.t()])  # GPT-2's Conv1D: (in, out)
# Along dimension 0.
JOINED = Operation(lambda theirs: torch.cat(list(theirs)), lambda ours, parts: list(ours.chunk(parts)))
# Biases of queries and values, or of values alone, where keys have none.
WITHOUT_KEY = Operation(
    lambda theirs: torch.cat((theirs[0], torch.zeros_like(theirs[0]), theirs[1])),
    lambda ours, _: [ours.chunk(3)[0], ours.chunk(3)[2]],
    lambda ours: ours.chunk(3)[1],
)
VALUE_ALONE = Operation(
    lambda theirs: torch.cat((torch.zeros_like(theirs[0]), theirs[0])),
    lambda ours, _: [ours.chunk(2)[1]],
    lambda ours: ours.chunk(2)[0],
)
ROW = Operation(lambda theirs: theirs[0][0], lambda ours, _: [ours[None]])  # the only row of a table


@dataclass(frozen=True, slots=True)
class Rule:
    """One of our names, and where its numbers stand in a foreign file."""

    theirs: tuple[str, ...]  # several are joined; none: they have no such thing, and ours must be zero
    ours: str | None  # None: known, and not needed
    operation: Operation = PLAIN
    also: tuple[str, ...] = ()  # further names of the same tensor (tied weights); any one of them is enough
    optional: bool = False  # zero where it is missing
    fixed: Tensor | None = None  # numbers that ours has by construction: a file that holds others is refused


def carry(theirs: str | tuple[str, ...], ours: str, operation: Operation = PLAIN, *also: str) -> Rule:
    """A rule for one tensor of ours; several of theirs are joined along dim 0."""
    names = (theirs,) if isinstance(theirs, str) else theirs
    return Rule(names, ours, JOINED if len(names) > 1 else operation, also)


def carry_layer(
    theirs: str | tuple[str, ...], ours: str, operation: Operation = PLAIN, *, bias_optional: bool = False
) -> tuple[Rule, Rule]:
    """Two rules, for weight and bias; a bias has nothing to transpose."""
    names = (theirs,) if isinstance(theirs, str) else theirs
    bias = carry(tuple(f"{name}.bias" for name in names), f"{ours}.bias")
    return (
        carry(tuple(f"{name}.weight" for name in names), f"{ours}.weight", operation),
        replace(bias, optional=bias_optional),
    )


def ignore(*names: str) -> tuple[Rule, ...]:
    """Rules for names that are known and not needed."""
    return tuple(Rule((name,), None) for name in names)


def ignore_layer(name: str) -> tuple[Rule, ...]:
    """The same for weight and bias."""
    return ignore(f"{name}.weight", f"{name}.bias")


class Tensors(Protocol):
    """Tensors by name, whose shapes are known before any of them is read."""

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """The shape of every tensor there is."""

    def tensor(self, name: str) -> Tensor:
        """One of them, as float32 where it is a fraction."""


@dataclass(frozen=True, slots=True)
class Table:
    """The rules of one network, and what may differ in how a file spells the names."""

    rules: tuple[Rule, ...]
    prefix: str = ""  # that names of the bare network lack: `bert.`
    bare: bool = False  # so they are written without it
    other_names: Mapping[str, str] = field(default_factory=dict)  # by pattern: r"\.gamma$" for ".weight"

    def spell(self, name: str, known: Callable[[str], bool]) -> str:
        """A file's name as the rules spell it; itself where they do not know it at all."""
        for pattern, usual in self.other_names.items():
            name = re.sub(pattern, usual, name)
        return next((form for form in (name, self.prefix + name) if known(form)), name)


def read(table: Table, ours: Mapping[str, Tensor], theirs: Tensors) -> Iterator[tuple[str, Tensor]]:
    """Every tensor of `ours` (which gives names and shapes) made from `theirs`; checked before the first."""
    rules = expand(table.rules, ours)
    found, surplus = _recognise(table, rules, theirs.shapes)
    _check(rules, ours, theirs.shapes, found, surplus)
    return _read(rules, ours, theirs, found)


def write(table: Table, ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Our tensors under their names. What they have no place for must be zero; see `unwritable`."""
    tensors: dict[str, Tensor] = {}
    for rule in expand(table.rules, ours):
        if rule.ours is not None and rule.theirs:
            parts = rule.operation.write(ours[rule.ours], len(rule.theirs))
            tensors.update(zip(rule.theirs, parts, strict=True))
    if not table.bare:
        return tensors
    return {name.removeprefix(table.prefix): tensor for name, tensor in tensors.items()}


def unwritable(table: Table, ours: Mapping[str, Tensor]) -> list[str]:
    """Our names whose numbers would be lost: they have no such tensor, and ours is not zero."""
    rules = [rule for rule in expand(table.rules, ours) if rule.ours is not None]
    return [str(rule.ours) for rule in rules if _loses_numbers(rule, ours)]


def _loses_numbers(rule: Rule, ours: Mapping[str, Tensor]) -> bool:
    assert rule.ours is not None
    if not rule.theirs:
        return bool(ours[rule.ours].any())
    leave = rule.operation.leave
    return leave is not None and bool(leave(ours[rule.ours]).any())


def expand(rules: Iterable[Rule], ours: Mapping[str, Tensor]) -> list[Rule]:
    """One rule for each layer where there is a `{}`; rules of ours that this network lacks are left out."""
    expanded: list[Rule] = []
    for rule in rules:
        if rule.ours is None:
            expanded.append(rule)
        elif "{}" not in rule.ours:
            expanded += [rule] if rule.ours in ours else []
        else:
            layer = 0
            while rule.ours.format(layer) in ours:
                expanded.append(_at(rule, rule.ours.format(layer), layer))
                layer += 1
    unknown = set(ours) - {rule.ours for rule in expanded}
    assert not unknown, f"no rule carries {sorted(unknown)}"
    return expanded


def _at(rule: Rule, ours: str, layer: int) -> Rule:
    theirs = tuple(name.format(layer) for name in rule.theirs)
    return replace(rule, theirs=theirs, ours=ours, also=tuple(name.format(layer) for name in rule.also))


def _recognise(table: Table, rules: list[Rule], names: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """The file's name for each name of the rules, and the names that are surplus: unknown, or given twice."""
    exact = {name for rule in rules for name in (*rule.theirs, *rule.also) if "{}" not in name}
    patterns = [name for rule in rules for name in rule.theirs if "{}" in name]
    any_layer = re.compile("|".join(re.escape(name).replace(r"\{\}", r"\d+") for name in patterns) or r"(?!)")

    def known(name: str) -> bool:
        return name in exact or any_layer.fullmatch(name) is not None

    found: dict[str, str] = {}
    surplus: list[str] = []
    for name in names:
        spelt = table.spell(name, known)
        if known(spelt) and spelt not in found:
            found[spelt] = name
        else:
            surplus.append(name)
    return found, surplus


def _check(
    rules: list[Rule],
    ours: Mapping[str, Tensor],
    shapes: Mapping[str, tuple[int, ...]],
    found: Mapping[str, str],
    surplus: list[str],
) -> None:
    """Refuse with everything that is missing, surplus or of another shape."""
    missing, misshapen = [], []
    for rule in rules:
        if rule.ours is None or not rule.theirs:
            continue
        blank = torch.empty(ours[rule.ours].shape, device="meta")
        for name, part in zip(rule.theirs, rule.operation.write(blank, len(rule.theirs)), strict=True):
            present = [same for same in (name, *rule.also) if same in found]
            if not present and not rule.optional:
                missing.append(name)
            for same in present:
                actual = found[same]
                if shapes[actual] != tuple(part.shape):
                    misshapen.append((actual, shapes[actual], tuple(part.shape)))
    if missing or surplus or misshapen:
        raise CheckpointError(_describe_misfit(missing, surplus, misshapen))


def _describe_misfit(
    missing: list[str], surplus: list[str], misshapen: list[tuple[str, tuple[int, ...], tuple[int, ...]]]
) -> Message:
    wrong = [
        message("weights.misfit.shape", name=name, shape=str(actual), expected=str(expected))
        for name, actual, expected in misshapen
    ]
    lists: dict[str, Sequence[str | Message]] = {"missing": missing, "surplus": surplus, "shapes": wrong}
    problems = [
        message(f"weights.misfit.{kind}", count=len(names), names=group_layers(names))
        for kind, names in lists.items()
        if names
    ]
    joined = reduce(lambda first, then: message("weights.misfit.joined", first=first, then=then), problems)
    return message("weights.misfit.all", problems=joined)


def group_layers(names: Iterable[str | Message]) -> list[str | Message]:
    """Names that differ in a layer's number as one, and at most MAX_GROUPS of them."""
    groups: dict[str, list[str | Message]] = {}
    for name in names:
        groups.setdefault(re.sub(r"(?<=\.)\d+(?=\.)", "{}", str(name)), []).append(name)
    shown: list[str | Message] = [
        same[0] if len(same) == 1 else message("weights.misfit.in_layers", name=pattern, count=len(same))
        for pattern, same in list(groups.items())[:MAX_GROUPS]
    ]
    rest = sum(len(same) for same in list(groups.values())[MAX_GROUPS:])
    return [*shown, message("weights.misfit.more", count=rest)] if rest else shown


def _read(
    rules: list[Rule], ours: Mapping[str, Tensor], theirs: Tensors, found: Mapping[str, str]
) -> Iterator[tuple[str, Tensor]]:
    for rule in rules:
        if rule.ours is None:
            _check_fixed(rule, theirs, found)
            continue
        tensors = []
        for name in rule.theirs:
            present = [found[same] for same in (name, *rule.also) if same in found]
            if present:
                tensors.append(_read_tied(present, theirs))
        if len(tensors) == len(rule.theirs) and tensors:
            yield rule.ours, rule.operation.read(tensors)
        else:  # optional, or theirs have no such thing
            yield rule.ours, torch.zeros(ours[rule.ours].shape)


def _read_tied(names: list[str], theirs: Tensors) -> Tensor:
    """One tensor that stands under several names; different numbers under them are a contradiction."""
    first, *others = (theirs.tensor(name) for name in names)
    for name, other in zip(names[1:], others, strict=True):
        if not torch.equal(first, other):
            raise CheckpointError("weights.tied_differ", name=name, other=names[0])
    return first


def _check_fixed(rule: Rule, theirs: Tensors, found: Mapping[str, str]) -> None:
    if rule.fixed is None or rule.theirs[0] not in found:
        return
    tensor = theirs.tensor(found[rule.theirs[0]])
    rows = min(len(tensor), len(rule.fixed))  # a table may be longer than is needed
    if tensor.shape[1:] != rule.fixed.shape[1:] or not torch.allclose(
        tensor[:rows], rule.fixed[:rows], atol=ROUNDING
    ):
        raise CheckpointError("weights.fixed_differ", name=found[rule.theirs[0]])
