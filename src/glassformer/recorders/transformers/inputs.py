"""What a model of transformers is given: tensors by the names that it knows, and the tokens behind them.

In:   text, token ids, or the model's own inputs (pixels, sound) as a mapping of tensors.
Out:  `Given`. Text that is too long and ids that the model does not have are refused before it runs.
"""

import inspect
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from glassformer.errors import InputError
from glassformer.recorders.maps import Axes
from glassformer.recorders.reading import IDS, Reader, as_array, as_tokens
from glassformer.recorders.transformers.layers import Stacks
from glassformer.recording import Tokens
from glassformer.text.tokenizer import Encoding

LABELS = {"pixel_values": "patch", "input_features": "frame", "input_values": "frame"}


@dataclass(frozen=True, slots=True)
class Given:
    """The inputs of one forward pass over one text."""

    tensors: Mapping[str, Any]
    source: Tokens | None  # None: not text; positions are counted when the model has run
    target: Tokens | None = None  # what the decoder of an encoder-decoder reads

    @property
    def label(self) -> str:
        """What a position is called that is no token."""
        return next((label for name, label in LABELS.items() if name in self.tensors), "position")

    @property
    def length(self) -> int:
        """Tokens on the longer side; 0 where it is not text."""
        return max(len(side) if side is not None else 0 for side in (self.source, self.target))


