"""Our networks recorded through their windows: identity modules whose hooks see what passes.

In:   a Transformer or a recurrent translator, and the tokens that it is about to read (a batch of one).
Out:  its attention maps, numbered by call order within each stack, and its hidden states.

Hooks are registered only inside `watching`; a map is measured as soon as its layer has run, so that without
"weights" in `want` no more than one layer's weights exist at a time. With a `MapMaker` attention is measured
by replaced products instead (measured_attention.py).
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from glassformer.config import ModelConfig
from glassformer.loaded.native import Network
from glassformer.model.attention import Attention, Mask
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.model.transformer import Stack, Transformer
from glassformer.place import Place
from glassformer.recorders.batch import FoldingMaker
from glassformer.recorders.call import Kernel
from glassformer.recorders.edits.edit import Edit, find_relaxed
from glassformer.recorders.maps import Axes, MapMaker
from glassformer.recorders.native.attentions import FoundAttention, find_stacks, open_windows
from glassformer.recorders.native.measured_attention import measured_attention
from glassformer.recorders.native.recurrent_tracing import RecurrentTrace
from glassformer.recorders.native.tracing import Trace
from glassformer.recorders.store import Array
from glassformer.recording import AttentionMap, measure

Hook = Callable[[nn.Module, Any, Tensor], None]


ORDER = (("encoder", "self"), ("decoder", "self"), ("decoder", "cross"))  # of the maps of a recording


@dataclass(slots=True)
class Watch:
    """Everything that is recorded during one forward pass."""

    network: Network
    axes: Axes
    want: Collection[str]
    edits: Sequence[Edit] = ()
    maker: MapMaker | None = None
    kernel: Kernel = "exact"
    texts: int = 1  # of the batch; several need a maker
    found: list[AttentionMap] = field(default_factory=list)
    states: dict[str, list[Tensor]] = field(default_factory=dict)  # by stack, (B, token, width) by layer
    trace: Trace | RecurrentTrace | None = None

    def __post_init__(self) -> None:
        if "trace" in self.want:
            network = self.network
            self.trace = Trace(network) if isinstance(network, Transformer) else RecurrentTrace(network)

    @property
    def maps(self) -> tuple[AttentionMap, ...]:
        return tuple(sorted(self.found, key=lambda each: (ORDER.index(each.place[:2]), each.place.layer)))

    def read_hidden(self, row: int = 0) -> dict[str, Array]:
        """Of one text of the batch, by stack: (layer + 1, token, width)."""
        return {
            stack: torch.stack([each[row] for each in states]).float().cpu().numpy()
            for stack, states in self.states.items()
        }

    @property
    def steps(self) -> dict[str, Array]:
        """Every intermediate result, by name; see tracing.py."""
        return {} if self.trace is None else self.trace.arrays

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Hooks exist only inside this context, also after an exception."""
        with ExitStack() as hooks:
            if self.maker is None:
                names = ("queries", "keys", "values")
                windows = (*(name for name in names if name in self.want), "scores", "pattern")
                hooks.enter_context(open_windows(self.network, windows, self._finish))
            if "hidden" in self.want:
                for handle in self._watch_hidden():
                    hooks.callback(handle.remove)
            if self.trace is not None:
                hooks.enter_context(self.trace.watching())
            if self.maker is not None and isinstance(self.network, Transformer):
                hooks.enter_context(self.maker)
                maker = self.maker if self.texts == 1 else FoldingMaker(self.maker, self.texts)
                hooks.enter_context(measured_attention(self.network, maker, self.kernel))
            yield
            if self.maker is not None:
                self.found = self.maker.finish()

    def _finish(self, found: FoundAttention, outputs: Mapping[str, Tensor]) -> None:
        """Make a map of what the windows of one layer gave."""
        layer = sum(each.place[:2] == (found.stack, found.kind) for each in self.found)
        place = Place(found.stack, found.kind, layer)
        parts = {name: output[0] for name, output in outputs.items()}  # (head, token, …) of the only text
        scores, weights = parts["scores"].float(), parts["pattern"].float()  # (head, query, key)
        allowed = scores > -torch.inf  # edges may have been cut
        mask = _find_mask(self.network, found)
        pattern = mask.explicit(scores.shape[-2], scores.shape[-1], scores.device)
        allowed = allowed if pattern is None else allowed & pattern
        scores = scores.masked_fill(~allowed, -torch.inf)
        hard = isinstance(found.module, Attention) and found.module.best_keys is not None
        summed = weights > 0 if hard else allowed  # hard attention chooses keys before the softmax
        log_sum_exp = scores.double().masked_fill(~summed, -torch.inf).logsumexp(-1)
        relaxed = find_relaxed(self.edits, place)
        if relaxed is not None:
            allowed = allowed | (weights > 0)  # an edit after the softmax may put weight anywhere
        dense = weights.cpu().numpy()
        self.found.append(
            AttentionMap(
                place,
                *self.axes.find(place, *dense.shape[1:]),
                measure(dense, allowed.cpu().numpy(), log_sum_exp=log_sum_exp.cpu().numpy()),
                dense=dense if "weights" in self.want else None,
                dense_scores=_numbers(scores if "scores" in self.want else None),
                scale=_multiplier(self.network),
                dtype=str(parts["pattern"].dtype).removeprefix("torch."),
                relaxed=relaxed,
                queries=_numbers(parts.get("queries")),
                keys=_numbers(parts.get("keys")),
                values=_numbers(parts.get("values")),
            )
        )

    def _watch_hidden(self) -> Iterator[RemovableHandle]:
        for name, whole in find_stacks(self.network).items():
            yield from self._watch_states(name, whole)
        if isinstance(self.network, RecurrentTranslator):  # torch's cells show their top layer only
            for name, part in (("encoder", self.network.encoder), ("decoder", self.network.decoder)):
                yield part.states.register_forward_hook(_append_to(self.states, name))

    def _watch_states(self, name: str, stack: Stack) -> Iterator[RemovableHandle]:
        """The embeddings, then the state after each layer; the last one after the stack's final norm."""
        states = self.states.setdefault(name, [])
        yield stack.register_forward_pre_hook(lambda _, inputs: states.append(inputs[0].detach()))
        for block in stack.layers:
            yield block.register_forward_hook(lambda _, __, output: states.append(output.detach()))

        def replace_last(_: nn.Module, __: Any, output: Tensor) -> None:
            states[-1] = output.detach()

        yield stack.register_forward_hook(replace_last)


def _append_to(states: dict[str, list[Tensor]], name: str) -> Hook:
    """States that come a few tokens at a time, as one layer of a stack."""

    def hook(_: nn.Module, __: Any, output: Tensor) -> None:
        states[name] = [torch.cat([*states.get(name, ()), output.detach()], dim=1)]

    return hook


def _find_mask(network: Network, found: FoundAttention) -> Mask:
    """What the tokens of one text, without padding, may see."""
    if found.kind == "cross" or not isinstance(network.config, ModelConfig):
        return Mask()
    return Mask(causal=found.stack == "decoder", window=network.config.window)


def _multiplier(network: Network) -> float | None:
    """The factor between q · k and the score; None where similarity is no product."""
    if isinstance(network, RecurrentTranslator) or network.config.similarity == "additive":
        return None
    return network.config.score_factor


def _numbers(tensor: Tensor | None) -> Array | None:
    return None if tensor is None else tensor.float().cpu().numpy()
