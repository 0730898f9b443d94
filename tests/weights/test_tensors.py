"""Safetensors files: one or many shards, and an index that is not believed blindly."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from glassformer.errors import CheckpointError
from glassformer.weights.checkpoint import adopt, open_checkpoint, save_checkpoint
from glassformer.weights.tensors import FolderTensors, convert, write_tensors

Make = Callable[..., Any]
TENSORS = {name: torch.full((10,), float(number)) for number, name in enumerate("abcdef")}  # 40 bytes each


def change_index(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    path = folder / "model.safetensors.index.json"
    index = json.loads(path.read_text())
    change(index)
    path.write_text(json.dumps(index))


def test_one_file_while_it_is_small_enough(tmp_path: Path) -> None:
    write_tensors(TENSORS, tmp_path, max_shard_bytes=240)
    assert [path.name for path in tmp_path.iterdir()] == ["model.safetensors"]


def test_shards_and_their_index(tmp_path: Path) -> None:
    write_tensors(TENSORS, tmp_path, max_shard_bytes=100)
    shards = sorted(path.name for path in tmp_path.glob("*.safetensors"))
    assert shards == [f"model-0000{number}-of-00003.safetensors" for number in (1, 2, 3)]
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())
    assert index["metadata"]["total_size"] == 240
    assert {name: set(load_file(tmp_path / name)) for name in shards} == {
        file: {name for name, place in index["weight_map"].items() if place == file} for file in shards
    }
    tensors = FolderTensors(tmp_path)
    assert dict(tensors.shapes) == dict.fromkeys(TENSORS, (10,))
    assert all(torch.equal(tensors.tensor(name), TENSORS[name]) for name in TENSORS)


def test_a_tensor_larger_than_a_shard_gets_its_own(tmp_path: Path) -> None:
    write_tensors(TENSORS, tmp_path, max_shard_bytes=1)
    assert len(list(tmp_path.glob("*.safetensors"))) == 6


def test_sharded_folders_both_ways(make: Make, answer: Make, tmp_path: Path) -> None:
    model = make("MarianMTModel")
    model.save_pretrained(tmp_path / "theirs", max_shard_size="2KB")
    assert len(list((tmp_path / "theirs").glob("*.safetensors"))) > 3
    network = open_checkpoint(tmp_path / "theirs").network
    save_checkpoint(network, tmp_path / "ours", max_shard_bytes=2000)
    assert len(list((tmp_path / "ours").glob("*.safetensors"))) > 3
    back = transformers.MarianMTModel.from_pretrained(tmp_path / "ours").eval()
    assert torch.equal(answer(back), answer(model))
    assert torch.equal(answer(open_checkpoint(tmp_path / "ours").network), answer(adopt(model)))


def remove_shard(folder: Path) -> None:
    (folder / "model-00002-of-00003.safetensors").unlink()


def cut_shard(folder: Path) -> None:
    path = folder / "model-00002-of-00003.safetensors"
    path.write_bytes(path.read_bytes()[:-5])


def empty_index(folder: Path) -> None:
    change_index(folder, lambda index: index.update(weight_map={}))


def climb_out(folder: Path) -> None:
    change_index(folder, lambda index: index["weight_map"].update(a="../model.safetensors"))


def place_nothing(folder: Path) -> None:
    change_index(folder, lambda index: index["weight_map"].update(a=3))


def misplace(folder: Path) -> None:
    change_index(folder, lambda index: index["weight_map"].update(a="model-00003-of-00003.safetensors"))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (remove_shard, r"model-00002-of-00003\.safetensors is missing"),
        (cut_shard, r"model-00002-of-00003\.safetensors .* is not a complete safetensors file"),
        (empty_index, r"index\.json has no `weight_map`"),
        (climb_out, r"says that a is in '\.\./model\.safetensors'; expected a file in the same folder"),
        (place_nothing, r"says that a is in 3; expected a file in the same folder"),
        (misplace, r"model-00003-of-00003\.safetensors does not contain a, although the index says so"),
    ],
)
def test_a_damaged_set_of_shards(damage: Callable[[Path], None], message: str, tmp_path: Path) -> None:
    write_tensors(TENSORS, tmp_path, max_shard_bytes=100)
    damage(tmp_path)
    with pytest.raises(CheckpointError, match=message):
        FolderTensors(tmp_path)


def test_quantised_weights_are_refused(tmp_path: Path) -> None:
    save_file({"a": torch.zeros(2).to(torch.float8_e4m3fn)}, tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError, match="a is stored as F8_E4M3"):
        FolderTensors(tmp_path)


def test_fractions_become_float32_and_counts_stay(tmp_path: Path) -> None:
    given = {"half": torch.ones(2).half(), "double": torch.ones(2).double(), "count": torch.tensor(3)}
    save_file(given, tmp_path / "model.safetensors")
    tensors = FolderTensors(tmp_path)
    assert tensors.tensor("half").dtype == tensors.tensor("double").dtype == torch.float32
    assert tensors.tensor("count").dtype == torch.int64


def test_what_is_converted_stands_on_its_own() -> None:
    whole = torch.arange(6.0).view(3, 2)
    part = convert("part", whole.t()[:1], None)
    assert part.is_contiguous()
    assert part.untyped_storage().nbytes() == 3 * 4
    assert convert("count", torch.tensor(3), torch.float16).dtype == torch.int64
    broken = torch.tensor([float("inf")])
    assert convert("was infinite before", broken, torch.float16).isinf().all()


def test_a_file_that_may_not_be_read_is_not_called_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, framework: str) -> None:  # what safetensors does without permission
        raise FileNotFoundError(f"No such file or directory: {path}")

    (tmp_path / "model.safetensors").write_bytes(b"secret")
    monkeypatch.setattr("glassformer.weights.tensors.safe_open", refuse)
    with pytest.raises(CheckpointError, match="exists, but you may not read it"):
        FolderTensors(tmp_path)
