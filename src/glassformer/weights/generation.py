"""How a published model generates by default: its generation_config.json as `GenerationSettings`, and back.

In:   the dictionaries of config.json and generation_config.json.
Out:  `GenerationSettings`; or a dictionary to be written.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from glassformer.config import ModelConfig, NetworkConfig
from glassformer.errors import CheckpointError, ConfigurationError
from glassformer.model.generation_settings import (
    TRANSFORMERS_NAMES,
    GenerationSettings,
    convert_transformers,
)
from glassformer.settings import read_settings
from glassformer.text.files import read_json

FILE = "generation_config.json"
IDS = ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id")


def find_generation(folder: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What generation_config.json says; old folders have none and say it in config.json."""
    path = folder / FILE
    return read_json(path) if path.exists() else dict(settings)


def read_generation(path: Path, values: Mapping[str, Any], config: NetworkConfig) -> GenerationSettings:
    """The defaults of a folder; what we do not have is left out, and beams are searched without sampling."""
    shape = config.shape if isinstance(config, ModelConfig) else "encoder-decoder"
    ours = convert_transformers(values, encoder_decoder=shape == "encoder-decoder", end_id=config.end_id)
    if ours.get("sample"):
        ours["sample"] = ours.get("beams", 1) == 1
    try:
        return read_settings(GenerationSettings, ours)
    except ConfigurationError as error:
        raise CheckpointError("weights.in_file", path=path, problem=error.message) from error


def write_generation(config: NetworkConfig, settings: GenerationSettings | None) -> dict[str, Any]:
    """What `transformers` needs to know for `generate`: special tokens, and defaults where there are some."""
    ids = {"pad_token_id": config.padding_id, "bos_token_id": config.start_id, "eos_token_id": config.end_id}
    if not isinstance(config, ModelConfig) or config.has_encoder:
        ids["decoder_start_token_id"] = config.start_id
    values: dict[str, Any] = {name: value for name, value in ids.items() if value is not None}
    if settings is None:
        return values
    plain = GenerationSettings()
    for theirs, name in TRANSFORMERS_NAMES.items():
        if getattr(settings, name) != getattr(plain, name):
            values[theirs] = getattr(settings, name)
    if settings.ctc:
        values["ctc"] = settings.ctc  # not a setting of theirs
    if settings.early_stopping:
        values["early_stopping"] = True
    if settings.force_end and config.end_id is not None:
        values["forced_eos_token_id"] = config.end_id
    if settings.forbidden:
        values["bad_words_ids"] = [[token] for token in settings.forbidden]
    if settings.sample and settings.top_k is None:
        values["top_k"] = 0  # theirs would be 50
    return values
