"""Statistics of attention on a GPU: which kernels run, and in blocks of what size.

In:   queries, keys (and values) of one attention on a GPU, and how it scores.
Out:  GpuStatistics and the attention's output: tensors on the GPU.

The log-sum-exp of rows is computed first, together with the output: by cuDNN where torch itself would choose
it for a long text, by torch's flash attention where that supports the scoring, else by our own kernel. Two
more kernels then form every score once each.
"""

from dataclasses import dataclass
from math import log2
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend

from glassformer.recorders.statistics.device import DeviceStatistics, keep_gpu_results
from glassformer.recorders.statistics.gpu_kernels import attend_kernel, columns_kernel, rows_kernel
from glassformer.recorders.statistics.gpu_results import Columns, GpuStatistics, Rows, pack
from glassformer.recorders.statistics.raw import STATISTICS_ONLY, Wanted, pixel_level
from glassformer.recorders.statistics.scoring import LOG2_E, MASKED, Scoring
from glassformer.recording import thumbnail_level

HEIGHT = 64  # rows of a block of columns_kernel
PIXEL = 64  # keys of a block, and of the pixels that columns_kernel makes, unless they are smaller
HALVES = (torch.float16, torch.bfloat16)
SHORTEST_CUDNN = 1024  # queries; each new length costs a plan, which shorter texts do not pay back


@dataclass(frozen=True, slots=True)
class Blocks:
    """How much a program of a kernel does at once."""

    rows: int
    keys: int
    warps: int = 4
    stages: int = 3


def choose_blocks(queries: Tensor) -> Blocks:
    """For rows_kernel and attend_kernel; single precision has no tensor cores and takes small blocks."""
    if queries.dtype not in HALVES:
        return Blocks(32, 32, stages=1)
    return Blocks(128, 64) if queries.shape[2] <= 128 else Blocks(64, 64, stages=2)


def measure_on_gpu(
    queries: Tensor, keys: Tensor, values: Tensor | None, scoring: Scoring, wanted: Wanted
) -> tuple[GpuStatistics, Tensor | None]:
    """Measure queries (head, query, width) at keys (key head, key, width); the output as well."""
    queries, keys, scoring = _lay_out(queries), _lay_out(keys), scoring.to(queries.device)
    output, log_sum_exp = find_log_sum_exp(queries, keys, values, scoring)
    found = measure_weights(queries, keys, scoring, log_sum_exp, wanted)
    weights = _form_weights(queries, keys, scoring, log_sum_exp) if wanted.weights else None
    given = [states for states in (queries, keys, values) if states is not None]
    return pack(*found, scoring, wanted.pyramids, weights=weights, given=given), output


def keep_on_gpu(
    queries: Tensor, keys: Tensor, values: Tensor, scoring: Scoring
) -> tuple[Tensor, DeviceStatistics]:
    """The output, and statistics that stay there."""
    queries, keys, scoring = _lay_out(queries), _lay_out(keys), scoring.to(queries.device)
    output, log_sum_exp = find_log_sum_exp(queries, keys, values, scoring)
    assert output is not None
    found = measure_weights(queries, keys, scoring, log_sum_exp)
    return output, keep_gpu_results(*found, scoring, [queries, keys, values])


def find_log_sum_exp(
    queries: Tensor, keys: Tensor, values: Tensor | None, scoring: Scoring
) -> tuple[Tensor | None, Tensor]:
    """The attention's output, where there are values, and the log-sum-exp (head, query)."""
    if values is not None and _suits_flash(queries, keys, scoring):
        if _prefers_cudnn(queries, keys, values, scoring):
            try:
                return _run_cudnn(queries, keys, values, scoring)
            except RuntimeError:  # no plan for these shapes, or not built in; flash attention takes them
                return _run_flash(queries, keys, values, scoring)
        return _run_flash(queries, keys, values, scoring)
    return _attend(queries, values, scoring, _describe(queries, keys, scoring))


def measure_weights(
    queries: Tensor, keys: Tensor, scoring: Scoring, log_sum_exp: Tensor, wanted: Wanted = STATISTICS_ONLY
) -> tuple[Rows, list[Columns]]:
    """What follows from the weights, log-sum-exp given: of rows, and of columns, by heads.

    Heads up to the last that gets a pyramid are pooled as finely as that needs; the others by themselves.
    """
    heads, count, key_count = queries.shape[0], queries.shape[1], keys.shape[1]
    log_sum_exp = log_sum_exp.contiguous()
    fine = max(wanted.pyramids, default=-1) + 1
    parts = (
        (slice(0, fine), pixel_level(count, key_count)),
        (slice(fine, heads), thumbnail_level(count, key_count)),
    )
    columns = [
        _measure_columns(*_take_heads(queries, keys, scoring, some), log_sum_exp[some], wanted.rows, level)
        for some, level in parts
        if some.start < some.stop
    ]
    return _measure_rows(queries, keys, scoring, log_sum_exp, wanted.threshold), columns


