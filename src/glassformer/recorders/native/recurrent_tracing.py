"""Every step of one pass through a recurrent translator, as the walk shows it.

In:   a network that is about to read one text and its translation.
Out:  arrays by name, such as encoder/0/forward/update (token, width): float32, without a batch axis.

Words, states, attention and readout are what the network computed. The gates are not: torch's cells return
states only. Each gate is computed here from the inputs and the state before that the network had; what
follows from the gates is compared with the network's own next state in tests.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from glassformer.model.recurrent import RecurrentTranslator
from glassformer.recorders.store import as_numbers

Array = NDArray[np.float32]
Wide = NDArray[np.float64]

GATES = {"gru": ("reset", "update", "candidate"), "lstm": ("keep", "forget", "candidate", "release")}


class RecurrentTrace:
    """What one pass computed, by name."""

    def __init__(self, network: RecurrentTranslator) -> None:
        self.network = network
        self.arrays: dict[str, Array] = {}
        self._seen: dict[
            str, list[Tensor]
        ] = {}  # by module; a decoder with attention calls them word by word

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Hooks exist only inside this context."""
        network = self.network
        attention = network.decoder.attention
        watched: dict[str, nn.Module] = {
            "words": network.embeddings,
            "encoder": network.encoder.states,
            "decoder": network.decoder.states,
            "cells": network.decoder.cells,
            "readout": network.decoder.readout,
            "logits": network,
        }
        watched |= {f"bridge{part}": bridge for part, bridge in enumerate(network.bridges)}
        if attention is not None:
            watched |= {"queries": attention.queries, "mixed": attention.mixed}
        with ExitStack() as hooks:
            for name, module in watched.items():
                hooks.callback(module.register_forward_hook(self._listen(name)).remove)
            yield
        self._write()

    def _listen(self, name: str) -> Any:
        def hook(_: nn.Module, inputs: Any, output: Any) -> None:
            if name in ("cells", "readout") or name.startswith("bridge"):
                self._seen.setdefault(f"{name} input", []).append(inputs[0].detach())
            if isinstance(output, Tensor):
                self._seen.setdefault(name, []).append(output.detach())

        return hook

    def _read(self, name: str, axis: int = 1) -> Array:
        """What a module gave in all its calls, joined along the words; without the batch axis."""
        calls = [as_numbers(each) for each in self._seen[name]]
        return np.take(np.concatenate(calls, axis=axis), 0, axis=0)

    def _write(self) -> None:
        network, arrays = self.network, self.arrays
        for stack, words in zip(("encoder", "decoder"), self._seen["words"], strict=True):
            arrays[f"{stack}/embedding/tokens"] = as_numbers(words)[0]
        self._write_encoder(arrays["encoder/embedding/tokens"])
        width = network.config.width
        starts: list[list[Array]] = []  # by part (state, and for an LSTM memory), then by layer
        for part in range(len(network.bridges)):
            last, dense = (as_numbers(self._seen[f"bridge{part}{end}"][0])[:, 0] for end in (" input", ""))
            names = (
                ("last", "dense", "start") if part == 0 else ("memory_last", "memory_dense", "memory_start")
            )
            start = np.tanh(dense)
            for layer in range(network.config.layers):
                found = zip(names, (last[layer], dense[layer], start[layer]), strict=True)
                arrays |= {f"encoder/{layer}/bridge/{name}": array for name, array in found}
            starts.append(list(start))
        inputs = self._read("cells input")
        if network.decoder.attention is None:
            arrays["decoder/context/context"] = inputs[:, -width:]
        else:
            arrays["decoder/0/cross/queries"] = self._read("queries", axis=2)
            arrays["decoder/0/cross/mixed"] = self._read("mixed", axis=2)
        for layer in range(network.config.layers):
            place, top = f"decoder/{layer}/forward", layer == network.config.layers - 1
            if layer == 0:
                arrays[f"{place}/input"] = inputs
            known = self._read("decoder") if top else None
            start_of_layer = [part[layer] for part in starts]
            inputs = self._write_cells(
                place, network.decoder.cells, f"l{layer}", inputs, start_of_layer, known
            )
        arrays["output/joined"] = self._read("readout input")
        arrays["output/dense"] = self._read("readout")
        arrays["output/active"] = np.tanh(arrays["output/dense"])
        arrays["output/logits"] = self._read("logits")

    def _write_encoder(self, inputs: Array) -> None:
        config, cells = self.network.config, self.network.encoder.cells
        directions = ("forward", "backward") if config.bidirectional else ("forward",)
        width = config.width // len(directions)
        zeros = [np.zeros(width, np.float32)] * len(self.network.bridges)
        for layer in range(config.layers):
            known = self._read("encoder") if layer == config.layers - 1 else None
            states = []
            for number, direction in enumerate(directions):
                suffix = f"l{layer}" + ("_reverse" if direction == "backward" else "")
                own = None if known is None else known[:, number * width : (number + 1) * width]
                states.append(
                    self._write_cells(f"encoder/{layer}/{direction}", cells, suffix, inputs, zeros, own)
                )
            inputs = np.concatenate(states, axis=1)
            if config.bidirectional:
                self.arrays[f"encoder/{layer}/both/states"] = inputs

    def _write_cells(
        self,
        place: str,
        cells: nn.Module,
        suffix: str,
        inputs: Array,
        start: Sequence[Array],
        known: Array | None,
    ) -> Array:
        """One layer in one direction, word by word; gives its states. `known`: the network's own."""
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        weight, state_weight, bias, state_bias = (
            as_numbers(getattr(cells, f"{name}_{suffix}")).astype(np.float64) for name in names
        )
        given = inputs.astype(np.float64) @ weight.T + bias  # (word, gates · width)
        kind, order = self.network.config.cell, range(len(inputs))
        state, *memory = (part.astype(np.float64) for part in start)
        rows: dict[str, list[Wide]] = {}
        for word in reversed(order) if suffix.endswith("_reverse") else order:
            made = {"before": state}
            kept = state @ state_weight.T + state_bias
            if kind == "gru":
                made |= _pass_gru(given[word], kept, state)
            else:
                made |= {"memory_before": memory[0]} | _pass_lstm(given[word] + kept, memory[0])
                memory = [made["memory"]]
            if known is not None:
                made["state"] = known[word].astype(np.float64)
            state = made["state"]
            for name, row in made.items():
                rows.setdefault(name, []).append(row)
        for name, found in rows.items():
            ordered = found[::-1] if suffix.endswith("_reverse") else found
            self.arrays[f"{place}/{name}"] = np.stack(ordered).astype(np.float32)
        return self.arrays[f"{place}/state"]


def _pass_gru(given: Wide, kept: Wide, state: Wide) -> dict[str, Wide]:
    """Gates and the next state: h' = (1 - z) n + z h."""
    x, h = np.split(given, 3), np.split(kept, 3)
    reset, update = _sigmoid(x[0] + h[0]), _sigmoid(x[1] + h[1])
    candidate = np.tanh(x[2] + reset * h[2])
    following = (1 - update) * candidate + update * state
    return {"reset": reset, "update": update, "candidate": candidate, "state": following}


def _pass_lstm(summed: Wide, memory: Wide) -> dict[str, Wide]:
    """Gates, the next memory c' = f c + i g, and the next state h' = o tanh(c')."""
    parts = np.split(summed, 4)
    keep, forget, release = (_sigmoid(parts[place]) for place in (0, 1, 3))
    candidate = np.tanh(parts[2])
    following = forget * memory + keep * candidate
    gates = {"keep": keep, "forget": forget, "candidate": candidate, "release": release}
    return {**gates, "memory": following, "state": release * np.tanh(following)}


def _sigmoid(x: Wide) -> Wide:
    return 1 / (1 + np.exp(-x))
