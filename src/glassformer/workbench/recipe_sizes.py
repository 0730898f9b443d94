"""What a recipe would take, before anything is started: parameters, memory, disk; estimates.

In:   tables of a recipe whose values are of the right types.
Out:  `Sizes`; None where nothing is known, as of a model of the hub that is not on this machine.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from glassformer.config import ModelConfig, RecurrentConfig
from glassformer.training.settings import TrainSettings
from glassformer.workbench.recipe_fields import read_file

BYTES = 4  # of a number in float32
PROCESS = 600 << 20  # bytes of Python, torch and its libraries
LOGGED = 400  # bytes of a step in the log and its index, without the numbers of heads
LOOKED = 9  # bytes of one number of a head in the log
STATISTICS = 10  # numbers of a head at each look of the monitor
SAMPLED = 4 * 3 * 2_000  # bytes at each evaluation: texts, answers and what was wanted
COPIES = 5  # of a state on the disk: the two newest, the best one, one that is being written, its model


@dataclass(frozen=True, slots=True)
class Sizes:
    """Estimates of one run."""

    parameters: int | None
    memory: int | None  # bytes
    disk: int | None


def estimate(tables: Mapping[str, Any], start: Path | None) -> Sizes:
    """The sizes of a run; `start` is the folder of the model that it begins with, if it is stored here."""
    model, train = dict(tables.get("model", {})), _fill(TrainSettings, tables.get("train", {}))
    if model.get("start") is not None and start is None:
        return Sizes(None, None, None)
    if start is not None:
        # 16-bit weights become 32-bit ones
        parameters = sum(file.stat().st_size for file in start.glob("*.safetensors")) // 2
        config: dict[str, Any] = {}
    else:
        config = _complete(model, tables)
        parameters = _count_parameters(config)
    states = 4 + (train["ema"] > 0)  # weights, gradients, two moments, their average
    tokens = tables.get("batches", {}).get("tokens", 4096)
    memory = PROCESS + BYTES * (parameters * (states + 1) + _count_activations(config, tokens))
    disk = BYTES * parameters * (states * COPIES + train["average"]) + LOGGED * train["steps"]
    disk += _count_watching(config, tables, train)
    return Sizes(parameters, memory, disk)


def _count_watching(config: Mapping[str, Any], tables: Mapping[str, Any], train: Mapping[str, Any]) -> int:
    """Bytes of what is written of heads, probes and samples."""
    probe, every = tables.get("probe", {}), tables.get("monitor", {}).get("every", 100)
    both = config.get("task") == "translation"
    layers = config.get("layers", 12)  # of a model to start from, those of a usual one
    maps = layers + 2 * (config.get("decoder_layers") or layers) if both else layers
    looks = train["steps"] // every + 1 if every else 0
    heads = maps * config.get("heads", 1 if config.get("kind") == "recurrent" else 12)
    probes = probe.get("megabytes", 32.0) * 1e6 if probe.get("count", 2) or probe.get("texts") else 0
    samples = SAMPLED * (train["steps"] // train["evaluate_every"] + 1)
    return int(heads * STATISTICS * LOOKED * looks + probes + samples)


def _complete(model: dict[str, Any], tables: Mapping[str, Any]) -> dict[str, Any]:
    """Every setting of a network that decides its size."""
    kind, preset = model.pop("kind", "transformer"), model.pop("preset", None)
    model.pop("start", None)
    base = RecurrentConfig if kind == "recurrent" else ModelConfig
    known: dict[str, Any] = read_file()["presets"].get(preset, {}) if preset else {}
    # a vocabulary that is learnt has at most this size; letters, Chinese ones too, are fewer than 100,000
    vocabulary = tables.get("tokenizer", {}).get("size", 8000) + 1000
    if tables.get("tokenizer", {}).get("han"):
        vocabulary += 20_000
    return {**asdict(base(vocabulary_size=1)), **known, "vocabulary_size": vocabulary, **model, "kind": kind,
            "task": tables.get("task", {}).get("name")}  # fmt: skip


def _count_parameters(config: Mapping[str, Any]) -> int:
    width, layers = config["width"], config["layers"]
    embedding = config.get("embedding_width") or width
    count = config["vocabulary_size"] * embedding * (1 if config["tie_embeddings"] else 2)
    if config["kind"] == "recurrent":  # three gates, or four; two networks
        return int(count + 2 * layers * 4 * width * (embedding + 3 * width))
    block = 4 * width**2 + (2 * width + 1) * config["feed_forward"] + 9 * width
    both = config["task"] == "translation"
    decoder = (config.get("decoder_layers") or layers) if both else 0
    blocks = 1 if config["share_layers"] else layers
    count += embedding * width + blocks * block + decoder * (block + 4 * width**2)
    return int(count + config["max_length"] * embedding)


def _count_activations(config: Mapping[str, Any], tokens: int) -> int:
    """Numbers that are kept for the gradients of one batch."""
    if not config:
        return tokens * 50_000
    width, layers = config["width"], config["layers"] + (config.get("decoder_layers") or 0)
    length = min(config["max_length"], tokens)
    heads = config.get("heads", 1)
    each = 16 * width + 3 * config.get("feed_forward", 4 * width) + 3 * heads * length
    return int(tokens * (layers * each + config["vocabulary_size"]))


def _fill(kind: type[TrainSettings], values: Mapping[str, Any]) -> dict[str, Any]:
    return {field.name: values.get(field.name, field.default) for field in fields(kind)}
