"""One attention call as a recorder sees it: what attention was given, and its weights where they were formed.

In:   the tensors and settings of one attention of one layer.
Out:  `Call`, which statistics, masks, edits and maps read.
"""

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from glassformer.messages import Message
from glassformer.place import Place

Kernel = Literal["exact", "fast"]


@dataclass(slots=True)
class Call:
    """One attention of one layer; keys and values are not repeated for grouped queries."""

    place: Place
    queries: Tensor  # (B, H, T, K)
    keys: Tensor  # (B, key head, S, K)
    values: Tensor  # (B, key head, S, V)
    mask: Tensor | None  # (B or 1, H or 1, T, S) added to the scores; or boolean, True: the key may be seen
    causal: bool  # there is no mask, and no key after its query is seen
    scale: float
    softcap: float | None
    bias: Tensor | None  # (B or 1, H, T, S) of positions, added to the scores
    sink: Tensor | None  # (H,) the logit of a column that belongs to no key
    weights: Tensor | None  # (B, H, T, S) from the exact kernel
    unknown: tuple[str, ...]  # arguments of the attention function that are not known here
    relaxed: Message | None = None  # the edit after which rows need not sum to one
    silenced: tuple[int, ...] = ()  # heads whose weights an edit took away, those for a sink included
