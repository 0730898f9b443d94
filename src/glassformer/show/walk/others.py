"""The steps of a network whose architecture is not known: what its recording backs.

In:   a scribe over a recording of a model of transformers, or of a recurrent network.
Out:  chapters: states, and for each attention queries, keys, values, scores, weights.
"""

import numpy as np

from glassformer.recording import AttentionMap
from glassformer.recording.arrays import choose
from glassformer.show.walk.types import Axis
from glassformer.show.walk.writing import Scribe

AGREEMENT = 1e-3  # how far scores may be from scaled products of queries and keys
CHECKED = 6  # queries of each map for which that is looked at


def write_others(scribe: Scribe) -> None:
    """Stack by stack, layer by layer."""
    arrays = scribe.arrays
    recording = arrays.recording
    for stack in sorted(arrays.stacks(), key=lambda name: name == "decoder"):  # the others keep their order
        side = arrays.tokens(stack).side
        cells = "cell" in arrays.words  # a recurrent network: its states are what its cells made
        scribe.open(f"{stack}.embedding", "states" if cells else "embedding", stack)
        scribe.write("states", "states", [f"{stack}/ids"], f"{stack}/hidden/0", (side, "feature"))
        layers = [each.layer for each in recording.maps if each.stack == stack and each.step is None]
        for layer in range(max(layers, default=-1) + 1):
            for kind in ("self", "cross"):
                found = arrays.map(stack, layer, kind)
                if found is not None:
                    _write_attention(scribe, found)
            if arrays.depth(stack):
                scribe.open(f"{stack}.{layer}.states", "states", stack, layer)
                after = f"{stack}/hidden/{layer + 1}"
                scribe.write("states", "states", [f"{stack}/hidden/{layer}"], after, (side, "feature"))
    _write_output(scribe)


def _write_attention(scribe: Scribe, found: AttentionMap) -> None:
    place = f"{found.stack}/{found.layer}/{found.kind}"
    write = scribe.write
    scribe.open(place.replace("/", "."), found.kind, found.stack, found.layer)
    query: tuple[Axis, ...] = ("head", found.query.side, "feature")
    key: tuple[Axis, ...] = ("head", found.key.side, "feature")
    matrix: tuple[Axis, ...] = ("head", found.query.side, found.key.side)
    write("queries", "states", [], f"{place}/queries", query)
    write("keys", "states", [], f"{place}/keys", key)
    write("values", "states", [], f"{place}/values", key)
    pair = [f"{place}/queries", f"{place}/keys"]
    if _follow(found):
        write("scores", "dot", pair, f"{place}/scores", matrix, numbers={"scale": found.scale or 1.0})
    else:
        write("scores", "states", pair, f"{place}/scores", matrix)
    if found.sink_weights is None and found.relaxed is None:
        write("weights", "softmax", [f"{place}/scores"], f"{place}/weights", matrix)
    else:
        write("weights", "states", [f"{place}/scores"], f"{place}/weights", matrix)
    write("mixed", "mix", [f"{place}/weights", f"{place}/values"], f"{place}/mixed", query)
    if "cell" not in scribe.arrays.words:  # there the cells read what was mixed
        scribe.missing_step("output", f"{place}/output", query[1:])


def _follow(found: AttentionMap) -> bool:
    """Whether scores are scaled products of queries and keys: no bias, no cap, nothing unknown."""
    if found.queries is None or found.keys is None or found.dense_scores is None or found.scale is None:
        return False
    rows = choose(len(found.query), CHECKED)
    groups = (len(found.keys), -1, found.queries.shape[-1])  # heads that share their keys stand together
    queries = found.queries[:, rows].reshape(groups)
    products = (queries @ found.keys.transpose(0, 2, 1)).reshape(found.heads, len(rows), -1) * found.scale
    scores = found.dense_scores[:, rows]
    seen = np.isfinite(scores)
    return bool((np.abs(products - scores)[seen] <= AGREEMENT).all())


def _write_output(scribe: Scribe) -> None:
    output = scribe.arrays.recording.output
    if output is None:
        return
    scribe.open("output", "output", output.stack)
    side = scribe.arrays.tokens(output.stack).side
    ranks: tuple[Axis, ...] = ("rank",) if output.kind == "classes" else (side, "rank")
    scribe.write("likeliest", "choose", [], "output/likeliest", ranks)
