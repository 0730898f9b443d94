"""Generation: from a prompt or a source to new tokens, greedily, by drawing, or by beam search.

In:   any network that can `begin` (a Transformer with a decoder, a recurrent translator), token ids (batch,
      token), `real` (batch, token) where some are padding, `GenerationSettings`.
Out:  one `Generated` for each row, or the nodes of the search one step at a time.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch
from torch import Tensor, nn

from glassformer.model.beam import BeamSearch
from glassformer.model.decoding import GenerationNetwork
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.hypotheses import (
    FINISHED,
    KEPT,
    ROOT,
    Candidates,
    Generated,
    Node,
    SearchTrace,
    Tree,
    read_hypothesis,
)
from glassformer.model.prompt import SearchStart, read_prompt
from glassformer.model.sampling import best_of, draw, draw_uniforms, likeliest

GREEDY = GenerationSettings()


def generate(
    network: GenerationNetwork,
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
    network: GenerationNetwork,
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


def open_search(
    network: GenerationNetwork,
    ids: Tensor,
    real: Tensor | None,
    settings: GenerationSettings,
    prefix: Tensor | None,
) -> "BeamSearch | SinglePathSearch":
    """Read the prompt; nothing is chosen yet."""
    start = read_prompt(network, ids, real, settings, prefix)
    return BeamSearch(start, settings) if settings.beams > 1 else SinglePathSearch(start, settings)


@contextmanager
def at_inference(network: object, *, gradients: bool = False) -> Iterator[None]:
    """No dropout, and no gradients unless asked for; afterwards every module is in its mode from before.

    A network compiled in place (`network.compile()`) runs as it is written: compiled code shows no windows.
    """
    modules = list(network.modules()) if isinstance(network, nn.Module) else []
    training = [module for module in modules if module.training]
    compiled = any(module._compiled_call_impl is not None for module in modules)
    try:
        for module in training:
            module.training = False
        eager = torch.compiler.set_stance("force_eager") if compiled else nullcontext()
        with torch.inference_mode(not gradients), torch.set_grad_enabled(gradients), eager:
            yield
    finally:
        for module in training:
            module.training = True


class SinglePathSearch:
    """One hypothesis for each row: always the likeliest token, or one that is drawn."""

    def __init__(self, start: SearchStart, settings: GenerationSettings) -> None:
        self.trace = SearchTrace()
        self.settings = settings
        self.start = start
        self.decoding = start.decoding
        self.history = start.history
        self.rows = list(range(len(start.limits)))  # of the batch, those that still go on
        device = self.decoding.logits.device
        self.totals = torch.zeros(len(self.rows), device=device)
        self.uniforms: Tensor | None = None  # (row, step) random numbers, where tokens are drawn
        if settings.sample:
            self.uniforms = draw_uniforms(settings.seed, len(self.rows), max(start.limits)).to(device)
        self.last: Tensor | None = None  # the tokens that the network has not read yet
        self._continue([place for place, limit in enumerate(start.limits) if limit > 0])

    def advance(self) -> bool:
        """Choose the next tokens; False, and nothing happens, where every row is finished."""
        if not self.rows:
            return False
        if self.last is not None:
            self.decoding.step(self.last)
        step = len(self.trace.steps)
        tokens, log_probabilities, alternatives = self._choose(step)
        self.totals = self.totals + log_probabilities
        running = [
            place
            for place, (row, token) in enumerate(zip(self.rows, tokens.tolist(), strict=True))
            if token != self.start.end_id and step + 1 < self.start.limits[row]
        ]
        states = torch.full((len(self.rows), 1), FINISHED)
        states[running] = KEPT
        candidates = Candidates(
            step=step,
            rows=self.rows,
            # One candidate a step: the node of step n has the id n.
            parents=torch.full((len(self.rows), 1), step - 1 if step else ROOT),
            tokens=tokens[:, None],
            log_probabilities=log_probabilities[:, None],
            totals=self.totals[:, None],
            states=states,
            beams=torch.zeros_like(states),
            alternatives=alternatives,
        )
        self.trace.steps.append(candidates)
        self.last = tokens
        if self.history is not None:
            self.history = torch.cat((self.history, tokens[:, None]), dim=1)
        self._continue(running)
        return True

    def results(self) -> list[Generated]:
        """One hypothesis for each row."""
        lengths = Counter(row for candidates in self.trace.steps for row in candidates.rows)
        generated = []
        for row in range(len(self.start.limits)):
            tree = Tree(self.trace, row)
            path = tree.path(lengths[row] - 1, lengths[row] - 1)
            score = path[-1].total if path else 0.0
            generated.append(Generated.of([read_hypothesis(path, self.start.end_id, score)], tree))
        return generated

    def _choose(self, step: int) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor] | None]:
        """Tokens (row,), their log-probabilities, and those of the likeliest with them."""
        scores = self.decoding.logits.float()
        if self.start.rules.hold(step):
            last = [step + 1 == self.start.limits[row] for row in self.rows]
            scores = scores.clone()  # the network's own logits stay as they are
            self.start.rules.apply(scores, self.history, step, torch.tensor(last, device=scores.device))
        if self.uniforms is None:
            tokens = likeliest(scores)
        else:
            scores = self.start.rules.narrow(scores)
            tokens = draw(scores, self.uniforms[:, step])
        log_probabilities = scores.log_softmax(dim=-1)
        alternatives = None
        if self.settings.alternatives:
            values, others = best_of(log_probabilities, min(self.settings.alternatives, scores.shape[1]))
            alternatives = values[:, None], others[:, None]  # (row, 1, alternative)
        return tokens, log_probabilities.gather(1, tokens[:, None])[:, 0], alternatives

    def _continue(self, running: list[int]) -> None:
        """Go on with these places only, so that finished rows cost nothing."""
        if len(running) == len(self.rows):
            return
        self.rows = [self.rows[place] for place in running]
        if not self.rows:
            return
        places = torch.tensor(running, device=self.totals.device)
        self.decoding.keep(places)
        self.totals = self.totals[places]
        self.last = None if self.last is None else self.last[places]
        self.history = None if self.history is None else self.history[places]
        self.uniforms = None if self.uniforms is None else self.uniforms[places]
