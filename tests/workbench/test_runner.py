"""One job in the worker: models kept, what is recorded and kept, edits."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from glassformer.errors import CheckpointError
from glassformer.workbench.runner import Runner, choose_want
from tolerances import assert_near
from workbench.conftest import Run, steps

Build = Callable[..., Path]


@pytest.mark.slow
def test_models_are_kept_as_long_as_there_is_room(zoo: Path) -> None:
    names = ("decoder", "masked", "encoder")
    generous, narrow = Runner(1 << 30), Runner(0)
    for runner in (generous, narrow):
        for name in names:
            runner.open(name, str(zoo / name))
    assert [Path(key).name for key in generous.models] == list(names)
    assert [Path(key).name for key in narrow.models] == ["encoder"]
    generous.open("decoder", str(zoo / "decoder"))
    assert Path(next(reversed(generous.models))).name == "decoder"
    generous.forget()
    assert not generous.models


def test_a_model_that_has_changed_is_opened_again(build: Build, tmp_path: Path) -> None:
    folder = build(tmp_path / "model", "decoder")
    runner = Runner(1 << 30)
    first = runner.open("model", str(folder))
    assert runner.open("model", str(folder)) is first
    build(folder, "encoder", "masked")
    os.utime(folder / "config.json", (1, 1))
    assert runner.open("model", str(folder)) is not first


def test_where_a_model_lies_is_not_told(tmp_path: Path) -> None:
    folder = tmp_path / "secret" / "model"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}')
    with pytest.raises(CheckpointError) as caught:
        Runner(0).open("model", str(folder))
    assert "secret" not in str(caught.value)
    assert "model" in str(caught.value)


@pytest.mark.parametrize(("count", "wanted"), [(512, 7), (513, 3), (4096, 3), (4097, 2)])
def test_longer_texts_keep_less(count: int, wanted: int) -> None:
    assert len(choose_want(count)) == wanted


def test_a_text_is_recorded_whole(run: Run, zoo: Path) -> None:
    recording, events = run()
    stages = dict.fromkeys(event.data["stage"] for event in events if event.name == "progress")
    stages.pop("statistics", None)  # reported where the pass before it takes long, as on a busy machine
    assert list(stages) == ["queued", "loading", "tokenising", "running", "saving"]
    assert events[-1].name == "done"
    assert recording.model == "zoo/decoder"
    assert recording.source.text == "the animal was too tired"
    from glassformer.recorders.record import record

    again = record(zoo / "decoder", "the animal was too tired", want=("weights", "scores", "values"))
    for ours, theirs in zip(recording.maps, again.maps, strict=True):
        assert_near(ours.weights(), theirs.weights())
        assert ours.queries is not None
        assert ours.keys is not None
        assert ours.values is not None
    assert set(recording.hidden) == {"decoder"}
    assert recording.output is not None


def test_only_what_is_wanted_is_kept(run: Run) -> None:
    recording, _ = run(want=["weights"])
    assert not recording.hidden
    assert recording.output is None
    assert recording.maps[0].queries is None


def test_long_texts_keep_less(run: Run) -> None:
    recording, _ = run(model="zoo/endless", sequence="random", length=600)
    assert recording.maps[0].values is None
    assert recording.hidden


def test_a_translator_is_told_the_language(run: Run) -> None:
    recording, events = run(model="zoo/translator", target_language="fr", source_language="en")
    assert recording.source.texts[0] == ">>fr<<"
    assert recording.target is not None
    assert recording.generation is not None
    assert {(map.stack, map.kind) for map in recording.maps} == {
        ("encoder", "self"),
        ("decoder", "self"),
        ("decoder", "cross"),
    }
    assert len(steps(events)) == len(recording.generation.steps)


def test_a_given_target_is_read_and_not_written(run: Run) -> None:
    recording, events = run(model="zoo/translator", target_language="fr", target="the street")
    assert recording.target is not None
    assert recording.target.texts[1:] == ("the", "street")
    assert recording.generation is None
    assert steps(events) == []


def test_a_recurrent_translator_has_one_map(run: Run) -> None:
    recording, _ = run(model="zoo/recurrent")
    assert [(map.stack, map.kind) for map in recording.maps] == [("decoder", "cross")]


def test_a_recurrent_translator_has_no_layers_to_choose(fail: Callable[..., str]) -> None:
    assert "no stack of layers" in fail(model="zoo/recurrent", layers=1)


def test_layers_and_multiplier_change_the_run(run: Run) -> None:
    plain, _ = run()
    edited, _ = run(layers=1, multiplier=0.0)
    assert len(edited.maps) == 1
    assert tuple(map(str, edited.evidence.edits)) == (
        "only the first 1 layer of every stack",
        "scores times 0 in every layer",
    )
    assert_near(edited.maps[0].weights()[0, 3, :4], 0.25)
    assert not np.allclose(plain.maps[0].weights()[0, 3, :4], 0.25, atol=1e-3)
    assert plain.maps[0].weights(0).shape == edited.maps[0].weights(0).shape


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"kind": "ablate", "stack": "decoder", "attention": "self", "layer": 1, "head": 0}, "silenced"),
        (
            {
                "kind": "ablate",
                "stack": "decoder",
                "attention": "self",
                "layer": 1,
                "head": 0,
                "how": "mean",
                "reference": [[5, 6], [7, 8, 9]],
            },
            "mean over 2 given texts",
        ),
        (
            {"kind": "cut", "stack": "decoder", "attention": "self", "query": 3, "key": 1},
            "query 3 may not look at key 1",
        ),
        ({"kind": "scale", "factor": 2.0, "layer": 1}, "scores times 2 in layer 1"),
        (
            {"kind": "scale", "factor": 2.0, "stack": "decoder", "attention": "self"},
            "scores times 2 in every layer of decoder (self)",
        ),
        ({"kind": "layers", "count": 1, "stack": "decoder"}, "only the first 1 layer of decoder"),
    ],
)
def test_edits_are_made_and_said(run: Run, edit: dict[str, object], said: str) -> None:
    recording, _ = run(edits=[edit])
    assert said in str(recording.evidence.edits[0])


@pytest.mark.slow
def test_a_model_of_transformers_records_and_writes(run: Run) -> None:
    recording, events = run(model="zoo/theirs", layers=1, multiplier=2.0)
    assert len(recording.maps) == 1
    assert steps(events) == []
    recording, events = run(model="zoo/theirs", kind="generate", decode={"max_new_tokens": 3})
    assert recording.generation is not None
    assert [step["token"] for step in steps(events)] == [step.token for step in recording.generation.steps]


@pytest.mark.slow
def test_a_long_run_tells_how_far_it_is(run: Run) -> None:
    _, events = run(model="zoo/slow", sequence="random", length=400, want=["output"])
    shares = [event.data["share"] for event in events if event.data.get("stage") == "running"]
    assert len(shares) > 2
    assert all(0 <= share <= 1 for share in shares)
