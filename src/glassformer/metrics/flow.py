"""Flow: how much attention can get from an output token to an input token at most (Abnar and Zuidema 2020).

In:   the self-attention maps of a stack, mixed with the residual connection as rollout does.
Out:  for an output token and each input token, the maximum flow through the layers.

Layers are a network of pipes: token i of layer l is joined to token j of the layer below by a pipe as wide as
the mixed weight of i on j. Each pair of tokens is a maximum-flow problem of its own (Dinic's algorithm), so
this is for short texts only.
"""

from typing import Annotated

import numpy as np

from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.metrics.metric import recording_metric
from glassformer.metrics.parameters import About
from glassformer.metrics.rollout import Residual, find_stacks, mix
from glassformer.metrics.scores import Numbers, Part
from glassformer.recording import Recording

MOST_WORK = 10_000_000  # pipes times problems: some ten seconds
TINY = 1e-12  # a pipe with less left is full

Query = Annotated[int, About("metrics.parameters.query", least=-1)]


@recording_metric("flow", unit="share", over="pair")
def measure_flow(recording: Recording, *, query: Query = -1, residual: Residual = 0.5) -> tuple[Part, ...]:
    """How much attention can flow from a token of the last layer to each token of the input.

    Maximum flow from token i above the last layer to token j of the input, each pipe as wide as Mₗ(i,
    j) (Abnar and Zuidema 2020). Layers × tokens² × pairs of tokens may be at most 10,000,000; more is
    refused.
    """
    parts = []
    for maps in find_stacks(recording):
        count = len(maps[0].query)
        if query >= count:
            raise InputError("metrics.no_such_token", token=query, last=count - 1)
        chosen = range(count) if query < 0 else range(query, query + 1)
        work = len(maps) * count**2 * count * len(chosen)
        if work > MOST_WORK:
            raise InputError("metrics.long_flow", layers=len(maps), tokens=count, work=work, most=MOST_WORK)
        layers = [mix(each, residual) for each in maps]
        flows = np.array([[find_flow(layers, start, end) for end in range(count)] for start in chosen])
        real = maps[-1].statistics.rows[list(chosen)]
        labels = (tuple(maps[-1].query.texts[start] for start in chosen), maps[0].key.texts)
        shown = np.where(real[:, None], flows, np.nan)
        undefined = () if real.all() else (message("metrics.padded_rows"),)
        parts.append(Part(maps[-1].place, ("query", "key"), shown, undefined=undefined, labels=labels))
    return tuple(parts)


def find_flow(layers: list[Numbers], start: int, end: int) -> float:
    """The maximum flow from token `start` above the last layer to token `end` below the first."""
    network = _Network(layers)
    count = len(layers[0])
    source, target = len(layers) * count + start, end
    total = 0.0
    while (levels := network.measure_levels(source, target)) is not None:
        places = [0] * len(levels)  # the next pipe to try at each node
        while (pushed := network.push(source, target, levels, places)) > 0:
            total += pushed
    return total


class _Network:
    """Nodes with pipes to others; pipe p and its way back, p ^ 1, share their width."""

    def __init__(self, layers: list[Numbers]) -> None:
        count = len(layers[0])
        self.ends: list[int] = []
        self.left: list[float] = []  # how much each pipe can still take
        self.pipes: list[list[int]] = [[] for _ in range((len(layers) + 1) * count)]
        for layer, matrix in enumerate(layers):
            for query, key in np.argwhere(matrix > TINY).tolist():
                above, below = (layer + 1) * count + query, layer * count + key
                self.pipes[above].append(len(self.ends))
                self.pipes[below].append(len(self.ends) + 1)
                self.ends += (below, above)
                self.left += (float(matrix[query, key]), 0.0)

    def measure_levels(self, source: int, target: int) -> list[int] | None:
        """Steps from the source to each node through pipes that are not full; None: cut off."""
        levels = [-1] * len(self.pipes)
        levels[source] = 0
        queue = [source]
        for node in queue:
            for pipe in self.pipes[node]:
                if self.left[pipe] > TINY and levels[self.ends[pipe]] < 0:
                    levels[self.ends[pipe]] = levels[node] + 1
                    queue.append(self.ends[pipe])
        return levels if levels[target] >= 0 else None

    def push(self, source: int, target: int, levels: list[int], places: list[int]) -> float:
        """Fill one path that goes a level further with each pipe; 0 when there is none left."""
        path: list[int] = []
        node = source
        while node != target:
            pipes = self.pipes[node]
            while places[node] < len(pipes):
                pipe = pipes[places[node]]
                if self.left[pipe] > TINY and levels[self.ends[pipe]] == levels[node] + 1:
                    break
                places[node] += 1
            else:  # a dead end: step back and try the next pipe there
                if not path:
                    return 0.0
                node = self.ends[path.pop() ^ 1]
                places[node] += 1
                continue
            path.append(pipe)
            node = self.ends[pipe]
        free = min(self.left[pipe] for pipe in path)
        for pipe in path:
            self.left[pipe] -= free
            self.left[pipe ^ 1] += free
        return free
