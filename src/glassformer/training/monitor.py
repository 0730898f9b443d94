"""Looking into a network while it learns: the statistics of every head, on a probe batch that never changes.

In:   a network, the probe batch of a task.
Out:  for each attention map, by name, one number for each head; see `head_statistics.STATISTICS`.

The windows `scores`, `pattern` and `mixed` are hooked while the probe runs, so that the network itself forms
the weights, whatever its similarity. A map is measured as soon as its layer has run, on the device, and all
numbers come back in one copy.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from glassformer.model.attention import Attention, triangle
from glassformer.model.generate import at_inference
from glassformer.model.loss import IGNORED
from glassformer.model.recurrent import ContextAttention, RecurrentTranslator
from glassformer.model.transformer import Transformer
from glassformer.place import Kind, Place
from glassformer.text.batches import Batch
from glassformer.training.head_statistics import STATISTICS, Visibility, measure_heads
from glassformer.training.settings import MonitorSettings

Network = Transformer | RecurrentTranslator

REPEATED = 32  # random tokens that are said twice, to see induction


@dataclass(slots=True, eq=False)
class View:
    """One kind of attention in one stack: what its windows show, layer after layer."""

    stack: str
    kind: Kind
    sight: Visibility
    maps: list[Tensor] = field(default_factory=list)  # (statistic, head) by layer
    seen: dict[str, list[Tensor]] = field(default_factory=dict)  # by window, since the last map

    def open(self, attention: Attention | ContextAttention) -> Iterator[RemovableHandle]:
        """Look through the windows of one attention; `mixed` is the last of them to open."""
        for window in ("scores", "pattern", "mixed"):
            yield getattr(attention, window).register_forward_hook(self._hook(window, attention))

    def finish(self, added: Tensor | None) -> None:
        """Measure what was seen since the last map; the steps of a recurrent decoder are its rows."""
        scores, weights = (torch.cat(self.seen[window], dim=2) for window in ("scores", "pattern"))
        self.maps.append(measure_heads(self.sight, scores, weights, added))
        self.seen.clear()

    def _hook(
        self, window: str, attention: Attention | ContextAttention
    ) -> Callable[[nn.Module, Any, Tensor], None]:
        def hook(_: nn.Module, __: Any, output: Tensor) -> None:
            if window != "mixed":
                self.seen.setdefault(window, []).append(output.detach())
            elif isinstance(attention, Attention):  # a recurrent one goes on, step by step
                self.finish(_measure_contributions(attention, output))

        return hook


class Monitor:
    """Measures one network on one probe batch; the network is left as it was found."""

    def __init__(self, network: Network, probe: Batch, settings: MonitorSettings) -> None:
        self.network = network
        device = next(network.parameters()).device
        self.probe = shorten(probe, settings.texts, settings.tokens).to(device)
        self.repeated = None
        if isinstance(network, Transformer) and network.config.shape == "decoder":
            self.repeated = _repeat_random(network, settings.texts).to(device)

    def look(self) -> dict[Place, dict[str, list[float]]]:
        """Every head's statistics, by map and name; a decoder's induction on repeated random tokens."""
        found = self._measure(self.probe)
        if self.repeated is not None:
            row = STATISTICS.index("induction")
            for place, numbers in self._measure(self.repeated).items():
                found[place][row] = numbers[row]
        if not found:
            return {}
        together = torch.cat(list(found.values()), dim=1).cpu()  # (statistic, head of all maps)
        parts = torch.split(together, [numbers.shape[1] for numbers in found.values()], dim=1)
        return {
            place: dict(zip(STATISTICS, numbers.tolist(), strict=True))
            for place, numbers in zip(found, parts, strict=True)
        }

    def _measure(self, batch: Batch) -> dict[Place, Tensor]:
        watch = _watch_recurrent if isinstance(self.network, RecurrentTranslator) else _watch
        views: list[View] = []
        with at_inference(self.network), ExitStack() as hooks:
            for view, handle in watch(self.network, batch):
                hooks.callback(handle.remove)
                if view not in views:
                    views.append(view)
            _run(self.network, batch)
            for view in views:
                if view.seen:
                    view.finish(None)
        return {
            Place(view.stack, view.kind, layer): numbers.clone()  # one of inference cannot be changed
            for view in views
            for layer, numbers in enumerate(view.maps)
        }


def shorten(batch: Batch, texts: int, tokens: int) -> Batch:
    """The first texts of a batch, and their first tokens."""

    def cut(part: Tensor | None) -> Tensor | None:
        return None if part is None else part[:texts, :tokens] if part.dim() == 2 else part[:texts]

    names = ("ids", "labels", "real", "target", "segments")
    parts: dict[str, Any] = {name: cut(getattr(batch, name)) for name in names}
    return replace(batch, **parts, places=None, relation=None)


def _repeat_random(network: Transformer, texts: int) -> Batch:
    """Random tokens, twice: only an induction head can continue the second half."""
    config = network.config
    length = max(1, min(REPEATED, config.max_length // 2))
    chance = torch.Generator().manual_seed(0)
    once = torch.randint(0, config.vocabulary_size, (texts, length), generator=chance)
    ids = torch.cat((once, once), dim=1)
    return Batch(ids, ids, ids.numel(), ids.numel())


def _run(network: Network, batch: Batch) -> None:
    """The stacks alone: what the head makes of their states is not looked at."""
    if isinstance(network, RecurrentTranslator):
        network(batch.ids, batch.real, target=batch.target)
    elif network.config.shape == "encoder-decoder":
        assert batch.target is not None
        memory = network.encode(batch.ids, batch.real)
        network.decode(batch.target, memory=memory, memory_real=batch.real)
    elif network.config.shape == "decoder":
        network.decode(batch.ids, batch.real)
    else:
        network.encode(batch.ids, batch.real, batch.segments)


def _watch(network: Network, batch: Batch) -> Iterator[tuple[View, RemovableHandle]]:
    assert isinstance(network, Transformer)
    source = _real(batch)
    if network.encoder is not None:
        own = View("encoder", "self", _see_all(source, source, batch.ids))
        for layer in range(len(network.encoder.layers)):  # a shared block is one module, called for each
            yield from ((own, handle) for handle in own.open(network.encoder.block(layer).attention))
    if network.decoder is None:
        return
    ids = batch.ids if batch.target is None else batch.target
    written = source if batch.target is None else batch.labels != IGNORED
    own = View("decoder", "self", _see_earlier(written, ids))
    across = View("decoder", "cross", _see_all(written, source, None))
    for layer in range(len(network.decoder.layers)):
        block = network.decoder.block(layer)
        yield from ((own, handle) for handle in own.open(block.attention))
        if block.cross is not None:
            yield from ((across, handle) for handle in across.open(block.cross))


def _watch_recurrent(network: Network, batch: Batch) -> Iterator[tuple[View, RemovableHandle]]:
    assert isinstance(network, RecurrentTranslator)
    if network.decoder.attention is not None:
        across = View("decoder", "cross", _see_all(batch.labels != IGNORED, _real(batch), None))
        yield from ((across, handle) for handle in across.open(network.decoder.attention))


def _real(batch: Batch) -> Tensor:
    """Which tokens of the source are no padding (B, S)."""
    if batch.real is not None:
        return batch.real
    if batch.target is None and batch.labels.shape == batch.ids.shape:
        return batch.labels != IGNORED  # a decoder alone needs no mask: its padding follows its words
    return torch.ones_like(batch.ids, dtype=torch.bool)


def _see_all(rows: Tensor, keys: Tensor, ids: Tensor | None) -> Visibility:
    return Visibility(rows, rows[:, :, None] & keys[:, None, :], ids)


def _see_earlier(rows: Tensor, ids: Tensor) -> Visibility:
    length = ids.shape[1]
    return Visibility(rows, rows[:, :, None] & rows[:, None, :] & triangle(length, length, rows.device), ids)


def _measure_contributions(attention: Attention, mixed: Tensor) -> Tensor:
    """How long the vector is that each head adds to the residual stream: (B, H, T)."""
    if isinstance(attention.output, nn.Identity):
        return mixed.norm(dim=-1)
    weight = attention.output.weight
    assert isinstance(weight, Tensor)
    parts = weight.reshape(len(weight), mixed.shape[1], -1).transpose(0, 1)  # (H, D, K)
    # |W m|² = mᵀ (WᵀW) m: K × K numbers a head instead of D a token
    grams = parts.transpose(1, 2) @ parts  # (H, K, K)
    return ((mixed @ grams) * mixed).sum(-1).clamp(min=0).sqrt()
