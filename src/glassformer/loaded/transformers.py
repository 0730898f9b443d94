"""Models of transformers as loaded models.

In:   a live model with its tokenizer, or a folder with `config.json` and weights in safetensors; pickles and
      code from a folder are refused.
Out:  `TransformersModel`.
"""

import inspect
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from glassformer.config import Head, Shape
from glassformer.errors import CheckpointError, ConfigurationError, InputError
from glassformer.loaded.model import Capability, LoadedModel, in_order
from glassformer.loaded.processor import Processor, open_processor, split_processor
from glassformer.loaded.streaming import Streamer, stream_tokens
from glassformer.messages import Message, message
from glassformer.model.generate import GREEDY
from glassformer.model.generation_settings import TRANSFORMERS_NAMES, GenerationSettings
from glassformer.model.hypotheses import Hypothesis
from glassformer.text.opening import open_tokenizer

MOST_NEW = 128  # tokens where neither the settings nor the model say
DEFAULT_LENGTH = 20  # older transformers: the max_length of a model that says nothing
BATCH_ROWS = 16  # texts of a batch, times beams: the scores of every step are kept


def open_pretrained(folder: str | Path, name: str | None = None) -> "TransformersModel":
    """The model of a folder, of the architecture that its configuration names, and its tokenizer if any."""
    import transformers

    folder = Path(folder)
    try:
        config = transformers.AutoConfig.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
        named = (config.architectures or [None])[0]
        kind: Any = getattr(transformers, named or "", transformers.AutoModel)
        with _quiet():
            model, report = kind.from_pretrained(
                folder,
                local_files_only=True,
                use_safetensors=True,
                dtype=torch.float32,
                output_loading_info=True,
            )
    except Exception as error:  # whatever transformers raises: a missing file, an unknown architecture
        raise CheckpointError("loaded.folder.unreadable", folder=str(folder), reason=str(error)) from error
    try:
        tokenizer = open_tokenizer(folder)
    except CheckpointError:
        tokenizer = None  # it still reads token ids, or pixels and sound
    notes = _check_missing(sorted(report["missing_keys"]), folder)
    processor, name = open_processor(folder), name or folder.resolve().name
    return TransformersModel(model.eval(), tokenizer, name=name, notes=notes, processor=processor)


