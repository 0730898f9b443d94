"""Which models may be named: patterns, sizes, and the token of the hub."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import pytest

from glassformer.errors import ApiError, CheckpointError
from glassformer.weights.hub import check_download
from glassformer.workbench.models import Model
from glassformer.workbench.policy import ModelPolicy
from glassformer.workbench.process import make_environment
from glassformer.workbench.recipe_places import Places


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
