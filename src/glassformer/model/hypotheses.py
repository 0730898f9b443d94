"""What a search finds: the answers, and every token that was considered on the way.

In:   for each step of a search the tokens it considered, as tensors (source, candidate).
Out:  plain Python: hypotheses, best first, and the nodes of the search tree.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from torch import Tensor

from glassformer.errors import InputError

Stop = Literal["end", "length"]
State = Literal["kept", "finished", "dropped"]
STATES: tuple[State, ...] = ("dropped", "kept", "finished")
DROPPED, KEPT, FINISHED = range(3)
ROOT = -1  # the parent of the first tokens


class Choice(NamedTuple):
    """A token that could have come next, and the logarithm of its probability."""

    token: int
    log_probability: float


class Node(NamedTuple):
    """One token that was considered: greedy search makes a chain of them, beam search a tree."""

    row: int  # of the batch
    id: int  # within the row
    parent: int  # the id of the token before it; -1: it is a first one
    step: int
    token: int
    log_probability: float  # of this token, after the rules that `GenerationSettings` names
    total: float  # from the first token to this one
    state: State  # kept: followed further; finished: a hypothesis ends here; dropped: neither
    alternatives: tuple[Choice, ...]  # the likeliest tokens after its parent, if they were asked for


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One answer, token by token."""

    ids: tuple[int, ...]  # without the prompt; the end token is the last one where `stopped` is "end"
    log_probabilities: tuple[float, ...]  # one for each token, after the rules
    alternatives: tuple[tuple[Choice, ...], ...]  # for each token the likeliest ones at its place
    score: float  # what hypotheses are compared by: the sum of log-probabilities / length ** penalty
    stopped: Stop  # why there is no more: the end token came, or the length was reached

    @property
    def total(self) -> float:
        """The logarithm of the probability of all tokens together."""
        return math.fsum(self.log_probabilities)

    @property
    def words(self) -> tuple[int, ...]:
        """The ids without the end token."""
        return self.ids[:-1] if self.stopped == "end" else self.ids


@dataclass(frozen=True, slots=True)
class Generated(Hypothesis):
    """What came of one row of the batch: its best hypothesis, and all that were asked for."""

    n_best: tuple[Hypothesis, ...]  # best first
    tree: "Tree" = field(repr=False, compare=False)

    @classmethod
    def of(cls, n_best: Iterable[Hypothesis], tree: "Tree") -> "Generated":
        best, *others = n_best
        values = best.ids, best.log_probabilities, best.alternatives, best.score, best.stopped
        return cls(*values, (best, *others), tree)


@dataclass(slots=True)
class Candidates:
    """One step of a search: its candidates (source, candidate), best first; kept as tensors until read."""

    step: int
    rows: list[int]  # the row of the batch behind each source that was still searched
    parents: Tensor  # ids of nodes
    tokens: Tensor
    log_probabilities: Tensor
    totals: Tensor
    states: Tensor
    beams: Tensor  # the beam that each candidate continues
    alternatives: tuple[Tensor, Tensor] | None  # log-probabilities and tokens (source, beam, alternative)

    def nodes(self) -> Iterator[list[Node]]:
        """The nodes of each source."""
        width = self.tokens.shape[1]
        columns = (self.parents, self.tokens, self.log_probabilities, self.totals, self.states, self.beams)
        for row, *numbers, choices in zip(
            self.rows, *(column.tolist() for column in columns), self._choices(), strict=True
        ):
            nodes = []
            for rank, (parent, token, log_probability, total, state, beam) in enumerate(
                zip(*numbers, strict=True)
            ):
                if total == -math.inf:  # not a candidate: it only fills the row of a small vocabulary
                    continue
                if math.isnan(total):
                    raise InputError("model.no_candidate", row=row)
                id_ = self.step * width + rank
                kept = choices[beam] if choices else ()
                nodes.append(
                    Node(row, id_, parent, self.step, token, log_probability, total, STATES[state], kept)
                )
            yield nodes

    def _choices(self) -> list[list[tuple[Choice, ...]]]:
        if self.alternatives is None:
            return [[]] * len(self.rows)
        values, tokens = (numbers.tolist() for numbers in self.alternatives)
        return [
            [
                tuple(Choice(*pair) for pair in zip(*choices, strict=True) if pair[1] != -math.inf)
                for choices in zip(*beams, strict=True)
            ]
            for beams in zip(tokens, values, strict=True)
        ]


class SearchTrace:
    """All steps of one search over a batch."""

    def __init__(self) -> None:
        self.steps: list[Candidates] = []
        self._nodes: list[dict[int, list[Node]]] = []  # for each step, by row; made once

    def nodes(self, step: int) -> dict[int, list[Node]]:
        for each in self.steps[len(self._nodes) : step + 1]:
            self._nodes.append(dict(zip(each.rows, each.nodes(), strict=True)))
        return self._nodes[step]


class Tree:
    """Every token that was considered for one row."""

    def __init__(self, trace: SearchTrace, row: int) -> None:
        self._trace = trace
        self._row = row

    @property
    def nodes(self) -> list[Node]:
        """All nodes, step by step and best first; the parent of each stands before it."""
        steps = range(len(self._trace.steps))
        return [node for step in steps for node in self._trace.nodes(step).get(self._row, ())]

    def path(self, step: int, id_: int) -> list[Node]:
        """The nodes from a first token to the one with this id."""
        path: list[Node] = []
        while id_ != ROOT:
            node = next(node for node in self._trace.nodes(step)[self._row] if node.id == id_)
            path.append(node)
            step, id_ = step - 1, node.parent
        return path[::-1]


def read_hypothesis(path: list[Node], end_id: int | None, score: float) -> Hypothesis:
    """The hypothesis whose tokens are these nodes."""
    ids = tuple(node.token for node in path)
    return Hypothesis(
        ids=ids,
        log_probabilities=tuple(node.log_probability for node in path),
        alternatives=tuple(node.alternatives for node in path),
        score=score,
        stopped="end" if ids and ids[-1] == end_id else "length",
    )
