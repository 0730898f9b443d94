"""The arithmetic of statistics on a GPU: three Triton kernels, launched by gpu.py.

In:   queries and keys, and for the last two kernels the log-sum-exp of each row.
Out:  attend_kernel: the attention's output and log-sum-exp, where no kernel of torch gives both.
      rows_kernel: what is summed over a row's keys. columns_kernel: what is summed over a key's rows.

With the log-sum-exp known, t = score - log-sum-exp (base 2) is the logarithm of a weight, and no maximum
needs to be carried along. Each of the two kernels forms every score once, with one exp2. What limits them is
the number of instructions for a score, so sums are kept as each thread finds its scores (the tensor cores
hand a thread two neighbouring columns of every eight): threads exchange nothing before the end. The place of
the largest weight travels in the lowest bits of t, which the weight hardly feels: log2 w is off by 2**-20
of itself.
"""

# A kernel is one long function that takes all it needs as arguments, constants in capitals, without types.
# ruff: noqa: C901, N803, N806, PLR0912, PLR0913, PLR0915
# mypy: ignore-errors

import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)
LOG_2 = tl.constexpr(0.6931471805599453)
MASKED = tl.constexpr(-1e30)  # the score of a hidden key, as in scoring.py
HIDDEN = tl.constexpr(-1e29)


@triton.jit
def form_scores(
    queries, keys, rows, columns, head, scale, cap, bias_pointer, bias_head, bias_row, bias_column,
    table_pointer, mask_pointer, row_count, key_count, offset, window,
    CAUSAL: tl.constexpr, CAPPED: tl.constexpr, BIASED: tl.constexpr, TABLED: tl.constexpr,
    WINDOWED: tl.constexpr, KEY_MASKED: tl.constexpr, HIDE: tl.constexpr,
):  # fmt: skip
    """Scores to base 2 (row, column): q · k, soft cap, biases; masks where HIDE."""
    scores = tl.dot(queries, keys, input_precision="ieee") * scale
    if CAPPED:  # scale holds 1 / cap, and cap holds log2 e
        decay = tl.exp2(-2 * LOG2_E * tl.abs(scores))
        scores = tl.where(scores < 0, -cap, cap) * ((1 - decay) / (1 + decay))
    exist = (rows < row_count)[:, None] & (columns < key_count)[None, :]
    if BIASED:
        places = head.to(tl.int64) * bias_head + rows[:, None].to(tl.int64) * bias_row
        places += columns[None, :] * bias_column
        scores += tl.load(bias_pointer + places, mask=exist, other=0.0) * LOG2_E
    if TABLED:
        table = table_pointer + head.to(tl.int64) * (row_count + key_count - 1) + row_count - 1
        places = columns[None, :] - rows[:, None]
        scores += tl.load(table + places, mask=exist, other=0.0) * LOG2_E
    if HIDE:
        allowed = exist
        ahead = columns[None, :] - (rows + offset)[:, None]
        if CAUSAL:
            allowed = allowed & (ahead <= 0)
        if WINDOWED:
            allowed = allowed & (tl.abs(ahead) < window)
        if KEY_MASKED:
            allowed = (
                allowed & (tl.load(mask_pointer + columns, mask=columns < key_count, other=0) != 0)[None, :]
            )
        scores = tl.where(allowed, tl.maximum(scores, MASKED), MASKED)
    return scores


@triton.jit
def load_rows(pointer, rows, stride, count, EXACT: tl.constexpr, WIDTH: tl.constexpr, PADDED: tl.constexpr):
    """Vectors (row, padded width); zeros past the end of rows, unless all exist, and of the width."""
    wide = tl.arange(0, PADDED)
    places = pointer + rows[:, None] * stride + wide[None, :]
    if EXACT and WIDTH == PADDED:
        return tl.load(places)
    if EXACT:
        return tl.load(places, mask=(wide < WIDTH)[None, :], other=0.0)
    return tl.load(places, mask=(rows < count)[:, None] & (wide < WIDTH)[None, :], other=0.0)


@triton.jit
def load_keys(pointer, keys, stride, count, EXACT: tl.constexpr, WIDTH: tl.constexpr, PADDED: tl.constexpr):
    """The same, lying (padded width, key)."""
    wide = tl.arange(0, PADDED)
    places = pointer + keys[None, :] * stride + wide[:, None]
    if EXACT and WIDTH == PADDED:
        return tl.load(places)
    if EXACT:
        return tl.load(places, mask=(wide < WIDTH)[:, None], other=0.0)
    return tl.load(places, mask=(keys < count)[None, :] & (wide < WIDTH)[:, None], other=0.0)


