"""Samples: what a network makes of the same few texts at each evaluation."""

from pathlib import Path

import pytest

from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.runlog import read_run
from glassformer.runlog.samples import SAMPLES, Sample, read_samples
from glassformer.tasks.language_modelling import LanguageModelling, generate
from training.runs import assert_same, run

SHORT = ("train.steps=10", "train.evaluate_every=5")


@pytest.mark.parametrize("kind", ["recipe", "translation"])
@pytest.mark.slow
def test_samples_change_no_loss_and_are_what_the_checkpoint_writes(
    request: pytest.FixtureRequest, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe: Path = request.getfixturevalue(kind)
    sampled = run(recipe, *SHORT, name="sampled")
    found = read_samples(sampled)
    assert list(found) == [5, 10]
    texts = [[sample.input for sample in samples] for samples in found.values()]
    assert texts[0] == texts[1]
    assert all(sample.wanted for sample in found[10])
    if kind == "recipe":
        again = generate(load(sampled / "last"), texts[1], decode={"max_new_tokens": 40}, long="truncate")
        written = [text.removeprefix(read) for read, text in zip(texts[1], again, strict=True)]
        assert written[0].startswith(found[10][0].output)
        monkeypatch.setattr(LanguageModelling, "samples", lambda *_: [])
        assert_same(sampled, run(recipe, *SHORT, name="plain"))
        assert not (recipe.parent / "runs" / "plain" / SAMPLES).exists()


@pytest.mark.slow
def test_what_cannot_be_written_ends_no_run(recipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> list[Sample]:
        raise InputError("tasks.no_name", known=())

    monkeypatch.setattr(LanguageModelling, "samples", refuse)
    log = read_run(run(recipe, *SHORT, name="silent"))
    assert log.state == "finished"
    assert [event.code for event in log.events if event.kind == "note"].count("training.no_samples") == 1


@pytest.mark.slow
def test_the_memory_that_is_used_is_logged(recipe: Path) -> None:
    memory = read_run(run(recipe, *SHORT, name="memory")).scalars["memory"]
    assert memory.steps[-1] == 10
    assert 10 < memory.values[-1] < 1e6
