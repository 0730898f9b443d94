"""Kernels for one step of a generation on a GPU, in Triton: few rows, so that weights are all that is read.

In:   hidden states of one new token for each beam (row, width), weights, and the keys and values of a cache.
Out:  what the layers of `model/layers.py` compute, rounded where they round: in the type of the tensors after
      every norm, product, activation and sum; sums themselves are in single precision.

A plain step launches about fifteen kernels a layer, each of which runs for less time than the next one needs
to start. Here a norm belongs to the product that follows it, bias, activation and residual to the one before.
"""

# A kernel is one long function that takes all it needs as arguments, constants in capitals, without types.
# ruff: noqa: N803, PLR0913, PLR0915
# mypy: ignore-errors

import triton
import triton.language as tl
from triton.language.extra.cuda import gdc_launch_dependents, gdc_wait


@triton.jit
def _activate(numbers, ACTIVATION: tl.constexpr):
    """By the number of an activation in `layers.ACTIVATIONS`, counted from 1."""
    if ACTIVATION == 1:
        numbers = tl.maximum(numbers, 0.0)
    elif ACTIVATION == 2:
        numbers = 0.5 * numbers * (1.0 + tl.erf(numbers * 0.7071067811865476))
    elif ACTIVATION == 3:
        inner = 0.7978845608028654 * (numbers + 0.044715 * numbers * numbers * numbers)
        numbers = numbers * tl.sigmoid(2.0 * inner)  # ½ (1 + tanh x) = σ(2x)
    elif ACTIVATION == 4:
        numbers = numbers * tl.sigmoid(numbers)
    return numbers


