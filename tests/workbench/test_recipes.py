"""Recipes from the page: what is refused, with which sentence; what a mutant may never reach."""

import copy
import json
import random
import tomllib
from collections.abc import Callable
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from campaigns import rounds
from glassformer.api.training import CheckedRecipe
from glassformer.settings import write_toml
from glassformer.workbench.recipe_places import Places, stays_inside
from glassformer.workbench.recipes import RecipeRules, read_shipped
from recipe_mutants import RECIPE, make_data, mutate

SPEECH = {"name": "speech_recognition", "path": "text.txt", "words": ["one", "two"]}

GIGABYTE = 1 << 30


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return make_data(tmp_path)


@pytest.fixture
def rules(data: Path, tmp_path: Path) -> RecipeRules:
    return RecipeRules(Places(data, offline=True), tmp_path / "runs", steps=1000, memory=4 * GIGABYTE)


@pytest.fixture
def check(rules: RecipeRules) -> Callable[..., CheckedRecipe]:
    def change_and_check(**changes: Any) -> CheckedRecipe:
        """`task__path="x"`: the recipe with one value changed."""
        recipe = copy.deepcopy(RECIPE)
        for name, value in changes.items():
            table, _, key = name.partition("__")
            if key:
                recipe.setdefault(table, {})[key] = value
            else:
                recipe[table] = value
        return rules.check(recipe)

    return change_and_check


def test_a_good_recipe_has_no_faults(check: Callable[..., CheckedRecipe]) -> None:
    checked = check()
    assert checked.faults == ()
    assert tomllib.loads(checked.toml) == RECIPE
    assert checked.parameters is not None
    assert checked.memory is not None
    assert checked.disk is not None


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("task__path", "../outside/secret.txt", "outside"),
        ("task__path", "/etc/passwd", "outside"),
        ("task__path", "~/secret.txt", "outside"),
        ("task__path", "sub/../../outside/secret.txt", "outside"),
        ("task__path", "..\\outside\\secret.txt", "outside"),
        ("task__path", "link.txt", "outside"),
        ("task__path", "out/secret.txt", "outside"),
        ("task__path", "o*/secret.txt", "outside"),
        ("task__path", "*.txt", "outside"),
        ("task__path", "**/*.txt", "outside"),
        ("task__path", "mixed", "outside"),
        ("task__path", "pipe", "outside"),
        ("task__path", "*/../../outside/*", "outside"),
        ("task__path", "{split}/../../outside/secret.txt", "outside"),
        ("task__path", "nothing.txt", "no_data"),
        ("task__path", "", "outside"),
        ("task__path", "text.txt\0", "characters"),
        ("task__path", "\ud800", "characters"),
        ("task__path", "a" * 3000, "long"),
        ("task__folder", "..", "outside"),
        ("task__folder", "/", "outside"),
        ("task__folder", "out", "outside"),
        ("task__also", [{"path": "/etc/passwd"}], "outside"),
        ("task__also", [{"path": "text.txt", "run": "x"}], "name"),
        ("task__also", [{}], "missing"),
        ("task__also", ["text.txt"], "value"),
        ("train__evaluate_on", "../../outside/secret", "split"),
        ("train__device", "meta", "device"),
        ("train__steps", 1001, "value"),
        ("train__steps", 10.5, "value"),
        ("train__steps", True, "value"),
        ("train__steps", 2**70, "value"),
        ("train__clip", inf, "value"),
        ("train__rate", nan, "value"),
        ("train__rat", 1e-3, "name"),
        ("train", 3, "not_a_table"),
        ("train", [], "not_a_table"),
        ("plugins", ["mine.py"], "table"),
        ("plugins", {"files": ["mine.py"]}, "table"),
        ("callbacks", {"wandb": {"address": "http://example.org"}}, "table"),
        ("train__plugins", ["mine.py"], "name"),
        ("monitor__on_alarm", "touch /tmp/seen", "value"),
        ("monitor__on_alarm", "/bin/sh -c true", "value"),
        ("monitor__callbacks", ["wandb"], "name"),
        ("model__start", "../outside", "model"),
        ("model__start", "out", "model"),
        ("model__start", "/etc", "model"),
        ("model__start", "zoo/../zoo/bert", "model"),
        ("model__start", "zoo/nothing", "model"),
        ("model__start", "someone/somewhere", "model"),
        ("tokenizer", {"path": "../outside"}, "model"),
        ("tokenizer", {"path": "out"}, "model"),
        ("task", {"name": "mine"}, "value"),
        ("task", {"name": ["language_modelling"]}, "value"),
        ("task", {}, "value"),
        ("task", {**SPEECH, "snr": [inf, 3]}, "value"),
        ("task", {**SPEECH, "snr": [nan, 3]}, "value"),
        ("task", {**SPEECH, "snr": "3"}, "value"),
        ("model", {"kind": "other"}, "value"),
        ("model__heads", 3, "uneven_heads"),
        ("model__width", 16_384, "memory"),
        ("model__width", 10**6, "value"),
        ("batches__tokens", 1 << 20, "memory"),
    ],
)  # fmt: skip
def test_what_a_recipe_may_not_say(
    check: Callable[..., CheckedRecipe], field: str, value: Any, code: str
) -> None:
    if field == "model__width" and value == 16_384:
        checked = check(**{field: value, "model__layers": 100})
    else:
        checked = check(**{field: value})
    [first, *_] = checked.faults
    assert first.message.code.rpartition(".")[2] == code
    assert first.field.startswith((field.replace("__", "."), field.partition("__")[0], "task.path", ""))
    for language in ("en", "zh"):
        assert first.message.text(language)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("task__path", "inner.txt"),  # a link that stays inside
        ("task__path", "{split}.txt"),
        ("task__path", "t*.txt"),
        ("task__folder", "sub"),
        ("model__start", "zoo/bert"),
        ("model__start", "model"),
        ("tokenizer", {"path": "zoo/bert"}),
        ("monitor__on_alarm", "stop"),
        ("train__device", "cuda:1"),
        ("train__minutes", None),
    ],
)
def test_what_a_recipe_may_say(
    check: Callable[..., CheckedRecipe], rules: RecipeRules, data: Path, field: str, value: Any
) -> None:
    more = {"task__path": "pairs.tsv", "task__column": 0} if field == "task__folder" else {}
    checked = check(**{field: value, **more})
    assert checked.faults == ()


