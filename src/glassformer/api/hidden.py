"""Hidden states as frames: a plane of them, or one number for each layer and token.

In:   a recording and a stack.
Out:  Frame.
"""

from typing import Literal

import numpy as np

from glassformer.api.frames import FloatPrecision, Frame, FrameArray, shrink
from glassformer.api.tiles import MOST_NUMBERS, cut_span
from glassformer.errors import ApiError
from glassformer.place import name_term
from glassformer.recording import Recording
from glassformer.recording.arrays import AnyArray

By = Literal["norm", "change", "neuron"]


def find_states(recording: Recording, stack: str) -> AnyArray:
    """The hidden states of a stack (layer + 1, token, width)."""
    if stack not in recording.hidden:
        raise ApiError(
            "api.no_hidden",
            "not_recorded",
            404,
            stack=name_term(stack[:40]),
            known=tuple(map(name_term, recording.hidden)) or "–",
        )
    return recording.hidden[stack]


def frame_hidden(
    recording: Recording,
    stack: str,
    layer: int,
    tokens: tuple[int, int] | None,
    every: int,
    precision: FloatPrecision,
) -> Frame:
    """The states after a layer, (token, width); of a long text a part, or each so-many-th token."""
    whole = take_layer(find_states(recording, stack), stack, layer)
    part = cut_span(tokens, len(whole), "tokens")
    plane = whole[part][::every]
    if plane.size > MOST_NUMBERS:
        raise ApiError("api.too_many_states", "too_many_cells", 422, count=plane.size, most=MOST_NUMBERS)
    meta = {"stack": stack, "layer": layer, "tokens": [part.start, part.stop], "every": every}
    return Frame({"states": shrink(plane, precision)}, meta)


def frame_activations(recording: Recording, stack: str, by: By, neuron: int | None) -> Frame:
    """How active each token is after each layer (layer + 1, token)."""
    states = find_states(recording, stack)
    layers, tokens, width = states.shape
    if by == "neuron" and (neuron is None or neuron >= width):
        raise ApiError(
            "api.no_neuron", "out_of_range", 422, neuron="–" if neuron is None else neuron, last=width - 1
        )
    found = np.zeros((layers, tokens), dtype=np.float32)
    before = None
    for layer in range(layers):
        plane = states[layer].astype(np.float32)  # (token, width)
        if by == "neuron":
            found[layer] = plane[:, neuron]
        elif by == "norm":
            found[layer] = np.linalg.norm(plane, axis=1)
        elif before is not None:
            found[layer] = np.linalg.norm(plane - before, axis=1)
        before = plane
    return Frame({"activations": FrameArray(found)}, {"stack": stack, "by": by, "neuron": neuron})


def take_layer(states: AnyArray, stack: str, layer: int) -> AnyArray:
    """One plane of the states (token, width)."""
    if layer >= len(states):
        raise ApiError(
            "api.no_layer",
            "out_of_range",
            422,
            layer=layer,
            stack=name_term(stack[:40]),
            last=len(states) - 1,
        )
    plane: AnyArray = states[layer]
    return plane
