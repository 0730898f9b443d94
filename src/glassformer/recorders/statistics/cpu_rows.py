"""The arithmetic of statistics on a CPU: a block of query rows at a time, every score formed once.

In:   a Job: queries, keys (and values) of one attention, prepared; `Results` to fill in.
Out:  the results of some heads and some blocks of rows.

A block holds all keys that its rows can reach, in spans that fit the cache. First each span gets its scores,
their maximum, and 2**(score - maximum) with two sums; then maxima and sums of all spans give the normaliser
of each row; then the exponentials become weights, from which everything else is summed. Scores are in base 2
(times log2 e): torch's exp2 takes less than half the time of its exp. Several heads share a block where rows
are short, because a call of torch costs as much as some ten thousand cells.

Shapes: g heads at once, b rows, w keys of a span.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from glassformer.recorders.statistics.scoring import HIDDEN, LOG2_E, MASKED, Scoring
from glassformer.recording.factors import find_reach

SPAN = 4096  # keys of a span
ROW_NUMBERS = ("top", "total", "energy", "peak", "peak_key", "above", "distance")  # what Results.rows holds


@dataclass(frozen=True, slots=True)
class Job:
    """One attention, ready for blocks: rows and keys padded to whole strips and units."""

    queries: Tensor  # (head, padded query, width)
    keys: Tensor  # (key head, padded key, width)
    values: Tensor | None  # (key head, key, value width)
    scoring: Scoring
    shape: tuple[int, int, int]  # (head, query, key) without padding
    height: int  # query rows of a block, a multiple of side
    side: int  # tokens a pixel
    unit: int  # keys whose maximum is taken at once, and the multiple that keys are padded to
    threshold: float
    rows: Tensor | None  # (padded query,) 1 for real rows, 0 for padding; None where all are real
    counting: bool  # whether allowed keys must be counted score by score
    blind: bool  # whether some row may see no key

    def read(self, tensor: Tensor, heads: slice, keys: slice) -> Tensor:
        """The keys or values that some heads read: (g, key, width), copied only where heads share them."""
        group = self.shape[0] // tensor.shape[0]
        if group == 1:
            return tensor[heads, keys]
        first, last = heads.start // group, (heads.stop - 1) // group
        if first == last:
            return tensor[first, keys].expand(heads.stop - heads.start, -1, -1)
        return tensor[torch.arange(heads.start, heads.stop) // group, keys]


@dataclass(frozen=True, slots=True)
class Results:
    """Where results go. With e = 2**(score - top), a row's total is Σ e and its energy Σ e (score - top)."""

    rows: Tensor  # (number, head, padded query): see ROW_NUMBERS
    allowed: Tensor  # (head, padded query), filled in where keys are counted
    sums: Tensor  # (head, query pixel, key pixel)
    maxima: Tensor  # (head, query pixel, key pixel); where a pixel is one weight, the same as sums
    output: Tensor | None  # (head, padded query, value width)
    weights: Tensor | None  # (head, query, key)


@dataclass(frozen=True, slots=True)
class Part:
    """What one thread does: some heads, in groups, and some blocks of their rows; mass is added up apart."""

    groups: list[slice]  # of heads
    starts: range  # the first row of each block
    mass: Tensor  # (head, padded key) float64


@dataclass(frozen=True, slots=True)
class _Span:
    """Some keys seen from a block of rows: what is the same for all heads."""

    keys: slice  # padded
    width: int  # keys that exist
    hidden: list[tuple[slice, Tensor]]  # see Scoring.hidden
    away: Tensor  # (w,) distance from the first row of the block, 0 for keys taken one by one
    side: Tensor  # (w,) how that distance changes with each row: 1 for keys before the block, -1 after it
    within: slice | None  # keys that lie before some rows and after others
    gaps: Tensor | None  # (b, keys within) their distances


@dataclass(frozen=True, slots=True)
class _Block:
    """A block of rows of a few heads, the keys that they can reach, and where its results go."""

    job: Job
    results: Results
    mass: Tensor  # see Part
    heads: slice
    rows: slice  # padded
    real: slice  # rows that exist
    spans: list[_Span]


