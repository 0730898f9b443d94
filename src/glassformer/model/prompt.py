"""The start of a generation: what is asked is checked, padded, measured and read by the network.

In:   token ids of one or several rows, as a person or a tokenizer gives them.
Out:  an `Opening`: the network ready to choose the first token, and how far each row may go.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from glassformer.config import ModelConfig, RecurrentConfig
from glassformer.errors import ConfigurationError, InputError
from glassformer.model.decoding import Decoding, Prompt, start_of_target
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.sampling import PADDING, Rules
from glassformer.model.transformer import check_ids, check_real

FLOAT_BYTES = 4  # of a float32
MEMINFO = Path("/proc/meminfo")


@dataclass(slots=True)
class Opening:
    """Everything a search needs to know at its beginning."""

    decoding: Decoding
    rules: Rules
    end_id: int | None
    history: Tensor | None  # (row, token) the tokens so far, -1 at padding; None where no rule reads them
    room: list[int]  # how many new tokens each row may have


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


def open_prompt(
    network: Prompt, ids: Tensor, real: Tensor | None, settings: GenerationSettings, prefix: Tensor | None
) -> Opening:
    """Check the prompt and let the network read it."""
    config = network.config
    _check_prompt(config, ids, real, prefix)
    _check_settings(config, settings)
    if _continues_prompt(config):
        start, counts = ids, [ids.shape[1]] * len(ids) if real is None else real.sum(dim=1).tolist()
    else:
        start = start_of_target(config.start_id, ids, prefix)
        counts = [start.shape[1]] * len(start)
    room = [_room(count, _limit(config), settings.max_new_tokens) for count in counts]
    _check_beams(config, settings, start, max(room))
    rules = Rules(settings, config.end_id)
    history = None
    if rules.reads_history:
        padded = _continues_prompt(config) and real is not None
        history = torch.where(real, start, PADDING) if padded and real is not None else start
    decoding = network.begin(
        ids, real, prefix=prefix, capacity=start.shape[1] + max(room), cached=settings.cache
    )
    return Opening(decoding, rules, config.end_id, history, room)


def _continues_prompt(config: ModelConfig | RecurrentConfig) -> bool:
    """A decoder alone: what is generated stands behind the prompt, not behind a start of its own."""
    return isinstance(config, ModelConfig) and config.shape == "decoder"


def _limit(config: ModelConfig | RecurrentConfig) -> int | None:
    """The longest sequence; None for positions that can be counted on for ever."""
    endless = isinstance(config, ModelConfig) and config.positions in ("rotary", "relative", "none")
    return None if endless else config.max_length


def _room(count: int, limit: int | None, wanted: int) -> int:
    if limit is None:
        return wanted
    if count > limit:
        raise InputError("model.too_long", count=count, limit=limit)
    return min(wanted, limit - count)


def _check_prompt(
    config: ModelConfig | RecurrentConfig, ids: Tensor, real: Tensor | None, prefix: Tensor | None
) -> None:
    check_ids(ids, config.vocabulary_size)
    if prefix is not None:
        check_ids(prefix, config.vocabulary_size)
        if len(prefix) != len(ids):
            raise InputError("model.prefixes", sources=len(ids), prefixes=len(prefix))
    check_real(real, ids)
    if real is None:
        return
    if not bool(real.any(dim=1).all()):
        raise InputError("model.only_padding")
    if _continues_prompt(config) and not bool(real[:, -1].all()):
        raise InputError("model.padded_right")


def _check_beams(
    config: ModelConfig | RecurrentConfig, settings: GenerationSettings, start: Tensor, room: int
) -> None:
    """Refuse more beams than there is memory for, before the machine stands still."""
    beams = settings.beams
    if beams == 1:
        return
    free = find_free_memory(start.device)
    needed = len(start) * estimate_beams(config, beams, start.shape[1] + beams * room)
    if free is not None and needed > free:
        raise ConfigurationError(
            "model.beams_memory", beams=beams, tokens=room, needed=needed / 2**30, free=free / 2**30
        )


def _check_settings(config: ModelConfig | RecurrentConfig, settings: GenerationSettings) -> None:
    if isinstance(config, ModelConfig) and (not config.has_decoder or config.head != "language"):
        raise InputError("model.cannot_generate", shape=config.shape, head=config.head)
    if max(settings.forbidden, default=0) >= config.vocabulary_size:
        raise InputError(
            "model.forbidden_unknown", token=max(settings.forbidden), size=config.vocabulary_size
        )


def estimate_beams(config: ModelConfig | RecurrentConfig, beams: int, slots: int) -> int:
    """Bytes for one source: scores of all words, and in a Transformer keys, values and who may see them."""
    scores = 2 * beams * config.vocabulary_size * FLOAT_BYTES  # logits and their log-softmax
    if isinstance(config, RecurrentConfig):
        return scores
    kept = config.depth["decoder"] * 2 * config.width * slots * FLOAT_BYTES
    return scores + kept + beams * slots * (1 + FLOAT_BYTES)  # booleans, and the mask


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
