"""What can be chosen: found in folders, described without being opened, never outside of them."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from glassformer.errors import ApiError
from glassformer.workbench.models import ModelCatalog

Build = Callable[..., Path]


@pytest.fixture
def mine(build: Build, tmp_path: Path) -> Path:
    """A folder with models at several depths."""
    folder = tmp_path / "mine"
    build(folder / "one", "decoder")
    build(folder / "a" / "b" / "three", "encoder", "masked")
    build(folder / "a" / "b" / "c" / "four", "encoder", "masked")
    build(folder / ".hidden", "decoder")
    (folder / "link").symlink_to(build(tmp_path / "elsewhere", "decoder"))
    (folder / "empty").mkdir()
    (folder / "broken").mkdir()
    (folder / "broken" / "config.json").write_text("{")
    return folder


def test_models_are_found_three_levels_deep(zoo: Path, mine: Path) -> None:
    names = {model.name for model in ModelCatalog(zoo, (mine,), offline=True).models()}
    assert {name for name in names if not name.startswith("zoo/")} == {"mine/one", "mine/a/b/three"}


def test_two_folders_of_the_same_name_stay_apart(build: Build, zoo: Path, tmp_path: Path) -> None:
    for parent in ("x", "y"):
        build(tmp_path / parent / "models" / "one", "decoder")
    catalog = ModelCatalog(zoo, (tmp_path / "x" / "models", tmp_path / "y" / "models"), offline=True)
    assert catalog.find("models/one").folder == tmp_path / "x" / "models" / "one"
    second = catalog.find("models/one (2)")
    assert second.folder == tmp_path / "y" / "models" / "one"
    assert second.description is not None
    assert second.description.name == "models/one (2)"


def test_a_path_leads_only_into_the_folders(zoo: Path, mine: Path, tmp_path: Path) -> None:
    catalog = ModelCatalog(zoo, (mine,), offline=True)
    assert catalog.find(str(mine / "one")).name == "mine/one"
    assert catalog.find(str(mine / "a" / "b" / "c" / "four")).name == "four"
    for path in (tmp_path / "elsewhere", mine / "link", mine / ".." / "elsewhere", Path("/"), mine / "empty"):
        with pytest.raises(ApiError, match="There is no model") as caught:
            catalog.find(str(path))
        assert caught.value.status == 404
    with pytest.raises(ApiError):
        catalog.find("/etc/\0passwd")


def test_a_run_has_its_best_network_as_a_model(build: Build, zoo: Path, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for name in ("first", "none", "outside"):
        (runs / name).mkdir(parents=True)
        (runs / name / "events.jsonl").write_text("")
    kept = build(runs / "first" / "checkpoints" / "step-00000002", "decoder")
    (runs / "first" / "best").symlink_to("checkpoints/step-00000002")
    (runs / "outside" / "best").symlink_to(build(tmp_path / "elsewhere", "decoder"))
    catalog = ModelCatalog(zoo, (), offline=False, runs=runs)
    found = catalog.find("run:first")
    assert (found.name, found.folder) == ("run:first", kept)
    assert found.description is not None
    for name in ("run:none", "run:outside", "run:../elsewhere", "run:", "run:missing"):
        with pytest.raises(ApiError) as caught:
            catalog.find(name)
        assert (caught.value.message.code, caught.value.status) == ("workbench.no_run_model", 404)


def test_the_nearest_name_is_offered(zoo: Path) -> None:
    with pytest.raises(ApiError, match="Did you mean 'zoo/translator'"):
        ModelCatalog(zoo, (), offline=True).find("zoo/translater")
    with pytest.raises(ApiError):
        ModelCatalog(zoo, (), offline=True).find("zoo/../masked")


def test_other_names_are_the_hubs(zoo: Path) -> None:
    model = ModelCatalog(zoo, (), offline=False).find("owner/unknown")
    assert (model.folder, model.description) == (None, None)


def test_offline_only_what_was_fetched_is_the_hubs(
    zoo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    catalog = ModelCatalog(zoo, (), offline=True)
    with pytest.raises(ApiError, match="hub may not be asked"):
        catalog.find("owner/model")
    (tmp_path / "models--owner--model").mkdir()
    assert catalog.find("owner/model").folder is None


def test_a_new_model_is_found_when_it_is_asked_for(build: Build, zoo: Path, mine: Path) -> None:
    catalog = ModelCatalog(zoo, (mine,), offline=True)
    catalog.models()
    build(mine / "later", "decoder")
    assert catalog.find("mine/later").folder == mine / "later"


@pytest.mark.slow
def test_the_workbench_is_there_without_torch() -> None:
    code = (
        "import sys; from glassformer.workbench import LocalWorkbench, WorkbenchSettings as S;"
        "from pathlib import Path;"
        "bench = LocalWorkbench(S(), folder=Path('.'), add=lambda path, request, owner: '');"
        "bench.models(), bench.presets(), bench.close(); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_unknown_names_do_not_search_the_folders_again_and_again(
    zoo: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = ModelCatalog(zoo, [mine], offline=False)
    catalog.look()
    catalog._took = 1000.0  # as with very many folders
    monkeypatch.setattr(catalog, "look", lambda: pytest.fail("searched again"))
    assert catalog.find("owner/unknown").folder is None
