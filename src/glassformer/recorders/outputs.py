"""The outputs of a network as a recording keeps them: likeliest tokens or classes, and generation steps.

In:   logits, or the result of a search; a function that shows ids.
Out:  `Output` and `Generation`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

import numpy as np
import torch
from torch import Tensor

from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.hypotheses import Choice, Generated, Node
from glassformer.recording import Alternative, Generation, Output, Step

ALTERNATIVES = 5  # kept for each generated token by default
LIKELIEST = 10  # outputs kept for each position

_POSITIONS = 1024  # whose logits are converted to float32 at once: all of a long text would take gigabytes

Show = Callable[[Iterable[int]], Sequence[str]]


def read_words(logits: Tensor, stack: str, show: Show) -> Output:
    """The likeliest tokens at each position; logits (token, vocabulary)."""
    values, ids = _best(logits)
    known = sorted({int(token) for token in np.unique(ids)})
    return Output(stack, ids, values, dict(zip(known, show(known), strict=True)))


def read_classes(logits: Tensor, stack: str, labels: Sequence[str]) -> Output:
    """The likeliest classes of the text; logits (class,)."""
    values, ids = _best(logits[None])
    names = labels or [f"class {number}" for number in range(len(logits))]
    return Output(stack, ids, values, dict(enumerate(names)), kind="classes")


def read_generation(generated: Generated, settings: GenerationSettings, show: Show) -> Generation:
    """The steps of the best hypothesis, and the tree that a beam search grew."""
    best = generated.n_best[0]
    alternatives = best.alternatives or ((),) * len(best.ids)
    rows = zip(best.ids, show(best.ids), best.log_probabilities, alternatives, strict=True)
    steps = tuple(
        Step(index, token, text, logarithm, read_alternatives(choices, show))
        for index, (token, text, logarithm, choices) in enumerate(rows)
    )
    if settings.beams == 1:
        return Generation(steps, method="sampling" if settings.sample else "greedy")
    reader, nodes = StepReader(settings, show), groupby(generated.tree.nodes, key=lambda node: node.step)
    return Generation(steps, tuple(step for _, each in nodes for step in reader.read(each)), method="beam")


class StepReader:
    """The nodes of a search as steps, numbered in their order; a beam search also has parents and scores."""

    def __init__(self, settings: GenerationSettings, show: Show) -> None:
        self.tree = settings.beams > 1
        self.show = show
        self.places: dict[int, int] = {}  # of each node in the list of all

    def read(self, nodes: Iterable[Node]) -> Iterator[Step]:
        """All nodes of the next step."""
        for rank, node in enumerate(nodes):
            self.places[node.id] = len(self.places)
            yield Step(
                node.step,
                node.token,
                self.show([node.token])[0],
                node.log_probability,
                read_alternatives(node.alternatives, self.show),
                rank,
                self.places.get(node.parent) if self.tree else None,
                node.total if self.tree else None,
            )


def read_alternatives(choices: Sequence[Choice], show: Show) -> tuple[Alternative, ...]:
    """Other choices at a step, with their texts."""
    texts = show([choice.token for choice in choices])
    return tuple(
        Alternative(choice.token, text, choice.log_probability)
        for choice, text in zip(choices, texts, strict=True)
    )


def _best(logits: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Log-probabilities and ids (position, k), best first."""
    count = min(LIKELIEST, logits.shape[-1])
    found = [part.float().log_softmax(-1).topk(count) for part in logits.split(_POSITIONS)]
    values, ids = (torch.cat(parts) for parts in zip(*found, strict=True))
    return values.cpu().numpy(), ids.cpu().numpy()