@dataclass(frozen=True, slots=True)
class _Exponentials:
    """2**(score - top) of one span, and what rows need of it."""

    cells: Tensor  # (g, b, w)
    top: Tensor  # (g, b)
    unit: Tensor  # (g, b) the unit of keys in which the top is
    total: Tensor  # (g, b)
    energy: Tensor  # (g, b)


@torch.inference_mode()
def measure_part(job: Job, results: Results, part: Part) -> None:
    """Fill in the rows of a part, block by block."""
    _, queries, keys = job.shape
    padded, key_count = job.queries.shape[1], job.keys.shape[1]
    area = max(group.stop - group.start for group in part.groups) * min(job.height, padded)
    sizes = (area * key_count, area * min(SPAN, key_count))
    held, scratch = (torch.empty(size, dtype=torch.float32) for size in sizes)  # whatever the default is
    for start in part.starts:
        rows = slice(start, min(start + job.height, padded))
        real = slice(start, min(rows.stop, queries))
        scoring = job.scoring
        reach = find_reach(real, keys, scoring.causal, scoring.window, scoring.offset)
        if results.weights is not None:
            for group in part.groups:
                results.weights[group, real, : reach.start] = 0
                results.weights[group, real, reach.stop :] = 0
        if reach.start == reach.stop:
            continue  # no key for any row: the initial values are right
        first, last = reach.start // job.unit * job.unit, -(-reach.stop // job.unit) * job.unit
        spans = [_survey(job, rows, real, slice(at, min(at + SPAN, last))) for at in range(first, last, SPAN)]
        for heads in part.groups:
            _measure(_Block(job, results, part.mass, heads, rows, real, spans), held, scratch)


def _survey(job: Job, rows: slice, real: slice, keys: slice) -> _Span:
    """What masks hide and how far keys are, seen from a block of rows.

    Keys outside the positions of the block lie to one side of every row: there the distance is that to the
    first row, plus or minus the row's own place in the block. Under a causal mask no other keys count.
    """
    exist = slice(keys.start, min(keys.stop, job.shape[2]))
    height, first = rows.stop - rows.start, rows.start + job.scoring.offset
    places = torch.arange(keys.start, keys.stop, dtype=torch.float32) - first  # (w,)
    hidden = list(job.scoring.hidden(real, exist))
    if job.scoring.causal:
        return _Span(keys, exist.stop - exist.start, hidden, -places, torch.ones_like(places), None, None)
    side = (places < 0).float() - (places >= height).float()
    within = slice(max(first - keys.start, 0), max(first + height - keys.start, 0))
    gaps = (torch.arange(height)[:, None] - places[within]).abs()  # (b, up to b)
    return _Span(keys, exist.stop - exist.start, hidden, places.abs() * side.abs(), side, within, gaps)


def _measure(block: _Block, held: Tensor, scratch: Tensor) -> None:
    """All numbers of a block; `held` has room for its exponentials, `scratch` for the scores of a span."""
    job, heads, rows, scoring = block.job, block.heads, block.rows, block.job.scoring
    size = heads.stop - heads.start, rows.stop - rows.start
    # Products with keys are scores to base 2, or what the soft cap takes.
    factor = scoring.scale * LOG2_E if scoring.softcap is None else scoring.scale / scoring.softcap
    queries = job.queries[heads, rows] * factor  # (g, b, width)
    used, found = 0, []
    for span in block.spans:
        width = span.keys.stop - span.keys.start
        cells = size[0] * size[1] * width
        scores = scratch[:cells].view(*size, width)
        _form_scores(block, span, queries, scores)
        found.append(_exponentiate(job, scores, held[used : used + cells].view(*size, width)))
        used += cells
    numbers, factors = _combine(block, found, held[:used])
    above, distance, mixed = _add_up(block, found, factors)
    block.results.rows[:, heads, rows] = torch.stack([*numbers, above, distance])
    if block.results.output is not None and mixed is not None:
        block.results.output[heads, rows] = mixed


