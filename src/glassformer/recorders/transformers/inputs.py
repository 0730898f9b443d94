"""What a model of transformers is given: tensors by the names that it knows, and the tokens behind them.

In:   text, token ids, or the model's own inputs (pixels, sound) as a mapping.
Out:  `ModelInputs`. Text that is too long and ids that the model does not have are refused before it runs.
"""

import inspect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from glassformer.errors import InputError
from glassformer.loaded.reading import IDS, as_array, as_tokens
from glassformer.loaded.transformers import TransformersModel
from glassformer.media import Waveform
from glassformer.messages import Message, message
from glassformer.place import name_term
from glassformer.recorders.maps import Axes
from glassformer.recorders.transformers.layers import Stacks
from glassformer.recorders.transformers.media import MediaNames
from glassformer.recorders.transformers.patches import count_shared
from glassformer.recording import Side, Tokens
from glassformer.text.tokenizer import Encoding

TOKEN_INPUTS = (
    "input_ids",
    "attention_mask",
    "token_type_ids",
    "decoder_input_ids",
    "decoder_attention_mask",
)
TEXTUAL = ("input_ids", "attention_mask", "token_type_ids", "position_ids", "global_attention_mask")
CHECKED = 16  # tokens of a text, for a self-check
WITHOUT_TEXT = ("pixel_values", "input_features", "input_values")  # pictures and sound
ROWS_OF_PATCHES = ("pixel_values", "pixel_values_videos")  # of Qwen-VL: (patch, numbers), not a batch
FEWEST_CHECKED = 8  # shorter texts are repeated to this many tokens, so that causality can be seen


@dataclass(frozen=True, slots=True)
class ModelInputs:
    """The inputs of one forward pass over one text."""

    tensors: Mapping[str, Any]
    source: Tokens | None  # None: not text; positions are counted when the model has run
    target: Tokens | None = None  # what the decoder of an encoder-decoder reads
    heard: Waveform | None = None  # the sound that they were made of, if any

    @property
    def length(self) -> int:
        """Tokens on the longer side; 0 where it is not text."""
        return max(len(side) if side is not None else 0 for side in (self.source, self.target))