@triton.jit
def embed_kernel(
    id_pointer, position_pointer, slot_pointer, token_pointer, table_pointer, output_pointer, seen_pointer,
    slot_position_pointer, factor, width, capacity, position_step, slot_position_step,
    SCALED: tl.constexpr, TABLED: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Word and position of one row; its slot is marked as seen."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < width
    token = tl.load(id_pointer + row)
    position = tl.load(position_pointer + row * position_step)
    slot = tl.load(slot_pointer)
    kind = output_pointer.dtype.element_ty
    hidden = tl.load(token_pointer + token * width + columns, mask=inside, other=0.0).to(tl.float32)
    if SCALED:
        hidden = (hidden * factor).to(kind).to(tl.float32)
    if TABLED:
        hidden += tl.load(table_pointer + position * width + columns, mask=inside, other=0.0).to(tl.float32)
    tl.store(output_pointer + row * width + columns, hidden.to(kind), mask=inside)
    tl.store(seen_pointer + row * capacity + slot, 1)
    tl.store(slot_position_pointer + row * slot_position_step + slot, position)


@triton.jit
def advance_kernel(position_pointer, slot_pointer, positions, BLOCK: tl.constexpr):
    """The next token stands one position and one slot further."""
    numbers = tl.arange(0, BLOCK)
    before = tl.load(position_pointer + numbers, mask=numbers < positions, other=0)
    tl.store(position_pointer + numbers, before + 1, mask=numbers < positions)
    tl.store(slot_pointer, tl.load(slot_pointer) + 1)


@triton.jit
def vector_kernel(
    input_pointer, weight_pointer, bias_pointer, gain_pointer, shift_pointer, residual_pointer,
    residual_gain_pointer, residual_shift_pointer, output_pointer,
    inputs, outputs, epsilon,
    NORMED: tl.constexpr, BIASED: tl.constexpr, ACTIVATION: tl.constexpr, ADDED: tl.constexpr,
    ADDED_NORMED: tl.constexpr, COLUMNS: tl.constexpr, BLOCK: tl.constexpr, WHOLE: tl.constexpr,
    EARLY: tl.constexpr,
):  # fmt: skip
    """activation(norm(input) Wᵀ + bias) + norm(residual), of one row; each program `COLUMNS` outputs.

    `EARLY`: what does not depend on the kernel before is read while that one still runs.
    """
    if EARLY:
        gdc_launch_dependents()
    kind = output_pointer.dtype.element_ty
    outs = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    real = outs < outputs
    places = tl.arange(0, BLOCK)
    inside = places < inputs
    weights = tl.load(
        weight_pointer + outs[:, None].to(tl.int64) * inputs + places[None, :],
        mask=real[:, None] & inside[None, :], other=0.0,
    )  # fmt: skip
    if NORMED:
        gain = tl.load(gain_pointer + places, mask=inside, other=0.0).to(tl.float32)
        shift = tl.load(shift_pointer + places, mask=inside, other=0.0).to(tl.float32)
    if EARLY:
        gdc_wait()
    row = tl.load(input_pointer + places, mask=inside, other=0.0).to(tl.float32)
    if NORMED:
        mean = tl.sum(row, 0) / inputs
        centred = tl.where(inside, row - mean, 0.0)
        scale = 1.0 / tl.sqrt(tl.sum(centred * centred, 0) / inputs + epsilon)
        row = (centred * scale * gain + shift).to(kind).to(tl.float32)
    found = tl.sum(weights.to(tl.float32) * row[None, :], 1)
    if BIASED:
        found += tl.load(bias_pointer + outs, mask=real, other=0.0).to(tl.float32)
    found = found.to(kind).to(tl.float32)
    if ACTIVATION > 0:
        found = _activate(found, ACTIVATION).to(kind).to(tl.float32)
    if ADDED:
        own = tl.load(residual_pointer + outs, mask=real, other=0.0).to(tl.float32)
        if ADDED_NORMED:
            everything = tl.arange(0, WHOLE)
            there = everything < outputs
            whole = tl.load(residual_pointer + everything, mask=there, other=0.0).to(tl.float32)
            own_mean = tl.sum(whole, 0) / outputs
            apart = tl.where(there, whole - own_mean, 0.0)
            own_scale = 1.0 / tl.sqrt(tl.sum(apart * apart, 0) / outputs + epsilon)
            own_gain = tl.load(residual_gain_pointer + outs, mask=real, other=0.0).to(tl.float32)
            own_shift = tl.load(residual_shift_pointer + outs, mask=real, other=0.0).to(tl.float32)
            own = ((own - own_mean) * own_scale * own_gain + own_shift).to(kind).to(tl.float32)
        found += own
    tl.store(output_pointer + outs, found.to(kind), mask=real)


@triton.jit
def _measure_rows(pointer, rows, width, epsilon, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Mean and 1 / deviation of each row."""
    numbers, places = tl.arange(0, ROWS), tl.arange(0, BLOCK)
    sums = tl.zeros((ROWS,), dtype=tl.float32)
    for start in range(0, width, BLOCK):
        inside = (numbers[:, None] < rows) & ((start + places)[None, :] < width)
        part = tl.load(pointer + numbers[:, None] * width + (start + places)[None, :], mask=inside, other=0.0)
        sums += tl.sum(part.to(tl.float32), 1)
    mean = sums / width
    squares = tl.zeros((ROWS,), dtype=tl.float32)
    for start in range(0, width, BLOCK):
        inside = (numbers[:, None] < rows) & ((start + places)[None, :] < width)
        part = tl.load(pointer + numbers[:, None] * width + (start + places)[None, :], mask=inside, other=0.0)
        centred = tl.where(inside, part.to(tl.float32) - mean[:, None], 0.0)
        squares += tl.sum(centred * centred, 1)
    return mean, 1.0 / tl.sqrt(squares / width + epsilon)


@triton.jit
def rows_kernel(
    input_pointer, weight_pointer, bias_pointer, gain_pointer, shift_pointer, residual_pointer,
    residual_gain_pointer, residual_shift_pointer, output_pointer,
    rows, inputs, outputs, epsilon,
    NORMED: tl.constexpr, BIASED: tl.constexpr, ACTIVATION: tl.constexpr, ADDED: tl.constexpr,
    ADDED_NORMED: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The same for several rows, by the matrix units."""
    kind = output_pointer.dtype.element_ty
    outs = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    real = outs < outputs
    numbers, places = tl.arange(0, ROWS), tl.arange(0, BLOCK)
    some = numbers[:, None] < rows
    if NORMED:
        mean, scale = _measure_rows(input_pointer, rows, inputs, epsilon, ROWS, BLOCK)
    found = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, inputs, BLOCK):
        along = start + places
        inside = along < inputs
        part = tl.load(
            input_pointer + numbers[:, None] * inputs + along[None, :], mask=some & inside[None, :], other=0.0
        )
        weights = tl.load(
            weight_pointer + outs[None, :].to(tl.int64) * inputs + along[:, None],
            mask=real[None, :] & inside[:, None], other=0.0,
        )  # fmt: skip
        if NORMED:
            gain = tl.load(gain_pointer + along, mask=inside, other=0.0).to(tl.float32)
            shift = tl.load(shift_pointer + along, mask=inside, other=0.0).to(tl.float32)
            part = (part.to(tl.float32) - mean[:, None]) * scale[:, None] * gain[None, :] + shift[None, :]
            part = part.to(kind)
        found = tl.dot(part, weights, found, input_precision="ieee")
    if BIASED:
        found += tl.load(bias_pointer + outs, mask=real, other=0.0).to(tl.float32)[None, :]
    found = found.to(kind).to(tl.float32)
    if ACTIVATION > 0:
        found = _activate(found, ACTIVATION).to(kind).to(tl.float32)
    cells = numbers[:, None] * outputs + outs[None, :]
    if ADDED:
        own = tl.load(residual_pointer + cells, mask=some & real[None, :], other=0.0).to(tl.float32)
        if ADDED_NORMED:
            own_mean, own_scale = _measure_rows(residual_pointer, rows, outputs, epsilon, ROWS, BLOCK)
            gain = tl.load(residual_gain_pointer + outs, mask=real, other=0.0).to(tl.float32)
            shift = tl.load(residual_shift_pointer + outs, mask=real, other=0.0).to(tl.float32)
            own = (own - own_mean[:, None]) * own_scale[:, None] * gain[None, :] + shift[None, :]
            own = own.to(kind).to(tl.float32)
        found += own
    tl.store(output_pointer + cells, found.to(kind), mask=some & real[None, :])


@triton.jit
def _mix(query, keys, values, allowed, largest, total, mixed, factor):
    """Include further keys: the largest score; sums of exponentials and of values, relative to it."""
    scores = tl.where(allowed, tl.sum(keys.to(tl.float32) * query[None, :], 1) * factor, -1e30)
    higher = tl.maximum(largest, tl.max(scores, 0))
    weights = tl.where(allowed, tl.exp(scores - higher), 0.0)
    before = tl.exp(largest - higher)
    mixed = mixed * before + tl.sum(weights[:, None] * values.to(tl.float32), 0)
    return higher, total * before + tl.sum(weights, 0), mixed


@triton.jit
def attend_kernel(
    query_pointer, key_pointer, value_pointer, slot_pointer, mask_pointer, output_pointer,
    factor, query_row, output_row, key_offset, value_offset, group, key_heads, capacity, keys, mask_row,
    OWN: tl.constexpr, MASKED: tl.constexpr, WIDTH: tl.constexpr, PADDED: tl.constexpr, BLOCK: tl.constexpr,
    EARLY: tl.constexpr,
):  # fmt: skip
    """One head of one row attends to earlier slots and to itself (`OWN`), or to all `keys`.

    With `OWN` its new key and value, which stand behind the queries, are put into their slot.
    """
    if EARLY:
        gdc_launch_dependents()
    row, head = tl.program_id(0), tl.program_id(1)
    columns, places = tl.arange(0, PADDED), tl.arange(0, BLOCK)
    wide = columns < WIDTH
    shared = head // group
    first = (row * key_heads + shared).to(tl.int64) * capacity * WIDTH
    length = tl.load(slot_pointer) if OWN else keys
    # Keys and values of earlier steps can be read while other kernels of this step still run.
    there = places < length
    at = first + places[:, None] * WIDTH + columns[None, :]
    old_keys = tl.load(key_pointer + at, mask=there[:, None] & wide[None, :], other=0.0)
    old_values = tl.load(value_pointer + at, mask=there[:, None] & wide[None, :], other=0.0)
    if MASKED:
        there = there & (tl.load(mask_pointer + row * mask_row + places, mask=there, other=0) != 0)
    if EARLY:
        gdc_wait()
    query = tl.load(query_pointer + row * query_row + head * WIDTH + columns, mask=wide, other=0.0).to(
        tl.float32
    )
    if OWN:
        own = query_pointer + row * query_row + shared * WIDTH + columns
        own_key = tl.load(own + key_offset, mask=wide, other=0.0)
        own_value = tl.load(own + value_offset, mask=wide, other=0.0)
        if head % group == 0:
            tl.store(key_pointer + first + length * WIDTH + columns, own_key, mask=wide)
            tl.store(value_pointer + first + length * WIDTH + columns, own_value, mask=wide)
        largest = tl.sum(query * own_key.to(tl.float32), 0) * factor
        total = 1.0
        mixed = own_value.to(tl.float32)
    else:
        largest = -1e30
        total = 0.0
        mixed = tl.zeros((PADDED,), dtype=tl.float32)
    largest, total, mixed = _mix(query, old_keys, old_values, there, largest, total, mixed, factor)
    for start in range(BLOCK, length, BLOCK):
        slots = start + places
        there = slots < length
        at = first + slots[:, None] * WIDTH + columns[None, :]
        old_keys = tl.load(key_pointer + at, mask=there[:, None] & wide[None, :], other=0.0)
        old_values = tl.load(value_pointer + at, mask=there[:, None] & wide[None, :], other=0.0)
        if MASKED:
            there = there & (tl.load(mask_pointer + row * mask_row + slots, mask=there, other=0) != 0)
        largest, total, mixed = _mix(query, old_keys, old_values, there, largest, total, mixed, factor)
    out = output_pointer + row * output_row + head * WIDTH + columns
    tl.store(out, (mixed / total).to(output_pointer.dtype.element_ty), mask=wide)


@triton.jit
def score_kernel(
    logit_pointer, banned_pointer, step_pointer, peak_pointer, place_pointer, sum_pointer, words, end, least,
    parts, BANNED: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Of a part of the vocabulary: the highest score, its word, and the sum of exponentials beside it."""
    row, part = tl.program_id(0), tl.program_id(1)
    places = part * BLOCK + tl.arange(0, BLOCK)
    inside = places < words
    scores = tl.load(logit_pointer + row * words + places, mask=inside, other=float("-inf")).to(tl.float32)
    if BANNED:
        banned = tl.load(banned_pointer + places, mask=inside, other=1)
        scores = tl.where(banned != 0, float("-inf"), scores)
    scores = tl.where((places == end) & (tl.load(step_pointer + row) < least), float("-inf"), scores)
    peak, place = tl.max(scores, 0, return_indices=True, return_indices_tie_break_left=True)
    lowest = tl.maximum(peak, -1e30)  # all may be banned: no infinity minus infinity
    tl.store(peak_pointer + row * parts + part, peak)
    tl.store(place_pointer + row * parts + part, part * BLOCK + place)
    tl.store(sum_pointer + row * parts + part, tl.sum(tl.exp(scores - lowest), 0))


@triton.jit
def choose_kernel(
    peak_pointer, place_pointer, sum_pointer, step_pointer, limit_pointer, id_pointer, token_pointer,
    logarithm_pointer, total_pointer, so_far_pointer, running_pointer, parts, first, count, end,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """The likeliest word of one row and its log-probability, put where the next step and the caller look."""
    row = tl.program_id(0)
    numbers = tl.arange(0, BLOCK)
    inside = numbers < parts
    peaks = tl.load(peak_pointer + row * parts + numbers, mask=inside, other=float("-inf"))
    sums = tl.load(sum_pointer + row * parts + numbers, mask=inside, other=0.0)
    peak, part = tl.max(peaks, 0, return_indices=True, return_indices_tie_break_left=True)
    token = tl.load(place_pointer + row * parts + part)
    logarithm = -tl.log(tl.sum(sums * tl.exp(peaks - peak), 0))
    step = tl.load(step_pointer + row)
    so_far = tl.load(so_far_pointer + row) + logarithm
    place = row * count + step - first
    tl.store(token_pointer + place, token)
    tl.store(logarithm_pointer + place, logarithm)
    tl.store(total_pointer + place, so_far)
    tl.store(so_far_pointer + row, so_far)
    tl.store(id_pointer + row, token)
    goes_on = (
        (token != end) & (step + 1 < tl.load(limit_pointer + row)) & (tl.load(running_pointer + row) != 0)
    )
    tl.store(running_pointer + row, goes_on.to(tl.int8))
    tl.store(step_pointer + row, step + 1)