def _form_scores(block: _Block, span: _Span, queries: Tensor, scores: Tensor) -> None:
    """q · k, soft cap, biases, masks, in place (g, b, w)."""
    job, heads, real, scoring = block.job, block.heads, block.real, block.job.scoring
    torch.bmm(queries, job.read(job.keys, heads, span.keys).transpose(1, 2), out=scores)
    if scoring.softcap is not None:
        scores.tanh_().mul_(scoring.softcap * LOG2_E)
    height = real.stop - real.start
    exist = slice(span.keys.start, span.keys.start + span.width)
    for bias in scoring.biases(heads, real, exist, job.shape[1]):
        scores[:, :height, : span.width].add_(bias, alpha=LOG2_E)
    if job.counting:
        scores.clamp_min_(MASKED)
    for columns, hidden in span.hidden:
        scores[:, :height, columns].masked_fill_(hidden, MASKED)
    if span.width < scores.shape[2]:
        scores[:, :, span.width :] = MASKED
    if job.counting:
        block.results.allowed[heads, block.rows] += (scores > HIDDEN).sum(-1)


def _exponentiate(job: Job, scores: Tensor, cells: Tensor) -> _Exponentials:
    """Scores (g, b, w) are used up."""
    units = scores.unflatten(-1, (-1, job.unit)).amax(-1)  # (g, b, units)
    top, unit = units.max(-1)  # the first of equals
    torch.exp2(scores.sub_(top.unsqueeze(-1)), out=cells)
    return _Exponentials(cells, top, unit, cells.sum(-1), scores.mul_(cells).sum(-1))


def _combine(block: _Block, found: list[_Exponentials], held: Tensor) -> tuple[list[Tensor], list[Tensor]]:
    """Top, total, energy, peak and its key for each row (g, b); what makes weights of each span."""
    job, real = block.job, block.real
    if len(found) == 1 and job.scoring.sink is None:  # the usual case, in few calls
        only = found[0]
        numbers, shares, key_top = [only.top, only.total, only.energy], None, only.top
        chosen = torch.zeros_like(only.unit)
    else:
        numbers, shares, key_top, chosen = _join(job, block.heads, found)
    normaliser = numbers[1].reciprocal()
    if job.blind:
        normaliser = normaliser.masked_fill_(key_top <= HIDDEN, 0)  # no weight where all keys are hidden
    normaliser[:, real.stop - real.start :] = 0
    peak = normaliser if shares is None else torch.exp2(key_top - numbers[0]) * normaliser
    numbers += [peak, _find_peak(job, block.spans, found, held, chosen)]
    factors = [normaliser] if shares is None else [share * normaliser for share in shares]
    return numbers, factors


def _join(
    job: Job, heads: slice, found: list[_Exponentials]
) -> tuple[list[Tensor], list[Tensor], Tensor, Tensor]:
    """Top, total and energy of several spans; each span's share; the top of keys alone and its span."""
    tops, totals, energies = (
        torch.stack([getattr(each, name) for each in found]) for name in ("top", "total", "energy")
    )  # (span, g, b)
    key_top, chosen = tops.max(0)  # (g, b)
    top = key_top
    if job.scoring.sink is not None:  # one more span, of one score
        sink = (job.scoring.sink[heads].float() * LOG2_E)[:, None].expand_as(top)  # (g, b)
        top = torch.maximum(top, sink)
        tops, totals = torch.cat([tops, sink[None]]), torch.cat([totals, torch.ones_like(sink)[None]])
        energies = torch.cat([energies, torch.zeros_like(sink)[None]])
    lower = tops - top
    shares = torch.exp2(lower)
    # Where all keys of a span are hidden its share is 0 and `lower` about -1e30: their product is 0.
    energy = ((energies + totals * lower) * shares).sum(0)
    return [top, (totals * shares).sum(0), energy], list(shares[: len(found)]), key_top, chosen


