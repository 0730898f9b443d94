"""Generation: from a prompt or a source to new tokens, greedily, by drawing, or by beam search.

In:   any network that can `begin` (a Transformer with a decoder, a recurrent translator), token ids (batch,
      token), `real` (batch, token) where some are padding, `GenerationSettings`.
Out:  one `Generated` for each row, or the nodes of the search one step at a time.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Protocol

import torch
from torch import Tensor, nn

from glassformer.model.beam import BeamSearch
from glassformer.model.decoding import Prompt
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.hypotheses import (
    FINISHED,
    KEPT,
    ROOT,
    Considered,
    Generated,
    Node,
    Trace,
    read_hypothesis,
)
from glassformer.model.prompt import Opening, open_prompt
from glassformer.model.sampling import best_of, draw, draw_chances, likeliest

GREEDY = GenerationSettings()


def generate(
    network: Prompt,
    ids: Tensor,
    real: Tensor | None = None,
    settings: GenerationSettings = GREEDY,
    prefix: Tensor | None = None,
) -> list[Generated]:
    """Continue each prompt, or translate each source (behind `prefix`, if given), until it ends."""
    with at_inference(network):
        search = open_search(network, ids, real, settings, prefix)
        while search.advance():
            pass
        return search.results()


def stream(
    network: Prompt,
    ids: Tensor,
    real: Tensor | None = None,
    settings: GenerationSettings = GREEDY,
    prefix: Tensor | None = None,
) -> Iterator[list[Node]]:
    """The same, one step at a time: the nodes that each step added, of all rows still running.

    Between two steps the network is as it was found, so that the caller may stop asking at any moment.
    """
    with at_inference(network):
        search = open_search(network, ids, real, settings, prefix)
    while True:
        with at_inference(network):
            if not search.advance():
                return
            step = search.trace.nodes(len(search.trace.steps) - 1)
            nodes = [node for row in step.values() for node in row]
        yield nodes


class Search(Protocol):
    """A generation that is taken step by step."""

    trace: Trace

    def advance(self) -> bool:
        """Choose the next tokens; False, and nothing happens, where every row is finished."""

    def results(self) -> list[Generated]:
        """What came of each row."""


def open_search(
    network: Prompt, ids: Tensor, real: Tensor | None, settings: GenerationSettings, prefix: Tensor | None
) -> Search:
    """Read the prompt; nothing is chosen yet."""
    opening = open_prompt(network, ids, real, settings, prefix)
    return BeamSearch(opening, settings) if settings.beams > 1 else Walk(opening, settings)


@contextmanager
def at_inference(network: object) -> Iterator[None]:
    """No gradients, no dropout; afterwards every module is in the mode that it was found in.

    A network compiled in place (`network.compile()`) runs as it is written: compiled code shows no windows.
    """
    modules = list(network.modules()) if isinstance(network, nn.Module) else []
    training = [module for module in modules if module.training]
    compiled = any(module._compiled_call_impl is not None for module in modules)
    try:
        for module in training:
            module.training = False
        with (
            torch.inference_mode(),
            torch.compiler.set_stance("force_eager") if compiled else nullcontext(),
        ):
            yield
    finally:
        for module in training:
            module.training = True


class Walk:
    """One hypothesis for each row: always the likeliest token, or one that is drawn."""

    def __init__(self, opening: Opening, settings: GenerationSettings) -> None:
        self.trace = Trace()
        self.settings = settings
        self.opening = opening
        self.decoding = opening.decoding
        self.history = opening.history
        self.rows = list(range(len(opening.room)))  # of the batch, those that still go on
        self.totals = torch.zeros(len(self.rows), device=self.decoding.logits.device)
        self.chances = None
        if settings.sample:
            chances = draw_chances(settings.seed, len(self.rows), max(opening.room))
            self.chances = chances.to(self.decoding.logits.device)
        self.last: Tensor | None = None  # the tokens that the network has not read yet
        self._leave([place for place, row in enumerate(self.rows) if opening.room[row] > 0])

    def advance(self) -> bool:
        if not self.rows:
            return False
        if self.last is not None:
            self.decoding.step(self.last)
        step = len(self.trace.steps)
        tokens, log_probabilities, alternatives = self._choose(step)
        self.totals = self.totals + log_probabilities
        chosen = tokens.tolist()
        goes_on = [
            place
            for place, (row, token) in enumerate(zip(self.rows, chosen, strict=True))
            if token != self.opening.end_id and step + 1 < self.opening.room[row]
        ]
        self._note(step, tokens, log_probabilities, alternatives, goes_on)
        self.last = tokens
        if self.history is not None:
            self.history = torch.cat((self.history, tokens[:, None]), dim=1)
        self._leave(goes_on)
        return True

    def results(self) -> list[Generated]:
        """One hypothesis for each row."""
        lengths = [0] * len(self.opening.room)
        for considered in self.trace.steps:
            for row in considered.rows:
                lengths[row] += 1
        trees = [self.trace.tree(row) for row in range(len(lengths))]
        paths = [tree.path(length - 1, length - 1) for tree, length in zip(trees, lengths, strict=True)]
        scores = [path[-1].total if path else 0.0 for path in paths]
        return [
            Generated((read_hypothesis(path, self.opening.end_id, score),), tree)
            for path, tree, score in zip(paths, trees, scores, strict=True)
        ]

    def _choose(self, step: int) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor] | None]:
        """Tokens (row,), their log-probabilities, and those of the likeliest with them."""
        scores = self.decoding.logits.float()
        if self.opening.rules.hold(step):
            last = torch.tensor(
                [step + 1 == self.opening.room[row] for row in self.rows], device=scores.device
            )
            scores = scores.clone()  # the network's own logits stay as they are
            self.opening.rules.apply(scores, self.history, step, last)
        if self.chances is None:
            tokens = likeliest(scores)
        else:
            scores = self.opening.rules.narrow(scores)
            tokens = draw(scores, self.chances[:, step])
        log_probabilities = scores.log_softmax(dim=-1)
        alternatives = None
        if self.settings.alternatives:
            values, others = best_of(log_probabilities, min(self.settings.alternatives, scores.shape[1]))
            alternatives = values[:, None], others[:, None]  # (row, 1, alternative)
        return tokens, log_probabilities.gather(1, tokens[:, None])[:, 0], alternatives

    def _note(
        self,
        step: int,
        tokens: Tensor,
        log_probabilities: Tensor,
        alternatives: tuple[Tensor, Tensor] | None,
        goes_on: list[int],
    ) -> None:
        """A chain is a tree with one candidate a step, so the node of step n has the id n."""
        states = [FINISHED] * len(self.rows)
        for place in goes_on:
            states[place] = KEPT
        self.trace.steps.append(
            Considered(
                step=step,
                rows=self.rows,
                parents=torch.full((len(self.rows), 1), step - 1 if step else ROOT),
                tokens=tokens[:, None],
                log_probabilities=log_probabilities[:, None],
                totals=self.totals[:, None],
                states=torch.tensor(states)[:, None],
                beams=torch.zeros(len(self.rows), 1, dtype=torch.long),
                alternatives=alternatives,
            )
        )

    def _leave(self, goes_on: list[int]) -> None:
        """Go on with these places only, so that finished rows cost nothing."""
        if len(goes_on) == len(self.rows):
            return
        self.rows = [self.rows[place] for place in goes_on]
        if not self.rows:
            return
        places = torch.tensor(goes_on, device=self.totals.device)
        self.decoding.keep(places)
        self.totals = self.totals[places]
        self.last = None if self.last is None else self.last[places]
        self.history = None if self.history is None else self.history[places]
        self.chances = None if self.chances is None else self.chances[places]
