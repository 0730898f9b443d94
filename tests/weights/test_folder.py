"""A folder is replaced as a whole: what fails leaves the old one, what is no part of a model stays."""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from glassformer.config import ModelConfig
from glassformer.errors import CheckpointError
from glassformer.model.transformer import Transformer
from glassformer.text.builders import build_words
from glassformer.weights.checkpoint import open_checkpoint, save_checkpoint
from glassformer.weights.folder import replace_folder

SMALL = ModelConfig(vocabulary_size=20, shape="decoder", layers=1, width=8, heads=2, feed_forward=16)


def build(seed: int, config: ModelConfig = SMALL) -> Transformer:
    torch.manual_seed(seed)
    return Transformer(config)


def same(folder: Path, network: Transformer) -> bool:
    state = open_checkpoint(folder).network.state_dict()
    return all(torch.equal(state[name], tensor) for name, tensor in network.state_dict().items())


def test_parents_are_made_and_nothing_is_left_beside(tmp_path: Path) -> None:
    save_checkpoint(build(0), tmp_path / "a" / "b")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o755


def test_an_old_model_is_replaced_and_other_files_stay(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    save_checkpoint(build(0), folder, max_shard_bytes=1000)
    (folder / "README.md").write_text("mine")
    assert len(list(folder.glob("*.safetensors"))) > 1
    save_checkpoint(build(1), folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md",
        "config.json",
        "generation_config.json",
        "model.safetensors",
    ]
    assert same(folder, build(1))
    save_checkpoint(build(2), folder, max_shard_bytes=1000)
    assert not (folder / "model.safetensors").exists()
    assert same(folder, build(2))
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


class FullDisk:
    """A tokenizer that finds no space."""

    def save(self, folder: Path) -> None:
        raise OSError(28, "No space left on device")


def test_a_failed_write_leaves_the_old_model(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    save_checkpoint(build(0), folder)
    with pytest.raises(CheckpointError, match=r"Cannot write .*model: .*No space left.*free space"):
        save_checkpoint(build(1), folder, FullDisk())
    assert same(folder, build(0))
    with pytest.raises(CheckpointError, match="Cannot write"):
        save_checkpoint(build(1), tmp_path / "new", FullDisk())
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("limit", [10**9, 1000])
@pytest.mark.parametrize("old_limit", [10**9, 1000])
@pytest.mark.parametrize("width", [8, 16])
def test_a_crash_at_any_moment_leaves_one_whole_model_or_none(
    width: int, old_limit: int, limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = build(
        1, ModelConfig(vocabulary_size=20, shape="decoder", layers=1, width=width, heads=2, feed_forward=16)
    )
    replace = os.replace

    def crash_after(moves: int) -> Callable[..., None]:
        left = [moves]

        def move(source: Any, target: Any) -> None:
            if left[0] == 0:
                raise KeyboardInterrupt  # nothing here catches it, as nothing catches a power cut
            left[0] -= 1
            replace(source, target)

        return move

    for moves in range(20):
        folder = tmp_path / str(moves)
        save_checkpoint(build(0), folder, max_shard_bytes=old_limit)
        monkeypatch.setattr(os, "replace", crash_after(moves))
        try:
            save_checkpoint(new, folder, max_shard_bytes=limit)
        except KeyboardInterrupt:
            pass
        else:
            break
        finally:
            monkeypatch.setattr(os, "replace", replace)
        if (folder / "config.json").exists():
            assert same(folder, build(0)) or same(folder, new)
        else:
            with pytest.raises(CheckpointError, match=r"config\.json is missing"):
                open_checkpoint(folder)
    assert moves > 1
    assert same(folder, new)


def test_training_overwrites_without_a_moment_of_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "model"
    save_checkpoint(build(0), folder)
    replace = os.replace

    def look(source: Any, target: Any) -> None:
        assert same(folder, build(0)) or same(folder, build(1))
        replace(source, target)

    monkeypatch.setattr(os, "replace", look)
    save_checkpoint(build(1), folder)
    assert same(folder, build(1))


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("a file")
    with pytest.raises(CheckpointError, match="Cannot write"):
        save_checkpoint(build(0), tmp_path / "model")
    with pytest.raises(CheckpointError, match="Cannot write to"):
        save_checkpoint(build(0), tmp_path / "model" / "below")
    assert (tmp_path / "model").read_text() == "a file"


def test_other_errors_pass_through(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), replace_folder(tmp_path / "model"):
        _ = 1 / 0
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="Cannot write"):
        save_checkpoint(build(0), tmp_path / "model\udcff", build_words(["a"]))
    assert list(tmp_path.iterdir()) == []
