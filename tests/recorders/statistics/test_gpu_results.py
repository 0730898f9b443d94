"""Statistics from the results of GPU kernels, and their transfer; all of it runs on a CPU, too."""

from math import log

import numpy as np
import pytest
import torch
from torch import Tensor

from glassformer.errors import RecordingError
from glassformer.recorders.statistics.gpu_results import Columns, GpuStatistics, Rows, pack
from glassformer.recorders.statistics.scoring import Scoring
from glassformer.recording import measure, pool_max, pool_mean
from tolerances import assert_near

QUERIES, KEYS = 70, 4200  # thumbnails have squares of 2**7 tokens, pyramids of 2**6


LOG2_E = 1.4426950408889634


BLOCK = 32


def form_rows(scores: Tensor, given: Tensor, *, causal: bool = False) -> Rows:
    """What rows_kernel would leave for scores (head, query, key), in float64, log-sum-exp given."""
    used = (given * LOG2_E).double()
    logarithms = scores * LOG2_E - used[..., None]
    weights = logarithms.exp2()
    queries, keys = (torch.arange(count).double() for count in scores.shape[1:])
    away = (keys - queries[:, None]).abs()
    if causal:  # from the first row of the block, negative
        away = keys - (queries // BLOCK * BLOCK)[:, None]
    energy = torch.where(weights > 0, weights * logarithms, 0.0)
    peak, peak_key = weights.max(-1)
    sums = [
        weights.sum(-1),
        energy.sum(-1),
        (weights * away).sum(-1),
        (weights > 0.01).sum(-1),
        peak,
        torch.zeros_like(peak),
    ]
    return Rows(given, torch.stack(sums).float(), peak_key.int(), counting=False, block=BLOCK)


def form_columns(weights: Tensor, level: int) -> Columns:
    """What columns_kernel would leave: pixels at most 64 keys wide, each in four parts."""
    side, narrow = 1 << level, min(1 << level, 64)
    missing = (0, -weights.shape[2] % narrow, 0, -weights.shape[1] % side)
    cells = torch.nn.functional.pad(weights, missing).unflatten(2, (-1, narrow)).unflatten(1, (-1, side))
    sums, maxima = cells.sum((2, 4)), cells.amax((2, 4))  # (head, query pixel, narrow key pixel)
    shares, last = torch.tensor([0.1, 0.2, 0.3, 0.4]), torch.tensor([0.0, 0.0, 1.0, 0.0])
    return Columns(
        weights.sum(1).float(),
        (sums[..., None] * shares).float(),
        (maxima[..., None] * last).float(),
        side // narrow,
        level,
    )


def find(pyramids: tuple[int, ...]) -> tuple[GpuStatistics, Tensor]:
    scores = torch.randn(3, QUERIES, KEYS, generator=torch.Generator().manual_seed(0)).double() * 3
    weights = scores.softmax(-1)
    rows = form_rows(scores, (scores.logsumexp(-1) + 1e-4).float())  # off by more than rounding
    columns = [form_columns(weights[:2], 6), form_columns(weights[2:], 7)]
    return pack(rows, columns, Scoring(1.0), pyramids), weights


def test_numbers_are_those_of_float64() -> None:
    statistics, weights = find((0, 1))
    found = statistics.read().check(None, 0.01)
    wanted = measure(weights.numpy())
    for name in (
        "entropy",
        "peak",
        "peak_key",
        "above",
        "mass",
        "thumbnail_mean",
        "thumbnail_max",
        "allowed",
    ):
        assert_near(getattr(found, name), getattr(wanted, name), where=name)
    assert np.abs(found.distance - wanted.distance).max() <= 1e-6 * KEYS
    assert found.level == 7


def test_the_log_sum_exp_is_corrected() -> None:
    scores = torch.randn(2, 40, 50, generator=torch.Generator().manual_seed(1)).double()
    exact = scores.logsumexp(-1)
    assert_near(form_rows(scores, (exact + 1e-4).float()).correct(Scoring(1.0))["log_sum_exp"], exact)


def test_a_causal_distance_is_that_from_each_row() -> None:
    scores = torch.randn(2, 70, 70, generator=torch.Generator().manual_seed(2)).double()
    scores = scores.masked_fill(torch.ones(70, 70, dtype=torch.bool).triu(1), -torch.inf)
    rows = form_rows(scores, scores.logsumexp(-1).float(), causal=True)
    wanted = measure(scores.softmax(-1).numpy()).distance
    assert_near(rows.correct(Scoring(1.0, causal=True))["distance"].numpy(), wanted)


def test_a_sink_is_one_more_outcome() -> None:
    scores = torch.randn(2, 5, 30, generator=torch.Generator().manual_seed(3)).double()
    sink = torch.tensor([0.5, 4.0])
    whole = torch.cat((scores, sink.double()[:, None, None].expand(2, 5, 1)), dim=-1)
    rows = form_rows(scores, whole.logsumexp(-1).float())
    outcomes = whole.softmax(-1)
    wanted = -(outcomes * outcomes.log()).sum(-1)
    assert_near(rows.correct(Scoring(1.0, sink=sink))["entropy"], wanted)


def test_pyramids_are_of_the_chosen_heads() -> None:
    statistics, weights = find((1,))
    pyramids = statistics.read().pyramids
    assert list(pyramids) == [1]
    assert pyramids[1].level == 6
    matrix = weights[1].numpy()
    assert np.abs(pyramids[1].mean - pool_mean(matrix, 6)).max() <= 1e-7
    assert np.abs(pyramids[1].maximum - pool_max(matrix, 6)).max() <= 1e-7


def test_a_row_that_sees_nothing_is_no_nan() -> None:
    rows = Rows(torch.full((1, 4), -torch.inf), torch.zeros(6, 1, 4), torch.zeros(1, 4).int(), False, BLOCK)
    corrected = rows.correct(Scoring(1.0))
    assert (corrected["entropy"] == 0).all()
    assert (corrected["log_sum_exp"] == -torch.inf).all()


def test_counted_keys_are_those_of_the_kernel() -> None:
    scores = torch.zeros(1, 3, 4).double()
    rows = form_rows(scores, torch.full((1, 3), log(4)))
    rows.sums[5] = torch.tensor([[1.0, 2.0, 4.0]])
    counted = Rows(rows.log_sum_exp, rows.sums, rows.peak_key, counting=True, block=BLOCK)
    statistics = pack(counted, [form_columns(scores.softmax(-1), 0)], Scoring(1.0), ())
    assert statistics.read().arrays["allowed"].tolist() == [[1, 2, 4]]


def test_hidden_keys_are_not_allowed() -> None:
    scores = torch.zeros(2, 3, 4).double()
    scoring = Scoring(1.0, key_mask=torch.tensor([True, False, True, True]), causal=True, offset=1)
    statistics = pack(form_rows(scores, torch.full((2, 3), log(4))), [form_columns(scores, 0)], scoring, ())
    assert statistics.read().arrays["allowed"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("place", [0, 1, 3, 4])  # distances may be anything
def test_what_cannot_be_is_refused_on_this_way_too(place: int) -> None:
    scores = torch.randn(2, 60, 50, generator=torch.Generator().manual_seed(4)).double()
    rows = form_rows(scores, scores.logsumexp(-1).float())
    rows.sums[place, 1, 17] = 51 if place == 3 else torch.nan
    statistics = pack(rows, [form_columns(scores.softmax(-1), 0)], Scoring(1.0), ())
    with pytest.raises(RecordingError, match="head 1, query 17"):
        statistics.read().check(None, 0.01)


@pytest.mark.parametrize("strange", [torch.nan, torch.inf, -torch.inf])
def test_it_is_seen_whether_all_that_was_given_is_finite(strange: float) -> None:
    scores = torch.randn(2, 30, 40, generator=torch.Generator().manual_seed(5)).double()
    rows, columns = form_rows(scores, scores.logsumexp(-1).float()), [form_columns(scores.softmax(-1), 0)]
    given = [torch.full((2, 30, 8), 3e38, dtype=kind) for kind in (torch.bfloat16, torch.float32)]
    assert pack(rows, columns, Scoring(1.0), (), given=given).read().finite
    given[0][1, 17, 3] = strange
    assert not pack(rows, columns, Scoring(1.0), (), given=given).read().finite
