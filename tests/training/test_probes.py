"""Probes: exact recordings while a network learns, which change nothing about what it learns."""

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glassformer as gf
from glassformer import bundle
from glassformer.errors import ConfigurationError
from glassformer.loaded.opening import load
from glassformer.runlog import find_probes, read_probe_texts, read_run
from glassformer.training.probes import Schedule, TimeBudget, choose_examples, choose_removed
from glassformer.training.recipe import train
from glassformer.training.settings import ProbeSettings, TrainSettings
from training.runs import assert_same, run

SHORT = "train.steps=10"
NONE = "probe.count=0"


def list_steps(folder: Path, text: int = 0) -> list[int]:
    return [probe.step for probe in find_probes(folder) if probe.text == text]


@pytest.mark.parametrize("kind", ["recipe", "translation"])
@pytest.mark.slow
def test_probes_change_no_loss_and_are_what_the_checkpoint_records(
    request: pytest.FixtureRequest, kind: str
) -> None:
    recipe: Path = request.getfixturevalue(kind)
    probed = run(recipe, SHORT, "probe.steps=[0, 2, 5, 10]", name="probed")
    assert_same(probed, run(recipe, SHORT, NONE, name="plain"))
    assert not find_probes(recipe.parent / "runs" / "plain")
    assert list_steps(probed, 0) == list_steps(probed, 1) == [0, 2, 5, 10]
    assert all(read_probe_texts(probed)[number]["source"] for number in (0, 1))
    model = load(probed / "last")
    for probe in find_probes(probed):
        recording = bundle.open(probe.path)
        assert recording.evidence.exact
        assert recording.hidden
        assert len(recording.source.texts) <= 48
        if probe.step == 10:
            target = None if recording.target is None else recording.target.ids[1:]
            again = model.record(recording.source.ids, target)
            assert again.evidence.model_hash == recording.evidence.model_hash
            for ours, theirs in zip(recording.maps, again.maps, strict=True):
                np.testing.assert_array_equal(ours.weights(), theirs.weights())


@pytest.mark.slow
def test_texts_of_the_recipe_are_recorded(recipe: Path, translation: Path) -> None:
    folder = run(recipe, SHORT, 'probe.texts=["the cat sat on the mat"]', "probe.tokens=7", name="given")
    recording = bundle.open(find_probes(folder)[0].path)
    assert recording.source.text == "the cat"
    pairs = 'probe.texts=[["the cat", "tac eht", "fr"]]'
    recording = bundle.open(find_probes(run(translation, SHORT, pairs, name="pairs"))[-1].path)
    assert recording.target is not None
    assert recording.target.text == "tac eht"
    for file, texts, code in (
        (recipe, '[["the", "cat"]]', "training.probe.no_pair"),
        (translation, '["the cat"]', "training.probe.no_target"),
        (recipe, '[["a", "b", "c", "d"]]', "training.recipe.in_table"),
    ):
        with pytest.raises(ConfigurationError) as caught:
            run(file, SHORT, f"probe.texts={texts}", name="wrong")
        assert caught.value.message.code == code


@pytest.mark.slow
def test_a_resumed_run_takes_what_came_after_its_checkpoint_again(recipe: Path) -> None:
    steps = "probe.steps=[0, 2, 4, 5, 8]"
    folder = run(recipe, "train.steps=5", "train.schedule=constant", "train.save_every=3", steps)
    (folder / "probes" / ".torn.bundle.part").write_bytes(b"half")
    for later in ("step-00000007-0.bundle", "step-00000008-0.bundle"):  # it was killed after these
        (folder / "probes" / later).write_bytes(b"of the time before it was killed")
    train(None, ["train.steps=9"], resume=True, runs=folder.parent, name="run", silent=True)
    assert list_steps(folder) == [0, 2, 4, 5, 8]
    assert {path.name for path in (folder / "probes").glob(".*")} == set()
    for probe in find_probes(folder):
        bundle.open(probe.path)
    whole = ["train.steps=9", "train.schedule=constant", "train.save_every=3", steps]
    for ours, theirs in zip(find_probes(folder), find_probes(run(recipe, *whole, name="whole")), strict=True):
        hashes = [bundle.open(each.path).evidence.model_hash for each in (ours, theirs)]
        assert hashes[0] == hashes[1]


@pytest.mark.slow
def test_other_texts_get_other_numbers_when_a_run_is_resumed(recipe: Path) -> None:
    constant = "train.schedule=constant"
    folder = run(recipe, "train.steps=3", constant, 'probe.texts=["the cat", "a dog"]')
    changes = ["train.steps=6", 'probe.texts=["a dog", "red house"]']
    train(None, changes, resume=True, runs=folder.parent, name="run", silent=True)
    texts = {number: text["source"] for number, text in read_probe_texts(folder).items()}
    assert texts == {0: "the cat", 1: "a dog", 2: "red house"}
    assert max(list_steps(folder, 0)) <= 3
    assert min(list_steps(folder, 2)) > 3
    assert min(list_steps(folder, 1)) == 0
    assert max(list_steps(folder, 1)) == 6


