"""Import paths and arguments of version 0.1: each leads to where its name is now, and warns."""

import importlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import glassformer
from glassformer.deprecated import MOVED, MovedModule, rename_argument
from glassformer.errors import GlassformerError
from glassformer.metrics import score
from glassformer.place import Place
from glassformer.recording import AttentionMap, from_arrays

PATHS = [(old, name, new) for old, names in MOVED.items() for name, new in names.items()]


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Forget old modules: an import puts them into the package, too."""
    before = dict(vars(glassformer))
    yield
    for name, module in list(sys.modules.items()):
        if isinstance(module, MovedModule):
            del sys.modules[name]
    vars(glassformer).clear()
    vars(glassformer).update(before)


@pytest.mark.parametrize(("old", "name", "new"), PATHS)
def test_an_old_path_works_and_warns(old: str, name: str, new: str) -> None:
    home, _, last = new.rpartition(".")
    expected = getattr(importlib.import_module(home), last)
    if name == "__call__":
        module: Any = importlib.import_module(old)
        refused = pytest.raises((TypeError, GlassformerError))
        with pytest.warns(DeprecationWarning, match=f"is now {new}"), refused:
            module()  # without what it needs
        return
    found: dict[str, object] = {}
    with pytest.warns(DeprecationWarning, match=f"is now {new}") as caught:
        exec(f"from {old} import {name}", found)
    assert found[name] is expected
    assert {each.filename for each in caught} == {"<string>"}  # the line that has to be changed


def test_functions_stay_functions_after_an_old_import() -> None:
    with pytest.warns(DeprecationWarning, match="explain"):
        exec("from glassformer.show.walk import explain", {})
    with pytest.warns(DeprecationWarning, match=r"glassformer\.show is now"), pytest.raises(TypeError):
        glassformer.show()  # type: ignore[call-arg]


def test_other_names_are_not_there() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"glassformer\.nowhere"):
        importlib.import_module("glassformer.nowhere")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = importlib.import_module("glassformer.recorders.long").nothing


def test_a_map_is_still_made_of_the_parts_of_its_place() -> None:
    made = from_arrays(np.eye(2)[None], ["a", "b"]).maps[0]
    rest = {"query": made.query, "key": made.key, "statistics": made.statistics, "dense": made.dense}
    parts: dict[str, Any] = {"stack": "decoder", "layer": 3, "kind": "self", "step": 1}
    warning = r"AttentionMap takes place=Place"
    with pytest.warns(DeprecationWarning, match=warning) as caught:
        assert AttentionMap(**parts, **rest).place == Place("decoder", "self", 3, 1)
    assert caught[0].filename == __file__
    old: Any = ("decoder", 3, "self", made.query, made.key, made.statistics)
    with pytest.warns(DeprecationWarning, match=warning):
        assert AttentionMap(*old, dense=made.dense).place == Place("decoder", "self", 3)
    with pytest.warns(DeprecationWarning, match=warning):
        assert replace(made, **{"layer": 2}).place == made.place._replace(layer=2)


def test_an_argument_keeps_its_old_name_for_a_while() -> None:
    @rename_argument("settings", "decode")
    def choose(text: str, *, decode: int = 0) -> tuple[str, int]:
        return text, decode

    assert choose("a", decode=1) == ("a", 1)
    old: dict[str, Any] = {"settings": 2}
    with pytest.warns(DeprecationWarning, match="settings= of choose is now decode=") as caught:
        assert choose("a", **old) == ("a", 2)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("encoder", 1), {}),
        (("encoder", 1, "self"), {}),
        (("encoder", 1, "self", None), {}),
        (("encoder", np.int64(1), "self"), {}),
        (("encoder", 1), {"kind": "self"}),
        ((None, -1), {"step": None}),
    ],
)
def test_a_map_is_still_found_with_its_layer_before_its_kind(arguments: Any, options: dict[str, Any]) -> None:
    recording = from_arrays(np.broadcast_to(np.eye(2), (2, 1, 2, 2)), ["a", "b"])
    for find in (recording.map, score(recording, "entropy").part):
        with pytest.warns(DeprecationWarning, match=r"the order is now \(stack, kind, layer\)") as caught:
            assert find(*arguments, **options).place == Place("encoder", "self", 1)
        assert [each.filename for each in caught] == [__file__]
