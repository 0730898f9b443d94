"""How far two correct computations of the same numbers may be apart.

In:   the precision; how many operations follow each other; how long sums and how large numbers are.
Out:  a tolerance, for self-checks of recordings, for sums of rows, and for the tests.

Two kernels, or one kernel on two processors, add the same products in another order. Each addition rounds
by up to half of ε (the distance from 1 to the next number) of the partial sum. Rounding errors have no common
sign, so over n additions they grow like √n; likewise over operations that follow each other, each of which
starts from the rounded result of the one before:

    tolerance = 2 · ε · √(operations · summands · scores) · magnitude

Attention scores count because of the softmax: the rounding of a score is a share of the score, and an
absolute error of a score is a relative error of a weight. The factor 2 is a margin for the largest of many
numbers. tests/test_rounding.py measures all this against float64: networks of 1 to 12 layers stay within the
tolerance, wrong computations (another GELU, another norm) do not.
"""

from math import sqrt

EPSILON = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
HALVES = ("float16", "bfloat16")
LAYER = 8  # operations in a row in a Transformer layer: six products, two norms
MARGIN = 2.0
SHARPEST = 1024.0  # attention scores are smaller than this; those of trained models reach some hundreds
FARTHEST = 2e-2  # from its reference no weight may be farther, whatever the precision and depth


def rounding(
    *,
    operations: float = 1,
    layers: float = 0,
    summands: int = 64,
    magnitude: float = 1.0,
    scores: float = 1.0,
    dtype: str = "float32",
) -> float:
    """The largest difference that rounding explains.

    Arguments:
        operations: products, norms or softmaxes that follow each other.
        layers: Transformer layers that follow each other, beside these operations.
        summands: the length of a sum (the width of a network); half precision is summed in float32.
        magnitude: the largest number among those that are compared, or that they are summed from.
        scores: the largest attention score, if above 1.
        dtype: the precision in which the numbers are computed.
    """
    length = 1 if dtype in HALVES else summands
    steps = operations + LAYER * layers
    return MARGIN * EPSILON[dtype] * sqrt(steps * length * max(1.0, scores)) * magnitude


def model_tolerance(*, operations: int, summands: int, scores: float, dtype: str) -> float:
    """How far the weights or outputs of a model may be from those of another way to compute them.

    Weights are at most 1, and outputs are compared relative to the largest, so the magnitude is 1. In half
    precision the formula would allow a deep model nearly anything: there FARTHEST is the limit.
    """
    return min(FARTHEST, rounding(operations=operations, summands=summands, scores=scores, dtype=dtype))


def row_tolerance(dtype: str) -> float:
    """How far a row of weights may be from summing to one, by the precision that a model computed in.

    Float32: a product, a softmax and a sum, with scores up to SHARPEST. In half precision, weights are
    normalised in float32 and then rounded once, by up to ε/2 of themselves; they sum to one, so their row is
    off by up to ε/2, too.
    """
    return MARGIN * EPSILON[dtype] / 2 if dtype in HALVES else rounding(operations=3, scores=SHARPEST)
