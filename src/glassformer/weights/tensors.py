"""Safetensors files: one, or shards with an index, in and out. Pickles are refused: they can run code.

In:   a folder; or tensors by name and a folder to write them to.
Out:  the shapes of everything in it, and tensors one at a time; or files that were written completely.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from glassformer.errors import CheckpointError
from glassformer.text.files import read_json, write_json

WHOLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
SHARD = "model-{:05d}-of-{:05d}.safetensors"
FRACTIONS = {"F64", "F32", "F16", "BF16"}  # in the words of safetensors
WHOLE_NUMBERS = {"I64", "I32", "I16", "I8", "U8", "BOOL"}
UNSAFE = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl", "*.h5", "*.msgpack")


class FolderTensors:
    """The tensors of a folder, by name; only headers are read before a tensor is asked for."""

    def __init__(self, folder: Path) -> None:
        self.files = _find_files(folder)  # the file of each name
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._open: dict[Path, Any] = {}
        for path in dict.fromkeys(self.files.values()):
            self._read_header(path)

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        return self._shapes

    def tensor(self, name: str) -> Tensor:
        """A copy of one tensor; fractions of any size as float32."""
        try:
            tensor: Tensor = self._open[self.files[name]].get_tensor(name)
        except (SafetensorError, OSError) as error:
            raise CheckpointError(
                "weights.tensors.unreadable", path=self.files[name], name=name, reason=error
            ) from error
        return tensor.to(torch.float32) if tensor.is_floating_point() else tensor.clone()

    def _read_header(self, path: Path) -> None:
        file = _open_file(path)
        self._open[path] = file
        present = set(file.keys())
        for name, place in self.files.items():
            if place != path:
                continue
            if name not in present:
                raise CheckpointError("weights.tensors.not_in_shard", path=path, name=name)
            part = file.get_slice(name)
            if part.get_dtype() not in FRACTIONS | WHOLE_NUMBERS:
                raise CheckpointError("weights.tensors.type", path=path, name=name, type=part.get_dtype())
            self._shapes[name] = tuple(part.get_shape())


def _open_file(path: Path) -> Any:
    try:
        return safe_open(path, framework="pt")
    except FileNotFoundError as error:  # safetensors says so of a file that may not be read, too
        if path.exists():
            raise CheckpointError("weights.tensors.no_permission", path=path) from error
        raise CheckpointError("weights.tensors.missing", path=path) from error
    except (SafetensorError, OSError) as error:
        size = path.stat().st_size
        raise CheckpointError("weights.tensors.damaged", path=path, size=size, reason=error) from error


def _find_files(folder: Path) -> dict[str, Path]:
    """The file of each tensor: all in one, or as the index says."""
    if (folder / WHOLE).exists():
        return dict.fromkeys(_open_file(folder / WHOLE).keys(), folder / WHOLE)
    if (folder / INDEX).exists():
        return _read_index(folder / INDEX)
    unsafe = sorted(path.name for pattern in UNSAFE for path in folder.glob(pattern))
    if unsafe:
        raise CheckpointError("weights.tensors.only_pickles", folder=folder, file=unsafe[0], expected=WHOLE)
    raise CheckpointError("weights.tensors.none", folder=folder, file=WHOLE, index=INDEX)


def _read_index(path: Path) -> dict[str, Path]:
    places = read_json(path).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise CheckpointError("weights.tensors.no_weight_map", path=path)
    for name, file in places.items():
        if not isinstance(file, str) or Path(file).name != file:
            raise CheckpointError("weights.tensors.outside", path=path, name=name, file=repr(file))
    return {name: path.parent / file for name, file in places.items()}


def write_tensors(tensors: Mapping[str, Tensor], folder: Path, max_shard_bytes: int) -> None:
    """Write one file, or shards and their index where it would be larger than `max_shard_bytes`."""
    shards = _divide(tensors, max_shard_bytes)
    if len(shards) == 1:
        _write_file(shards[0], folder / WHOLE)
        return
    places: dict[str, str] = {}
    for number, shard in enumerate(shards, 1):
        file = SHARD.format(number, len(shards))
        _write_file(shard, folder / file)
        places |= dict.fromkeys(shard, file)
    total = sum(_bytes(tensor) for tensor in tensors.values())
    index = {"metadata": {"total_size": total}, "weight_map": places}
    write_json(folder / INDEX, index)


def convert(name: str, tensor: Tensor, dtype: torch.dtype | None) -> Tensor:
    """A tensor on its own, on the CPU and of the wanted type; a number too large for that type is refused."""
    tensor = tensor.detach().cpu()
    if dtype is not None and tensor.is_floating_point():
        converted = tensor.to(dtype)
        if not bool(converted.isfinite().all()) and bool(tensor.isfinite().all()):
            raise CheckpointError("weights.too_large_for_type", name=name, type=dtype)
        tensor = converted
    alone = tensor.is_contiguous() and tensor.untyped_storage().nbytes() == _bytes(tensor)
    return tensor if alone else tensor.clone(memory_format=torch.contiguous_format)  # a file shares no memory


def _divide(tensors: Mapping[str, Tensor], most: int) -> list[dict[str, Tensor]]:
    shards: list[dict[str, Tensor]] = [{}]
    size = 0
    for name, tensor in tensors.items():
        if shards[-1] and size + _bytes(tensor) > most:
            shards.append({})
            size = 0
        shards[-1][name] = tensor
        size += _bytes(tensor)
    return shards


def _bytes(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def _write_file(tensors: Mapping[str, Tensor], path: Path) -> None:
    save_file(dict(tensors), path, metadata={"format": "pt"})
    with path.open("rb") as file:
        os.fsync(file.fileno())  # on the disk before it gets its name
