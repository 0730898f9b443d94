"""The outputs of a network as a recording keeps them: likeliest tokens, classes or tags, numbers, and
generation steps.

In:   logits, or the result of a search; a function that shows ids.
Out:  `Output` and `Generation`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import torch
from torch import Tensor

from glassformer.errors import InputError
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.hypotheses import Choice, Generated, Node
from glassformer.model.sampling import best_of
from glassformer.recording import Alternative, Generation, Output, Step, TargetScores
from glassformer.recording.arrays import distinct

ALTERNATIVES = 5  # kept for each generated token by default
LIKELIEST = 10  # outputs kept for each position
LARGEST_LOGITS = 2 << 30  # bytes of them that a recording may keep

_POSITIONS = 1024  # whose logits are converted to float32 at once: all of a long text would take gigabytes
_CELLS = 1 << 19  # logits that a CPU looks at at once: with what is made of them they stay in its cache

Show = Callable[[Iterable[int]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is kept of logits beside the likeliest outputs."""

    logits: bool = False  # all of them
    targets: tuple[int, ...] = ()  # ids of tokens or classes that are scored at every position


NOTHING = Wanted()


def read_words(logits: Tensor, stack: str, show: Show, wanted: Wanted = NOTHING) -> Output:
    """The likeliest tokens at each position; logits (token, vocabulary)."""
    values, ids = _best(logits)
    known = sorted({*distinct(ids).tolist(), *wanted.targets})
    texts = dict(zip(known, show(known), strict=True))
    return Output(stack, ids, values, texts, "tokens", *_read_wanted(logits, wanted))


def read_classes(logits: Tensor, stack: str, labels: Sequence[str], wanted: Wanted = NOTHING) -> Output:
    """The likeliest classes of the text; logits (class,)."""
    values, ids = _best(logits[None])
    names = _name_classes(labels, len(logits))
    return Output(stack, ids, values, names, "classes", *_read_wanted(logits[None], wanted))


def read_tags(logits: Tensor, stack: str, labels: Sequence[str], wanted: Wanted = NOTHING) -> Output:
    """The likeliest tags of each token; logits (token, tag)."""
    values, ids = _best(logits)
    names = _name_classes(labels, logits.shape[-1])
    return Output(stack, ids, values, names, "tags", *_read_wanted(logits, wanted))


def read_numbers(numbers: Tensor, stack: str, labels: Sequence[str]) -> Output:
    """The numbers (number,) that a network says of the text."""
    found = numbers.double().cpu().numpy()
    ids, certain = np.arange(len(found))[None], np.zeros((1, len(found)), dtype=np.float32)
    names = dict(enumerate(labels or [f"number {number}" for number in range(len(found))]))
    return Output(stack, ids, certain, names, kind="numbers", numbers=tuple(found.tolist()))


def score_targets(logits: Tensor, targets: Sequence[int]) -> TargetScores:
    """Logits, log-probabilities and ranks of given outputs; logits (position, vocabulary)."""
    chosen = torch.tensor(targets, dtype=torch.long, device=logits.device)
    values, logarithms, ranks = [], [], []
    for part in map(as_floats, logits.split(_POSITIONS)):
        own = part[:, chosen]
        values.append(own)
        logarithms.append(part.log_softmax(-1)[:, chosen])
        ranks.append(torch.stack([count_likelier(part, token) for token in targets], dim=1))
    return TargetScores(
        np.array(targets), *(torch.cat(each).cpu().numpy() for each in (values, logarithms, ranks))
    )


def count_likelier(logits: Tensor, token: int) -> Tensor:
    """How many outputs have a higher logit than one of them: from (…, vocabulary) to (…)."""
    return (logits > logits[..., token, None]).sum(-1)


def as_floats(logits: Tensor) -> Tensor:
    """In float32 at least."""
    return logits if logits.dtype == torch.float64 else logits.float()


def _read_wanted(logits: Tensor, wanted: Wanted) -> tuple[np.ndarray | None, TargetScores | None]:
    """`Output.logits` and `Output.targets`."""
    if wanted.logits and 4 * logits.numel() > LARGEST_LOGITS:
        size = 4 * logits.numel() / 2**30
        raise InputError("record.large_logits", size=size, limit=LARGEST_LOGITS / 2**30)
    whole = as_floats(logits).cpu().numpy() if wanted.logits else None
    return whole, score_targets(logits, wanted.targets) if wanted.targets else None


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


def _name_classes(labels: Sequence[str], count: int) -> dict[int, str]:
    return dict(enumerate(labels or [f"class {number}" for number in range(count)]))


def _best(logits: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Log-probabilities and ids (position, k), best first."""
    count = min(LIKELIEST, logits.shape[-1])
    at_once = max(1, _CELLS // logits.shape[-1]) if logits.device.type == "cpu" else _POSITIONS
    found = [_find_best(part, count) for part in logits.split(at_once)]
    values, ids = (torch.cat(parts) for parts in zip(*found, strict=True))
    return values.cpu().numpy(), ids.cpu().numpy()


def _find_best(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The same on their device. Only the best become log-probabilities; of the others the sum is enough."""
    values, ids = best_of(logits, count)
    values = values.float()
    if logits.device.type == "cpu":  # softmax reads them once; a difference, exponentials and a sum, thrice
        highest = logits.softmax(-1, dtype=torch.float32).gather(1, ids[:, :1])
        return values - values[:, :1] + highest.log(), ids
    others = (logits - values[:, :1]).exp_().sum(-1, keepdim=True, dtype=torch.float32)
    return values - values[:, :1] - others.log(), ids
