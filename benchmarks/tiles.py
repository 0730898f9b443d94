"""How long a tile of a 100,000-token head takes, level by level.

In:   nothing; the queries and keys are random, the log-sum-exp of a row is measured where it is needed.
Out:  the median and the largest time of each level, printed. The bars: 50 ms at level 0, 500 ms at any level.

    python benchmarks/tiles.py [tokens] [repeats]
"""

import sys
from statistics import median
from time import perf_counter

import numpy as np

from glassformer.place import Place
from glassformer.recording import AttentionMap, Factors, HeadStatistics, Pyramid, Tokens, tile
from glassformer.recording.pooling import count_pixels
from glassformer.recording.statistics import thumbnail_level
from glassformer.recording.tiles import PYRAMID_LEVEL, SIZE, count_levels

WIDTH = 64


def make_head(tokens: int, causal: bool) -> AttentionMap:
    """A long random head. Its statistics are filled in to fit, not measured: tiles do not read them."""
    random = np.random.default_rng(0)
    queries = random.normal(size=(1, tokens, WIDTH)).astype(np.float32)
    keys = random.normal(size=(1, tokens, WIDTH)).astype(np.float32)
    allowed = np.arange(1, tokens + 1) if causal else np.full(tokens, tokens)
    # The scores are normal with variance |q|^2 / width: their log-sum-exp is near log n + variance / 2.
    log_sum_exp = np.log(allowed) + (queries.astype(np.float64) ** 2).sum(axis=-1) / WIDTH / 2
    side = count_pixels(tokens, thumbnail_level(tokens, tokens))
    ones = np.ones((1, tokens))
    statistics = HeadStatistics(
        entropy=np.zeros((1, tokens)),
        peak=ones,
        peak_key=np.zeros((1, tokens), dtype=np.int64),
        above=np.ones((1, tokens), dtype=np.int64),
        log_sum_exp=log_sum_exp,
        distance=np.zeros((1, tokens)),
        allowed=allowed,
        mass=ones,
        thumbnail_mean=np.zeros((1, side, side), dtype=np.float32),
        thumbnail_max=np.zeros((1, side, side), dtype=np.float32),
        rows=np.ones(tokens, dtype=bool),
    )
    factors = Factors(queries, keys, log_sum_exp, WIDTH**-0.5, causal=causal)
    axis = Tokens.positional("source", tokens)
    coarse = random.random([count_pixels(tokens, PYRAMID_LEVEL)] * 2, dtype=np.float32)
    return AttentionMap(
        Place("decoder", "self", 0),
        axis,
        axis,
        statistics,
        factors=factors,
        pyramids={0: Pyramid(PYRAMID_LEVEL, coarse, coarse)},
        relaxed="the log-sum-exp is an estimate",
    )


def main() -> None:
    """Time tiles along the diagonal, in the lower left corner, and with both ways of pooling."""
    tokens = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    for causal in (True, False):
        head = make_head(tokens, causal)
        print(f"{tokens} tokens, width {WIDTH}, {'causal' if causal else 'full'}; milliseconds a tile")
        for level in range(count_levels(head)):
            last = max(0, count_pixels(tokens, level) // SIZE - 1)  # the last whole tile
            times = []
            for _ in range(repeats):
                for row, column in ((last, last), (last // 2, last // 2), (last, 0)):
                    for how in ("mean", "max"):
                        start = perf_counter()
                        tile(head, 0, level, row, column, how=how)  # type: ignore[arg-type]
                        times.append(1e3 * (perf_counter() - start))
            print(f"  level {level}: median {median(times):7.1f}, largest {max(times):7.1f}")


if __name__ == "__main__":
    main()
