"""Generation: from a prompt or a source to new tokens, greedily, by drawing, or by beam search.

In:   any network that can `begin` (a Transformer with a decoder, a recurrent translator), token ids (batch,
      token), `real` (batch, token) where some are padding, `GenerationSettings`.
Out:  one `Generated` for each row, or the nodes of the search one step at a time.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from glassformer.errors import InputError
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
from glassformer.model.run_ahead import can_run_ahead, run_ahead
from glassformer.model.sampling import NEVER, Rules, best_of, draw, draw_uniforms, likeliest

GREEDY = GenerationSettings()


@dataclass(frozen=True, slots=True)
class Forced:
    """The first tokens of a text, which are taken whatever the network prefers.

    Some of them may have been chosen earlier in another way: `stages` say how, each from its first step on,
    so that their probabilities are what they were.
    """

    tokens: tuple[int, ...] = ()
    stages: tuple[tuple[int, GenerationSettings], ...] = ()

    def find(self, step: int) -> GenerationSettings:
        """How the token of a step was chosen; each step belongs to the last stage that begins before it."""
        return next(settings for first, settings in reversed(self.stages) if first <= step)

    def check(self, settings: GenerationSettings, size: int) -> None:
        """Refuse tokens that cannot be forced."""
        if settings.beams > 1:
            raise InputError("model.forced_beams", beams=settings.beams)
        if len(self.tokens) > settings.max_new_tokens:
            raise InputError("model.forced_too_many", count=len(self.tokens), most=settings.max_new_tokens)
        for token in self.tokens:
            if not 0 <= token < size:
                raise InputError("model.forced_unknown", token=token, size=size)


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
            if isinstance(search, SinglePathSearch) and can_run_ahead(search):
                run_ahead(search)
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
    forced: Forced | None = None,
) -> "BeamSearch | SinglePathSearch":
    """Read the prompt; nothing is chosen yet. The first tokens may be forced, in place of beams."""
    if forced is not None:
        forced.check(settings, network.config.vocabulary_size)
    start = read_prompt(network, ids, real, settings, prefix)
    if settings.beams > 1:
        return BeamSearch(start, settings)
    return SinglePathSearch(start, settings, forced or Forced())


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

    def __init__(self, start: SearchStart, settings: GenerationSettings, forced: Forced) -> None:
        self.trace = SearchTrace()
        self.settings = settings
        self.start = start
        self.forced = forced
        self.stages = [(first, Rules(each, start.end_id)) for first, each in forced.stages]
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
        # A forced token may have the probability 0, as outside the k likeliest; it is not counted.
        self.totals = self.totals + log_probabilities.masked_fill(log_probabilities == NEVER, 0.0)
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
        rules = self._find_rules(step)
        scores = self.decoding.logits.float()
        searched = rules.settings.beams > 1  # the steps of a beam search, which are forced here
        if searched:
            scores = scores.log_softmax(dim=-1)
        if rules.hold(step):
            last = [step + 1 == self.start.limits[row] for row in self.rows]
            scores = scores.clone()  # the network's own logits stay as they are
            rules.apply(scores, self.history, step, torch.tensor(last, device=scores.device))
        if rules.settings.sample:
            scores = rules.narrow(scores)
        if step < len(self.forced.tokens):
            tokens = torch.full((len(scores),), self.forced.tokens[step], device=scores.device)
        elif self.uniforms is None:
            tokens = likeliest(scores)
        else:
            tokens = draw(scores, self.uniforms[:, step])
        log_probabilities = scores if searched else scores.log_softmax(dim=-1)
        alternatives = None
        if self.settings.alternatives:
            values, others = best_of(log_probabilities, min(self.settings.alternatives, scores.shape[1]))
            alternatives = values[:, None], others[:, None]  # (row, 1, alternative)
        return tokens, log_probabilities.gather(1, tokens[:, None])[:, 0], alternatives

    def _find_rules(self, step: int) -> Rules:
        """Those of a forced step may be of an earlier stage."""
        if step >= len(self.forced.tokens):
            return self.start.rules
        return next((rules for first, rules in reversed(self.stages) if first <= step), self.start.rules)

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
