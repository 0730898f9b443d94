"""Numbers about attention: pure functions from a Recording to a Score, in NumPy alone.

In:   recordings, and gold data where a metric compares with it.
Out:  Score. `score` measures, `METRICS` lists what there is; see docs/metrics.md.
"""

from glassformer.metrics.differences import difference
from glassformer.metrics.metric import METRICS, Metric, head_metric, recording_metric, score
from glassformer.metrics.parameters import About, Parameter
from glassformer.metrics.scores import Over, Part, Rows, Score, UndefinedError, pool

# The interpretability panel, in its order.
PANEL = (
    "overall_sparsity",
    "nonzero_share",
    "average_nonzero",
    "maximum_nonzero",
    "entropy",
    "entropy_share",
    "uniform_divergence",
)

__all__ = [
    "METRICS",
    "PANEL",
    "About",
    "Metric",
    "Over",
    "Parameter",
    "Part",
    "Rows",
    "Score",
    "UndefinedError",
    "difference",
    "head_metric",
    "pool",
    "recording_metric",
    "score",
]