class InputBuilder:
    """Prepares inputs for one model."""

    def __init__(self, loaded: TransformersModel) -> None:
        self.loaded = loaded
        self.model: nn.Module = loaded.network
        self.reader = loaded.reader
        self.config: Any = loaded.config
        self.translates = loaded.translates  # whether there is a target side: an encoder and a decoder
        self.names = frozenset(inspect.signature(type(self.model).forward).parameters)

    def check(self, encoding: Encoding, target: Encoding | None = None) -> int:
        """Refuse what `build` would; tokens on the longer side."""
        self._read(encoding, "text")
        if target is not None:
            self._read(target, "target")
        return max(len(encoding), 0 if target is None else len(target))

    def build(self, encoding: Encoding, target: Encoding | None = None) -> ModelInputs:
        """Encodings as tensors; without a target an encoder-decoder cannot run yet."""
        numbers = self._read(encoding, "text")
        ids = self.tensor(numbers)
        tensors: dict[str, Any] = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        if any(encoding.segments) and "token_type_ids" in self.names:
            tensors["token_type_ids"] = self.tensor(as_array(encoding.segments))
        source = as_tokens("source", encoding, numbers)
        if target is None:
            return ModelInputs(tensors, source)
        written = self._read(target, "target")
        tensors["decoder_input_ids"] = self.tensor(written)
        return ModelInputs(tensors, source, as_tokens("target", target, written))

    def build_batch(self, sources: Sequence[Encoding], targets: Sequence[Encoding]) -> dict[str, Tensor]:
        """Several encodings of one length, which `check` has seen, as one batch: each name is sent once."""

        def join(rows: Iterable[tuple[int, ...]]) -> Tensor:
            return torch.from_numpy(np.array(list(rows), dtype=np.int64)).to(self.loaded.device)

        ids = join(each.ids for each in sources)
        tensors = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        if any(sources[0].segments) and "token_type_ids" in self.names:
            tensors["token_type_ids"] = join(each.segments for each in sources)
        if targets:
            tensors["decoder_input_ids"] = join(each.ids for each in targets)
        return tensors

    def build_from_mapping(self, inputs: Mapping[str, Any]) -> ModelInputs:
        """The model's own inputs, a batch of one."""
        tensors = {name: _as_tensor(name, value).to(self.loaded.device) for name, value in inputs.items()}
        self._check_names(tensors)
        target = self._name_ids("target", tensors.get("decoder_input_ids"))
        source = self._name_ids("source", tensors.get("input_ids"))
        return ModelInputs(tensors, source, target, getattr(inputs, "heard", None))

    def _check_names(self, tensors: Mapping[str, Tensor]) -> None:
        """Refuse inputs of which the model takes none, and masks that do not fit their tokens."""
        if not self.names & tensors.keys():
            known = next((name for name in ("input_ids", *WITHOUT_TEXT) if name in self.names), "input_ids")
            seen = tuple(map(str, tensors))
            raise InputError("record.inputs.unknown_names", name=self.loaded.name, seen=seen, known=known)
        for side in ("", "decoder_"):
            ids, mask = tensors.get(f"{side}input_ids"), tensors.get(f"{side}attention_mask")
            if ids is None or mask is None or mask.dim() != 2:
                continue
            name, count = f"{side}attention_mask", mask.shape[1]
            if mask.shape != ids.shape:
                raise InputError("loaded.reading.unequal_lengths", input=name, count=count, ids=ids.shape[-1])
            if not bool(mask.any()):
                raise InputError("record.inputs.all_masked", input=name)

    def complete(self, given: ModelInputs) -> Mapping[str, Any]:
        """Inputs that the model can run on: without a target a decoder reads start tokens."""
        if not self.translates or "decoder_input_ids" in given.tensors:
            return given.tensors
        return {**given.tensors, "decoder_input_ids": self.tensor(as_array([self.find_start()] * 2))}

    def settings(self, want: Collection[str]) -> dict[str, Any]:
        """Other arguments of the forward pass: no cache, and few logits where they are not wanted."""
        settings: dict[str, Any] = {"output_hidden_states": True} if "hidden" in want else {}
        if "use_cache" in self.names:
            settings["use_cache"] = False
        if "logits_to_keep" in self.names and "output" not in want:
            settings["logits_to_keep"] = 1
        return settings

    @contextmanager
    def explaining_lookups(self) -> Iterator[None]:
        """An index that is too large for an embedding is an error for a person to read."""
        try:
            yield
        except (IndexError, RuntimeError) as error:
            if not str(error).startswith("index"):  # of a tensor; everything else is not ours to explain
                raise
            raise InputError("record.inputs.lookup", name=self.loaded.name, reason=str(error)) from error

    @contextmanager
    def explaining_inputs(self, given: ModelInputs) -> Iterator[None]:
        """An error of the model itself, whose inputs are wrong or too few, is one for a person to read."""
        try:
            yield
        except (AttributeError, TypeError, ValueError) as error:
            if not self._fails(given, type(error)):
                raise
            kinds = ("_ids", "pixel_values", "input_values", "_features")
            raise InputError(
                "record.inputs.cannot_run",
                name=self.loaded.name,
                seen=tuple(given.tensors),
                reason=str(error)[:200],
                known=tuple(sorted(name for name in self.names if name.endswith(kinds))),
            ) from error

    def _fails(self, given: ModelInputs, kind: type[Exception]) -> bool:
        """Whether the model by itself raises such an error."""
        try:
            with torch.no_grad():
                self.model(**self.complete(given))
        except kind:
            return True
        return False

    def tell_length(self, given: ModelInputs) -> list[Message]:
        """A note on a text that is longer than the model was trained for."""
        limit = getattr(self.config.get_text_config(), "max_position_embeddings", None)
        if not isinstance(limit, int) or given.length <= limit:
            return []
        return [message("record.inputs.long", count=given.length, limit=limit)]

    def find_axes(
        self, given: ModelInputs, stacks: Stacks, names: tuple[str, ...], media: MediaNames
    ) -> Axes:
        """The tokens on the axes of each stack, and which of them are padding."""
        tokens: dict[str, Tokens] = {}
        real: dict[str, Any] = {}
        source, target = ("encoder", "decoder") if self.translates else (self.find_reader(stacks, names), "")
        for stack, side, mask in (
            (source, given.source, "attention_mask"),
            (target, given.target, "decoder_attention_mask"),
        ):
            if side is not None:
                tokens[stack] = side
            padding = given.tensors.get(mask)
            if padding is not None and padding.dim() == 2:
                real[stack] = padding[0].bool().cpu().numpy()
        paths = {name: path for path, name in stacks.names.items()}
        return Axes(
            tokens,
            real,
            name=lambda stack, count: media.name(paths.get(stack, stack), count),
            refine=media.place,
        )

    def find_reader(self, stacks: Stacks, names: tuple[str, ...]) -> str:
        """The stack that reads text: of several, the one nearest to the token embedding."""
        if len(names) == 1:
            return names[0]
        if stacks.encoder is not None and "encoder" in names:  # SpeechT5, whose decoder reads sound
            return "encoder"
        embedding = self.loaded.find_embedding()[0]
        nearest = max(stacks.names, key=lambda path: count_shared(path, embedding), default="")
        return stacks.names.get(nearest, "")

    def find_start(self) -> int:
        """The token that a decoder is given before the first word."""
        start = self.loaded.start_id
        if start is None:
            raise InputError("record.inputs.no_start", name=self.loaded.name)
        return start

    def name_source(self, ids: tuple[int, ...]) -> Tokens:
        """Ids that were read and written, as tokens."""
        self._check(as_array(ids), "text")
        return as_tokens("source", self.reader.recognise(ids, target=False))

    def name_target(self, ids: tuple[int, ...]) -> Tokens:
        """Ids that a decoder wrote, behind the one it started with, as tokens."""
        self._check(as_array(ids), "target")
        return as_tokens("target", self.reader.prepend(ids[0], self.reader.recognise(ids[1:], target=True)))

    def tensor(self, ids: NDArray[np.int64]) -> Tensor:
        """A batch of one, which the model may change."""
        return torch.from_numpy(ids[None].copy()).to(self.loaded.device)

    def _name_ids(self, side: Side, ids: Tensor | None) -> Tokens | None:
        if ids is None:
            return None
        numbers = tuple(ids[0].tolist())
        self._check(as_array(numbers), "text")
        return as_tokens(side, self.reader.read(numbers))

    def _read(self, encoding: Encoding, side: str) -> NDArray[np.int64]:
        """The ids of a side; refuses those that the model does not know."""
        if "input_ids" not in self.names and self.names & set(WITHOUT_TEXT):
            known = next(name for name in WITHOUT_TEXT if name in self.names)
            raise InputError("record.inputs.reads_no_text", name=self.loaded.name, known=known)
        ids = as_array(encoding.ids)
        self._check(ids, side)
        return ids

    def _check(self, ids: NDArray[np.int64], side: str) -> None:
        if len(ids) == 0:
            raise InputError("record.inputs.empty", side=name_term(side))
        size = getattr(self.loaded.find_embedding()[1], "num_embeddings", None)
        wrong = ids[(ids < 0) | (ids >= (IDS.stop if size is None else size))]
        if len(wrong) > 0:
            raise InputError(
                "record.inputs.unknown_id", id=int(wrong[0]), name=self.loaded.name, size=size or IDS.stop
            )
        limit = self.loaded.limit
        if limit is not None and len(ids) > limit:
            raise InputError(
                "record.inputs.too_long",
                side=name_term(side),
                count=len(ids),
                name=self.loaded.name,
                limit=limit,
            )


