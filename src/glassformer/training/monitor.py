"""Looking into a network while it learns: the statistics of every head, on a probe batch that never changes.

In:   a network, the probe batch of a task.
Out:  for each attention map, by name, one number for each head; see `head_statistics.STATISTICS`.

The windows are hooked while the probe runs (recorders/native/attentions.py), so that the network itself forms
the weights, whatever its similarity. A map is measured as soon as its layer has run, on the device, and all
numbers come back in one copy.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.model.attention import Attention, triangle
from glassformer.model.generate import at_inference
from glassformer.model.loss import IGNORED
from glassformer.model.recurrent import RecurrentTranslator
from glassformer.model.transformer import Transformer
from glassformer.place import Kind, Place
from glassformer.recorders.native.attentions import FoundAttention, open_windows
from glassformer.text.batches import Batch
from glassformer.training.head_statistics import STATISTICS, Visibility, measure_heads
from glassformer.training.settings import MonitorSettings

Network = Transformer | RecurrentTranslator

WINDOWS = ("scores", "pattern", "mixed")
REPEATED = 32  # random tokens that are said twice, to see induction


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
        visible = find_visible(self.network, batch)
        maps: dict[tuple[str, Kind], list[Tensor]] = {group: [] for group in visible}  # by layer

        def finish(found: FoundAttention, seen: Mapping[str, Tensor]) -> None:
            group, attention = (found.stack, found.kind), found.module
            added = None
            if isinstance(attention, Attention):
                added = _measure_contributions(attention, seen["mixed"])
            maps[group].append(measure_heads(visible[group], seen["scores"], seen["pattern"], added))

        with at_inference(self.network), open_windows(self.network, WINDOWS, finish):
            _run(self.network, batch)
        return {
            Place(*group, layer): numbers.clone()  # one of inference cannot be changed
            for group, layers in maps.items()
            for layer, numbers in enumerate(layers)
        }


def shorten(batch: Batch, texts: int, tokens: int) -> Batch:
    """The first texts of a batch, and their first tokens."""

    def cut(part: Tensor | None) -> Tensor | None:
        return None if part is None else part[:texts, :tokens] if part.dim() == 2 else part[:texts]

    if batch.ids.is_floating_point():  # pictures and sounds stay whole
        tokens = max(batch.ids.shape)
    names = ("ids", "labels", "real", "target", "segments")
    parts: dict[str, Any] = {name: cut(getattr(batch, name)) for name in names}
    return replace(batch, **parts, places=None, numbers=None, relation=None)


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


def find_visible(network: Network, batch: Batch) -> dict[tuple[str, Kind], Visibility]:
    """What each kind of attention may see, by stack and kind."""
    best_keys = network.config.best_keys if isinstance(network, Transformer) else None
    window = network.config.window if isinstance(network, Transformer) else None
    source = find_real(network, batch)
    visible: dict[tuple[str, Kind], Visibility] = {}
    encoder = source[:, :, None] & source[:, None, :] & _find_near(source, window)
    words = None if batch.ids.is_floating_point() else batch.ids  # patches and frames are no words
    visible["encoder", "self"] = Visibility(source, encoder, words, best_keys)
    ids, written = batch.ids, source
    if batch.target is not None:
        ids, written = batch.target, until_last_label(batch.labels)
    length = ids.shape[1]
    earlier = written[:, None, :] & triangle(length, length, ids.device) & _find_near(written, window)
    visible["decoder", "self"] = Visibility(written, written[:, :, None] & earlier, ids, best_keys)
    across = written[:, :, None] & source[:, None, :]
    visible["decoder", "cross"] = Visibility(written, across, None, best_keys)
    return visible


def _find_near(real: Tensor, window: int | None) -> Tensor:
    """True where a token is nearer than the window, counted over real tokens (B, T, S)."""
    if window is None:
        return torch.ones((), dtype=torch.bool, device=real.device)
    places = real.long().cumsum(1)
    return (places[:, :, None] - places[:, None, :]).abs() < window


def find_real(network: Network, batch: Batch) -> Tensor:
    """Which tokens of the source are no padding (B, S).

    Only a decoder alone comes without a mask although it is padded: its padding follows its words. In a
    masked language model labels say nothing about this: most words have none.
    """
    if batch.real is not None:
        return batch.real
    if isinstance(network, Transformer) and network.perception is not None:
        shape = len(batch.ids), network.perception.count(batch.ids)
        return torch.ones(shape, dtype=torch.bool, device=batch.ids.device)
    alone = isinstance(network, Transformer) and network.config.shape == "decoder"
    if alone and batch.labels.shape == batch.ids.shape:
        return until_last_label(batch.labels)
    return torch.ones_like(batch.ids, dtype=torch.bool)


def until_last_label(labels: Tensor) -> Tensor:
    """True up to the last label that counts in each row: what follows is padding."""
    return (labels != IGNORED).flip(1).cumsum(1).flip(1) > 0


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