class TransformersModel(LoadedModel):
    """A model of transformers, as it is."""

    library = "transformers"
    packages = ("torch", "transformers", "numpy")
    takes_named_inputs = True

    def __init__(
        self,
        network: nn.Module,
        tokenizer: Any = None,
        *,
        name: str | None = None,
        notes: Sequence[Message] = (),
        processor: Processor | None = None,
    ) -> None:
        """Instead of a tokenizer a processor of transformers may be given, which may have one."""
        tokenizer, found = split_processor(tokenizer)
        super().__init__(network, tokenizer, name=name, notes=notes)
        self.processor = processor or found  # of pictures and sounds
        self._model: Any = network  # the same, with what transformers adds to a module
        self.config: Any = network.config
        self.generation = self._find_generation()
        labels = getattr(self.config, "id2label", None) or {}
        self.labels = tuple(str(labels[number]) for number in sorted(labels))

    def describe(self) -> str:
        return f"{type(self.network).__name__}, {self.millions:.1f}M parameters"

    @property
    def translates(self) -> bool:
        """Whether there is a target side: an encoder, and a decoder that reads tokens (not DETR's)."""
        names = inspect.signature(type(self.network).forward).parameters
        return bool(getattr(self.config, "is_encoder_decoder", False)) and "decoder_input_ids" in names

    @property
    def shape(self) -> Shape:
        if self.translates:
            return "encoder-decoder"
        return "decoder" if self.can_generate else "encoder"

    @property
    def capabilities(self) -> frozenset[Capability]:
        """As of any model; it looks or listens where its processor does and no text is wanted beside it."""
        names = set(inspect.signature(type(self.network).forward).parameters)
        found: set[Capability] = set()
        if "input_ids" not in names:
            if self.processor.images is not None and "pixel_values" in names:
                found.add("reads_pictures")
            elif self.processor.sounds is not None and names & {"input_features", "input_values"}:
                found.add("hears")
        return (super().capabilities - {"reads_text"} if found else super().capabilities) | found

    @property
    def can_generate(self) -> bool:
        """Whether transformers' `generate` works with it."""
        return bool(self._model.can_generate())

    @cached_property
    def head(self) -> Head:
        from transformers.models.auto import modeling_auto

        names = {base.__name__ for base in type(self.network).__mro__}
        if names & set(modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES.values()) and not self.can_generate:
            return "masked"
        of_media = (
            modeling_auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES,
            modeling_auto.MODEL_FOR_AUDIO_CLASSIFICATION_MAPPING_NAMES,
        )
        if any(names & set(_flatten(mapping.values())) for mapping in of_media):
            return "classes"
        if names & set(modeling_auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES.values()):
            problem = getattr(self.config, "problem_type", None)
            if problem == "regression" or (problem is None and self.config.num_labels == 1):
                return "numbers"
            return "classes" if problem in (None, "single_label_classification") else "none"
        if names & set(modeling_auto.MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES.values()):
            return "tags"
        return "language" if self.can_generate else "none"

    @property
    def limit(self) -> int | None:
        """None where positions can be counted on (rotary, relative)."""
        config = self.config.get_text_config()
        if getattr(config, "rope_parameters", None) or getattr(config, "rope_theta", None):
            return None
        named = (getattr(config, f"max_{each}", None) for each in ("position_embeddings", "target_positions"))
        return next((limit for limit in named if isinstance(limit, int) and limit > 0), None)

    @property
    def vocabulary_size(self) -> int | None:
        size = getattr(self.config.get_text_config(), "vocab_size", None)
        return size if isinstance(size, int) and size > 0 else None

    @property
    def start_id(self) -> int | None:
        generation = getattr(self.network, "generation_config", None)
        for name in ("decoder_start_token_id", "bos_token_id"):
            for config in (generation, self.config, getattr(self.config, "decoder", None)):
                found = getattr(config, name, None)
                if isinstance(found, int):
                    return found
        return None

    @property
    def end_ids(self) -> frozenset[int]:
        ends = getattr(getattr(self.network, "generation_config", None), "eos_token_id", None)
        return frozenset({ends} if isinstance(ends, int) else ends or ())

    @property
    def special_ids(self) -> frozenset[int]:
        config = self.config.get_text_config()
        ids = [getattr(config, name, None) for name in ("pad_token_id", "bos_token_id")]
        return self.end_ids | {each for each in ids if isinstance(each, int)}

    def find_embedding(self) -> tuple[str, nn.Module | None]:
        """The token embedding that the model reads text with, and its path; None where it reads no text."""
        try:
            table = self._model.get_input_embeddings()
        except (AttributeError, NotImplementedError):  # a model of several parts may not say
            tables = (each for each in self.network.modules() if isinstance(each, nn.Embedding))
            table = next((each for each in tables if each.num_embeddings == self.vocabulary_size), None)
        return next((name for name, each in self.network.named_modules() if each is table), ""), table

    def generation_arguments(self, settings: GenerationSettings | None, prompt: int) -> dict[str, Any]:
        """Arguments of transformers' `generate` for a prompt of so many tokens; None: the model's own."""
        own = self._model.generation_config
        room = self._find_room(prompt)
        arguments: dict[str, Any] = {"return_dict_in_generate": True, "output_scores": True}
        if own.pad_token_id is None:
            arguments["pad_token_id"] = min(self.end_ids) if self.end_ids else 0
        if settings is None:
            if own.max_new_tokens is None and own.max_length in (None, DEFAULT_LENGTH):
                arguments["max_new_tokens"] = min(MOST_NEW, room or MOST_NEW)
            beams = own.num_beams or 1
            return arguments | {
                "num_beams": beams,
                "num_return_sequences": beams,
                "do_sample": bool(own.do_sample),
            }
        if settings.ctc:
            raise InputError("model.ctc_without_sound")
        arguments |= {theirs: getattr(settings, name) for theirs, name in TRANSFORMERS_NAMES.items()}
        arguments |= {
            "max_new_tokens": min(settings.max_new_tokens, room or settings.max_new_tokens),
            "min_new_tokens": settings.min_new_tokens or None,
            "num_return_sequences": settings.beams,
            "early_stopping": settings.early_stopping,
            "top_k": settings.top_k or 0,
            "use_cache": settings.cache,
        }
        if settings.forbidden:
            arguments["suppress_tokens"] = [*(own.suppress_tokens or ()), *settings.forbidden]
        unused = [] if settings.sample else ["temperature", "top_k", "top_p"]  # transformers would warn
        unused += [] if settings.beams > 1 else ["length_penalty", "early_stopping"]
        return {name: value for name, value in arguments.items() if name not in unused}

    def generate(
        self, prompts: Sequence[Sequence[int]], settings: GenerationSettings | None = None
    ) -> list[tuple[Hypothesis, ...]]:
        if not self.can_generate:
            raise InputError("loaded.cannot_generate", name=self.name)
        found: dict[int, tuple[Hypothesis, ...]] = {}
        beams = (settings or self.generation).beams
        for places, ids in self._group(prompts, max(1, BATCH_ROWS // beams)):
            found |= zip(places, self._generate(ids, settings), strict=True)
        return in_order(found)

    def stream(
        self, prompt: Sequence[int], settings: GenerationSettings | None = None
    ) -> Iterator[list[int]]:
        if (settings or self.generation).beams > 1:  # known at the end only
            yield from super().stream(prompt, settings)
            return
        ids = self._tensor([prompt])
        arguments = self.generation_arguments(settings, len(prompt)) | {"output_scores": False}

        def run(streamer: Streamer) -> None:
            with evaluating(self.network), seeded(settings):
                self._model.generate(ids, attention_mask=torch.ones_like(ids), streamer=streamer, **arguments)

        yield from stream_tokens(run)

    def classify(self, rows: Sequence[Sequence[int]]) -> list[list[float]]:
        found: dict[int, list[float]] = {}
        for places, logits in self._run(rows):
            found |= zip(places, logits.float().softmax(-1).tolist(), strict=True)
        return in_order(found)

    def tag(self, rows: Sequence[Sequence[int]]) -> list[Tensor]:
        found: dict[int, Tensor] = {}
        for places, logits in self._run(rows):
            found |= zip(places, logits.float().softmax(-1).cpu(), strict=True)
        return in_order(found)

    def predict_numbers(self, rows: Sequence[Sequence[int]]) -> list[list[float]]:
        found: dict[int, list[float]] = {}
        for places, numbers in self._run(rows):
            found |= zip(places, numbers.float().tolist(), strict=True)
        return in_order(found)

    def fill(self, rows: Sequence[Sequence[int]], gaps: Sequence[Sequence[int]]) -> list[Tensor]:
        found: dict[int, Tensor] = {}
        for places, logits in self._run(rows):
            for place, row in zip(places, logits, strict=True):
                found[place] = row[list(gaps[place])].float().cpu()
        return in_order(found)

    def _run(self, rows: Sequence[Sequence[int]]) -> Iterator[tuple[list[int], Tensor]]:
        """Rows of the same length together: which ones, and their logits."""
        for places, ids in self._group(rows, BATCH_ROWS):
            with evaluating(self.network):
                yield places, self._model(ids, attention_mask=torch.ones_like(ids), return_dict=True).logits

    def _generate(self, ids: Tensor, settings: GenerationSettings | None) -> list[tuple[Hypothesis, ...]]:
        """Answers to prompts (row, token) of one length."""
        arguments = self.generation_arguments(settings, ids.shape[1])
        mask = torch.ones_like(ids)
        with evaluating(self.network), seeded(settings):
            result = self._model.generate(ids, attention_mask=mask, **arguments)
            beams = getattr(result, "beam_indices", None)
            logarithms = self._model.compute_transition_scores(
                result.sequences, result.scores, beams, normalize_logits=beams is None
            )
        new = result.sequences[:, -logarithms.shape[1] :].tolist()
        penalty = (settings or self.generation).length_penalty
        found = [
            self._read_hypothesis(tokens, values, penalty)
            for tokens, values in zip(new, logarithms.float().tolist(), strict=True)
        ]
        each = len(found) // len(ids)
        wanted = each if settings is None else settings.n_best
        return [tuple(found[row * each : row * each + wanted]) for row in range(len(ids))]

    def _read_hypothesis(self, tokens: list[int], logarithms: list[float], penalty: float) -> Hypothesis:
        count = next((place + 1 for place, token in enumerate(tokens) if token in self.end_ids), len(tokens))
        ended = tokens[count - 1] in self.end_ids
        score = sum(logarithms[:count]) / max(count, 1) ** penalty
        return Hypothesis(
            tuple(tokens[:count]), tuple(logarithms[:count]), (), score, "end" if ended else "length"
        )

    def _find_room(self, prompt: int) -> int | None:
        """How many tokens there are positions for; None: as many as one likes."""
        if self.limit is None:
            return None
        room = self.limit - (1 if self.translates else prompt)
        if room < 1:
            raise InputError("loaded.prompt_fills_positions", limit=self.limit, name=self.name)
        return room

    def _find_generation(self) -> GenerationSettings:
        """The model's own way to generate as settings; what these cannot say, `generate` still does."""
        own = getattr(self.network, "generation_config", None)
        if own is None or not self.can_generate:
            return GREEDY
        names = ("num_beams", "do_sample", "temperature", "top_k", "top_p", "length_penalty")
        values = {name: getattr(own, name, None) for name in (*names, "max_new_tokens", "min_new_tokens")}
        if values["max_new_tokens"] is None and own.max_length not in (None, DEFAULT_LENGTH):
            values["max_new_tokens"] = max(1, own.max_length - 1)
        if (values["num_beams"] or 1) > 1:
            values["do_sample"] = False
        try:
            return GenerationSettings.from_mapping({name: each for name, each in values.items() if each})
        except ConfigurationError:  # settings that belong to other ways to generate
            return GREEDY

    def _group(self, rows: Sequence[Sequence[int]], most: int) -> Iterator[tuple[list[int], Tensor]]:
        """Rows of the same length together, at most so many: no architecture needs to know about padding."""
        by_length = sorted(range(len(rows)), key=lambda place: len(rows[place]))
        for _, group in groupby(by_length, key=lambda place: len(rows[place])):
            alike = list(group)
            for start in range(0, len(alike), most):
                places = alike[start : start + most]
                yield places, self._tensor([rows[place] for place in places])

    def _tensor(self, rows: Sequence[Sequence[int]]) -> Tensor:
        return torch.tensor([list(row) for row in rows], device=self.device)


@contextmanager
def evaluating(network: nn.Module) -> Iterator[None]:
    """No dropout and no gradients; afterwards every module is in the mode that it was found in."""
    training = [module for module in network.modules() if module.training]
    try:
        for module in training:
            module.training = False
        with torch.no_grad():
            yield
    finally:
        for module in training:
            module.training = True


@contextmanager
def seeded(settings: GenerationSettings | None) -> Iterator[None]:
    """Draw the same tokens again where a seed was given; the random state is as before afterwards."""
    if settings is None or not settings.sample or settings.seed is None:
        yield
        return
    with torch.random.fork_rng():
        torch.manual_seed(settings.seed)
        yield


def _flatten(names: Iterable[str | Sequence[str]]) -> Iterator[str]:
    """Names of classes; some models have several."""
    for each in names:
        yield from (each,) if isinstance(each, str) else each


def _check_missing(names: Sequence[str], folder: Path) -> tuple[Message, ...]:
    """A note on weights that are not in the folder; inside a block they would change every map above it."""
    if not names:
        return ()
    inside = [name for name in names if any(part.isdigit() for part in name.split("."))]
    shown = (*(inside or names)[:3], *(["…"] if len(inside or names) > 3 else []))
    if inside:
        raise CheckpointError(
            "loaded.folder.lacks_weights", folder=str(folder), count=len(inside), names=shown
        )
    return (message("loaded.folder.random_weights", names=shown),)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the library's messages and progress bars: what matters is in the evidence."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
