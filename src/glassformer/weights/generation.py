"""How a published model wants to generate: its generation_config.json in our words, and the way back.

In:   the dictionaries of config.json and generation_config.json.
Out:  `GenerationSettings`; or a dictionary to be written.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glassformer.config import ModelConfig, RecurrentConfig, read_settings
from glassformer.errors import CheckpointError, ConfigurationError
from glassformer.model.choosing import GenerationSettings
from glassformer.weights.tensors import read_json

FILE = "generation_config.json"
IDS = ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id")
WORDS = {  # theirs and ours, where they mean the same
    "max_new_tokens": "max_new_tokens",
    "min_new_tokens": "min_new_tokens",
    "num_beams": "beams",
    "length_penalty": "length_penalty",
    "do_sample": "sample",
    "temperature": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "repetition_penalty": "repetition_penalty",
    "no_repeat_ngram_size": "no_repeat_ngram",
}
THEIR_TOP_K = 50  # what `transformers` draws from where nothing is said


def find_generation(folder: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What generation_config.json says; old folders have none and say it in config.json."""
    path = folder / FILE
    if not path.exists():
        return dict(settings)
    return read_json(path)


def read_generation(
    path: Path, values: Mapping[str, Any], config: ModelConfig | RecurrentConfig
) -> GenerationSettings:
    """Their defaults as ours. Of forbidden words only single tokens are known here."""
    shape = config.shape if isinstance(config, ModelConfig) else "encoder-decoder"
    ours: dict[str, Any] = {
        word: values[name] for name, word in WORDS.items() if values.get(name) is not None and name in values
    }
    length = values.get("max_length")
    if shape == "encoder-decoder" and isinstance(length, int) and length > 1 and "max_new_tokens" not in ours:
        ours["max_new_tokens"] = length - 1  # theirs counts the start too
    if ours.get("sample"):
        ours["sample"] = ours.get("beams", 1) == 1
        ours.setdefault("top_k", THEIR_TOP_K)
    if ours.get("top_k") == 0:
        ours["top_k"] = None
    ours["early_stopping"] = values.get("early_stopping") is True
    forced = values.get("forced_eos_token_id")
    ours["force_end"] = forced is not None and config.end_id in (
        forced if isinstance(forced, list) else [forced]
    )
    words = values.get("bad_words_ids") or ()
    ours["forbidden"] = tuple(word[0] for word in words if isinstance(word, list) and len(word) == 1)
    try:
        return read_settings(GenerationSettings, ours)
    except ConfigurationError as error:
        raise CheckpointError(f"{path}: {error}") from error


def write_generation(
    config: ModelConfig | RecurrentConfig, settings: GenerationSettings | None
) -> dict[str, Any]:
    """What `transformers` needs to know for `generate`: special tokens, and defaults where there are some."""
    ids = {"pad_token_id": config.padding_id, "bos_token_id": config.start_id, "eos_token_id": config.end_id}
    if not isinstance(config, ModelConfig) or config.has_encoder:
        ids["decoder_start_token_id"] = config.start_id
    values: dict[str, Any] = {name: value for name, value in ids.items() if value is not None}
    if settings is None:
        return values
    plain = GenerationSettings()
    for name, word in WORDS.items():
        if getattr(settings, word) != getattr(plain, word):
            values[name] = getattr(settings, word)
    if settings.early_stopping:
        values["early_stopping"] = True
    if settings.force_end and config.end_id is not None:
        values["forced_eos_token_id"] = config.end_id
    if settings.forbidden:
        values["bad_words_ids"] = [[token] for token in settings.forbidden]
    if settings.sample and settings.top_k is None:
        values["top_k"] = 0  # theirs would be 50
    return values