@triton.jit
def load_normal(pointer, rows, count, EXACT: tl.constexpr):
    """Minus the log-sum-exp, base 2, of rows; -1e30 where there is no key, and past the end."""
    if EXACT:
        log_sum = tl.load(pointer + rows)
    else:
        log_sum = tl.load(pointer + rows, mask=rows < count, other=-float("inf"))
    normal = log_sum * -LOG2_E
    return tl.where(normal > -MASKED, MASKED, normal)


@triton.jit
def find_reach(
    first, last, key_count, offset, window, CAUSAL: tl.constexpr, WINDOWED: tl.constexpr, BLOCK: tl.constexpr
):
    """The first key, rounded down to a block, and one past the last that rows first … last - 1 may see."""
    start, stop = 0, key_count
    if CAUSAL:
        stop = tl.minimum(stop, last + offset)
    if WINDOWED:
        start = tl.maximum(start, first + offset - window + 1) // BLOCK * BLOCK
        stop = tl.minimum(stop, last - 1 + offset + window)
    return start, stop


@triton.jit
def attend_kernel(
    query_pointer, key_pointer, value_pointer, output_pointer, log_sum_pointer, sink_pointer,
    query_head, query_row, key_head, key_row, value_head, value_row, output_head, output_row, group,
    scale, cap, bias_pointer, bias_head, bias_row, bias_column, table_pointer, mask_pointer,
    row_count, key_count, offset, window,
    CAUSAL: tl.constexpr, CAPPED: tl.constexpr, BIASED: tl.constexpr, TABLED: tl.constexpr,
    WINDOWED: tl.constexpr, KEY_MASKED: tl.constexpr, SINK: tl.constexpr, VALUES: tl.constexpr,
    ROWS: tl.constexpr, KEYS: tl.constexpr, WIDTH: tl.constexpr, PADDED: tl.constexpr,
    VALUE_WIDTH: tl.constexpr, PADDED_VALUES: tl.constexpr,
):  # fmt: skip
    """softmax(scores) · values, and each row's log-sum-exp, in blocks with a running maximum."""
    head, first = tl.program_id(0), (tl.num_programs(1) - 1 - tl.program_id(1)) * ROWS  # long rows first
    rows, narrow = first + tl.arange(0, ROWS), tl.arange(0, PADDED_VALUES)
    query_pointer += head.to(tl.int64) * query_head
    key_pointer += (head // group).to(tl.int64) * key_head
    value_pointer += (head // group).to(tl.int64) * value_head
    queries = load_rows(query_pointer, rows, query_row, row_count, False, WIDTH, PADDED)
    total = tl.zeros([ROWS], tl.float32)
    if SINK:  # one score that is already there
        top = total + tl.load(sink_pointer + head) * LOG2_E
        total += 1
    else:
        top = total + MASKED
    mixed = tl.zeros([ROWS, PADDED_VALUES], tl.float32)
    start, stop = find_reach(
        first, tl.minimum(first + ROWS, row_count), key_count, offset, window, CAUSAL, WINDOWED, KEYS
    )
    for key in range(start, stop, KEYS):
        columns = key + tl.arange(0, KEYS)
        keys = load_keys(key_pointer, columns, key_row, key_count, False, WIDTH, PADDED)
        scores = form_scores(
            queries, keys, rows, columns, head, scale, cap, bias_pointer, bias_head, bias_row, bias_column,
            table_pointer, mask_pointer, row_count, key_count, offset, window,
            CAUSAL, CAPPED, BIASED, TABLED, WINDOWED, KEY_MASKED, True,
        )  # fmt: skip
        higher = tl.maximum(top, tl.max(scores, 1))
        weights = tl.where(scores > HIDDEN, tl.exp2(scores - higher[:, None]), 0.0)
        share = tl.exp2(top - higher)
        total = total * share + tl.sum(weights, 1)
        if VALUES:
            values = load_rows(
                value_pointer, columns, value_row, key_count, False, VALUE_WIDTH, PADDED_VALUES
            )
            mixed = mixed * share[:, None] + tl.dot(weights.to(values.dtype), values, input_precision="ieee")
        top = higher
    if VALUES:
        mixed = tl.where(total[:, None] > 0, mixed / total[:, None], 0.0)
        places = head.to(tl.int64) * output_head + rows[:, None] * output_row + narrow[None, :]
        there = (rows < row_count)[:, None] & (narrow < VALUE_WIDTH)[None, :]
        tl.store(output_pointer + places, mixed.to(output_pointer.dtype.element_ty), mask=there)
    log_sum = (top + tl.log2(tl.maximum(total, 1e-38))) * LOG_2
    log_sum = tl.where(total > 0, log_sum, -float("inf"))
    tl.store(log_sum_pointer + head * row_count + rows, log_sum, mask=rows < row_count)


@triton.jit
def sum_columns(cells, ROWS: tl.constexpr, KEYS: tl.constexpr):
    """(row, column) → (row, 8): columns that lie 8 apart belong to one thread."""
    return tl.sum(tl.reshape(cells, (ROWS, KEYS // 8, 8)), 1)


@triton.jit
def rows_kernel(
    query_pointer, key_pointer, log_sum_pointer, total_pointer, energy_pointer, distance_pointer,
    above_pointer, peak_pointer, peak_key_pointer, allowed_pointer,
    query_head, query_row, key_head, key_row, group,
    scale, cap, bias_pointer, bias_head, bias_row, bias_column, table_pointer, mask_pointer,
    row_count, key_count, offset, window, threshold, clear,
    CAUSAL: tl.constexpr, CAPPED: tl.constexpr, BIASED: tl.constexpr, TABLED: tl.constexpr,
    WINDOWED: tl.constexpr, KEY_MASKED: tl.constexpr, COUNTING: tl.constexpr,
    ROWS: tl.constexpr, KEYS: tl.constexpr, WIDTH: tl.constexpr, PADDED: tl.constexpr,
):  # fmt: skip
    """Of each row: Σ w, Σ w log2 w, distance, weights above the threshold, largest weight and its key.

    `clear` is -(KEYS // 8), an argument so that clearing the lowest bits of t and setting them is one
    instruction. Under a causal mask the distance is that from the first row, negative: the caller adds the
    row's own place in the block.
    """
    PLAIN: tl.constexpr = not (BIASED or TABLED or WINDOWED or KEY_MASKED)
    head, first = tl.program_id(0), (tl.num_programs(1) - 1 - tl.program_id(1)) * ROWS  # long rows first
    rows, column = first + tl.arange(0, ROWS), tl.arange(0, KEYS)
    query_pointer += head.to(tl.int64) * query_head
    key_pointer += (head // group).to(tl.int64) * key_head
    queries = load_rows(query_pointer, rows, query_row, row_count, False, WIDTH, PADDED)
    normal = load_normal(log_sum_pointer + head * row_count, rows, row_count, False)
    total = tl.zeros([ROWS, 8], tl.float32)  # 1, but for rounding: by it the caller corrects the log-sum-exp
    energy = tl.zeros([ROWS, 8], tl.float32)
    distance = tl.zeros([ROWS, 8], tl.float32)
    above = tl.zeros([ROWS, 8], tl.float32)  # counts are exact up to 16 million, and cheaper than integers
    allowed = tl.zeros([ROWS, 8], tl.float32)
    top = tl.full([ROWS, 8], -1e38, tl.float32)
    place = tl.zeros([ROWS, 8], tl.int32)
    start, stop = find_reach(
        first, tl.minimum(first + ROWS, row_count), key_count, offset, window, CAUSAL, WINDOWED, KEYS
    )
    seen = start  # up to here every key is seen by every row
    if PLAIN:
        seen = key_count
        if CAUSAL:
            seen = tl.maximum(tl.minimum(seen, first + offset + 1), 0)
        seen = seen // KEYS * KEYS
    for HIDE in tl.static_range(0 if PLAIN else 1, 2):
        for key in range(seen if HIDE else start, stop if HIDE else seen, KEYS):
            columns = key + column
            keys = load_keys(key_pointer, columns, key_row, key_count, not HIDE, WIDTH, PADDED)
            scores = form_scores(
                queries, keys, rows, columns, head, scale, cap,
                bias_pointer, bias_head, bias_row, bias_column, table_pointer, mask_pointer,
                row_count, key_count, offset, window,
                CAUSAL, CAPPED, BIASED, TABLED, WINDOWED, KEY_MASKED, HIDE,
            )  # fmt: skip
            logarithms = scores + normal[:, None]
            weights = tl.exp2(logarithms)
            total += sum_columns(weights, ROWS, KEYS)
            energy += sum_columns(weights * logarithms, ROWS, KEYS)
            if CAUSAL:
                away = ((key - first - offset) + column).to(tl.float32)[None, :]
            else:
                away = tl.abs((columns - offset)[None, :] - rows[:, None]).to(tl.float32)
            distance += sum_columns(weights * away, ROWS, KEYS)
            above += sum_columns((logarithms > threshold).to(tl.float32), ROWS, KEYS)
            if COUNTING:
                allowed += sum_columns((scores > HIDDEN).to(tl.float32), ROWS, KEYS)
            marked = (logarithms.to(tl.int32, bitcast=True) & clear) | (column // 8)[None, :]
            best = tl.max(tl.reshape(marked.to(tl.float32, bitcast=True), (ROWS, KEYS // 8, 8)), 1)
            place = tl.where(best > top, key, place)
            top = tl.maximum(top, best)
    peak_key = place + (top.to(tl.int32, bitcast=True) & (KEYS // 8 - 1)) * 8 + tl.arange(0, 8)[None, :]
    peak = tl.max(top, 1)
    peak_key = tl.min(tl.where(top == peak[:, None], peak_key, 1 << 30), 1)
    places, here = head * row_count + rows, rows < row_count
    tl.store(total_pointer + places, tl.sum(total, 1), mask=here)
    tl.store(energy_pointer + places, tl.sum(energy, 1), mask=here)
    tl.store(distance_pointer + places, tl.sum(distance, 1), mask=here)
    tl.store(above_pointer + places, tl.sum(above, 1), mask=here)
    tl.store(peak_pointer + places, tl.exp2(peak), mask=here)
    tl.store(peak_key_pointer + places, tl.minimum(peak_key, key_count - 1), mask=here)
    if COUNTING:
        tl.store(allowed_pointer + places, tl.sum(allowed, 1), mask=here)


@triton.jit
def columns_kernel(
    query_pointer, key_pointer, log_sum_pointer, real_pointer, mass_pointer, sums_pointer, maxima_pointer,
    query_head, query_row, key_head, key_row, group,
    scale, cap, bias_pointer, bias_head, bias_row, bias_column, table_pointer, mask_pointer,
    row_count, key_count, offset, window, row_pixels, key_pixels,
    CAUSAL: tl.constexpr, CAPPED: tl.constexpr, BIASED: tl.constexpr, TABLED: tl.constexpr,
    WINDOWED: tl.constexpr, KEY_MASKED: tl.constexpr, PADDED_ROWS: tl.constexpr, SIDE: tl.constexpr,
    ROWS: tl.constexpr, KEYS: tl.constexpr, WIDTH: tl.constexpr, PADDED: tl.constexpr,
):  # fmt: skip
    """Of each key: the weight received from real rows. Of each pixel: sum and maximum of weights.

    Pixels are SIDE rows high and min(SIDE, KEYS) keys wide. ROWS is 64 or 128 and a multiple or a divisor of
    SIDE; blocks of rows start at multiples of ROWS: each pixel is finished before the next begins.
    """
    PLAIN: tl.constexpr = not (BIASED or TABLED or WINDOWED or KEY_MASKED)
    # In single precision Triton 3.6 compiles the maxima of a thread's rows wrongly: some are left out.
    WARPED: tl.constexpr = query_pointer.dtype.element_ty != tl.float32
    head, first = tl.program_id(0), tl.program_id(1) * KEYS  # long columns first: most rows see early keys
    columns, row = first + tl.arange(0, KEYS), tl.arange(0, ROWS)
    query_pointer += head.to(tl.int64) * query_head
    key_pointer += (head // group).to(tl.int64) * key_head
    log_sum_pointer += head * row_count
    NUMBERS: tl.constexpr = 1 if SIDE < ROWS else 4  # for each pixel
    sums_pointer += head.to(tl.int64) * row_pixels * key_pixels * NUMBERS
    maxima_pointer += head.to(tl.int64) * row_pixels * key_pixels * NUMBERS
    keys = load_keys(key_pointer, columns, key_row, key_count, False, WIDTH, PADDED)
    mass = tl.zeros([32, KEYS], tl.float32)
    total = tl.zeros([32, KEYS], tl.float32)  # of the pixel that is under way
    peak = tl.zeros([32, 8], tl.float32) if WARPED else tl.zeros([4], tl.float32)
    start, stop = 0, row_count
    if CAUSAL:
        start = tl.maximum(first - offset, 0)
    if WINDOWED:
        start = tl.maximum(start, first - offset - window + 1)
        stop = tl.minimum(stop, first + KEYS - 1 - offset + window)
    start = start // ROWS * ROWS
    seen = stop  # from here every row sees every key
    if PLAIN:
        seen = start
        if CAUSAL:
            seen = tl.maximum(seen, (first + KEYS - 1 - offset + ROWS - 1) // ROWS * ROWS)
        if first + KEYS > key_count:
            seen = stop
        seen = tl.minimum(seen, stop)
    whole = tl.maximum(seen, stop // ROWS * ROWS)  # up to here blocks of rows are full
    # Rows that may not see all keys; rows that do; the last block, not full.
    for stage in tl.static_range(3 if PLAIN else 1):
        begin = start if stage == 0 else (seen if stage == 1 else whole)
        end = seen if stage == 0 else (whole if stage == 1 else stop)
        for at in range(begin, end, ROWS):
            rows = at + row
            queries = load_rows(query_pointer, rows, query_row, row_count, stage == 1, WIDTH, PADDED)
            normal = load_normal(log_sum_pointer, rows, row_count, stage == 1)
            scores = form_scores(
                queries, keys, rows, columns, head, scale, cap,
                bias_pointer, bias_head, bias_row, bias_column, table_pointer, mask_pointer,
                row_count, key_count, offset, window,
                CAUSAL, CAPPED, BIASED, TABLED, WINDOWED, KEY_MASKED, stage != 1,
            )  # fmt: skip
            weights = tl.exp2(scores + normal[:, None])
            # A warp has 16 rows of every 64, a thread two of them, 8 apart: what it holds is summed at once.
            threads = tl.reshape(weights, (ROWS // 64, 4, 2, 8, KEYS))
            sums = tl.reshape(tl.sum(tl.sum(threads, 0), 1), (32, KEYS))
            if PADDED_ROWS:
                real = tl.load(real_pointer + rows, mask=rows < row_count, other=0.0)
                kept = tl.reshape(weights * real[:, None], (ROWS // 64, 4, 2, 8, KEYS))
                mass += tl.reshape(tl.sum(tl.sum(kept, 0), 1), (32, KEYS))
            if SIDE < ROWS:
                if not PADDED_ROWS:
                    mass += sums
                squares = tl.reshape(weights, (ROWS // SIDE, SIDE, KEYS // SIDE, SIDE))
                down, right = tl.arange(0, ROWS // SIDE), tl.arange(0, KEYS // SIDE)
                down, right = at // SIDE + down, first // SIDE + right
                places = down[:, None] * key_pixels + right[None, :]
                inside = (down < row_pixels)[:, None] & (right < key_pixels)[None, :]
                tl.store(sums_pointer + places, tl.sum(tl.sum(squares, 3), 1), mask=inside)
                tl.store(maxima_pointer + places, tl.max(tl.max(squares, 3), 1), mask=inside)
            else:
                total += sums
                if WARPED:
                    largest = tl.reshape(tl.max(tl.max(threads, 0), 1), (32, KEYS // 8, 8))
                    peak = tl.maximum(peak, tl.max(largest, 1))
                else:
                    peak = tl.maximum(peak, tl.max(tl.reshape(weights, (4, ROWS // 4 * KEYS)), 1))
                if (at + ROWS) % SIDE == 0 or at + ROWS >= stop:
                    # One number from each warp: four of them are joined by the caller, without waiting here.
                    places = (at // SIDE * key_pixels + tl.program_id(1)) * 4 + tl.arange(0, 4)
                    tl.store(sums_pointer + places, tl.sum(tl.reshape(total, (4, 8 * KEYS)), 1))
                    largest_of_warps = tl.max(tl.reshape(peak, (4, 64)), 1) if WARPED else peak
                    tl.store(maxima_pointer + places, largest_of_warps)
                    if not PADDED_ROWS:
                        mass += total
                    total = tl.zeros([32, KEYS], tl.float32)
                    peak = tl.zeros([32, 8], tl.float32) if WARPED else tl.zeros([4], tl.float32)
    tl.store(mass_pointer + head * key_count + columns, tl.sum(mass, 0), mask=columns < key_count)