def _find_peak(
    job: Job, spans: list[_Span], found: list[_Exponentials], held: Tensor, chosen: Tensor
) -> Tensor:
    """The key of each row's largest score (g, b): its span and unit are known, the unit is searched."""
    group, height = chosen.shape
    row = torch.arange(group * height).view(group, height)
    if len(spans) == 1:
        unit = found[0].unit
        starts = spans[0].keys.start + unit * job.unit
        places = row * (found[0].cells.shape[2] // job.unit) + unit
    else:
        widths = torch.tensor([each.cells.shape[2] // job.unit for each in found])  # in units
        before = group * height * (widths.cumsum(0) - widths)  # units held before each span
        unit = torch.stack([each.unit for each in found]).gather(0, chosen[None])[0]
        starts = torch.tensor([span.keys.start for span in spans])[chosen] + unit * job.unit
        places = before[chosen] + row * widths[chosen] + unit
    cells = held.view(-1, job.unit)
    if len(cells) > row.numel():
        cells = cells.index_select(0, places.flatten())
    return starts + _find_first_one(cells).view(group, height)  # exact up to 16 million keys


def _find_first_one(cells: Tensor) -> Tensor:
    """The first of the largest cells of each row (row, up to 64), all of which are 1; argmax is slow.

    With powers of 4, however many ones follow, their sum has the exponent of the first.
    """
    powers = torch.exp2(40.0 - 2.0 * torch.arange(cells.shape[1], dtype=torch.float32))
    exponent = torch.frexp(torch.mv(torch.floor(cells), powers)).exponent  # of a mantissa in 0.5 … 1
    return (41 - exponent).float() / 2


def _add_up(
    block: _Block, found: list[_Exponentials], factors: list[Tensor]
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Everything that is a sum or a maximum of weights; the exponentials are used up."""
    job, results, heads, rows, real = block.job, block.results, block.heads, block.rows, block.real
    side = job.side
    group, height = heads.stop - heads.start, rows.stop - rows.start
    strip = min(side, height)
    pixels = slice(rows.start // side, rows.start // side + height // strip)
    above = distance = torch.zeros((), dtype=torch.float32)
    mixed: Tensor | None = None
    for span, exponentials, factor in zip(block.spans, found, factors, strict=True):
        weights = exponentials.cells.mul_(factor.unsqueeze(-1))  # (g, b, w)
        if results.weights is not None:
            last = span.keys.start + span.width
            kept = weights[:, : real.stop - real.start, : span.width]
            results.weights[heads, real, span.keys.start : last] = kept
        if job.values is not None:
            values = job.read(job.values, heads, span.keys)
            seen = weights[:, :, : span.width]
            mixed = torch.bmm(seen, values) if mixed is None else torch.baddbmm(mixed, seen, values)
        strips = weights.view(group, height // strip, strip, -1)
        columns = slice(span.keys.start // side, span.keys.stop // side)
        sums = weights if strip == 1 else strips.sum(2)  # (g, strip, w)
        received = sums.sum(1) if job.rows is None else torch.matmul(job.rows[rows], weights)
        block.mass[heads, span.keys] += received
        if side == 1:  # a pixel is a weight: its own sum and maximum
            results.sums[heads, pixels, columns] = weights
        else:
            results.sums[heads, pixels, columns] = sums.unflatten(-1, (-1, side)).sum(-1)
            results.maxima[heads, pixels, columns] = strips.amax(2).unflatten(-1, (-1, side)).amax(-1)
        distance = distance + _sum_distances(span, weights)
        above = above + weights.gt_(job.threshold).sum(-1)
    return above, distance, mixed


def _sum_distances(span: _Span, weights: Tensor) -> Tensor:
    """The sum of weight * |position - key| over a span (g, b)."""
    group, height, width = weights.shape
    if span.gaps is not None and span.gaps.shape[1] == width:  # a short text: no key lies outside
        return (weights * span.gaps).sum(-1)
    flat = weights.view(group * height, width)
    distance = torch.mv(flat, span.side).view(group, height)
    distance *= torch.arange(height)
    distance += torch.mv(flat, span.away).view(group, height)
    if span.within is not None and span.gaps is not None:
        distance += (weights[:, :, span.within] * span.gaps).sum(-1)
    return distance
