"""The arithmetic of recurrent cells, for one number at a time.

In:   a Cell.
Out:  Working.
"""

import math
from dataclasses import replace

import numpy as np

from glassformer.walk.functions import ACTIVATIONS
from glassformer.walk.types import Reading
from glassformer.walk.working import Cell, Working


def shift(cell: Cell) -> Working:
    """The state of the word before, which is the one after where words are read backwards; the first word
    has the start, or zeros."""
    *start, states = cell.step.inputs
    length = cell.array(states).shape[-2]
    row = cell.row + (1 if cell.step.words["direction"] == "backward" else -1)
    if 0 <= row < length:
        return _copy(cell, states, row)
    return _copy(cell, start[0], None) if start else Working(0.0)


def find_end(cell: Cell) -> Working:
    """The state after the last word that was read: of the last row, or of the first where words are read
    backwards; both directions side by side."""
    width = cell.array(cell.step.inputs[0]).shape[-1]
    place, column = divmod(cell.column, width)
    name = cell.step.inputs[place]
    return _copy(cell, name, 0 if place else len(cell.array(name)) - 1, column)


def repeat(cell: Cell) -> Working:
    """The same vector in every row."""
    (name,) = cell.step.inputs
    return _copy(cell, name, None)


def concatenate(cell: Cell) -> Working:
    """Vectors side by side: nothing is computed."""
    column = cell.column
    for name in cell.step.inputs:
        width = cell.array(name).shape[-1]
        if column < width:
            return _copy(cell, name, cell.row, column)
        column -= width
    raise IndexError(cell.column)


def pass_gate(cell: Cell) -> Working:
    """f(W x + b + U h + c); in a GRU's candidate the reset gate r scales what comes from the state."""
    words, before, *resets = cell.step.inputs
    parameters = cell.step.parameters
    row = cell.column + (parameters.columns[0] if parameters.columns else 0)
    reset = cell.value(resets[0]) if resets else 1.0
    left = np.concatenate([cell.vector(words), cell.vector(before)])
    of_word, of_state = (
        cell.parameter(name)[row].astype(np.float64) for name in (parameters.weight, parameters.key_weight)
    )
    right = np.concatenate([of_word, reset * of_state])
    bias, state_bias = (float(cell.parameter(name)[row]) for name in (parameters.bias, parameters.key_bias))
    labels = [f"x {at}" for at in range(len(of_word))] + [f"h {at}" for at in range(len(of_state))]
    reads = [cell.read(words, cell.row), cell.read(before, cell.row)]
    reads += [cell.read(name, cell.row, cell.column) for name in resets]
    summed = Working.add_up(left, right, reads, labels, bias + reset * state_bias)
    numbers = {"input": summed.result, **({"reset": reset} if resets else {})}
    value = ACTIVATIONS[cell.step.words["function"]](summed.result)
    return replace(summed, result=value, numbers=numbers)


def blend(cell: Cell) -> Working:
    """(1 - z) n + z h: the update gate z says how much of the state before stays."""
    update, candidate, before = cell.step.inputs
    share = cell.value(update)
    names = (candidate, before)
    values = np.array([cell.value(name) for name in names])
    reads = [cell.read(name, cell.row, cell.column) for name in cell.step.inputs]
    return Working.add_up(values, np.array([1 - share, share]), reads, names)


def remember(cell: Cell) -> Working:
    """f c + i g: what is kept of the memory before, and what is written into it."""
    forget, before, keep, candidate = cell.step.inputs
    names = (before, candidate)
    values = np.array([cell.value(name) for name in names])
    shares = np.array([cell.value(forget), cell.value(keep)])
    reads = [cell.read(name, cell.row, cell.column) for name in cell.step.inputs]
    return Working.add_up(values, shares, reads, names)


def release(cell: Cell) -> Working:
    """o tanh(c): how much of the memory the state shows."""
    gate, memory = cell.step.inputs
    shown, share = math.tanh(cell.value(memory)), cell.value(gate)
    reads = [cell.read(name, cell.row, cell.column) for name in cell.step.inputs]
    working = Working.add_up(np.array([shown]), np.array([share]), reads, [memory])
    return replace(working, numbers={"memory": cell.value(memory)})


def _copy(cell: Cell, name: str, row: int | None, column: int | None = None) -> Working:
    """A number as it stands elsewhere; `row` is None for an array that is one vector."""
    column = cell.column if column is None else column
    head = 0 if cell.array(name).ndim == 3 else None
    reads = [Reading(name=name, head=head, row=row, column=column)]
    return Working(float(cell.vector(name, row)[column]), reads=reads)
