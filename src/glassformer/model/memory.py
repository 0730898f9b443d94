"""How much memory a beam search takes at the least, and how much there is.

In:   a configuration, how many beams, how many slots of keys and values; a device.
Out:  bytes; None where a device does not say.
"""

from pathlib import Path

import torch

from glassformer.config import ModelConfig, RecurrentConfig

NUMBER = 4  # bytes of a float32
MEMINFO = Path("/proc/meminfo")


def estimate_beams(config: ModelConfig | RecurrentConfig, beams: int, slots: int) -> int:
    """Bytes for one source: scores of all words, and in a Transformer keys, values and who may see them."""
    scores = 2 * beams * config.vocabulary_size * NUMBER  # logits and their log-softmax
    if isinstance(config, RecurrentConfig):
        return scores
    kept = config.depth["decoder"] * 2 * config.width * slots * NUMBER
    return scores + kept + beams * slots * (1 + NUMBER)  # a table of truth values, and the mask made of it


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
