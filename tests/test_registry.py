"""A registry finds what is dropped into its folder, offers the nearest name, and never forgets half of it."""

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from glassformer.errors import ConfigurationError
from glassformer.metrics import METRICS
from glassformer.registry import Registry, suggestion


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An importable package whose only file makes a registry; plug-ins are dropped beside it."""
    package = tmp_path / "a_room_for_plug_ins"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "register.py").write_text(
        "from glassformer.registry import Registry\n"
        f"THINGS: Registry[str] = Registry('thing', '{package.name}')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    for name in [name for name in sys.modules if name.split(".")[0] == package.name]:
        del sys.modules[name]


def open_registry(folder: Path) -> Registry[str]:
    __import__(f"{folder.name}.register")
    registry: Registry[str] = sys.modules[f"{folder.name}.register"].THINGS
    return registry


def drop(folder: Path, name: str, *, first: str = "") -> None:
    lines = (first, f"from {folder.name}.register import THINGS", f"THINGS.register('{name}')('the {name}')")
    (folder / f"{name}.py").write_text("\n".join(lines))


def test_a_file_in_the_folder_is_found(folder: Path) -> None:
    drop(folder, "lamp")
    drop(folder, "chair")
    registry = open_registry(folder)
    assert list(registry) == ["chair", "lamp"]
    assert registry["lamp"] == "the lamp"
    assert "table" not in registry


def test_an_unknown_name_gets_the_nearest_and_all_there_are(folder: Path) -> None:
    drop(folder, "chair")
    with pytest.raises(
        ConfigurationError, match=r"no thing called 'chaer'\. Did you mean 'chair'\?.*Known: chair"
    ):
        open_registry(folder)["chaer"]
    assert str(suggestion("xyz", ["chair"])) == "Known: chair."


def test_two_things_cannot_have_one_name() -> None:
    registry: Registry[object] = Registry("thing", "nowhere")
    thing = object()
    assert registry.register("lamp")(thing) is thing
    registry.register("lamp")(thing)  # the same one again is no contradiction
    with pytest.raises(ConfigurationError, match="two thing entries called 'lamp'"):
        registry.register("lamp")(object())


def test_a_broken_file_is_told_every_time(folder: Path) -> None:
    drop(folder, "broken", first="raise RuntimeError('a slip')")
    drop(folder, "lamp")
    registry = open_registry(folder)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="a slip"):
            list(registry)


def test_a_second_thread_waits_for_the_first(folder: Path) -> None:
    drop(folder, "slow", first="import time; time.sleep(0.05)")
    registry = open_registry(folder)
    found: list[list[str]] = []
    threads = [threading.Thread(target=lambda: found.append(list(registry))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [["slow"]] * 3


def test_where_nothing_is_known_that_is_said():
    assert str(suggestion("gpt", [])) == "There are none."
    assert str(suggestion("gpt", ["gpt2", "bert"])) == "Did you mean 'gpt2'? Known: bert, gpt2."


@pytest.mark.parametrize("name", [["entropy"], 5, None])
def test_what_is_no_name_is_not_known(name: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"Known: .*entropy"):
        METRICS[name]
