"""Self-check of our own networks: what a few tokens give, computed in two ways.

In:   a network, its maps of a few tokens, and a function that runs it on these tokens.
Out:  a `Comparison`. Where weights are a softmax of q · k, those of the explicit path are compared with those
      of the fast kernel. Other products are compared with the fused kernel, by their logits. Where the
      network has one path only, or computes with eight bits, weights are computed again by the formula, in
      float64, from the recorded queries and keys. A network without attention has nothing to compare.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy

import numpy as np
import torch
from torch import Tensor

from glassformer.loaded.native import Network
from glassformer.messages import message
from glassformer.model.attention import Attention, repeat_heads
from glassformer.model.int8 import is_int8
from glassformer.model.recurrent import ContextAttention
from glassformer.model.similarity import ProductSimilarity, soft
from glassformer.place import Place
from glassformer.recorders.comparison import Comparison, find_largest, tolerance_of
from glassformer.recorders.maps import Axes, MapMaker
from glassformer.recorders.native.attentions import find_attentions, find_stacks
from glassformer.recorders.native.measured_attention import can_measure
from glassformer.recorders.native.windows import Watch
from glassformer.recording import AttentionMap

CHECKED = ("weights", "scores", "queries", "keys")  # what the formula needs

Run = Callable[[Watch | None], Tensor]  # runs the network on the checked tokens; logits


def check_network(network: Network, axes: Axes, run: Run) -> Comparison:
    """Compare on a few tokens, for which both computations cost next to nothing."""
    opened = Watch(network, axes, CHECKED)
    logits = run(opened)
    if not opened.maps:
        return Comparison()
    if is_int8(network):  # two ways may round an input to different sides: maps are checked by themselves
        error = compare_with_formula(network, opened.maps)
        reference = "recorders.references.formula"
    elif can_measure(network):
        maker = MapMaker(axes, ("weights",))
        measured = Watch(network, axes, ("weights",), maker=maker, kernel="fast")
        run(measured)
        pairs = zip(opened.maps, measured.maps, strict=True)
        error = find_largest(float(np.abs(one.weights() - other.weights()).max()) for one, other in pairs)
        reference = "recorders.references.explicit"
    elif all(_has_fused_path(each.module) for each in find_attentions(network)):
        error = float((logits - run(None)).abs().max()) / max(1.0, float(logits.abs().max()))
        reference = "recorders.references.fused"
    else:
        error = compare_with_formula(network, opened.maps)
        reference = "recorders.references.formula"
    logarithms = np.concatenate([each.statistics.log_sum_exp.ravel() for each in opened.maps])
    scores = float(np.abs(logarithms[np.isfinite(logarithms)]).max(initial=1.0))
    return Comparison(
        error, message(reference, tokens=opened.maps[0].statistics.keys), tolerance_of(network, scores)
    )


@torch.no_grad()
def compare_with_formula(network: Network, maps: Sequence[AttentionMap]) -> float:
    """The largest difference between weights and softmax(similarity(Q, K)) in float64.

    Keys that hard attention chose must have the best scores; a worse one counts by how much it is worse.
    """
    found = {each.place: each for each in maps}
    errors: list[float] = []
    for stack, kind, layers, attention in find_attentions(network):
        similarity = deepcopy(attention.similarity).cpu().double()
        for layer in layers:
            each = found[Place(stack, kind, layer)]
            assert each.queries is not None
            assert each.keys is not None
            queries, keys = torch.tensor(each.queries).double(), torch.tensor(each.keys).double()
            scores = similarity(queries, repeat_heads(keys[None], len(queries))[0])
            scores = scores + _find_bias(network, stack, kind, queries.shape[1])
            scores = scores.masked_fill(torch.tensor(np.isneginf(each.scores())), -torch.inf)
            weights = torch.tensor(each.weights())
            chosen = scores > -torch.inf
            if isinstance(attention, Attention) and attention.best_keys is not None:
                chosen = weights > 0
                best_left = scores.masked_fill(chosen, -torch.inf).amax(-1)
                worst_chosen = scores.masked_fill(~chosen, torch.inf).amin(-1)
                errors.append(float((best_left - worst_chosen).max()))
            errors.append(float((soft(scores, chosen) - weights).abs().max()))
    return find_largest(errors)


def _has_fused_path(attention: Attention | ContextAttention) -> bool:
    product = isinstance(attention.similarity, ProductSimilarity)
    return product and isinstance(attention, Attention) and attention.best_keys is None


def _find_bias(network: Network, stack: str, kind: str, count: int) -> Tensor:
    """What positions add to the scores of self-attention (head, query, key); 0 where nothing."""
    bias = find_stacks(network)[stack].bias if kind == "self" else None
    if bias is None:
        return torch.zeros(())
    positions = torch.arange(count)[None]
    added: Tensor = deepcopy(bias).cpu().double()(positions, positions)
    return added[0]
