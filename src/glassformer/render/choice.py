"""What is drawn of a recording: one map, one head; and the labels of its rows and columns.

In:   a Recording; a Place, or a part and a layer; a head.
Out:  the map and the head; labels for tokens.
"""

from collections.abc import Sequence
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from glassformer.errors import InputError
from glassformer.messages import Message, message
from glassformer.place import Place, Reading, name_term
from glassformer.recording import AttentionMap, Recording
from glassformer.recording.axes import find_row_side, name_rows


def choose_head(
    recording: Recording,
    *,
    part: str | None = None,
    layer: int | None = None,
    head: int | None = None,
    place: Place | None = None,
) -> tuple[AttentionMap, int]:
    """The map and the head asked for; of those left open, the head with the least entropy for its keys.

    `part` is encoder, decoder or cross; by default cross-attention where the model has it.
    """
    if place is not None:
        maps = [recording.map(place)]
    else:
        parts = {name_part(each.place) for each in recording.maps}
        wanted = "cross" if part is None and "cross" in parts else part
        maps = choose_maps(recording.maps, recording.model, part=wanted, layer=layer)
    heads = [range(each.heads) if head is None else (each.require_head(head),) for each in maps]
    candidates = [(index, number) for index, numbers in enumerate(heads) for number in numbers]
    entropies = [_entropy_share(each) for each in maps]
    index, number = min(candidates, key=lambda pair: float(entropies[pair[0]][pair[1]]))
    return maps[index], number


def choose_maps(
    maps: Sequence[AttentionMap], model: str, *, part: str | None = None, layer: int | None = None
) -> list[AttentionMap]:
    """The maps of a part and a layer; an error that lists what there is where none is left."""
    found = [each for each in maps if part in (None, name_part(each.place)) and layer in (None, each.layer)]
    if found:
        return found
    parts = sorted({name_part(each.place) for each in maps})
    if part is not None and part not in parts:
        raise InputError("render.no_part", model=model, part=part, parts=parts)
    layers = sorted({each.layer for each in maps if part in (None, name_part(each.place))})
    others = [name for name in parts if name != part]
    limits = {"layer": layer, "first": layers[0], "last": layers[-1]}
    if part is None:
        raise InputError("render.no_layer", model=model, **limits)
    if not others:
        raise InputError("render.no_layer_of_part", part=part, **limits)
    raise InputError("render.no_layer_of_part_but_others", part=part, others=others, **limits)


def name_part(place: Place) -> str:
    """Encoder, decoder or cross: the name of a map's part, as the options have it."""
    return "cross" if place.kind == "cross" else place.stack


def label_part(place: Place, language: str) -> str:
    """A map by its part and layer, for a table or an axis."""
    return f"{name_term(name_part(place)).text(language)} {place.layer}"


def label_rows(recording: Recording, attention_map: AttentionMap, reading: Reading = "written") -> list[str]:
    """Labels of the rows of a map."""
    require_choice("reading", reading, get_args(Reading))
    return [label(text) for text in name_rows(recording, attention_map, reading).texts]


def describe_rows(recording: Recording, attention_map: AttentionMap, reading: Reading = "written") -> Message:
    """What the labels of the rows are: queries, or in cross-attention words that are written or entered."""
    if find_row_side(recording, attention_map) != "written":
        return message("render.figures.query")
    return message("render.rows_written" if reading == "written" else "render.rows_entered")


def require_choice(name: str, value: str | None, choices: Sequence[str]) -> None:
    """Refuse a setting that is not one of its choices; None leaves it open."""
    if value is not None and value not in choices:
        raise InputError("render.not_a_choice", name=name, value=value, choices=choices)


def label(text: str) -> str:
    """A token without the spaces around it; one that is nothing else, and what cannot be printed, as ␣."""
    stripped = text.strip(" ") or "␣"
    return "".join(character if character.isprintable() else "␣" for character in stripped)


def mean_over_rows(attention_map: AttentionMap, values: NDArray[np.floating]) -> NDArray[np.float64]:
    """(head,) the mean over real rows that look at any key; NaN where there is none (a silenced head)."""
    statistics = attention_map.statistics
    counted = statistics.looking & (statistics.peak > 0)  # (head, query)
    return np.ma.array(values, mask=~counted, dtype=np.float64).mean(axis=1).filled(np.nan)


def _entropy_share(attention_map: AttentionMap) -> NDArray[np.float64]:
    """(head,) mean entropy as a share of the largest possible."""
    largest = np.log(np.maximum(attention_map.statistics.allowed, 2))  # (head, query)
    shares = mean_over_rows(attention_map, attention_map.statistics.entropy / largest)
    return np.where(np.isnan(shares), np.inf, shares)  # a head without a row is the last choice
