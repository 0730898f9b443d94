"""Tasks on a model give the same in this process and in others; what others cannot open is refused."""

from pathlib import Path
from typing import Any

import pytest

from glassformer.corpus import workers as module
from glassformer.corpus.workers import Workers, run_by_name
from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from glassformer.loaded.opening import load
from our_networks import WORDS, build
from tiny_models import build_model


def count_weights(model: LoadedModel, more: int) -> int:
    return sum(each.numel() for each in model.network.parameters()) + more


@pytest.mark.slow
def test_tasks_give_the_same_elsewhere_in_their_order(tmp_path: Path) -> None:
    model = build_model(tmp_path / "model", "encoder")
    found = []
    for workers in (Workers(), Workers(jobs=2)):
        loaded = workers.load(model, None, None)
        with workers.open(loaded, model, None) as run:
            found.append(list(run(count_weights, ((number,) for number in range(5)))))
    assert found[0] == found[1]
    assert [each - found[0][0] for each in found[0]] == [0, 1, 2, 3, 4]


def test_a_model_that_is_another_elsewhere_is_refused(tmp_path: Path) -> None:
    model = build_model(tmp_path / "model", "encoder")
    known = load(model).identity.hash()
    assert run_by_name(count_weights, str(model), None, known, 0) > 0
    with pytest.raises(InputError) as error:
        run_by_name(count_weights, str(model), None, "another", 0)
    assert error.value.message.code == "study.other_there"


@pytest.mark.parametrize("elsewhere", [Workers(jobs=2), Workers("ray")])
def test_what_others_cannot_open_is_refused(elsewhere: Workers) -> None:
    with pytest.raises(InputError) as error:
        elsewhere.load(build(shape="encoder"), WORDS, None)
    assert error.value.message.code == "study.live_model"


def test_no_processes_are_refused() -> None:
    with pytest.raises(InputError, match="jobs is 0"):
        Workers(jobs=0).load("zoo/bert", None, None)


def test_a_machine_without_a_gpu_may_lead_a_cluster_that_has_some(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def remember(*_: object, device: Any) -> Any:
        asked.append(device)

    monkeypatch.setattr(module, "load", remember)
    monkeypatch.setattr(module.torch.cuda, "is_available", lambda: False)
    Workers("ray").load("zoo/bert", None, "cuda")
    Workers("ray").load("zoo/bert", None, "cpu")
    Workers(jobs=2).load("zoo/bert", None, "cuda")
    assert asked == [None, "cpu", "cuda"]  # processes of this machine would have none either
