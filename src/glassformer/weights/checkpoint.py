"""A model folder in and out: config.json, model.safetensors or shards, tokenizer, generation_config.json.

In:   a folder that `transformers` or we wrote; or one of our networks.
Out:  a `Checkpoint`; or a folder, written completely or not at all. What is a GPT-2, BERT, ALBERT, Marian,
      ViT or Whisper opens in `transformers` too; anything else is written under our own names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from glassformer.config import COUNTED, ModelConfig, NetworkConfig
from glassformer.errors import CheckpointError, GlassformerError
from glassformer.messages import Message
from glassformer.model.generation_settings import GenerationSettings
from glassformer.model.recurrent import Network, RecurrentTranslator
from glassformer.model.transformer import Transformer
from glassformer.registry import suggestion
from glassformer.text.files import read_json, write_json
from glassformer.weights.family import FAMILIES, Family
from glassformer.weights.folder import TOKENIZER_FILES, replace_folder
from glassformer.weights.generation import FILE as GENERATION
from glassformer.weights.generation import IDS, find_generation, read_generation, write_generation
from glassformer.weights.mapping import Table, Tensors, read, unwritable, write
from glassformer.weights.native import KINDS, native_table, read_native_config, write_native_config
from glassformer.weights.tensors import FolderTensors, convert, write_tensors

CONFIG = "config.json"
PROCESSOR = "preprocessor_config.json"
# Errors about an intact folder whose architecture our network does not have.
NOT_OURS = tuple(
    f"weights.{code}"
    for code in ("unknown_architecture", "setting.other", "setting.differ", "setting.activation")
)
RUN_FOLDERS = ("best", "averaged", "last")  # folders of models in the folder of a run, the likeliest first
SHARD_BYTES = 5_000_000_000


class SavesItself(Protocol):
    """A tokenizer: writes its files into a folder."""

    def save(self, folder: Path) -> None:
        """Write tokenizer.json and what belongs to it."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a folder holds. The network is on the CPU, in float32, ready to be looked at (`eval`)."""

    network: Network
    config: NetworkConfig
    model_type: str  # "gpt2", "bert" …; "glassformer" for what only we have
    tokenizer: Path | None  # the folder, if it has a tokenizer
    generation: GenerationSettings  # how the model wants to generate
    labels: tuple[str, ...] = ()  # names of classes, tags or numbers


def open_checkpoint(folder: str | Path) -> Checkpoint:
    """Read a model folder; whatever is wrong with it is one error that names the file."""
    folder = Path(folder)
    if not folder.is_dir():
        raise CheckpointError("weights.not_a_folder", folder=folder, file=CONFIG)
    inside = next((name for name in RUN_FOLDERS if (folder / name / CONFIG).is_file()), None)
    if inside is not None and not (folder / CONFIG).is_file():
        raise CheckpointError("weights.folder_of_run", folder=folder, inside=folder / inside)
    settings = read_json(folder / CONFIG)
    generation = find_generation(folder, settings)
    if settings.get("model_type") not in KINDS:
        settings |= {name: generation[name] for name in IDS if generation.get(name) is not None}
    try:
        config, family = _read_config(settings)
    except GlassformerError as error:
        raise CheckpointError("weights.in_file", path=folder / CONFIG, problem=error.message) from error
    config = _read_processor(folder, config, family)
    tensors = FolderTensors(folder)
    try:
        network = _fill(config, family, tensors)
    except CheckpointError as error:
        raise CheckpointError("weights.in_file", path=folder, problem=error.message) from error
    return Checkpoint(
        network,
        config,
        settings["model_type"],
        folder if any((folder / name).is_file() for name in TOKENIZER_FILES) else None,
        read_generation(folder / GENERATION, generation, config),
        _read_labels(settings, config),
    )


def adopt(model: nn.Module) -> Transformer:
    """Our network with the weights of a live `transformers` model, which is left as it is."""
    settings = {**cast("Any", model).config.to_dict(), "architectures": [type(model).__name__]}
    config, family = _read_config(settings)
    network = _fill(config, family, _LiveTensors(model.state_dict()))
    assert isinstance(network, Transformer)
    return network


def save_checkpoint(
    network: Network,
    folder: str | Path,
    tokenizer: SavesItself | None = None,
    dtype: torch.dtype | None = None,
    *,
    generation: GenerationSettings | None = None,
    labels: Sequence[str] = (),
    task: str | None = None,
    max_shard_bytes: int = SHARD_BYTES,
) -> str:
    """Write a model folder and tell its model_type; `dtype` None keeps the network's own.

    Files of the folder that are no part of a model stay. An interrupted write leaves the old model, or none.

    >>> config = gf.ModelConfig(vocabulary_size=100, shape="decoder", layers=1, width=16, heads=2)
    >>> _ = gf.save_checkpoint(gf.Transformer(config), "my-model")
    >>> gf.load("my-model").name
    'my-model'
    """
    folder = Path(folder)
    state = network.state_dict()
    settings, table = _choose_format(network.config, state)
    settings["dtype"] = str(dtype or next(network.parameters()).dtype).removeprefix("torch.")
    settings |= _write_labels(settings["model_type"], network.config, labels)
    if task is not None:  # what it was trained for; only the list of models on the page reads it
        settings["glassformer_task"] = task
    tensors = {name: convert(name, tensor, dtype) for name, tensor in write(table, state).items()}
    processor = _write_processor(settings["model_type"], network.config)
    with replace_folder(folder) as new:
        write_tensors(tensors, new, max_shard_bytes)
        if tokenizer is not None:
            tokenizer.save(new)
        if not isinstance(network.config, ModelConfig) or network.config.has_decoder:
            write_json(new / GENERATION, write_generation(network.config, generation))
        if processor is not None:
            write_json(new / PROCESSOR, processor)
        write_json(new / CONFIG, settings)
    return str(settings["model_type"])