def test_places_are_given_to_training_from_the_data_folder(rules: RecipeRules, data: Path) -> None:
    ready = rules.require({**RECIPE, "model": {"start": "model"}, "task": {**RECIPE["task"], "folder": "."}})
    assert ready.places == {"task.folder": str(data), "model.start": str(data / "model")}
    assert str(data) not in ready.toml


def test_a_disk_without_room(rules: RecipeRules, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage:
        free = 1000

    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage)
    [fault] = rules.check(RECIPE).faults
    assert fault.message.code == "recipe.faults.disk"


def test_the_shipped_recipes_can_be_trained_where_their_data_are(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    rules = RecipeRules(Places(data, offline=True), tmp_path, steps=10**6, memory=1 << 50)
    shipped = read_shipped(rules.places)
    assert shipped[0].name == "first"
    assert len(shipped) > 10
    for recipe in shipped:
        codes = {fault.message.code for fault in rules.check(recipe.tables).faults}
        assert codes <= {"recipe.faults.no_data", "recipe.faults.model"}, recipe.name


@pytest.mark.parametrize(
    ("probe", "fault"),
    [
        ({"texts": [["garden", "nedrag"], "one text"], "steps": [0, 50]}, None),
        ({"texts": [["garden", 1]]}, "recipe.faults.value"),
        ({"texts": [["garden", "x" * 5000]]}, "recipe.faults.long"),
        ({"texts": [["garden", "\0"]]}, "recipe.faults.characters"),
        ({"steps": [-1]}, "recipe.faults.value"),
        ({"steps": ["soon"]}, "recipe.faults.value"),
    ],
)
def test_probes_of_pairs_at_chosen_steps(
    rules: RecipeRules, probe: dict[str, Any], fault: str | None
) -> None:
    faults = [each.message.code for each in rules.check({**RECIPE, "probe": probe}).faults]
    assert faults == ([] if fault is None else [fault])


def test_toml_is_what_was_meant() -> None:
    tables = {
        "task": {"name": 'a "quote" \\ and\ttab', "also": [{"path": "é{split}", "n": 1}, {"b": False}]},
        "train": {"rate": 1e-05, "list": ["a", 1], "big": 2**53, "odd key": 1.0, "empty": []},
    }
    assert tomllib.loads(write_toml(tables)) == tables


# Mutants


@pytest.mark.long
def test_no_mutant_reaches_outside(rules: RecipeRules, data: Path) -> None:
    """What passes is TOML that says the same, has no table but ours, and names files of the folder alone."""
    chance, passed = random.Random(0), 0
    for _ in range(rounds(2_000, 100_000)):
        recipe = mutate(chance)
        checked = rules.check(recipe)
        for fault in checked.faults:
            assert fault.message.text("en")
            assert fault.message.text("zh")
        if checked.faults:
            continue
        passed += 1
        ready = rules.require(recipe)
        read = tomllib.loads(ready.toml)
        assert set(read) <= {"task", "tokenizer", "model", "batches", "train", "monitor"}
        assert read.get("monitor", {}).get("on_alarm", "stop") in ("continue", "stop")
        folder = Path(ready.places["task.folder"])
        paths = [read["task"]["path"], *(each["path"] for each in read["task"].get("also", ()))]
        for path in paths:
            for match in [
                folder / path.replace("{split}", "train"),
                *folder.glob(path.replace("{split}", "*")),
            ]:
                assert stays_inside(match, data.resolve())
        for name in ("model.start", "tokenizer.path"):
            place = ready.places.get(name, "zoo/x")
            assert place.startswith("zoo/") or Path(place).resolve().is_relative_to(data.resolve())
        json.dumps(ready.toml)
    assert passed > 20
