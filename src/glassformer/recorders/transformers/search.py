"""How a model of transformers chose its tokens, observed while `generate` runs.

In:   the sequences and scores of every step, and what `generate` returned.
Out:  the steps of the text that was kept and, for a beam search, a tree of all hypotheses that were
      considered: as many as transformers compares at each step, continued or not.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch
from torch import Tensor

from glassformer.errors import RecordingError
from glassformer.model.generate import Forced
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.hypotheses import Choice
from glassformer.recorders.outputs import Show, read_alternatives
from glassformer.recording import Alternative, Generation, Step

Path = tuple[int, ...]  # the tokens of a hypothesis


class Search:
    """Observes a model that generates for one prompt."""

    def __init__(
        self,
        alternatives: int,
        candidates: int,
        forced: Forced | None = None,
        on_pass: Callable[[int], None] | None = None,
    ) -> None:
        """`on_pass` is called with the tokens that the decoder has read, before each pass but the first."""
        self.alternatives = alternatives
        self.forced = forced or Forced()
        self.on_pass = on_pass
        self.processed: list[Tensor] = []  # scores (row, vocabulary) of each forced step before it was forced
        self.candidates = candidates  # that are compared for each beam; 0: tokens are sampled
        self.prompt: Tensor = torch.zeros(1, 0, dtype=torch.long)  # (1, token) what the decoder read first
        self.rows: list[dict[Path, int]] = []  # for each step, the row of every hypothesis
        self.scores: Sequence[Tensor] = ()  # for each step (row, vocabulary), logarithms up to a constant
        self.paths: list[Path] = []  # the finished hypotheses, best first
        self.beams = False

    def processors(self) -> Any:
        """A logits processor for `generate` that changes nothing but forced steps."""
        from transformers import LogitsProcessorList

        return LogitsProcessorList([self])

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        if not self.rows:
            self.prompt = input_ids[:1].clone()
        paths = input_ids[:, self.prompt.shape[1] :].tolist()
        self.rows.append({})
        for row, path in enumerate(paths):
            self.rows[-1].setdefault(tuple(path), row)
        step = len(self.rows) - 1
        if self.on_pass is not None:
            self.on_pass(input_ids.shape[1])
        if step >= len(self.forced.tokens):
            return scores
        self.processed.append(scores)
        only = torch.full_like(scores, -torch.inf)
        only[:, self.forced.tokens[step]] = 0.0
        return only

    def finish(self, result: Any) -> list[int]:
        """The row of the chosen text in every pass of the decoder."""
        self.scores = [*map(self._undo, range(len(self.processed)), result.logits or self.processed)]
        self.scores += result.scores[len(self.processed) :]
        indices = getattr(result, "beam_indices", None)
        self.beams = indices is not None
        start = self.prompt.shape[1]
        for number, sequence in enumerate(result.sequences):
            tokens = sequence[start:].tolist()
            count = len(tokens) if indices is None else int((indices[number] >= 0).sum())
            self.paths.append(tuple(tokens[:count]))
        path = self.paths[0]
        if not path or len(path) > len(self.rows):
            raise RecordingError(
                "recorders.generation.not_one_a_step", tokens=len(path), steps=len(self.rows)
            )
        return [self._row(path[:step], step) for step in range(len(path))]

    def _undo(self, step: int, logits: Tensor) -> Tensor:
        """The scores of a forced step as they would be had it been chosen, in the way of its stage."""
        settings = self.forced.find(step)
        scores = self.processed[step]
        if settings.beams > 1:  # rules act on log-probabilities there; what they forbid they forbid here, too
            return logits.float().log_softmax(-1).masked_fill(scores == -torch.inf, -torch.inf)
        return narrow(scores, settings) if settings.sample else scores

    def tokens(self, ends: Collection[int]) -> Path:
        """The chosen text without its end token."""
        path = self.paths[0]
        return path[:-1] if path[-1] in ends else path

    def read(self, show: Show, method: str) -> Generation:
        """The steps, and the tree of a beam search."""
        path = self.paths[0]
        steps = tuple(self._step(path[: step + 1], show, beam=0) for step in range(len(path)))
        if not self.beams:
            return Generation(steps, method=method)
        places: dict[Path, int] = {}
        nodes: list[Step] = []
        for step, hypotheses in enumerate(self._hypotheses()):
            for rank, each in enumerate(hypotheses):
                node = self._step(each, show, beam=rank, parent=places.get(each[:-1]) if step else None)
                places[each] = len(nodes)
                nodes.append(node)
        return Generation(steps, tuple(nodes), method=method)

    def _hypotheses(self) -> list[list[Path]]:
        """For each step the hypotheses that were considered, likeliest first."""
        longest = max(map(len, self.paths))
        considered: list[dict[Path, float]] = [self._candidates(step) for step in range(longest)]
        running = [path for rows in self.rows for path in rows]
        for path in (*running, *self.paths):
            for step in range(min(len(path), longest)):
                part = path[: step + 1]
                if part not in considered[step]:  # sampled, or equally likely
                    considered[step][part] = self._total(part)
        return [sorted(paths, key=lambda path: -paths[path]) for paths in considered]

    def _candidates(self, step: int) -> dict[Path, float]:
        """The likeliest continuations of all running hypotheses, with their totals."""
        paths = list(self.rows[step])
        totals = torch.stack([self._logarithms(path) + self._total(path) for path in paths])  # (path, token)
        count = self.candidates * len(self.scores[step])
        values, places = totals.flatten().topk(min(count, totals.numel()))
        found = {}
        for value, place in zip(values.tolist(), places.tolist(), strict=True):
            row, token = divmod(place, totals.shape[1])
            if value > -torch.inf:
                found[*paths[row], token] = self._total((*paths[row], token))
        return found

    def _step(self, path: Path, show: Show, *, beam: int, parent: int | None = None) -> Step:
        index = len(path) - 1
        logarithms = self._logarithms(path[:-1])
        return Step(
            index=index,
            token=path[-1],
            text=show([path[-1]])[0],
            log_probability=float(logarithms[path[-1]]),
            alternatives=self._alternatives(logarithms, show),
            beam=beam,
            parent=parent,
            score=self._total(path) if self.beams else None,
        )

    def _alternatives(self, logarithms: Tensor, show: Show) -> tuple[Alternative, ...]:
        values, tokens = logarithms.topk(min(self.alternatives, len(logarithms)))
        choices = map(Choice, tokens.tolist(), values.tolist())
        return read_alternatives([each for each in choices if each.log_probability > -torch.inf], show)

    def _logarithms(self, path: Path) -> Tensor:
        """The log-probabilities (vocabulary,) of the next token, after all logits processors."""
        step = len(path)
        scores = self.scores[step][self._row(path, step)].float()
        searched = self.beams or (step < len(self.processed) and self.forced.find(step).beams > 1)
        return scores if searched else scores.log_softmax(-1)  # a beam search gives log-probabilities

    def _total(self, path: Path) -> float:
        return sum(float(self._logarithms(path[:step])[token]) for step, token in enumerate(path))

    def _row(self, path: Path, step: int) -> int:
        rows = self.rows[step]
        if path not in rows:
            raise RecordingError("recorders.generation.lost_hypothesis", step=step)
        return rows[path]


def narrow(scores: Tensor, settings: GenerationSettings) -> Tensor:
    """Temperature, top-k and top-p, by the functions of transformers."""
    import transformers

    ids = scores.new_zeros(len(scores), 0, dtype=torch.long)  # none of them looks at the tokens before
    if settings.temperature != 1.0:
        scores = transformers.TemperatureLogitsWarper(settings.temperature)(ids, scores)
    if settings.top_k:
        scores = transformers.TopKLogitsWarper(settings.top_k)(ids, scores)
    if settings.top_p < 1.0:
        scores = transformers.TopPLogitsWarper(settings.top_p)(ids, scores)
    return scores
