"""Some heads of a map as a map of their own: a batch of texts is recorded as one map with many heads.

In:   a map that has been checked, a run of its heads, and the tokens that they looked at.
Out:  AttentionMap. Its arrays are views of the whole, and are not checked a second time.
"""

from typing import Any, TypeVar

from glassformer.recording.attention_map import AttentionMap
from glassformer.recording.statistics import HeadStatistics
from glassformer.recording.tokens import Tokens

BY_HEAD = (
    "entropy",
    "peak",
    "peak_key",
    "above",
    "log_sum_exp",
    "distance",
    "allowed",
    "mass",
    "thumbnail_mean",
    "thumbnail_max",
)
_Checked = TypeVar("_Checked", HeadStatistics, AttentionMap)


def take_heads(whole: AttentionMap, part: int, parts: int, query: Tokens, key: Tokens) -> AttentionMap:
    """Part number `part` of `parts` equal runs of heads, which read these tokens; without factors."""
    assert whole.factors is None, "factors are not divided"
    assert not whole.pyramids, "pyramids are not divided"

    def take(array: Any) -> Any:
        if array is None:
            return None
        share = len(array) // parts  # keys and values may have fewer heads
        return array[part * share : (part + 1) * share]

    arrays = {name: take(getattr(whole.statistics, name)) for name in BY_HEAD}
    fields = ("dense", "sink_weights", "dense_scores", "queries", "keys", "values")
    return _copy(
        whole,
        query=query,
        key=key,
        statistics=_copy(whole.statistics, **arrays),
        **{name: take(getattr(whole, name)) for name in fields},
    )


def _copy(checked: _Checked, **changes: Any) -> _Checked:
    """The same with other fields; its constructor would check them all again."""
    made = object.__new__(type(checked))
    for name in type(checked).__dataclass_fields__:
        object.__setattr__(made, name, changes[name] if name in changes else getattr(checked, name))
    return made
