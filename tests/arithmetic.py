"""Our networks in plain NumPy and double precision, one step of a walk at a time.

Nothing here comes from the package but the plan: which step, from what, with which parameters. The second
number of each result is how large the numbers are that were summed: rounding grows with those, not with the
result.
"""

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from glassformer.walk.types import Step

Array = NDArray[np.float64]
Read = Callable[[str], NDArray[np.generic]]

_ERF = np.vectorize(math.erf)
FUNCTIONS: Mapping[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.where(x > 0, x, 0.0),
    "gelu": lambda x: x * (1 + _ERF(x / 2**0.5)) / 2,
    "gelu-tanh": lambda x: x / 2 * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3))),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}


def compute(step: Step, read: Read) -> tuple[Array, Array]:
    """The output of a step in double precision, and the size of what was summed for each number."""
    given = [np.asarray(read(name), dtype=np.float64) for name in step.inputs]
    result = _STEPS[step.operation](step, given, read)
    return result if isinstance(result, tuple) else (result, np.abs(np.where(np.isfinite(result), result, 0)))


def _wide(read: Read, name: str | None) -> Array:
    assert name is not None
    return np.asarray(read(name), dtype=np.float64)


def _heads(rows: Array, heads: int) -> Array:
    return rows.reshape(len(rows), heads, -1).transpose(1, 0, 2)  # (head, token, k)


def _look_up(step: Step, given: list[Array], read: Read) -> Array:
    table = _wide(read, step.parameters.weight)
    count = (step.shape.output or (0,))[-2]
    if given:
        return table[given[0].astype(int)]
    if step.id.endswith(".position_bias"):
        return bias_by_bucket(table, count, causal=bool(step.numbers["causal"]))
    if step.id.endswith(".segments"):
        chosen = [int(np.abs(table - row).sum(1).argmin()) for row in np.asarray(read(step.output))]
        return table[chosen]
    return table[:count]


