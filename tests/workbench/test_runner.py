"""Inside the worker, looked at without one: models kept, progress told, recordings made to ship."""

import io
import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from glassformer import bundle
from glassformer.api.jobs import JobRequest, Preset
from glassformer.errors import CheckpointError
from glassformer.workbench import gallery
from glassformer.workbench.gallery import Piece, make_gallery
from glassformer.workbench.layer_progress import find_layers, reporting
from glassformer.workbench.runner import Runner, choose_want
from glassformer.workbench.worker import JobReporter, StoppedError, _explain

Ask = Callable[..., JobRequest]
Build = Callable[..., Path]


def open_reporter(stopped: set[str] | None = None) -> tuple[JobReporter, io.BytesIO]:
    pipe = io.BytesIO()
    return JobReporter("1", pipe, stopped if stopped is not None else set()), pipe


def said(pipe: io.BytesIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in pipe.getvalue().splitlines()]


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


def test_layers_are_found_in_every_kind_of_network(zoo: Path) -> None:
    runner = Runner(1 << 30)
    counts = {"decoder": 2, "translator": 4, "theirs": 2}
    for name, count in counts.items():
        assert len(find_layers(runner.open(name, str(zoo / name)).network)) == count


def test_progress_is_told_layer_by_layer_and_hooks_are_gone(
    zoo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glassformer.workbench.reporter.QUIET", -1.0)
    subject = Runner(0).open("decoder", str(zoo / "decoder"))
    reporter, pipe = open_reporter()
    text = "the animal was too tired to cross the street " * 2  # 19 tokens: more than a check
    with reporting(subject, 19, reporter):
        subject.record(text)
    assert [(each["stage"], each["detail"]) for each in said(pipe)] == [
        ("running", "1/2"),
        ("running", "2/2"),
        ("statistics", None),
    ]
    for layer in find_layers(subject.network):
        assert not layer._forward_pre_hooks
        assert not layer._forward_hooks


def test_a_cancelled_job_stops_at_the_next_layer(zoo: Path) -> None:
    subject = Runner(0).open("decoder", str(zoo / "decoder"))
    reporter, _ = open_reporter({"1"})
    with pytest.raises(StoppedError), reporting(subject, 3, reporter):
        subject.record("the animal")
    subject.record("the animal")  # and the network is as it was


def test_progress_is_not_told_more_often_than_can_be_seen() -> None:
    reporter, pipe = open_reporter()
    for share in (0.0, 0.1, 0.2, 0.3):
        reporter.progress("running", share)
    reporter.progress("saving")
    assert [(each["stage"], each["share"]) for each in said(pipe)] == [("running", 0.0), ("saving", None)]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError(), "out_of_memory"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), "out_of_memory"),
        (CheckpointError("No."), "refused"),
        (ZeroDivisionError("by nothing\nat all"), "failed"),
    ],
)
def test_every_error_is_a_sentence(error: Exception, code: str) -> None:
    text, found = _explain(error)
    assert found == code
    assert str(text)
    assert "\n" not in str(text)


def test_a_gallery_has_bundles_and_cards(zoo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    phrase = {"en": 'a "title"', "zh": "标题"}
    words = {"title": phrase, "point": phrase, "text": "the animal"}
    presets = (
        Preset(id="one", model="zoo/decoder", task="language_modelling", **words),  # type: ignore[arg-type]
        Preset(id="two", model="zoo/missing", task="encoding", **words),  # type: ignore[arg-type]
    )
    monkeypatch.setattr(gallery, "read_presets", lambda: presets)
    (tmp_path / "09-old.bundle").write_text("x")
    total = make_gallery(tmp_path, zoo, (Piece("two"), Piece("one", ("weights",))))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["01-one.bundle", "01-one.toml"]
    assert total == (tmp_path / "01-one.bundle").stat().st_size
    assert bundle.open(tmp_path / "01-one.bundle").source.text == "the animal"
    card = tomllib.loads((tmp_path / "01-one.toml").read_text(encoding="utf-8"))
    assert card == {"preset": "one", "title": phrase, "note": phrase}


def test_every_piece_is_a_preset() -> None:
    from glassformer.workbench.presets import read_presets

    assert {piece.preset for piece in gallery.PIECES} <= {preset.id for preset in read_presets()}