class Giver:
    """Prepares inputs for one model."""

    def __init__(self, model: nn.Module, reader: Reader) -> None:
        self.model = model
        self.reader = reader
        self.config: Any = model.config
        self.words = frozenset(inspect.signature(type(model).forward).parameters)

    @property
    def translates(self) -> bool:
        """Whether there is a target side: an encoder and a decoder."""
        return bool(getattr(self.config, "is_encoder_decoder", False))

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    def give(self, encoding: Encoding, target: Encoding | None = None) -> Given:
        """Encodings as tensors; without a target an encoder-decoder cannot run yet."""
        numbers = as_array(encoding.ids)
        self._check(numbers, "text")
        ids = self.tensor(numbers)
        tensors: dict[str, Any] = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        if any(encoding.segments) and "token_type_ids" in self.words:
            tensors["token_type_ids"] = self.tensor(as_array(encoding.segments))
        if target is None:
            return Given(tensors, as_tokens("source", encoding, numbers))
        written = as_array(target.ids)
        self._check(written, "target")
        tensors["decoder_input_ids"] = self.tensor(written)
        source = as_tokens("source", encoding, numbers)
        return Given(tensors, source, as_tokens("target", target, written))

    def give_mapping(self, inputs: Mapping[str, Any]) -> Given:
        """The model's own inputs, a batch of one."""
        tensors = dict(inputs)
        for name, value in tensors.items():
            if not isinstance(value, Tensor):
                raise InputError(f"The input {name} is a {type(value).__name__}; give a tensor (batch, …).")
            if value.dim() == 0 or value.shape[0] != 1:
                raise InputError(
                    f"The input {name} has the shape {tuple(value.shape)}; a recording is of one text or "
                    "image. Give a batch of one."
                )
            if value.is_floating_point() and not bool(value.isfinite().all()):
                raise InputError(f"The input {name} holds NaN or infinity; give finite numbers.")
            tensors[name] = value.to(self.device)
        self._check_names(tensors)
        source, target = (self._name_ids(tensors.get(name)) for name in ("input_ids", "decoder_input_ids"))
        return Given(
            tensors,
            None if source is None else as_tokens("source", source),
            None if target is None else as_tokens("target", target),
        )

    def _check_names(self, tensors: Mapping[str, Tensor]) -> None:
        """Refuse inputs of which the model takes none, and masks that do not fit their tokens."""
        if not self.words & tensors.keys():
            known = next((name for name in ("input_ids", *LABELS) if name in self.words), "input_ids")
            seen = ", ".join(map(str, tensors)) or "there are none"
            raise InputError(
                f"{self.reader.name} takes none of the inputs ({seen}); name them as its forward does, "
                f"as {known}."
            )
        for side in ("", "decoder_"):
            ids, mask = tensors.get(f"{side}input_ids"), tensors.get(f"{side}attention_mask")
            if ids is None or mask is None or mask.dim() != 2:
                continue
            if mask.shape != ids.shape:
                raise InputError(
                    f"The {side}attention_mask is for {mask.shape[1]} tokens, and there are {ids.shape[-1]}; "
                    "give one number for each."
                )
            if not bool(mask.any()):
                raise InputError(f"The {side}attention_mask hides every token; let at least one be seen.")

    def complete(self, given: Given) -> Mapping[str, Any]:
        """Inputs that the model can run on: without a target a decoder reads starts."""
        if not self.translates or "decoder_input_ids" in given.tensors:
            return given.tensors
        return {**given.tensors, "decoder_input_ids": self.tensor(as_array([self.find_start()] * 2))}

    def settings(self, want: Collection[str]) -> dict[str, Any]:
        """What else the forward pass is told: no cache, and few logits where nobody wants them."""
        words: dict[str, Any] = {"output_hidden_states": True} if "hidden" in want else {}
        if "use_cache" in self.words:
            words["use_cache"] = False
        if "logits_to_keep" in self.words and "output" not in want:
            words["logits_to_keep"] = 1
        return words

    @contextmanager
    def looking_up(self) -> Iterator[None]:
        """A table that is too small for a text is an error for a person to read."""
        try:
            yield
        except (IndexError, RuntimeError) as error:
            if not str(error).startswith("index"):  # of a tensor; all else is not ours to explain
                raise
            raise InputError(
                f"{self.reader.name} could not look something up ({error}): the text has more tokens than it "
                "has positions. Shorten the text, or ask for fewer words."
            ) from error

    def tell_length(self, given: Given) -> list[str]:
        """A note on a text that is longer than the model was made for, although it can read on."""
        limit = getattr(self.config.get_text_config(), "max_position_embeddings", None)
        if not isinstance(limit, int) or given.length <= limit:
            return []
        return [f"the text has {given.length} tokens, and the model was made for {limit}"]

    def find_axes(self, given: Given, stacks: Stacks, names: tuple[str, ...]) -> Axes:
        """Which tokens stand on the axes of which stack, and which of them are padding."""
        tokens: dict[str, Tokens] = {}
        real: dict[str, Any] = {}
        source, target = ("encoder", "decoder") if self.translates else (self._find_reader(stacks, names), "")
        for stack, side, mask in (
            (source, given.source, "attention_mask"),
            (target, given.target, "decoder_attention_mask"),
        ):
            if side is not None:
                tokens[stack] = side
            padding = given.tensors.get(mask)
            if padding is not None and padding.dim() == 2:
                real[stack] = padding[0].bool().cpu().numpy()
        return Axes(tokens, real, label=given.label)

    def _find_reader(self, stacks: Stacks, names: tuple[str, ...]) -> str:
        """The stack that reads text: of several, the one in whose part of the model the table of words is."""
        if len(names) == 1:
            return names[0]
        part = self.find_table()[0].split(".")[0]
        return next((name for path, name in stacks.names.items() if path.split(".")[0] == part), "")

    def begin_target(self, encoding: Encoding) -> Encoding:
        """What a decoder reads for this target: its first token is the one that every target starts with."""
        return self.reader.prepend(self.find_start(), encoding)

    def find_start(self) -> int:
        """The token that a decoder is given before the first word."""
        generation = getattr(self.model, "generation_config", None)
        for name in ("decoder_start_token_id", "bos_token_id"):
            for config in (generation, self.config, getattr(self.config, "decoder", None)):
                found = getattr(config, name, None)
                if isinstance(found, int):
                    return found
        raise InputError(
            f"The configuration of {self.reader.name} names no decoder_start_token_id; set it, or give "
            "decoder_input_ids in a mapping."
        )

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
        return torch.from_numpy(ids[None].copy()).to(self.device)

    def _name_ids(self, ids: Tensor | None) -> Encoding | None:
        if ids is None:
            return None
        numbers = tuple(ids[0].tolist())
        self._check(as_array(numbers), "text")
        return self.reader.read(numbers)

    def _check(self, ids: NDArray[np.int64], side: str) -> None:
        if len(ids) == 0:
            raise InputError(f"The {side} is empty; give at least one token.")
        size = getattr(self.find_table()[1], "num_embeddings", None)
        wrong = ids[(ids < 0) | (ids >= (IDS.stop if size is None else size))]
        if len(wrong) > 0:
            raise InputError(
                f"Token id {wrong[0]} is not in the vocabulary of {self.reader.name}, which has {size}. "
                "Does this tokenizer belong to this model?"
            )
        limit = self.find_limit()
        if limit is not None and len(ids) > limit:
            raise InputError(
                f"The {side} has {len(ids)} tokens, but {self.reader.name} has positions for {limit}; "
                "shorten it."
            )

    def find_limit(self) -> int | None:
        """The longest text in tokens; None where positions can be counted on (rotary, relative)."""
        config = self.config.get_text_config()
        if getattr(config, "rope_parameters", None) or getattr(config, "rope_theta", None):
            return None
        limit = getattr(config, "max_position_embeddings", None)
        return limit if isinstance(limit, int) and limit > 0 else None

    def find_table(self) -> tuple[str, nn.Module | None]:
        """The table of words that the model reads text with, and its path; None where it reads none."""
        config = self.config.get_text_config()
        try:
            table = self.model.get_input_embeddings()  # type: ignore[operator]
        except (AttributeError, NotImplementedError):  # a model of several parts may not say
            size = getattr(config, "vocab_size", None)
            tables = (each for each in self.model.modules() if isinstance(each, nn.Embedding))
            table = next((each for each in tables if each.num_embeddings == size), None)
        return next((name for name, each in self.model.named_modules() if each is table), ""), table
