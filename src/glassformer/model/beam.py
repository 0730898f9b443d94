"""Beam search: several hypotheses of each source side by side, the likeliest kept at every step.

In:   a `SearchStart` (the network has read the prompts), `GenerationSettings` with `beams` above 1.
Out:  for each source the best finished hypotheses, and the tree of all that were considered.

At each step every beam offers its likeliest continuations, and the best 2 × beams of a source are its
candidates: enough that as many as there are beams go on even if each beam offers its end. Of these, ends
among the best `beams` are finished hypotheses; the best others go on. The search of a source is over when it
has `beams` finished hypotheses and – without `early_stopping` – the best running one, at its present length,
scores no better than the worst of them. Scoring and stopping are those of `transformers`.
"""

import torch
from torch import Tensor
from torch.nn import functional as F

from glassformer.errors import InputError
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.hypotheses import (
    DROPPED,
    FINISHED,
    KEPT,
    ROOT,
    Candidates,
    Generated,
    SearchTrace,
    Tree,
    read_hypothesis,
)
from glassformer.model.prompt import SearchStart
from glassformer.model.sampling import NEVER, best_of


class BeamSearch:
    """Shape letters: B sources still searched, W beams (1 at first), C candidates = 2 × beams, V words."""

    def __init__(self, start: SearchStart, settings: GenerationSettings) -> None:
        self.trace = SearchTrace()
        self.settings = settings
        self.start = start
        self.decoding = start.decoding
        self.history = start.history  # (B · W, token)
        self.count = 2 * settings.beams
        self.end_id = ROOT if start.end_id is None else start.end_id  # no token has the id -1
        device = self.decoding.logits.device
        sources = len(start.limits)
        self.rows = list(range(sources))  # of the batch, those still searched
        self.limits = torch.tensor(start.limits, device=device)
        self.totals = torch.zeros(sources, 1, device=device)  # (B, W)
        self.nodes = torch.full((sources, 1), ROOT, device=device)  # (B, W) the last node of each beam
        self.tokens: Tensor | None = None  # (B, W) not read by the network yet
        # Finished hypotheses, best first: scores and last nodes (B, beams); by row when its search is over.
        self.scores = torch.full((sources, settings.beams), NEVER, device=device)
        self.ends = torch.full((sources, settings.beams), ROOT, device=device)
        self.finished: dict[int, tuple[list[float], list[int]]] = {}
        self._store_finished(self.limits == 0)

    def advance(self) -> bool:
        """Choose the next tokens; False, and nothing happens, where every source is finished."""
        if not self.rows:
            return False
        if self.tokens is not None:
            self.decoding.step(self.tokens.flatten())
        step = len(self.trace.steps)
        candidates = self._find_candidates(step)
        full = self.limits == step + 1  # (B,) this is the last token
        ended = full[:, None] | (candidates.tokens == self.end_id)  # (B, C)
        order = ended.byte().argsort(dim=1, stable=True)  # best first, ends last
        order = order[:, : self.settings.beams]  # (B, W)
        self._add_finished(candidates, ended)
        self._continue(candidates, order)
        candidates.states = candidates.states.scatter(1, order, KEPT).where(~ended, candidates.states)
        self.trace.steps.append(candidates)
        self._store_finished(full | self._cannot_improve(step))
        return True

    def results(self) -> list[Generated]:
        """The best finished hypotheses of each row."""
        generated = []
        for row, limit in enumerate(self.start.limits):
            tree = Tree(self.trace, row)
            best = list(zip(*self.finished[row], strict=True))[: self.settings.n_best]
            found = [(score, tree.path(end // self.count, end)) for score, end in best if score != NEVER]
            if not found and limit:
                raise InputError("model.no_candidate", row=row)
            found = found or [(0.0, [])]
            hypotheses = (read_hypothesis(path, self.start.end_id, score) for score, path in found)
            generated.append(Generated.of(hypotheses, tree))
        return generated

    def _find_candidates(self, step: int) -> Candidates:
        """The best continuations of all beams of a source together."""
        sources, beams = self.totals.shape
        log_probabilities = self.decoding.logits.float().log_softmax(dim=-1)  # (B · W, V)
        if self.start.rules.hold(step):
            last = (self.limits == step + 1).repeat_interleave(beams)  # (B · W,)
            self.start.rules.apply(log_probabilities, self.history, step, last)
        kept = self.settings.alternatives
        count = min(max(self.count, kept), log_probabilities.shape[1])
        values, tokens = best_of(log_probabilities, count)
        both = values.view(sources, beams, -1), tokens.view(sources, beams, -1)  # (B, W, count)
        alternatives = (both[0][..., :kept], both[1][..., :kept]) if kept else None
        offered = min(self.count, count)
        values, tokens = (numbers[..., :offered].flatten(1) for numbers in both)  # (B, W · offered)
        totals = self.totals.repeat_interleave(offered, dim=1) + values
        lacking = self.count - totals.shape[1]
        if lacking > 0:  # a tiny vocabulary at the first step: fill up with what can never be chosen
            values, totals = (F.pad(numbers, (0, lacking), value=NEVER) for numbers in (values, totals))
            tokens = F.pad(tokens, (0, lacking))
        totals, places = totals.topk(self.count)  # (B, C)
        origin = (places // offered).clamp(max=beams - 1)
        return Candidates(
            step=step,
            rows=self.rows,
            parents=self.nodes.gather(1, origin),
            tokens=tokens.gather(1, places),
            log_probabilities=values.gather(1, places),
            totals=totals,
            states=torch.full_like(places, DROPPED),
            beams=origin,
            alternatives=alternatives,
        )

    def _add_finished(self, candidates: Candidates, ended: Tensor) -> None:
        """Ends among the best candidates are hypotheses; the best of old and new ones are remembered."""
        beams, length = self.settings.beams, candidates.step + 1
        ended, totals = ended[:, :beams], candidates.totals[:, :beams]
        candidates.states[:, :beams].masked_fill_(ended, FINISHED)
        scores = (totals / length**self.settings.length_penalty).masked_fill(~ended, NEVER)
        ends = candidates.step * self.count + torch.arange(beams, device=ended.device)
        self.scores, best = torch.cat((self.scores, scores), dim=1).topk(beams)
        self.ends = torch.cat((self.ends, ends.expand_as(self.ends)), dim=1).gather(1, best)

    def _continue(self, candidates: Candidates, order: Tensor) -> None:
        """Go on with these candidates (B, W): their beams branch, or stop."""
        sources, beams = self.totals.shape
        origin = candidates.beams.gather(1, order)
        first = torch.arange(0, sources * beams, beams, device=order.device)  # the first row of each source
        rows = (first[:, None] + origin).flatten()
        self.decoding.select(rows)
        self.tokens = candidates.tokens.gather(1, order)
        self.totals = candidates.totals.gather(1, order)
        self.nodes = candidates.step * self.count + order
        if self.history is not None:
            self.history = torch.cat((self.history[rows], self.tokens.view(-1, 1)), dim=1)

    def _cannot_improve(self, step: int) -> Tensor:
        """(B,) Whether no running beam can still be among the best: measured at its present length."""
        worst = self.scores[:, -1]
        if self.settings.early_stopping:
            worst = torch.where(worst > NEVER, -NEVER, NEVER)  # as many as there are beams are enough
        return ~(self.totals[:, 0] / (step + 1) ** self.settings.length_penalty > worst)

    def _store_finished(self, closed: Tensor) -> None:
        """Store what these sources (B,) have found; the others go on without them."""
        if not bool(closed.any()):
            return
        results = zip(closed.tolist(), self.rows, self.scores.tolist(), self.ends.tolist(), strict=True)
        self.finished.update({row: (scores, ends) for over, row, scores, ends in results if over})
        places = (~closed).nonzero()[:, 0]
        self.rows = [self.rows[place] for place in places.tolist()]
        if not self.rows:
            return
        self.decoding.keep(places)
        for name in ("limits", "totals", "nodes", "scores", "ends"):
            setattr(self, name, getattr(self, name)[places])
        self.tokens = None if self.tokens is None else self.tokens[places]
        if self.history is not None:
            self.history = self.history.unflatten(0, (len(closed), -1))[places].flatten(0, 1)
