"""Which models may be named: patterns, sizes, and the token of the hub."""

from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import pytest

from glassformer.errors import ApiError, CheckpointError
from glassformer.weights.hub import check_download
from glassformer.workbench.cards import count_parameters
from glassformer.workbench.models import Model
from glassformer.workbench.policy import ModelPolicy
from glassformer.workbench.process import make_environment
from glassformer.workbench.recipe_places import Places
from glassformer.workbench.runner import Runner
from glassformer.workbench.training_process import _train


def test_names_of_the_hub_are_allowed_by_pattern_and_folders_always() -> None:
    policy = ModelPolicy(names=("google/*", "gpt2"))
    for name in ("google/t5", "gpt2"):
        policy.check(Model(name, None, None))
    for name in ("gpt2-large", "evil/google", "Google/t5", "xgoogle/t5", ""):
        with pytest.raises(ApiError, match="does not run"):
            policy.check(Model(name, None, None))
    policy.check(Model("evil/google", Path("models"), None))
    ModelPolicy().check(Model("evil/google", None, None))


def test_a_model_that_takes_too_much_memory_is_refused() -> None:
    described: Any = SimpleNamespace(parameters=1_000_000)
    ModelPolicy(memory=4_000_000).check(Model("m", Path("m"), described))
    with pytest.raises(ApiError, match="memory"):
        ModelPolicy(memory=3_999_999).check(Model("m", Path("m"), described))


@pytest.mark.parametrize("fetched", [True, False])
def test_a_model_of_unknown_size_is_measured_before_it_is_opened(
    monkeypatch: pytest.MonkeyPatch, zoo: Path, tmp_path: Path, fetched: bool
) -> None:
    """What is on the hub has no size when a job is submitted: the worker looks at the files."""
    count = count_parameters(zoo / "decoder")
    assert count is not None
    name, folder = ("m", str(zoo / "decoder")) if fetched else ("a/b", None)
    monkeypatch.setattr("glassformer.workbench.runner.find_folder", lambda _: zoo / "decoder")
    opened: list[str] = []
    monkeypatch.setattr("glassformer.workbench.runner.load", lambda path, **_: opened.append(path))
    with pytest.raises(ApiError, match="memory"):
        Runner(0).open(name, folder, most=count * 4 - 1)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ApiError, match="does not say"):
        Runner(0).open("m", str(tmp_path), most=count * 4)
    assert not opened
    with suppress(AttributeError):  # what was opened is no model
        Runner(0).open(name, folder, most=count * 4)
    assert opened
    assert ModelPolicy(download=9, memory=7).download_most == 7  # more need not be downloaded


def test_a_training_asks_for_the_size_of_what_it_starts_from(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []
    monkeypatch.setattr("glassformer.weights.hub.check_download", lambda *words: asked.append(words))
    monkeypatch.setattr("glassformer.training.recipe.train", lambda *_, **__: None)
    request: dict[str, Any] = dict.fromkeys(("toml", "resume", "fork", "step", "runs", "name"))
    for start in ("a/b", "zoo/gpt2", str(Path(__file__).parent)):
        changes = {"model.start": start, "tokenizer.path": start}
        _train({**request, "changes": changes, "download": 100})
        _train({**request, "changes": changes, "download": None})
    assert asked == [("a/b", 100)] * 2


def test_recipes_obey_it_too(tmp_path: Path) -> None:
    places = Places(tmp_path, allows=ModelPolicy(names=("google/*",)).allows)
    assert places.find_model("google/t5") == "google/t5"
    assert places.find_model("other/t5") is None


def test_the_token_of_the_operator_stays_out_of_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.setenv(name, "hf_secret")
    assert make_environment(offline=False)["HF_TOKEN"] == "hf_secret"
    variables = make_environment(offline=False, hub_token=False)
    assert "hf_secret" not in variables.values()
    assert variables["HF_HUB_DISABLE_IMPLICIT_TOKEN"] == "1"
    assert variables["HF_TOKEN_PATH"] == "/dev/null"  # where a login has put it


@pytest.mark.parametrize(("sizes", "fits"), [((10, 80), True), ((10, 91), False), ((10, None), False)])
def test_the_size_is_asked_before_a_download_begins(
    monkeypatch: pytest.MonkeyPatch, sizes: tuple[int | None, ...], fits: bool
) -> None:
    names = ("config.json", "model.safetensors")
    files = [SimpleNamespace(rfilename=name, size=size) for name, size in zip(names, sizes, strict=True)]
    files.append(SimpleNamespace(rfilename="pytorch_model.bin", size=10**12))  # is never downloaded
    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", lambda *_, **__: SimpleNamespace(siblings=files))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    if fits:
        check_download("a/b", 100)
        return
    with pytest.raises(CheckpointError, match="to download"):
        check_download("a/b", 100)
