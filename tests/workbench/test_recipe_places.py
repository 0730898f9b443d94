"""Files and models that training from the page may read."""

from pathlib import Path

import pytest

from glassformer.workbench import recipe_places
from glassformer.workbench.recipe_places import Places, stays_inside
from recipe_mutants import make_data


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return make_data(tmp_path)


def test_a_folder_of_the_server_is_not_taken_for_a_model_of_the_hub(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    places = Places(data)
    assert places.find_model("someone/model") == "someone/model"
    assert places.find_model("outside") is None  # training would read ./outside


def test_models_of_other_folders_are_known_by_the_name_of_the_folder(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "models"
    (folder / "mine").mkdir(parents=True)
    (folder / "mine" / "config.json").write_text("{}")
    (folder / "link").symlink_to(tmp_path / "outside")
    places = Places(data, [folder], offline=True)
    assert places.find_model("models/mine") == str(folder / "mine")
    assert places.find_model("models/link") is None
    assert places.find_model("models/../outside") is None
    assert places.find_model_folder("zoo/bert") is not None


@pytest.mark.parametrize("name", ["models/mine", "models/sub/other", "alone"])
def test_a_model_of_another_folder_keeps_its_name_in_a_run(data: Path, tmp_path: Path, name: str) -> None:
    for folder in ("models/mine", "models/sub/other", "alone"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "config.json").write_text("{}")
    places = Places(data, [tmp_path / "models", tmp_path / "alone"], offline=True)
    tables = {"task": {"folder": "."}, "model": {"start": name}, "tokenizer": {"path": name}}
    assert list(places.find_faults(tables)) == []
    saved: dict[str, dict[str, str]] = {"task": {}, "model": {}, "tokenizer": {}}
    for full, value in places.resolve(tables).items():
        table, _, key = full.partition(".")
        saved[table][key] = value
    assert saved["model"]["start"] == str(tmp_path / name)
    assert places.shorten(saved) == tables


def test_files_are_listed_without_what_is_hidden_or_a_link(data: Path) -> None:
    listed = Places(data).list_files("")
    assert [file.path for file in listed.files if file.path.endswith(".txt")] == [
        *("dev.txt", "text.txt", "train.txt", "sub/pos/1.txt")
    ]
    assert not any("link" in file.path or "secret" in file.path for file in listed.files)


def test_a_loop_of_links_is_not_inside(data: Path) -> None:
    (data / "loop").symlink_to(data / "loop")
    assert not stays_inside(data / "loop", data.resolve())
    assert stays_inside(data / "sub", data.resolve())


def test_a_run_of_the_folder_is_shown_with_short_paths(data: Path) -> None:
    places = Places(data)
    tables = {"task": {"folder": str(data / "sub")}, "model": {"start": str(data / "model")}, "x": 3}
    assert places.shorten(tables) == {"task": {"folder": "sub"}, "model": {"start": "model"}, "x": 3}
    assert places.shorten({"task": {"folder": "/etc"}}) == {"task": {"folder": "/etc"}}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("**/*.txt", "recipe.faults.outside"),  # the folder has a link that leads out
        ("sub/**/1.txt", None),
        ("**/" * 18 + "nothing", "recipe.faults.pattern"),
        ("sub/**/**/1.txt", "recipe.faults.pattern"),
        ("sub/many/*", "recipe.faults.pattern"),
    ],
)
def test_patterns_that_match_too_much_are_refused(
    data: Path, monkeypatch: pytest.MonkeyPatch, path: str, code: str | None
) -> None:
    monkeypatch.setattr(recipe_places, "MOST_ENTRIES", 9)
    (data / "sub" / "many").mkdir()
    for number in range(10):
        (data / "sub" / "many" / f"{number}.csv").write_text("")
    faults = list(Places(data).find_faults({"task": {"path": path}}))
    assert [fault.message.code for fault in faults] == ([] if code is None else [code])


@pytest.mark.parametrize(
    ("task", "fields"),
    [
        ({"name": "picture_classification", "path": "t.tsv"}, ["task.archive"]),  # all of the folder is read
        ({"name": "picture_classification", "path": "t.tsv", "archive": "."}, ["task.archive"]),
        ({"name": "picture_classification", "path": "t.tsv", "archive": "fine"}, []),
        ({"name": "picture_classification", "path": "t.npz"}, []),
        ({"name": "language_modelling", "path": "t.tsv"}, []),
    ],
)
def test_a_folder_that_a_table_names_files_of_has_no_way_out(
    data: Path, task: dict[str, str], fields: list[str]
) -> None:
    (data / "mixed" / "fine").mkdir()
    for name in ("t.tsv", "t.npz", "fine/1.png"):
        (data / "mixed" / name).write_text("link\ta\n")
    faults = list(Places(data).find_faults({"task": {**task, "folder": "mixed"}}))
    assert [fault.field for fault in faults] == fields
    assert {fault.message.code for fault in faults} <= {"recipe.faults.outside"}
