"""Our own networks as loaded models.

In:   a Transformer or a recurrent translator with its tokenizer, or a folder of one.
Out:  `NativeModel`.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from glassformer.config import INSIDE_ATTENTION, Head, ModelConfig, Reads, Shape
from glassformer.errors import InputError
from glassformer.loaded.model import Capability, LoadedModel, in_order
from glassformer.loaded.perceiving import Percept, perceive
from glassformer.model.generate import at_inference, generate, stream
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.hypotheses import Generated, Hypothesis
from glassformer.model.int8 import is_int8
from glassformer.model.lanes import run_in_lanes
from glassformer.model.prompt import pad_left
from glassformer.model.recurrent import Network as Network
from glassformer.model.transformer import Transformer
from glassformer.text.batches import BatchSettings, plan_batches
from glassformer.text.opening import open_tokenizer
from glassformer.text.sequences import pad_rows
from glassformer.weights.checkpoint import open_checkpoint

BATCH_TOKENS = 8192  # of a batch, times beams
LANE_TOKENS = 4096  # the same of batches that are generated side by side
LANES_TOKENS = 16_384  # of all of these at a time: each keeps keys and values of its own in memory


def open_native(folder: Path, name: str) -> "NativeModel":
    """The model of a folder, with the tokenizer, labels and generation settings that it brings."""
    checkpoint = open_checkpoint(folder)
    tokenizer = None if checkpoint.tokenizer is None else open_tokenizer(checkpoint.tokenizer)
    return NativeModel(
        checkpoint.network, tokenizer, name=name, generation=checkpoint.generation, labels=checkpoint.labels
    )


def find_transformer(model: LoadedModel) -> Transformer | None:
    """The Transformer of ours inside a loaded model, for what computes with its parts; None: none."""
    return model.network if isinstance(model.network, Transformer) else None


class NativeModel(LoadedModel):
    """One of our networks."""

    library = "native"
    network: Network

    def describe(self) -> str:
        config, size = self.network.config, f"{self.millions:.1f}M parameters"
        if not isinstance(config, ModelConfig):
            return f"recurrent, {config.context} context, width {config.width}, {size}"
        layers = "+".join(map(str, config.depth.values()))
        shape = config.shape if config.reads == "text" else f"{config.shape} of {config.reads}s"
        return f"{shape}, {layers} layers, {config.heads} heads, width {config.width}, {size}"

    @property
    def shape(self) -> Shape:
        config = self.network.config
        return config.shape if isinstance(config, ModelConfig) else "encoder-decoder"

    @property
    def head(self) -> Head:
        config = self.network.config
        return config.head if isinstance(config, ModelConfig) else "language"

    @property
    def reads(self) -> Reads:
        config = self.network.config
        return config.reads if isinstance(config, ModelConfig) else "text"

    @property
    def limit(self) -> int | None:
        config = self.network.config
        unlimited = isinstance(config, ModelConfig) and config.positions in INSIDE_ATTENTION
        return None if unlimited else config.max_length

    @property
    def vocabulary_size(self) -> int | None:
        return self.network.config.vocabulary_size or None

    @property
    def start_id(self) -> int | None:
        return self.network.config.start_id

    @property
    def end_ids(self) -> frozenset[int]:
        end = self.network.config.end_id
        return frozenset() if end is None else frozenset({end})

    @property
    def special_ids(self) -> frozenset[int]:
        config = self.network.config
        if not config.vocabulary_size:
            return frozenset()
        ids = (config.padding_id, config.start_id, config.end_id)
        return frozenset(each for each in ids if each is not None)

    @property
    def traces(self) -> bool:
        return not is_int8(self.network)

    @property
    def capabilities(self) -> frozenset[Capability]:
        return super().capabilities - ({"gradients"} if is_int8(self.network) else frozenset())

    def require(self, *capabilities: Capability) -> None:
        if not {"traces", "gradients"}.isdisjoint(capabilities) and is_int8(self.network):
            raise InputError("loaded.int8_cannot", name=self.name)
        super().require(*capabilities)

    def perceive(self, inputs: Any) -> Percept:
        if self.reads == "text":
            return super().perceive(inputs)
        return perceive(self._require_transformer().config, inputs, self.name)

    def write_words(
        self,
        percepts: Sequence[Percept],
        settings: GenerationSettings | None = None,
        target_language: str | None = None,
    ) -> list[tuple[Hypothesis, ...]]:
        settings = settings or self.generation
        found: dict[int, tuple[Hypothesis, ...]] = {}
        first = self.begin_target(target_language)
        for places in _plan(percepts, BATCH_TOKENS // settings.beams):
            inputs, real = pad_percepts([percepts[place] for place in places])
            start = torch.tensor([[self.start_id, *first]] * len(places)) if first else None
            answers = generate(
                self.network,
                inputs.to(self.device),
                None if real is None else real.to(self.device),
                settings,
                None if start is None else start.to(self.device),
            )
            found |= zip(places, (each.n_best for each in answers), strict=True)
        return in_order(found)

    def generate(
        self, prompts: Sequence[Sequence[int]], settings: GenerationSettings | None = None
    ) -> list[tuple[Hypothesis, ...]]:
        settings = settings or self.generation

        def run(places: list[int]) -> list[Generated]:
            ids, real = pad_left([prompts[place] for place in places], self.network.config.padding_id)
            known = None if bool(real.all()) else real.to(self.device)
            return generate(self.network, ids.to(self.device), known, settings)

        # Sampled batches run one after the other: what is drawn depends on what was drawn before.
        in_lanes = self.device.type == "cpu" and not settings.sample
        tokens = min(LANE_TOKENS, LANES_TOKENS // torch.get_num_threads()) if in_lanes else BATCH_TOKENS
        plan = [*_plan(prompts, tokens // settings.beams)]
        if in_lanes:
            plan.sort(key=lambda places: -sum(len(prompts[place]) for place in places))  # longest first
            answers = run_in_lanes(self.network, run, plan)
        else:
            answers = [run(places) for places in plan]
        found: dict[int, tuple[Hypothesis, ...]] = {}
        for places, each in zip(plan, answers, strict=True):
            found |= zip(places, (one.n_best for one in each), strict=True)
        return in_order(found)

    def stream(
        self, prompt: Sequence[int], settings: GenerationSettings | None = None
    ) -> Iterator[list[int]]:
        settings = settings or self.generation
        for nodes in stream(self.network, torch.tensor([list(prompt)], device=self.device), None, settings):
            yield [node.token for node in nodes]

    def classify_percepts(self, percepts: Sequence[Percept]) -> list[list[float]]:
        return [logits.softmax(-1).tolist() for logits in self._logits(percepts)]

    def classify(self, rows: Sequence[Sequence[int]]) -> list[list[float]]:
        return [logits.softmax(-1).tolist() for logits in self._logits(rows)]

    def tag(self, rows: Sequence[Sequence[int]]) -> list[Tensor]:
        found = zip(self._logits(rows), rows, strict=True)
        return [logits[: len(row)].softmax(-1) for logits, row in found]

    def predict_numbers(self, rows: Sequence[Sequence[int]]) -> list[list[float]]:
        return [numbers.tolist() for numbers in self._outputs(rows)]

    def _logits(self, rows: Sequence[Sequence[int] | Percept]) -> list[Tensor]:
        return [logits.float() for logits in self._outputs(rows)]

    def _outputs(self, rows: Sequence[Sequence[int] | Percept]) -> list[Tensor]:
        """For each row what the head makes of its text; of tokens that were padded, too."""
        found: dict[int, Tensor] = {}
        network = self._require_transformer()
        with at_inference(network):
            for places, hidden, real in self._encode(network, rows):
                found |= zip(places, network.logits(hidden, real).cpu(), strict=True)
        return in_order(found)

    def fill(self, rows: Sequence[Sequence[int]], gaps: Sequence[Sequence[int]]) -> list[Tensor]:
        found: dict[int, Tensor] = {}
        network = self._require_transformer()
        with at_inference(network):
            for places, hidden, _ in self._encode(network, rows):
                for row, place in enumerate(places):
                    found[place] = network.logits(hidden[row, list(gaps[place])]).float().cpu()
        return in_order(found)

    def _require_transformer(self) -> Transformer:
        if not isinstance(self.network, Transformer):
            raise InputError("loaded.recurrent_only_translates", name=self.name)
        return self.network

    def _encode(
        self, network: Transformer, rows: Sequence[Sequence[int] | Percept]
    ) -> Iterator[tuple[list[int], Tensor, Tensor | None]]:
        """Rows of similar length together: which ones, hidden states (B, S, D), and where they are real."""
        for places in _plan(rows, BATCH_TOKENS):
            chosen = [rows[place] for place in places]
            percepts = [row for row in chosen if isinstance(row, Percept)]
            ids, real = (
                pad_percepts(percepts)
                if percepts
                else pad_rows(
                    [row for row in chosen if not isinstance(row, Percept)], network.config.padding_id
                )
            )
            real = None if real is None else real.to(self.device)
            read = network.encode if network.decoder is None else network.decode
            yield places, read(ids.to(self.device), real), real


def _plan(rows: Sequence[Sequence[int] | Percept], tokens: int) -> Iterator[list[int]]:
    """Rows of similar length together, as many as make so many tokens."""
    if not rows:
        return
    lengths = np.array([len(row) for row in rows])
    budget = max(tokens, int(lengths.max()))
    for batch in plan_batches(lengths, BatchSettings(tokens=budget, shuffle=False)):
        yield batch.tolist()


def pad_percepts(percepts: Sequence[Percept]) -> tuple[Tensor, Tensor | None]:
    """Pictures of one size, or sounds of any length, as one batch: inputs, and which tokens are real."""
    arrays = [each.inputs for each in percepts if each.inputs is not None]
    counts = torch.tensor([len(each) for each in percepts])
    if len({array.shape for array in arrays}) == 1:
        return torch.from_numpy(np.stack(arrays)), None
    padded = np.zeros((len(arrays), max(map(len, arrays))), np.float32)
    for row, array in zip(padded, arrays, strict=True):
        row[: len(array)] = array
    return torch.from_numpy(padded), torch.arange(int(counts.max())) < counts[:, None]