def _read_config(settings: Mapping[str, Any]) -> tuple[NetworkConfig, Family | None]:
    kind = settings.get("model_type")
    if not isinstance(kind, str):
        raise CheckpointError("weights.no_model_type", value=repr(kind), suggestion=suggestion("", FAMILIES))
    if kind in KINDS:
        return read_native_config(settings), None
    if kind not in FAMILIES:
        raise CheckpointError(
            "weights.unknown_model_type", kind=kind, suggestion=suggestion(kind, [*FAMILIES, *KINDS])
        )
    return FAMILIES[kind].read_config(settings), FAMILIES[kind]


def fits_family(folder: Path) -> bool:
    """Whether our network can be what a folder of a known family describes; True for a broken one, too."""
    try:
        config, family = _read_config(read_json(folder / CONFIG))
        _read_processor(folder, config, family)
    except GlassformerError as error:
        problem = error.message.parameters.get("problem", error.message)
        return not isinstance(problem, Message) or problem.code not in NOT_OURS
    return True


def _read_processor(folder: Path, config: NetworkConfig, family: Family | None) -> NetworkConfig:
    """The configuration with what the folder's processor does to pictures or sounds."""
    path = folder / PROCESSOR
    if family is None or family.read_processor is None or not path.is_file():
        return config
    assert isinstance(config, ModelConfig)
    try:
        return family.read_processor(config, read_json(path))
    except GlassformerError as error:
        raise CheckpointError("weights.in_file", path=path, problem=error.message) from error


def _write_processor(kind: str, config: NetworkConfig) -> dict[str, Any] | None:
    """What prepares pictures or sounds for a network of this family; None: nothing does."""
    if kind not in FAMILIES or (write := FAMILIES[kind].write_processor) is None:
        return None
    assert isinstance(config, ModelConfig)
    return write(config)


def _fill(config: NetworkConfig, family: Family | None, tensors: Tensors) -> Network:
    network = _build(config)
    state = network.state_dict()
    table = native_table(state)
    if family is not None:
        assert isinstance(config, ModelConfig)
        table = family.table(config)
    with torch.no_grad():
        for name, tensor in read(table, state, tensors):
            state[name].copy_(tensor)
    return network.eval()


def _build(config: NetworkConfig) -> Network:
    try:
        with _Uninitialised():
            return Transformer(config) if isinstance(config, ModelConfig) else RecurrentTranslator(config)
    except (RuntimeError, MemoryError, OverflowError) as error:  # of the allocator
        reason = str(error).splitlines()[0]
        raise CheckpointError("weights.too_large", reason=reason) from error


class _Uninitialised(TorchFunctionMode):
    """Skips the initialisation of parameters: they are overwritten right after."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        del types
        if getattr(func, "__module__", None) == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


class _LiveTensors:
    """The state of a module that is already in memory."""

    def __init__(self, state: Mapping[str, Tensor]) -> None:
        self.state = state
        self.shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}

    def tensor(self, name: str) -> Tensor:
        return self.state[name].detach().to("cpu", torch.float32)


def _choose_format(config: NetworkConfig, state: Mapping[str, Tensor]) -> tuple[dict[str, Any], Table]:
    """The family that this network belongs to, or our own format."""
    if isinstance(config, ModelConfig):
        for name in FAMILIES:
            settings = FAMILIES[name].write_config(config)
            table = FAMILIES[name].table(config)
            if isinstance(settings, dict) and not unwritable(table, state):
                return {"model_type": name, **settings}, table
    return write_native_config(config), native_table(state)


def _read_labels(settings: Mapping[str, Any], config: NetworkConfig) -> tuple[str, ...]:
    if not isinstance(config, ModelConfig) or config.head not in COUNTED:
        return ()
    labels = settings.get("labels")
    if isinstance(labels, list):
        return tuple(map(str, labels))
    names = settings.get("id2label")
    if not isinstance(names, dict):
        return ()
    return tuple(str(names.get(str(number), names.get(number, number))) for number in range(len(names)))


def _write_labels(kind: str, config: NetworkConfig, labels: Sequence[str]) -> dict[str, Any]:
    if not isinstance(config, ModelConfig) or config.head not in COUNTED:
        return {}
    if labels and len(labels) != config.classes:
        raise CheckpointError("weights.labels", labels=len(labels), classes=config.classes)
    names = list(labels) or [f"LABEL_{number}" for number in range(config.classes)]
    if kind in KINDS:
        return {"labels": names}
    return {
        "id2label": {str(number): name for number, name in enumerate(names)},
        "label2id": {name: number for number, name in enumerate(names)},
    }