def _take_heads(
    queries: Tensor, keys: Tensor, scoring: Scoring, heads: slice
) -> tuple[Tensor, Tensor, Scoring]:
    """Some heads by themselves; keys that they share unevenly are repeated."""
    if heads == slice(0, queries.shape[0]):
        return queries, keys, scoring
    group = queries.shape[0] // keys.shape[0]
    if heads.start % group == 0 and heads.stop % group == 0:
        own = keys[heads.start // group : heads.stop // group]
    else:
        own = keys[torch.arange(heads.start, heads.stop, device=keys.device) // group]
    return queries[heads], own, scoring.of_heads(heads)


def _lay_out(vectors: Tensor) -> Tensor:
    """The same vectors, each in one piece, and within reach of 32-bit offsets from the first of its head."""
    reach = vectors.shape[1] * vectors.stride(1)
    return vectors if vectors.stride(2) == 1 and reach < 2**31 else vectors.contiguous()


def _describe(queries: Tensor, keys: Tensor, scoring: Scoring) -> dict[str, Any]:
    """Arguments that all kernels share; pointers that are not read point at the queries."""
    table, mask = scoring.distance_bias, scoring.key_mask
    bias = None if scoring.bias is None else scoring.bias.float()
    steps = (0, 0, 0) if bias is None else tuple(
        0 if length == 1 else step for length, step in zip(bias.shape, bias.stride(), strict=True)
    )  # fmt: skip
    return {
        "query_pointer": queries,
        "key_pointer": keys,
        "query_head": queries.stride(0),
        "query_row": queries.stride(1),
        "key_head": keys.stride(0),
        "key_row": keys.stride(1),
        "group": queries.shape[0] // keys.shape[0],
        "scale": scoring.scale / scoring.softcap if scoring.softcap is not None else scoring.scale * LOG2_E,
        "cap": LOG2_E * (scoring.softcap or 1.0),
        "bias_pointer": queries if bias is None else bias,
        "bias_head": steps[0],
        "bias_row": steps[1],
        "bias_column": steps[2],
        "table_pointer": queries if table is None else table.float().contiguous(),
        "mask_pointer": queries if mask is None else mask.to(torch.int8),
        "row_count": queries.shape[1],
        "key_count": keys.shape[1],
        "offset": scoring.offset,
        "window": scoring.window or 0,
        "CAUSAL": scoring.causal,
        "CAPPED": scoring.softcap is not None,
        "BIASED": bias is not None,
        "TABLED": table is not None,
        "WINDOWED": scoring.window is not None,
        "KEY_MASKED": mask is not None,
        "WIDTH": queries.shape[2],
        "PADDED": _pad(queries.shape[2]),
    }


def _pad(width: int) -> int:
    return max(16, 1 << (width - 1).bit_length())


def _suits_flash(queries: Tensor, keys: Tensor, scoring: Scoring) -> bool:
    """Whether torch's flash attention scores like this attention."""
    square = scoring.offset == 0 and queries.shape[1] == keys.shape[1]
    return (
        queries.is_cuda
        and queries.dtype in HALVES
        and scoring.is_plain
        and (square or not scoring.causal)
        and keys.shape[1] > 0
        and queries.shape[2] <= 256
        and torch.cuda.get_device_capability(queries.device) >= (8, 0)
    )


def _prefers_cudnn(queries: Tensor, keys: Tensor, values: Tensor, scoring: Scoring) -> bool:
    """Whether torch would leave this attention to cuDNN, were it asked for the output alone."""
    if queries.shape[1] < SHORTEST_CUDNN or queries.shape[0] != keys.shape[0]:
        return False
    batch = (queries[None], keys[None], values[None])
    return (
        torch._fused_sdp_choice(*batch, is_causal=scoring.causal, scale=scoring.scale)
        == SDPBackend.CUDNN_ATTENTION.value
    )


def _run_cudnn(queries: Tensor, keys: Tensor, values: Tensor, scoring: Scoring) -> tuple[Tensor, Tensor]:
    """The log-sum-exp is natural and may have a last axis of 1."""
    output, log_sum_exp, *_ = torch.ops.aten._scaled_dot_product_cudnn_attention(
        queries[None], keys[None], values[None], None, True, 0.0, scoring.causal, False, scale=scoring.scale
    )
    return output[0], log_sum_exp.reshape(queries.shape[:2])


def _run_flash(queries: Tensor, keys: Tensor, values: Tensor, scoring: Scoring) -> tuple[Tensor, Tensor]:
    output, log_sum_exp, *_ = torch.ops.aten._scaled_dot_product_flash_attention(
        queries[None], keys[None], values[None], 0.0, scoring.causal, False, scale=scoring.scale
    )
    return output[0], log_sum_exp[0, :, : queries.shape[1]]


def _attend(
    queries: Tensor, values: Tensor | None, scoring: Scoring, inputs: dict[str, Any]
) -> tuple[Tensor | None, Tensor]:
    heads, count, _ = queries.shape
    held = queries if values is None else _lay_out(values)
    log_sum_exp = torch.empty(heads, count, device=queries.device)
    output = None
    if values is not None:  # query first, as flash attention has it
        output = queries.new_empty(count, heads, values.shape[2]).transpose(0, 1)
    laid = queries if output is None else output
    blocks = choose_blocks(queries)
    rows = min(blocks.rows, 64)
    attend_kernel[heads, -(-count // rows)](
        **inputs,
        value_pointer=held,
        output_pointer=laid,
        log_sum_pointer=log_sum_exp,
        sink_pointer=queries if scoring.sink is None else scoring.sink.float().contiguous(),
        value_head=held.stride(0),
        value_row=held.stride(1),
        output_head=laid.stride(0),
        output_row=laid.stride(1),
        SINK=scoring.sink is not None,
        VALUES=values is not None,
        ROWS=rows,
        KEYS=blocks.keys,
        VALUE_WIDTH=held.shape[2],
        PADDED_VALUES=_pad(held.shape[2]),
        num_warps=blocks.warps,
        num_stages=min(blocks.stages, 2),
    )
    return output, log_sum_exp


def _measure_rows(
    queries: Tensor, keys: Tensor, scoring: Scoring, log_sum_exp: Tensor, threshold: float
) -> Rows:
    heads, count, _ = queries.shape
    blocks, counting = choose_blocks(queries), scoring.hides_by_bias
    numbers = torch.empty(6, heads, count, device=queries.device)
    total, energy, distance, above, peak, allowed = numbers
    peak_key = torch.empty(heads, count, dtype=torch.int32, device=queries.device)
    rows_kernel[heads, -(-count // blocks.rows)](
        **_describe(queries, keys, scoring),
        log_sum_pointer=log_sum_exp,
        total_pointer=total,
        energy_pointer=energy,
        distance_pointer=distance,
        above_pointer=above,
        peak_pointer=peak,
        peak_key_pointer=peak_key,
        allowed_pointer=allowed,
        threshold=log2(threshold) if threshold > 0 else MASKED,
        clear=-(blocks.keys // 8),
        COUNTING=counting,
        ROWS=blocks.rows,
        KEYS=blocks.keys,
        num_warps=blocks.warps,
        num_stages=blocks.stages,
    )
    return Rows(log_sum_exp, numbers, peak_key, counting, blocks.rows)


def _measure_columns(
    queries: Tensor, keys: Tensor, scoring: Scoring, log_sum_exp: Tensor, rows: Tensor | None, level: int
) -> Columns:
    """Pixels are squares of 2**level tokens."""
    heads, count, _ = queries.shape
    key_count, device, side = keys.shape[1], queries.device, 1 << level
    narrow = min(side, PIXEL)
    # A program finishes pixels of `narrow` keys, those of whole blocks in four numbers, one from each warp.
    shape = (heads, -(-count // side), -(-key_count // narrow), 1 if side < HEIGHT else 4)
    sums, maxima = torch.zeros(2, *shape, device=device)
    mass = torch.empty(heads, key_count, device=device)
    real = rows.to(device).float() if rows is not None and not bool(rows.all()) else None
    columns_kernel[heads, -(-key_count // PIXEL)](
        **_describe(queries, keys, scoring),
        log_sum_pointer=log_sum_exp,
        real_pointer=log_sum_exp if real is None else real,
        mass_pointer=mass,
        sums_pointer=sums,
        maxima_pointer=maxima,
        row_pixels=shape[1],
        key_pixels=shape[2],
        PADDED_ROWS=real is not None,
        SIDE=side,
        ROWS=HEIGHT,
        KEYS=PIXEL,
        num_warps=4,
        num_stages=3 if queries.dtype in HALVES else 1,
    )
    return Columns(mass, sums, maxima, side // narrow, level)


def _form_weights(queries: Tensor, keys: Tensor, scoring: Scoring, log_sum_exp: Tensor) -> Tensor:
    """Dense weights (head, query, key), a head at a time."""
    heads, count, _ = queries.shape
    key_count, group = keys.shape[1], heads // keys.shape[0]
    weights = torch.empty(heads, count, key_count, device=queries.device)
    everything = slice(0, count), slice(0, key_count)
    hidden = [(columns, cells.to(queries.device)) for columns, cells in scoring.to("cpu").hidden(*everything)]
    shift = torch.where(log_sum_exp < MASKED, -MASKED, log_sum_exp)
    for head in range(heads):
        scores = queries[head].float() @ keys[head // group].float().t() * scoring.scale
        if scoring.softcap is not None:
            scores = torch.tanh(scores / scoring.softcap) * scoring.softcap
        for bias in scoring.biases(slice(head, head + 1), *everything, count):
            scores = scores + bias[0]
        for columns, cells in hidden:
            scores[:, columns].masked_fill_(cells, MASKED)
        torch.exp(scores - shift[head][:, None], out=weights[head])
    return weights
