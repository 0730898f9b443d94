"""What the examples say is what their recordings show: every head, word and number is measured."""

import functools
import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from glassformer import bundle
from glassformer.api.jobs import Preset
from glassformer.api.library import SHIPPED
from glassformer.loaded.opening import load
from glassformer.messages import message
from glassformer.recording import Recording
from glassformer.walk import follow, list_arrays
from glassformer.weights.hub import ZOO
from glassformer.workbench import gallery
from glassformer.workbench.gallery import LARGEST, PIECES, Piece, make_gallery
from glassformer.workbench.measuring import NOTES, Untrue
from glassformer.workbench.models import ModelCatalog
from glassformer.workbench.presets import MEASURED, name_text, read_presets
from tolerances import assert_near

PRESETS = {preset.id: preset for preset in read_presets()}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gallery")


@functools.cache
def run(preset: str, folder: Path) -> Recording:
    """The recording that ships for a preset, or else the preset run now."""
    return gallery.find_recording(preset, SHIPPED, folder)


def differ(said: Any, found: Any) -> bool:
    """Whether two messages differ by more than what processors do: one percent, one hundredth."""
    if isinstance(said, dict) and isinstance(found, dict):
        return said.keys() != found.keys() or any(differ(said[name], found[name]) for name in said)
    if isinstance(said, float | int) and isinstance(found, float | int):
        return abs(said - found) > (0.011 if isinstance(said, float) else 1)
    return bool(said != found)


@pytest.mark.parametrize("id", NOTES)
def test_a_note_says_what_its_recording_shows(id: str, folder: Path) -> None:
    said = json.loads(MEASURED.read_text(encoding="utf-8"))[id]
    try:
        found = NOTES[id](run(id, folder), lambda other: run(other, folder))
    except Untrue as problem:
        pytest.fail(f"The note of {id} is no longer true: {problem}")
    now = name_text(id, "point", **found.parameters)
    advice = f"The recording shows now: {now.text('en')}\nRun python -m glassformer.workbench.gallery"
    assert not differ(said["point"], now.to_json()), advice
    assert said["selection"] == found.selection, advice
    assert [(each["title"], each["selection"]) for each in said["also"]] == [
        (title.to_json(), place) for title, place in found.also
    ], advice
    for language in ("en", "zh"):  # every number stands in the text, and nothing is left open
        assert "{" not in now.text(language)
        assert all(
            str(value) in now.text(language)
            for value in found.parameters.values()
            if isinstance(value, int | float)
        )


def test_a_note_whose_numbers_are_old_is_told_from_a_new_one() -> None:
    said = {"code": "a.b", "parameters": {"share": 62, "head": {"layer": 4}}}
    assert not differ(said, {"code": "a.b", "parameters": {"share": 61, "head": {"layer": 4}}})
    assert differ(said, {"code": "a.b", "parameters": {"share": 58, "head": {"layer": 4}}})
    assert differ(said, {"code": "a.b", "parameters": {"share": 62}})
    assert differ({"word": "suis"}, {"word": "étudiant"})


def test_every_other_note_states_nothing_measured() -> None:
    for id in set(PRESETS) - set(NOTES):
        assert not any(letter.isdigit() or letter == "%" for letter in PRESETS[id].point.text("en"))


def test_the_notes_speak_of_the_word_being_written(folder: Path) -> None:
    """By hand: <s> I love you . enter, I love you . </s> are written; >>en<< 我 爱 你 </s> are looked at."""
    recording = run("i-love-you", folder)
    assert [len(recording.source), recording.target and recording.target.texts[1:4]] == [
        5,
        ("I", " love", " you"),
    ]
    point = PRESETS["i-love-you"].point.parameters
    weights = recording.map(PRESETS["i-love-you"].selection["place"]).weights(head=point["head"])  # type: ignore[index]
    for row, word in enumerate(("i", "love", "you")):
        assert 100 * weights[row, row + 1] == pytest.approx(point[word], abs=1)