@pytest.mark.slow
def test_a_fork_begins_with_the_probes_of_its_parent_and_keeps_them(recipe: Path) -> None:
    folder = run(recipe, "train.steps=6", "train.save_every=3", "probe.steps=[0, 2, 5]")
    changes = {"train.rate": 1e-3, "probe.steps": [5, 6]}
    gf.train(None, changes, fork="run", step=4, runs=folder.parent, name="fork", silent=True)
    fork = folder.parent / "fork"
    assert list_steps(fork) == [0, 2, 5, 6]
    kept = (folder / "probes" / "step-00000002-0.bundle").read_bytes()
    assert (fork / "probes" / "step-00000002-0.bundle").read_bytes() == kept
    assert (fork / "probes" / "step-00000005-0.bundle").read_bytes() != (
        folder / "probes" / "step-00000005-0.bundle"
    ).read_bytes()


@pytest.mark.slow
def test_a_disk_that_is_full_ends_the_probes_and_not_the_training(
    recipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("glassformer.training.probes.bundle.save", fail)
    log = read_run(run(recipe, SHORT))
    assert log.state == "finished"
    notes = [event for event in log.events if event.code == "training.probe.failed"]
    assert [note.step for note in notes] == [0]
    assert "No space left" in notes[0].message


def make_schedule(steps: list[int] | None = None, last: int = 1000, every: int = 250) -> Schedule:
    return Schedule(ProbeSettings(steps=steps), TrainSettings(steps=last, evaluate_every=every))


def test_steps_are_dense_at_first_and_every_evaluation_is_one() -> None:
    schedule = make_schedule()
    found = [step for step in range(1001) if schedule.has(step)]
    assert found[:10] == [0, 1, 2, 3, 5, 8, 13, 21, 34, 55]
    assert {250, 500, 750, 1000} <= set(found)
    assert schedule.has(421, final=True)
    assert [schedule.position(step) for step in found] == sorted(
        {schedule.position(step) for step in found}
    ), "each is further on than the one before"
    named = make_schedule([5, 2, 5])
    assert [step for step in range(1001) if named.has(step)] == [2, 5]
    assert not named.has(1000, final=True)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr("glassformer.training.probes.time.perf_counter", lambda: now[0])
    return now


@pytest.mark.parametrize(("cost", "fewer"), [(0.001, False), (0.5, True), (2.0, True)])
def test_probes_take_their_share_of_the_time_and_are_spread_over_the_run(
    clock: list[float], cost: float, *, fewer: bool
) -> None:
    schedule = make_schedule()
    budget = TimeBudget(0.02, schedule, 0)
    taken, wanted = [], [step for step in range(1001) if schedule.has(step)]
    for step in range(1001):
        clock[0] += 0.2 if step else 0  # 200 seconds in all: probes may take 4 of them
        if schedule.has(step) and budget.allows(step):
            clock[0] += cost
            budget.add(step, [cost / 2, cost / 2])
            taken.append(step)
    assert budget.spent <= 0.02 * 1.03 * 200, "beside the one before the first step"
    assert budget.spent == pytest.approx(cost * (len(taken) - 1))
    assert (taken != wanted) == fewer
    assert taken[0] == 0
    if cost == 0.5:
        assert 7 <= len(taken) <= 9
        assert taken[-1] >= 750
        assert max(np.diff([schedule.position(step) for step in taken])) <= 5, "spread over the schedule"


def test_what_takes_too_many_bytes_is_thinned_evenly() -> None:
    schedule = make_schedule()
    steps = [step for step in range(1001) if schedule.has(step)]
    sizes = dict.fromkeys(steps, 10)
    removed = choose_removed(sizes, 10 * len(steps), schedule)
    assert removed == set()
    kept = sorted(sizes.keys() - choose_removed(sizes, 60, schedule))
    assert len(kept) == 6
    assert (kept[0], kept[-1]) == (0, 1000)
    gaps = np.diff([schedule.position(step) for step in kept])
    assert gaps.max() <= 2 * gaps.min() + 1
    assert choose_removed({0: 100, 9: 100}, 1, schedule) == set(), "the first and the last stay"


@pytest.mark.slow
def test_a_run_keeps_to_its_megabytes(recipe: Path) -> None:
    folder = run(recipe, "train.steps=12", f"probe.steps={list(range(13))}", "probe.megabytes=0.05")
    probes = find_probes(folder)
    size = probes[0].path.stat().st_size
    assert 2 <= len(list_steps(folder)) < 13
    assert sum(probe.path.stat().st_size for probe in probes) <= 50_000 or len(list_steps(folder)) == 2
    assert size < 50_000
    assert (list_steps(folder)[0], list_steps(folder)[-1]) == (0, 12)


def test_examples_are_of_usual_length_where_they_fit() -> None:
    lengths = np.array([5, 100, 20, 30, 25, 10, 200])
    assert choose_examples(lengths, 2, 48) == [2, 4]
    assert choose_examples(lengths, 10, 48) == [2, 3, 4]
    assert choose_examples(lengths, 3, 4) == [0, 3, 6], "none fits: they are cut"
    pieces = np.array([64] * 19 + [15])  # of a text: only its rest fits
    assert choose_examples(pieces, 2, 48) == [0, 19]
    assert choose_examples(pieces, 1, 48) == [19]