def bias_by_bucket(table: Array, count: int, *, causal: bool) -> Array:
    """By distance: the first few exact, then ever wider buckets, as T5 has them."""
    distance = np.arange(count)[None, :] - np.arange(count)[:, None]  # key - query
    half = 32 if causal else 16
    past = np.maximum(-distance, 0) if causal else np.abs(distance)
    with np.errstate(divide="ignore"):
        far = half // 2 + (np.log(past / (half / 2)) / np.log(128 / (half / 2)) * (half / 2)).clip(0)
    bucket = np.where(past < half // 2, past, np.minimum(np.nan_to_num(far, neginf=0).astype(int), half - 1))
    if not causal:
        bucket = bucket + np.where(distance > 0, 16, 0)
    return table[bucket].transpose(2, 0, 1)


def _waves(step: Step, _: list[Array], __: Read) -> Array:
    count, width = step.shape.output or (0, 0)
    if step.words["order"] == "grid":
        return _waves_of_grid(int(step.numbers["grid"]), count, width)
    angle = np.arange(count)[:, None] / 10_000 ** (np.arange(0, width, 2) / width)
    if step.words["order"] == "halves":
        return np.concatenate([np.sin(angle), np.cos(angle)], axis=1)
    table = np.empty((count, width))
    table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
    return table


def _waves_of_grid(grid: int, count: int, width: int) -> Array:
    """Of each patch, its row in the first half of the features, its column in the second."""
    speeds = 10_000 ** -(np.arange(0, width // 2, 2) / (width // 2))
    table = np.zeros((count, width))
    for cell in range(grid * grid):
        for half, place in enumerate((cell // grid, cell % grid)):
            waves = [wave(place * speed) for speed in speeds for wave in (np.sin, np.cos)]
            table[count - grid * grid + cell, half * width // 2 : (half + 1) * width // 2] = waves
    return table


def _add(step: Step, given: list[Array], read: Read) -> tuple[Array, Array]:
    if step.parameters.weight is not None:
        given = [*given[:-1], given[-1] * _wide(read, step.parameters.weight)]
    return sum(given[1:], given[0]), sum((np.abs(each) for each in given[1:]), np.abs(given[0]))


def _norm(step: Step, given: list[Array], read: Read) -> tuple[Array, Array]:
    (x,) = given
    if step.words["over"] == "squares":
        gain, root = _wide(read, step.parameters.weight), np.sqrt((x * x).mean(-1, keepdims=True))
        result = x / np.hypot(root, step.numbers["epsilon"] ** 0.5) * gain
        return result, np.abs(result)
    if step.parameters.mean is not None:
        mean, variance = _wide(read, step.parameters.mean), _wide(read, step.parameters.variance)
    else:
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    gain, shift = _wide(read, step.parameters.weight), _wide(read, step.parameters.bias)
    deviation = np.sqrt(variance + step.numbers["epsilon"])
    summed = np.abs(x).mean(-1, keepdims=True)  # what the mean was summed from
    size = (np.abs(x) + np.abs(mean) + summed) / deviation * np.abs(gain) + np.abs(shift)
    return (x - mean) / deviation * gain + shift, size


def _product(step: Step, given: list[Array], read: Read) -> tuple[Array, Array]:
    weight = _wide(read, step.parameters.weight)
    bias = np.zeros(len(weight)) if step.parameters.bias is None else _wide(read, step.parameters.bias)
    if step.parameters.columns is not None:
        part = slice(*step.parameters.columns)
        weight, bias = weight[part], bias[part]
    result, size = given[0] @ weight.T + bias, np.abs(given[0]) @ np.abs(weight).T + np.abs(bias)
    if step.axes[0] == "head":
        heads = (step.shape.output or (1,))[0]
        return _heads(result, heads), _heads(size, heads)
    return result, size


def _turn(step: Step, given: list[Array], __: Read) -> tuple[Array, Array]:
    x = given[0]
    half = x.shape[-1] // 2
    places = [np.arange(x.shape[1])]
    if step.words.get("order") == "grid":
        cells = np.maximum(places[0] - int(step.numbers["first"]), 0)
        places = list(np.divmod(cells, int(step.numbers["grid"])))
    pairs = half // len(places)
    speed = (10_000.0 ** (-np.arange(pairs) / pairs)).astype(np.float32)  # the model's angles are single
    angle = np.concatenate([each.astype(np.float32)[:, None] * speed for each in places], axis=1)
    angle = angle.astype(np.float64)
    turned = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * angle)
    size = np.abs(x[..., :half]) + np.abs(x[..., half:])
    return np.concatenate([turned.real, turned.imag], axis=-1), np.concatenate([size, size], axis=-1)


def _compare(step: Step, given: list[Array], read: Read) -> tuple[Array, Array]:
    queries, keys = given
    if keys.ndim == queries.ndim:
        keys = np.repeat(keys, len(queries) // len(keys), axis=0)  # heads may share them
    if step.operation == "additive":
        w, u = _wide(read, step.parameters.weight), _wide(read, step.parameters.key_weight)
        keys = keys if keys.ndim == 3 else keys[None]  # of a recurrent network: the encoder's states
        both = np.einsum("hij,htj->hti", w, queries)[:, :, None] + np.einsum("hij,hsj->hsi", u, keys)[:, None]
        v = _wide(read, step.parameters.vector)[:, None, None]
        asked, offered = (np.einsum("hij,htj->hti", *map(np.abs, pair)) for pair in ((w, queries), (u, keys)))
        inside = (asked[:, :, None] + offered[:, None]) / np.cosh(both) ** 2  # tanh passes its rounding on so
        return (np.tanh(both) * v).sum(-1), ((np.abs(np.tanh(both)) + inside) * np.abs(v)).sum(-1)
    if step.operation == "cosine":
        queries = queries / np.linalg.norm(queries, axis=-1, keepdims=True)
        keys = keys / np.linalg.norm(keys, axis=-1, keepdims=True)
    size = np.abs(queries)
    if step.operation == "bilinear":
        weight = _wide(read, step.parameters.weight)
        queries, size = queries @ weight, size @ np.abs(weight)
    factor = step.numbers.get("scale", 1.0)
    result = factor * np.einsum("htk,hsk->hts", queries, keys)
    if "scale" in step.numbers:  # of transformers: who may look where is not in the plan
        result = np.where(np.isneginf(np.asarray(read(step.output))), -np.inf, result)
    return result, factor * np.einsum("htk,hsk->hts", size, np.abs(keys))


def _scale(step: Step, given: list[Array], _: Read) -> tuple[Array, Array]:
    result = given[0] * step.numbers["factor"]
    # Of scores, as in `_divide`.
    return result, np.full_like(result, np.abs(result).max()) if step.axes[0] == "head" else np.abs(result)


def fall(heads: int, count: int) -> Array:
    """ALiBi (head, query, key): its slopes are found as the paper says, half of them by a detour."""

    def slopes(number: int) -> list[float]:
        if math.log2(number).is_integer():
            start = 2 ** -(2 ** -(math.log2(number) - 3))
            return [start ** (head + 1) for head in range(number)]
        near = 2 ** math.floor(math.log2(number))
        return slopes(near) + slopes(2 * near)[0::2][: number - near]

    distance = np.abs(np.arange(count)[:, None] - np.arange(count))
    return -np.array(slopes(heads))[:, None, None] * distance


def _fall(step: Step, _: list[Array], __: Read) -> Array:
    heads, count, _ = step.shape.output or (1, 0, 0)
    return fall(heads, count)


def _divide(step: Step, given: list[Array], _: Read) -> tuple[Array, Array]:
    result = given[0] / step.numbers["head_width"] ** 0.5
    # The network multiplies by the factor first and sums then: its rounding is that of the sum, not of the
    # quotient, which may be near zero. The largest quotient tells how large the summands are.
    return result, np.full_like(result, np.abs(result).max())


def _mask(step: Step, given: list[Array], __: Read) -> Array:
    hidden = np.triu(np.ones(given[0].shape[-2:], dtype=bool), 1)
    if "window" in step.numbers:
        far = np.arange(len(hidden))[:, None] - np.arange(len(hidden))
        hidden &= bool(step.numbers["causal"])
        hidden |= np.abs(far) >= step.numbers["window"]
    return np.where(hidden, -np.inf, given[0])


def _softmax(step: Step, given: list[Array], read: Read) -> tuple[Array, Array]:
    (scores,) = given
    if "best_keys" in step.numbers:
        count = min(int(step.numbers["best_keys"]), scores.shape[-1])
        floor = np.sort(scores, axis=-1)[..., -count, None]
        chosen = np.asarray(read(step.output)) > 0  # of equal ones, the network takes some
        assert (chosen.sum(-1) <= count).all()
        scores = np.where((scores > floor) | ((scores == floor) & chosen), scores, -np.inf)
    highest = scores.max(-1, keepdims=True)
    powers = np.exp(scores - highest)
    # Rounding of scores is what moves weights: a score of 40 is known to 4e-6 only.
    size = 1 + np.abs(highest) + np.zeros_like(powers)
    return powers / powers.sum(-1, keepdims=True), size


def _mix(_: Step, given: list[Array], __: Read) -> tuple[Array, Array]:
    weights, values = given
    values = values if values.ndim == 3 else values[None]
    values = np.repeat(values, len(weights) // len(values), axis=0)
    return weights @ values, weights @ np.abs(values)


def _pool(step: Step, given: list[Array], _: Read) -> tuple[Array, Array]:
    (x,) = given
    ways = {"first": lambda: x[0], "last": lambda: x[-1], "mean": lambda: x.mean(0), "max": lambda: x.max(0)}
    return ways[step.words["how"]](), np.abs(x).max(0)


def _choose(step: Step, given: list[Array], _: Read) -> Array:
    return np.argsort(-given[0], axis=-1, kind="stable")[..., : (step.shape.output or (1,))[-1]]


def _before(step: Step, given: list[Array], _: Read) -> Array:
    *start, states = given
    rows = states.reshape(-1, states.shape[-1])
    first = start[0] if start else np.zeros(rows.shape[-1])
    if step.words["direction"] == "backward":
        return np.vstack([rows[1:], first])
    return np.vstack([first, rows[:-1]]).reshape(step.shape.output or ())


def _gate(step: Step, given: list[Array], read: Read) -> tuple[Array, Array]:
    x, h, *reset = given
    own = step.parameters
    part = slice(*(own.columns or ()))
    w, u, b, c = (_wide(read, each)[part] for each in (own.weight, own.key_weight, own.bias, own.key_bias))
    from_state = h @ u.T + c
    summed = x @ w.T + b + (reset[0] * from_state if reset else from_state)
    size = np.abs(x) @ np.abs(w).T + np.abs(h) @ np.abs(u).T + np.abs(b) + np.abs(c)
    return FUNCTIONS[step.words["function"]](summed), size


def _round_gates(result: Array) -> tuple[Array, Array]:
    """The network rounded its own gates, numbers up to one, before it multiplied with them."""
    return result, 1 + np.abs(result)


def _concat(_: Step, given: list[Array], __: Read) -> Array:
    return np.concatenate([each.reshape(-1, each.shape[-1]) for each in given], axis=1)


def _ends(_: Step, given: list[Array], __: Read) -> Array:
    return np.concatenate([given[0][-1], *(backward[0] for backward in given[1:])])


def _cut(step: Step, given: list[Array], read: Read) -> tuple[Array, Array]:
    size, grid = int(step.numbers["size"]), int(step.numbers["grid"])
    pixels = given[0].reshape(-1, grid, size, grid, size)  # (colour, row, row in it, column, column in it)
    mean, deviation = (_wide(read, each) for each in (step.parameters.mean, step.parameters.vector))
    bright = pixels.transpose(1, 3, 2, 4, 0) / 255  # (…, colour)
    rows = [(bright - sign * mean) / deviation for sign in (1, -1)]  # the numbers, and their size
    flat = [each.transpose(0, 1, 4, 2, 3).reshape(grid * grid, -1) for each in rows]
    return flat[0], flat[1]


def _fourier(step: Step, given: list[Array], _: Read) -> tuple[Array, Array]:
    hop = int(step.numbers["hop"])
    columns, frequencies = step.shape.output or (0, 0)
    size, length = 2 * (frequencies - 1), round(2.5 * hop)
    window = np.sin(np.pi * np.arange(length) / length) ** 2
    around = np.pad(given[0], (size, size))
    result, sizes = np.empty((columns, frequencies)), np.empty((columns, frequencies))
    for column in range(columns):
        start = size + column * hop + hop // 2 - size // 2  # its middle is the middle of the hop
        heard = around[start : start + size].copy()
        side = (size - length) // 2
        heard[:side], heard[side + length :] = 0, 0
        heard[side : side + length] *= window
        result[column] = np.abs(np.fft.rfft(heard)) ** 2 * 16 / length**2
        sizes[column] = np.abs(heard).sum() ** 2 * 16 / length**2
    return result, sizes


def _mel(step: Step, given: list[Array], _: Read) -> tuple[Array, Array]:
    bands, rate = (step.shape.output or (0, 0))[1], step.numbers["rate"]
    hertz = np.linspace(0, rate / 2, given[0].shape[1])
    corners = 700 * (np.logspace(0, np.log10(1 + rate / 1400), bands + 2) - 1)
    shares = np.array([np.interp(hertz, corners[band : band + 3], [0, 1, 0]) for band in range(bands)])
    result = (np.log10(np.maximum(given[0] @ shares.T, 1e-8)) + 8) / 4
    return result, 1 + np.abs(result)


def _convolve(step: Step, given: list[Array], read: Read) -> tuple[Array, Array]:
    weight, bias = _wide(read, step.parameters.weight), _wide(read, step.parameters.bias)
    stride, count = int(step.numbers["stride"]), (step.shape.output or (0,))[0]
    padded = np.pad(given[0], ((1, 1), (0, 0)))
    rows = [padded[tap : tap + stride * count : stride] for tap in range(3)]
    result = sum(row @ weight[:, :, tap].T for tap, row in enumerate(rows)) + bias
    return result, sum(np.abs(row) @ np.abs(weight[:, :, tap]).T for tap, row in enumerate(rows)) + np.abs(
        bias
    )


_STEPS: Mapping[str, Callable[[Step, list[Array], Read], Array | tuple[Array, Array]]] = {
    "cut": _cut,
    "fourier": _fourier,
    "mel": _mel,
    "convolve": _convolve,
    "prepend": lambda step, given, read: np.vstack([_wide(read, step.parameters.weight), given[0]]),
    "lookup": _look_up,
    "waves": _waves,
    "scale": _scale,
    "add": _add,
    "norm": _norm,
    "split": lambda step, given, _: _heads(given[0], (step.shape.output or (1,))[0]),
    "product": _product,
    "turn": _turn,
    "fall": _fall,
    "dot": _compare,
    "cosine": _compare,
    "bilinear": _compare,
    "additive": _compare,
    "divide": _divide,
    "mask": _mask,
    "softmax": _softmax,
    "mix": _mix,
    "join": lambda _, given, __: given[0].transpose(1, 0, 2).reshape(given[0].shape[1], -1),
    "activate": lambda step, given, _: (FUNCTIONS[step.words["function"]](given[0]), np.abs(given[0])),
    "pool": _pool,
    "choose": _choose,
    "before": _before,
    "gate": _gate,
    "blend": lambda _, given, __: _round_gates((1 - given[0]) * given[1] + given[0] * given[2]),
    "remember": lambda _, given, __: _round_gates(given[0] * given[1] + given[2] * given[3]),
    "release": lambda _, given, __: _round_gates(given[0] * np.tanh(given[1])),
    "concat": _concat,
    "ends": _ends,
    "repeat": lambda step, given, _: np.tile(given[0], ((step.shape.output or (1,))[0], 1)),
}
