"""The statistics that a monitor keeps of every head, from the weights of one map.

In:   scores and weights (batch, head, query, key) of a probe batch, what may be seen, which rows are real.
Out:  one tensor (statistic, head), in the order of STATISTICS; NaN where a number is not defined.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

STATISTICS = (
    "entropy",  # mean over rows, nats
    "entropy_share",  # of the largest entropy possible, over rows that can weigh two keys or more
    "peak",  # mean of the largest weight
    "sink",  # mean weight on the first key
    "distance",  # mean of Σ weight · |query − key|; NaN across two texts
    "induction",  # mean weight on what followed the last occurrence of the same token; NaN where none repeats
    "spread",  # mean of the largest score less the smallest; softmax ignores what all keys of a row share
    "contribution",  # mean length of what the head adds through W_O; NaN where there is no such product
    "likeness",  # cosine of its pattern, less an even one, with that of the most similar head of the map
    "twin",  # which head that is
)


@dataclass(frozen=True, slots=True)
class Visibility:
    """What the rows of one map may see. Made once: a probe batch never changes."""

    rows: Tensor  # (B, T) True where a query is no padding
    allowed: Tensor  # (B, T, S) True where a real row may see a key
    ids: Tensor | None  # (B, S) of the keys, where queries are the same tokens; None across two texts
    best_keys: int | None = None  # hard attention: a row weighs no more keys than these


def measure_heads(sight: Visibility, scores: Tensor, weights: Tensor, added: Tensor | None) -> Tensor:
    """All statistics (statistic, head); `added` (B, H, T) is the length of what each head adds."""
    scores, weights = scores.float(), weights.float()
    seen, rows = sight.allowed[:, None], sight.rows
    keys = sight.allowed.sum(-1)  # (B, T)
    weighed = keys if sight.best_keys is None else keys.clamp(max=sight.best_keys)
    entropy = torch.special.entr(weights).sum(-1)  # (B, H, T)
    undefined = torch.full((weights.shape[1],), torch.nan, device=weights.device)
    likeness, twin = _find_most_alike(weights, sight.allowed, keys)
    numbers = (
        _mean(entropy, rows),
        # no more than 1: rounding can add a little
        _mean(entropy / weighed.clamp(min=2).log()[:, None], rows & (weighed > 1)).clamp(max=1),
        _mean(weights.amax(-1), rows),
        _mean(weights[..., 0], rows),
        undefined if sight.ids is None else _mean(_distance(weights), rows),
        undefined if sight.ids is None else _induction(weights, sight.ids, rows),
        _mean(_spread(scores, seen), rows),
        undefined if added is None else _mean(added.float(), rows),
        likeness,
        twin,
    )
    return torch.stack(numbers)


def _mean(values: Tensor, rows: Tensor) -> Tensor:
    """The mean of values (B, H, T) over chosen rows (B, T): (H,); NaN where there are none."""
    return (values * rows[:, None]).sum((0, 2)) / rows.sum()


def _spread(scores: Tensor, seen: Tensor) -> Tensor:
    """The largest score of a row less the smallest, of keys that it sees (B, H, T); 0 where it sees none."""
    largest = scores.masked_fill(~seen, -torch.inf).amax(-1)
    smallest = scores.masked_fill(~seen, torch.inf).amin(-1)
    return torch.where(seen.any(-1), largest - smallest, 0.0)


def _distance(weights: Tensor) -> Tensor:
    queries, keys = (torch.arange(size, device=weights.device) for size in weights.shape[-2:])
    return (weights * (queries[:, None] - keys).abs()).sum(-1)  # (B, H, T)


def _induction(weights: Tensor, ids: Tensor, rows: Tensor) -> Tensor:
    """The weight on the token after the last earlier occurrence of the same one (Olsson et al. 2022)."""
    length = ids.shape[1]
    earlier = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril(-1)
    same = (ids[:, :, None] == ids[:, None, :]) & earlier  # (B, T, S)
    places = torch.arange(length, device=ids.device)
    last = torch.where(same, places, -1).amax(-1)  # (B, T), −1 where there was none
    after = (last + 1).clamp(max=length - 1)[:, None, :, None].expand(-1, weights.shape[1], -1, 1)
    return _mean(weights.gather(-1, after)[..., 0], rows & (last >= 0))


def _find_most_alike(weights: Tensor, allowed: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
    """For each head the largest cosine with another, and which; patterns are taken less the even one.

    Without that, heads that look everywhere evenly, as before training, would all be alike.
    """
    heads = weights.shape[1]
    if heads == 1:
        return (torch.full((1,), torch.nan, device=weights.device),) * 2
    even = allowed / keys.clamp(min=1)[..., None]  # (B, T, S)
    patterns = ((weights - even[:, None]) * allowed[:, None]).transpose(0, 1).flatten(1)  # (H, B·T·S)
    patterns = patterns / patterns.norm(dim=1, keepdim=True).clamp(min=1e-12)
    cosines = (patterns @ patterns.T).fill_diagonal_(-torch.inf)
    likeness, twin = cosines.max(1)
    return likeness, twin.float()
