"""The start of a generation: prompts are checked, padded and read by the network.

In:   token ids of one or several rows, as a person or a tokenizer gives them.
Out:  a `SearchStart`: the network ready to choose the first token, and how far each row may go.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from glassformer.config import INSIDE_ATTENTION, ModelConfig, NetworkConfig, RecurrentConfig
from glassformer.errors import ConfigurationError, InputError
from glassformer.model.decoding import Decoding, GenerationNetwork, start_of_target
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.sampling import PADDING, Rules
from glassformer.model.transformer import check_ids

FLOAT_BYTES = 4  # of a float32
MEMINFO = Path("/proc/meminfo")


@dataclass(slots=True)
class SearchStart:
    """What a search starts from."""

    decoding: Decoding
    rules: Rules
    end_id: int | None
    history: Tensor | None  # (row, token) the tokens so far, -1 at padding; None where no rule reads them
    limits: list[int]  # how many new tokens each row may have


def pad_left(rows: Sequence[Sequence[int]], padding_id: int = 0) -> tuple[Tensor, Tensor]:
    """Rows of different length as one batch: ids and `real`, both (batch, token), padding on the left.

    A decoder continues its last token, so this is how its prompts are padded; an encoder does not mind.
    """
    if not rows or not all(rows):
        raise InputError("model.empty_prompt")
    longest = max(map(len, rows))
    ids = torch.tensor([[padding_id] * (longest - len(row)) + list(row) for row in rows])
    real = torch.tensor([[False] * (longest - len(row)) + [True] * len(row) for row in rows])
    return ids, real


def read_prompt(
    network: GenerationNetwork,
    ids: Tensor,
    real: Tensor | None,
    settings: GenerationSettings,
    prefix: Tensor | None,
) -> SearchStart:
    """Check the prompt and let the network read it."""
    config = network.config
    network.check_source(ids, real)
    _check_prompt(config, ids, real, prefix)
    _check_settings(config, settings)
    continues = _continues_prompt(config)
    start = ids if continues else start_of_target(config.start_id, ids, prefix)  # (row, token)
    padded = real if continues else None
    counts = [start.shape[1]] * len(start) if padded is None else padded.sum(dim=1).tolist()
    limits = [_limit_new_tokens(config, count, settings.max_new_tokens) for count in counts]
    _check_memory(config, settings, start, max(limits))
    rules = Rules(settings, config.end_id)
    history = None
    if rules.reads_history:
        history = start if padded is None else torch.where(padded, start, PADDING)
    decoding = network.begin(
        ids,
        real,
        prefix=prefix,
        capacity=start.shape[1] + max(limits),
        cached=settings.cache,
        ctc=settings.ctc,
    )
    return SearchStart(decoding, rules, config.end_id, history, limits)


def _continues_prompt(config: NetworkConfig) -> bool:
    """A decoder alone: what is generated stands behind the prompt, not behind a start of its own."""
    return isinstance(config, ModelConfig) and config.shape == "decoder"


def _limit_new_tokens(config: NetworkConfig, count: int, wanted: int) -> int:
    """How many tokens may follow `count` of them; some positions have no longest sequence."""
    if isinstance(config, ModelConfig) and config.positions in INSIDE_ATTENTION:
        return wanted
    if count > config.max_length:
        raise InputError("model.too_long", count=count, limit=config.max_length)
    return min(wanted, config.max_length - count)


def _check_prompt(config: NetworkConfig, ids: Tensor, real: Tensor | None, prefix: Tensor | None) -> None:
    if prefix is not None:
        check_ids(prefix, config.vocabulary_size)
        if len(prefix) != len(ids):
            raise InputError("model.prefixes", sources=len(ids), prefixes=len(prefix))
    if real is None:
        return
    if not bool(real.any(dim=1).all()):
        raise InputError("model.only_padding")
    if _continues_prompt(config) and not bool(real[:, -1].all()):
        raise InputError("model.padded_right")


def _check_memory(config: NetworkConfig, settings: GenerationSettings, start: Tensor, tokens: int) -> None:
    """Refuse more beams than there is memory for, before the machine starts to swap."""
    beams = settings.beams
    free = find_free_memory(start.device) if beams > 1 else None
    slots = start.shape[1] + beams * tokens
    each = 2 * beams * config.vocabulary_size * FLOAT_BYTES  # of one source: logits and their log-softmax
    if not isinstance(config, RecurrentConfig):
        each += config.depth["decoder"] * 2 * config.width * slots * FLOAT_BYTES  # keys and values
        each += beams * slots * (1 + FLOAT_BYTES)  # booleans, and the mask
    needed = len(start) * each
    if free is not None and needed > free:
        raise ConfigurationError(
            "model.beams_memory", beams=beams, tokens=tokens, needed=needed / 2**30, free=free / 2**30
        )


def _check_settings(config: NetworkConfig, settings: GenerationSettings) -> None:
    if isinstance(config, ModelConfig) and (not config.has_decoder or config.head != "language"):
        raise InputError("model.cannot_generate", shape=config.shape, head=config.head)
    if settings.ctc and not (isinstance(config, ModelConfig) and config.reads == "sound"):
        raise InputError("model.ctc_without_sound")
    if max(settings.forbidden, default=0) >= config.vocabulary_size:
        raise InputError(
            "model.forbidden_unknown", token=max(settings.forbidden), size=config.vocabulary_size
        )


def find_free_memory(device: torch.device) -> int | None:
    """Bytes that can still be had."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    try:
        lines = MEMINFO.read_text(encoding="utf-8").split("\n")
    except OSError:  # not Linux
        return None
    found = next((line for line in lines if line.startswith("MemAvailable:")), None)
    return None if found is None else int(found.split()[1]) * 1024