def shorten(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """A few real tokens of each side; inputs that are not text stay whole."""
    short = dict(inputs)
    if any(name.removeprefix("decoder_") not in TEXTUAL for name in inputs):
        return short
    for side in ("", "decoder_"):
        ids, mask = inputs.get(f"{side}input_ids"), inputs.get(f"{side}attention_mask")
        if ids is None or (mask is not None and mask.dim() != 2):
            continue
        real = torch.arange(ids.shape[1]) if mask is None else mask[0].cpu().nonzero()[:, 0]
        count = min(max(len(real), FEWEST_CHECKED), CHECKED)
        chosen = real[torch.arange(count) % len(real)].to(ids.device)
        names = [f"{side}{name}" for name in TEXTUAL]
        short |= {name: inputs[name][:, chosen] for name in names if inputs.get(name) is not None}
    return short


def _as_tensor(name: str, value: Any) -> Tensor:
    """An input as a batch of one; token ids may come as a list and without the axis of the batch."""
    try:
        tensor = torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError("record.inputs.not_a_tensor", input=name, kind=type(value).__name__) from error
    if name in TOKEN_INPUTS and tensor.dim() == 1:
        tensor = tensor[None]
    rows = name in ROWS_OF_PATCHES and tensor.dim() == 2
    if not rows and (tensor.dim() == 0 or tensor.shape[0] != 1):
        raise InputError("record.inputs.not_one_row", input=name, shape=str(tuple(tensor.shape)))
    if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
        raise InputError("record.inputs.not_finite", input=name)
    return tensor