@pytest.mark.slow
def test_the_first_recording_is_walked_through_at_once(folder: Path) -> None:
    """Without torch, and in a file: the first layers step by step, as the model computes them."""
    shipped, left_out = run("red-car", folder), ["output.logits", "output.probabilities"]
    plan, arrays = follow(shipped)
    steps = [step for chapter in plan.chapters for step in chapter.steps if step.layer in (None, 0)]
    assert [step.id for step in steps if step.missing is not None] == left_out  # 8,192 words are too many
    text = shipped.source.text
    assert text is not None
    subject: Any = load(ZOO / "translator")
    again = subject.record(text, target_language="fr", want=("weights", "hidden", "trace"))
    own = follow(again)[1]
    for step in steps:
        seen, expected = arrays.find(step.output), own.find(step.output)
        if step.id in left_out or step.operation == "choose":
            continue
        assert seen is not None
        assert expected is not None
        finite = np.isfinite(expected)
        assert (np.isfinite(seen) == finite).all()
        assert_near(seen[finite], expected[finite], layers=2, where=step.id)
    listed = list_arrays(shipped, 1 << 20)
    assert {step.output for step in steps if step.id not in left_out} <= set(listed)
    assert not any(name.startswith(("encoder/1/", "decoder/1/")) for name in listed)


def test_the_gallery_is_whole_and_small() -> None:
    bundles = sorted(SHIPPED.glob("*.bundle"))
    assert [path.stem.partition("-")[2] for path in bundles] == [piece.preset for piece in PIECES]
    assert sum(path.stat().st_size for path in bundles) <= LARGEST
    models = {path.name: bundle.open(path).evidence.model_hash for path in bundles}
    assert all(models.values())


@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: piece.preset)
def test_cards_say_what_the_presets_say(piece: Piece) -> None:
    """Whoever changes a preset runs the gallery again."""
    (path,) = SHIPPED.glob(f"[0-9][0-9]-{piece.preset}.toml")
    card, preset = tomllib.loads(path.read_text(encoding="utf-8")), PRESETS[piece.preset]
    assert card["preset"] == preset.id
    assert card["title"] == preset.title.to_json()
    assert card["note"] == json.loads(json.dumps(preset.point.to_json()))
    assert card["selection"] == preset.selection


def test_every_preset_has_its_model_in_the_zoo() -> None:
    there = {model.name for model in ModelCatalog(ZOO, (), offline=True).models()}
    assert {preset.model for preset in PRESETS.values()} <= there


def test_a_gallery_has_bundles_and_cards(zoo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    phrase = message("workbench.preset.fox.title")
    words = {"title": phrase, "point": phrase, "text": "the animal"}
    presets = (
        Preset(id="one", model="zoo/decoder", task="language_modelling", **words),  # type: ignore[arg-type]
        Preset(id="two", model="zoo/missing", task="encoding", **words),  # type: ignore[arg-type]
    )
    monkeypatch.setattr(gallery, "read_presets", lambda: presets)
    (tmp_path / "09-old.bundle").write_text("x")
    (tmp_path / "09-old.toml").write_text('id = "kept"\npreset = "one"\n')
    total = make_gallery(tmp_path, zoo, (Piece("two"), Piece("one", ("weights",))))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["01-one.bundle", "01-one.toml"]
    assert total == (tmp_path / "01-one.bundle").stat().st_size
    assert bundle.open(tmp_path / "01-one.bundle").source.text == "the animal"
    card = tomllib.loads((tmp_path / "01-one.toml").read_text(encoding="utf-8"))
    assert card == {
        "id": "kept",
        "preset": "one",
        "title": phrase.to_json(),
        "note": phrase.to_json(),
        "selection": {},
    }


def test_every_piece_is_a_preset() -> None:
    from glassformer.workbench.presets import read_presets

    assert {piece.preset for piece in gallery.PIECES} <= {preset.id for preset in read_presets()}
