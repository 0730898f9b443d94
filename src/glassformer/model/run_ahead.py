"""Generation whose tokens stay on the GPU: each step reads the token that the one before it chose.

In:   a search of one path for each row, whose first tokens are chosen; a decoding that replays a graph.
Out:  the same search, finished: its steps are fetched at the end, all at once.

Copying each token to the CPU, and launching the small operations that choose it, takes longer than a small
network needs for a step. Here one graph holds both the step and the choice of the token. Whether all rows
have ended is checked every `CHECK_EVERY` steps only; a row that ends before the others runs until then, and
its further tokens are dropped.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from glassformer.model.cuda_graph import GraphDecoding
from glassformer.model.fused_step import has_kernels
from glassformer.model.hypotheses import FINISHED, KEPT, Candidates
from glassformer.model.sampling import NEVER, best_of, draw, likeliest

if TYPE_CHECKING:
    from glassformer.model.generate import SinglePathSearch

CHECK_EVERY = 16  # steps between two checks whether all rows have ended
PART = 1024  # words of the vocabulary that one program compares


class Chooser:
    """Chooses the tokens of all rows, in tensors that a graph can write to."""

    def __init__(self, search: "SinglePathSearch", ids: Tensor) -> None:
        rules, device, rows = search.start.rules, search.totals.device, len(search.rows)
        self.settings, self.rules = rules.settings, rules
        self.end = -1 if search.start.end_id is None else search.start.end_id  # no token has the id -1
        self.first = len(search.trace.steps)
        limits = [search.start.limits[row] for row in search.rows]
        self.count = max(limits) - self.first
        self.ids = ids  # (row, 1) what the next step reads
        self.step = torch.full((rows,), self.first, device=device)
        self.limits = torch.tensor(limits, device=device)
        self.so_far = search.totals.clone()
        self.running = torch.ones(rows, dtype=torch.int8, device=device)
        self.tokens = torch.zeros(rows, self.count, dtype=torch.long, device=device)
        self.log_probabilities = torch.zeros(rows, self.count, device=device)
        self.totals = torch.zeros(rows, self.count, device=device)
        self.uniforms = search.uniforms
        size = search.decoding.logits.shape[1]
        self.words = torch.arange(size, device=device)
        self.banned = torch.zeros(size, dtype=torch.bool, device=device)
        self.banned[rules.forbidden] = True
        kept = min(search.settings.alternatives, size)
        self.others = torch.zeros(rows, self.count, kept, dtype=torch.long, device=device) if kept else None
        self.other_values = torch.zeros(rows, self.count, kept, device=device) if kept else None
        self.plain = not (self.settings.sample or kept or rules.forces_end) and has_kernels(device)

    @property
    def changing(self) -> tuple[Tensor, ...]:
        """The tensors that have to be restored after the trial run."""
        return self.step, self.so_far, self.running, self.ids

    def __call__(self, logits: Tensor) -> None:
        """Choose by logits (row, vocabulary)."""
        (self._choose_plainly if self.plain else self._choose)(logits)

    def _choose_plainly(self, logits: Tensor) -> None:
        from glassformer.model import step_kernels

        rows, words = logits.shape
        parts = -(-words // PART)
        peaks, sums = torch.empty(2, rows, parts, device=logits.device)
        places = torch.empty(rows, parts, dtype=torch.long, device=logits.device)
        least = self.settings.min_new_tokens
        step_kernels.score_kernel[rows, parts](
            logits,
            self.banned.view(torch.uint8),
            self.step,
            peaks,
            places,
            sums,
            words,
            self.end,
            least,
            parts,
            BANNED=bool(self.rules.forbidden),
            BLOCK=PART,
        )
        step_kernels.choose_kernel[(rows,)](
            peaks,
            places,
            sums,
            self.step,
            self.limits,
            self.ids,
            self.tokens,
            self.log_probabilities,
            self.totals,
            self.so_far,
            self.running,
            parts,
            self.first,
            self.count,
            self.end,
            BLOCK=max(16, 1 << (parts - 1).bit_length()),
        )

    def _choose(self, logits: Tensor) -> None:
        """The same by torch, for all other settings, as `SinglePathSearch._choose` does."""
        short = (self.step < self.settings.min_new_tokens)[:, None] & (self.words == self.end)
        scores = logits.float().masked_fill(self.banned | short, NEVER)
        if self.rules.forces_end:
            last = (self.step + 1 == self.limits)[:, None]
            scores = torch.where(last, torch.where(self.words == self.end, 0.0, NEVER), scores)
        place = self.step[:1] - self.first
        if self.settings.sample:
            scores = self.rules.narrow(scores)
            assert self.uniforms is not None
            tokens = draw(scores, self.uniforms.index_select(1, self.step[:1])[:, 0])
        else:
            tokens = likeliest(scores)
        log_probabilities = scores.log_softmax(dim=-1)
        if self.others is not None and self.other_values is not None:
            values, others = best_of(log_probabilities, self.others.shape[2])
            self.others.index_copy_(1, place, others[:, None])
            self.other_values.index_copy_(1, place, values[:, None])
        own = log_probabilities.gather(1, tokens[:, None])
        self.so_far += own[:, 0].masked_fill(own[:, 0] == NEVER, 0.0)
        for kept, new in ((self.tokens, tokens), (self.log_probabilities, own), (self.totals, self.so_far)):
            kept.index_copy_(1, place, new.view(-1, 1))
        self.running &= ((tokens != self.end) & (self.step + 1 < self.limits)).to(torch.int8)
        self.ids.copy_(tokens.view_as(self.ids))
        self.step += 1


def can_run_ahead(search: "SinglePathSearch") -> bool:
    """Whether the steps that are left can run on the GPU alone, without Python between them."""
    return (
        isinstance(search.decoding, GraphDecoding)
        # A row that kept running beyond its own limit would read past the end of the table of positions.
        and len({search.start.limits[row] for row in search.rows}) == 1
        and search.last is not None
        and len(search.trace.steps) >= len(search.forced.tokens)
        and not search.start.rules.reads_history
        and search.settings.beams == 1
    )


def run_ahead(search: "SinglePathSearch") -> None:
    """Choose all tokens that are left, and add them to the trace of the search."""
    decoding = search.decoding
    assert isinstance(decoding, GraphDecoding)
    assert search.last is not None
    chooser = Chooser(search, search.last[:, None].clone())
    taken, least = 0, search.settings.min_new_tokens
    with decoding.choosing(chooser, chooser.ids, chooser.changing) as replay:
        while taken < chooser.count:
            steps = min(CHECK_EVERY, chooser.count - taken)
            for _ in range(steps):
                replay()
            taken += steps
            if chooser.first + taken > least and not bool(chooser.running.any()):
                break
    _write_steps(search, chooser, taken)


def _write_steps(search: "SinglePathSearch", chooser: Chooser, taken: int) -> None:
    """Add the steps that a search would have made one by one; a row is in each step until it ends."""
    tokens, logarithms, totals = (
        each[:, :taken].cpu() for each in (chooser.tokens, chooser.log_probabilities, chooser.totals)
    )
    others: list[Tensor] = []
    if chooser.others is not None and chooser.other_values is not None:
        others = [each[:, :taken].cpu() for each in (chooser.other_values, chooser.others)]
    ended = tokens == chooser.end
    places = list(range(len(search.rows)))
    for number in range(taken):
        step = chooser.first + number
        rows = [search.rows[place] for place in places]
        running = [
            not bool(ended[place, number]) and step + 1 < search.start.limits[row]
            for place, row in zip(places, rows, strict=True)
        ]
        states = torch.tensor([[KEPT if each else FINISHED] for each in running])
        search.trace.steps.append(
            Candidates(
                step=step,
                rows=rows,
                parents=torch.full((len(rows), 1), step - 1),
                tokens=_pick(tokens, places, number),
                log_probabilities=_pick(logarithms, places, number),
                totals=_pick(totals, places, number),
                states=states,
                beams=torch.zeros_like(states),
                alternatives=(_pick(others[0], places, number), _pick(others[1], places, number))
                if others
                else None,
            )
        )
        places = [place for place, goes_on in zip(places, running, strict=True) if goes_on]
        if not places:
            break
    search.rows = []


def _pick(numbers: Tensor, places: list[int], step: int) -> Tensor:
    """One step (row, 1, …) of these rows; of all of them without a copy."""
    return numbers[:, step, None] if len(places) == len(numbers) else numbers[places, step, None]
