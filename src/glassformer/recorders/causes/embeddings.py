"""Token embeddings of a pass: scaled towards 0, and differentiated.

In:   an `OutcomePass`.
Out:  gradient × input, and integrated gradients (Sundararajan et al. 2017): how much the embedding of each
      token contributes to an outcome.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from glassformer.errors import InputError
from glassformer.recorders.causes.gradients import OutcomePass, differentiate
from glassformer.recording import Side

Scores = dict[Side, NDArray[np.float64]]  # (token,) of each side that a network reads


@dataclass(slots=True)
class ScaledEmbeddings:
    """Hooks on the tables that tokens are looked up in; positions keep theirs."""

    prepared: OutcomePass
    factor: float = 1.0
    given: dict[Side, Tensor] = field(default_factory=dict)  # (1, token, width), as the network gets them
    last: Side | None = None  # whose tokens were looked up before

    @contextmanager
    def hooked(self) -> Iterator[None]:
        network, size = self.prepared.model.network, self.prepared.model.vocabulary_size
        tables = [
            each
            for each in network.modules()
            if isinstance(each, nn.Embedding) and each.num_embeddings == size
        ]
        with ExitStack() as hooks:
            for table in tables:
                hooks.enter_context(table.register_forward_hook(self._scale))
            yield

    def _scale(self, _: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
        ids = inputs[0].flatten().tolist()
        sides = {each.side: each for each in (self.prepared.source, self.prepared.tokens)}
        found = [name for name, side in sides.items() if ids == side.ids.tolist()]
        if not found:
            return output  # of the self-check
        if len(found) > 1:  # the same ids on both sides: in each pass the encoder reads before the decoder
            found.remove("target" if self.last != "source" else "source")
        self.last = found[0]
        scaled = (output.detach() * self.factor).requires_grad_()
        self.given[self.last] = scaled
        return scaled

    def run(self, factor: float) -> tuple[Tensor, dict[Side, Tensor]]:
        """The outcome with embeddings multiplied by a factor, and these."""
        if self.prepared.model.reads != "text":
            raise InputError("recorders.attribution.no_embeddings", name=self.prepared.model.name)
        self.factor = factor
        self.given, self.last = {}, None
        value = self.prepared.run()
        if not self.given:
            raise InputError("recorders.attribution.no_embeddings", name=self.prepared.model.name)
        return value, self.given


def multiply_gradient(prepared: OutcomePass) -> tuple[float, Scores]:
    """The outcome, and gradient × embedding of each token."""
    embeddings = ScaledEmbeddings(prepared)
    with embeddings.hooked():
        value, given = embeddings.run(1.0)
    slopes = differentiate(value, list(given.values()))
    pairs = zip(given.items(), slopes, strict=True)
    return float(value.detach()), {side: _contract(each, slope) for (side, each), slope in pairs}


def integrate_gradients(prepared: OutcomePass, steps: int) -> tuple[float, Scores, float, float]:
    """The outcome; integrated gradients of each token, from embeddings of 0; their sum minus what it should
    be; the outcome with embeddings of 0.

    The integral is that of Gauss and Legendre with so many steps.
    """
    places, shares = np.polynomial.legendre.leggauss(steps)
    embeddings = ScaledEmbeddings(prepared)
    totals: dict[Side, Tensor] = {}
    with embeddings.hooked():
        value, full = embeddings.run(1.0)
        base, _ = embeddings.run(0.0)
        for place, share in zip((places + 1) / 2, shares / 2, strict=True):
            result, given = embeddings.run(float(place))
            for side, slope in zip(given, differentiate(result, list(given.values())), strict=True):
                totals[side] = totals.get(side, 0) + share * slope.double()
    scores = {side: _contract(each, totals[side]) for side, each in full.items()}
    wanted = float(value.detach()) - float(base.detach())
    missing = sum(float(each.sum()) for each in scores.values()) - wanted
    return float(value.detach()), scores, missing, float(base.detach())


def _contract(embedding: Tensor, slope: Tensor) -> NDArray[np.float64]:
    found: NDArray[np.float64] = (embedding.detach().double() * slope.double())[0].sum(-1).cpu().numpy()
    return found
