"""A tile at any level is the brute-force pooling of the dense map."""

from time import perf_counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.errors import RecordingError
from glassformer.place import Place
from glassformer.recording import (
    AttentionMap,
    Factors,
    HeadStatistics,
    Pyramid,
    Tokens,
    count_levels,
    measure,
    pool_max,
    tile,
)
from tolerances import assert_near


def pool_by_hand(matrix: np.ndarray, level: int, how: str) -> np.ndarray:
    """Every square by itself, what is beyond the matrix being NaN and left out."""
    side = 2**level
    rows, columns = -(-matrix.shape[0] // side), -(-matrix.shape[1] // side)
    padded = np.full((rows * side, columns * side), np.nan)
    padded[: matrix.shape[0], : matrix.shape[1]] = matrix
    squares = padded.reshape(rows, side, columns, side)
    return (np.nanmean if how == "mean" else np.nanmax)(squares, axis=(1, 3))


def make_long(causal=True, window=None, queries=700, keys=700, key_heads=1, offset=0, bias=None):
    """Two heads, long enough for several panels and chunks, with the dense map beside them."""
    random = np.random.default_rng(3)
    q = random.normal(size=(2, queries, 16)).astype(np.float32)
    k = random.normal(size=(key_heads, keys, 16)).astype(np.float32)
    scores = (
        q.astype(np.float64) @ np.repeat(k, 2 // key_heads, axis=0).swapaxes(1, 2).astype(np.float64) * 0.4
    )
    if bias is not None:
        scores += bias[:, np.arange(keys) - np.arange(queries)[:, None] + queries - 1]
    distance = np.arange(queries)[:, None] + offset - np.arange(keys)
    allowed = np.ones((queries, keys), dtype=bool)
    if causal:
        allowed &= distance >= 0
    if window is not None:
        allowed &= np.abs(distance) < window
    scores = np.where(allowed, scores, -np.inf)
    log_sum_exp = np.log(np.exp(scores).sum(axis=-1))
    weights = np.exp(scores - log_sum_exp[..., None])
    statistics = measure(weights, allowed, log_sum_exp=log_sum_exp, offset=offset)
    factors = Factors(q, k, log_sum_exp, 0.4, distance_bias=bias, causal=causal, window=window, offset=offset)
    tokens = Tokens.positional("source", queries), Tokens.positional("source", keys)
    backed = AttentionMap(Place("decoder", "self", 0), *tokens, statistics, factors=factors)
    dense = AttentionMap(Place("decoder", "self", 0), *tokens, statistics, dense=weights.astype(np.float32))
    return backed, dense, weights


@pytest.fixture(scope="module")
def long():
    return make_long()


@pytest.mark.parametrize("how", ["mean", "max"])
@pytest.mark.parametrize(
    "features",
    [
        {},
        {"causal": False},
        {"window": 50, "queries": 1300, "keys": 1300},
        {"causal": False, "window": 300, "key_heads": 2},
        {"causal": False, "queries": 130, "keys": 650},
        {"queries": 300, "keys": 650, "offset": 350},
        {"bias": np.random.default_rng(5).normal(size=(2, 1399)).astype(np.float32)},
    ],
    ids=["causal", "full", "window", "wide window", "cross", "cached", "relative bias"],
)
def test_every_tile_of_every_level(features, how):
    backed, dense, weights = make_long(**features)
    for size in (64, 256):
        for level in range(count_levels(backed, size)):
            whole = pool_by_hand(weights[1], level, how)
            for row in range(-(-whole.shape[0] // size)):
                for column in range(-(-whole.shape[1] // size)):
                    part = whole[row * size : (row + 1) * size, column * size : (column + 1) * size]
                    for map_ in (backed, dense):
                        pixels = tile(map_, 1, level, row, column, size, how)
                        assert pixels.dtype == np.float32
                        assert_near(pixels, part, operations=1, summands=16)


@pytest.mark.parametrize("features", [{}, {"window": 50}, {"causal": False, "queries": 300, "keys": 2100}])
def test_weights_of_several_pieces(features):
    backed, dense, _ = make_long(**({"queries": 1100, "keys": 1100} | features))
    rows, columns = slice(7, 299), slice(5, len(backed.key) - 3)
    assert_near(backed.weights(1), dense.weights(1), operations=1, summands=16)
    assert_near(backed.weights(0, rows, columns), dense.weights(0, rows, columns), operations=1, summands=16)


def test_a_pyramid_replaces_the_weights_at_its_level_and_above(long):
    _, dense, weights = long
    mean, maximum = (pool_by_hand(weights[0], 3, how) for how in ("mean", "max"))
    marked = Pyramid(3, mean + 1, maximum + 1)  # so that a tile shows where it comes from
    map_ = AttentionMap(
        Place("decoder", "self", 0),
        dense.query,
        dense.key,
        dense.statistics,
        dense=dense.dense,
        pyramids={0: marked},
    )
    assert_near(tile(map_, 0, 2, 0, 0), pool_by_hand(weights[0], 2, "mean"), operations=1, summands=16)
    for level in (3, 4, 6):
        for how in ("mean", "max"):
            expected = pool_by_hand(weights[0], level, how) + 1
            assert_near(tile(map_, 0, level, 0, 0, how=how), expected, operations=1, summands=16)
    assert_near(tile(map_, 1, 3, 0, 0), pool_by_hand(weights[1], 3, "mean"), operations=1, summands=16)


def test_statistics_alone_still_give_the_coarse_levels(long):
    backed, _, weights = long
    bare = AttentionMap(Place("decoder", "self", 0), backed.query, backed.key, backed.statistics)
    assert_near(tile(bare, 1, 4, 0, 0), pool_by_hand(weights[1], 4, "mean"), operations=1, summands=16)
    with pytest.raises(RecordingError, match=r"kept no weights, only statistics.*want="):
        tile(bare, 1, 3, 0, 0)


def test_levels_end_with_the_whole_map_in_one_tile(long):
    assert count_levels(long[0]) == 3  # 700, 350, 175 pixels
    assert count_levels(long[0], 64) == 5
    assert tile(long[0], 0, 2, 0, 0).shape == (175, 175)


def test_what_the_mask_hides_is_not_computed(long, monkeypatch):
    rows_seen = []
    finish = Factors.finish

    def watch(self, scores, head, queries, keys):
        rows_seen.append((queries.start, keys.start))
        finish(self, scores, head, queries, keys)

    monkeypatch.setattr(Factors, "finish", watch)
    assert not tile(long[0], 0, 1, 0, 1, 128).any()  # queries 0 to 255, keys 256 to 511
    assert rows_seen == []


@given(st.integers(1, 150), st.integers(1, 150), st.integers(0, 5), st.integers(1, 70))
def test_sizes_that_fit_nothing(make, queries, keys, level, size):
    random = np.random.default_rng(queries * 151 + keys)
    weights = random.dirichlet(np.ones(keys), size=(1, queries))
    with np.errstate(divide="ignore"):
        bias = np.log(weights).astype(np.float32)  # any map, written as a bias
    zeros = np.zeros((1, queries, 4), np.float32), np.zeros((1, keys, 4), np.float32)
    factors = Factors(*zeros, np.zeros((1, queries)), 1.0, bias=bias)
    tokens = Tokens.positional("target", queries), Tokens.positional("source", keys)
    map_ = AttentionMap(Place("decoder", "cross", 0), *tokens, measure(weights), factors=factors)
    for how in ("mean", "max"):
        whole = pool_by_hand(weights[0], level, how)
        assert_near(tile(map_, 0, level, 0, 0, size, how), whole[:size, :size], operations=1, summands=16)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, 0, 0, 0), "no head 2"),
        ((0, -1, 0, 0), "tile\\(level=\\) is -1"),
        ((0, 0, 3, 0), "no tile at row 3, column 0 of level 0"),
        ((0, 9, 0, 1), "no tile at row 0, column 1 of level 9"),
        ((0, 0, 0, 0, 256, "median"), "'median'. Expected mean or max"),
        ((0, 0, 0, 0, 0), "size"),
    ],
)
def test_a_tile_that_is_not_there(long, arguments, message):
    with pytest.raises(RecordingError, match=message):
        tile(long[0], *arguments)


@pytest.mark.slow
def test_a_hundred_thousand_tokens(capsys):
    count, width, rows = 100_000, 64, slice(99_584, 99_840)  # the last whole tile but one of level 0
    random = np.random.default_rng(0)
    queries, keys = (random.normal(size=(1, count, width)).astype(np.float32) for _ in range(2))
    scores = (queries[0, rows].astype(np.float64) * 0.125) @ keys[0].T.astype(np.float64)
    scores[np.arange(rows.start, rows.stop)[:, None] < np.arange(count)] = -np.inf
    log_sum_exp = np.log(np.arange(1, count + 1))[None] + (queries.astype(np.float64) ** 2).sum(-1) / 128
    log_sum_exp[0, rows] = np.log(np.exp(scores).sum(axis=-1))
    factors = Factors(queries, keys, log_sum_exp, 0.125, causal=True)
    ones, side = np.ones((1, count)), -(-count // 2**11)
    blank = np.zeros((1, side, side), dtype=np.float32)
    tokens = Tokens.positional("source", count)
    statistics = HeadStatistics(
        entropy=0 * ones, peak=ones, peak_key=np.zeros((1, count), int), above=np.ones((1, count), int),
        log_sum_exp=log_sum_exp, distance=ones, allowed=np.arange(1, count + 1), mass=ones,
        thumbnail_mean=blank, thumbnail_max=blank, rows=np.ones(count, dtype=bool),
    )  # fmt: skip
    # Only the rows of one tile have their true log-sum-exp: the rest would take minutes.
    map_ = AttentionMap(
        Place("decoder", "self", 0),
        tokens,
        tokens,
        statistics,
        factors=factors,
        relaxed="most rows are estimates",
    )
    expected = np.exp(scores - log_sum_exp[0, rows, None])
    times = []
    for column in (0, 200, 389):
        start = perf_counter()
        pixels = tile(map_, 0, 0, 389, column)
        times.append(1e3 * (perf_counter() - start))
        assert_near(pixels, expected[:, column * 256 : (column + 1) * 256], operations=1, summands=16)
    for level in range(1, 6):
        start = perf_counter()
        tile(map_, 0, level, 11 << 5 >> level, 0)
        times.append(1e3 * (perf_counter() - start))
    with capsys.disabled():
        print("\n  100,000 tokens, ms a tile:", " ".join(f"{time:.1f}" for time in times))  # noqa: T201


@pytest.mark.parametrize("how", ["mean", "max"])
def test_a_level_far_above_the_map_takes_no_room(how):
    """A square of 2**31 tokens is the whole map: a level must never be paid for in memory."""
    backed, dense, weights = make_long(queries=300, keys=650, offset=350)
    expected = weights[1].mean() if how == "mean" else weights[1].max()
    for each in (backed, dense):
        pixels = tile(each, 1, 31, 0, 0, how=how)
        assert pixels.shape == (1, 1)
        assert_near(pixels[0, 0], expected, operations=1, summands=16, magnitude=expected)
    assert pool_max(np.zeros((0, 3), dtype=np.float32), 31).shape == (0, 1)
