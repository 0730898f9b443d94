"""What the examples claim is what the models do: every weight, word and chance that is named is measured."""

import functools
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
from glassformer.recording import Recording, Tokens
from glassformer.walk import follow, list_arrays
from glassformer.weights.hub import ZOO
from glassformer.workbench import gallery
from glassformer.workbench.gallery import LARGEST, PIECES, Piece, make_gallery
from glassformer.workbench.models import ModelCatalog
from glassformer.workbench.presets import read_presets
from tolerances import assert_near

PRESETS = {preset.id: preset for preset in read_presets()}

# preset: map, head, who looks, at what, with which weight (in %, as the point says it)
WEIGHTS = [
    ("red-car", 9, 0, " voiture", [" car"], 98),
    ("red-car", 9, 0, " rou", [" red"], 100),
    ("red-car", 9, 0, " maison", [" house"], 93),
    ("animal-street", 4, 0, " it", [" animal"], 62),
    ("animal-street", 0, 0, " it", [" street"], 86),
    ("animal-wide", 4, 0, " it", [" animal"], 58),
    ("making-difficult", 0, 1, " making", [" difficult"], 42),
    ("making-difficult", 5, 4, " making", [" difficult"], 29),
    ("law-its", 4, 2, " its", [" Law"], 66),
    ("i-love-you", 9, 0, "I", ["我"], 98),
    ("i-love-you", 9, 0, " love", ["爱"], 99),
    ("i-love-you", 9, 0, " you", ["你"], 100),
    ("etudiant", 10, 6, "'m", [" suis"], 89),
    ("tom-jerry", 11, 4, "<s>", ["Tom"], 99),
    ("tom-jerry", 11, 4, "汤姆", [" ch"], 60),
    ("fox", 5, 3, " j", ["um"], 98),
    ("film", 0, 0, "[CLS]", ["rare", "beauty"], 69),
    ("animal-mask", 3, 1, "[MASK]", ["too", "was", "it"], 89),
]
WRITTEN = [
    ("red-car", "Elle a acheté une voiture rouge et une maison blanche."),
    ("i-love-you", "I love you."),
    ("merci", "Thank you."),
    ("etudiant", "I'm a student."),
    ("recurrent", "Elle a acheté une voiture rouge et une blanc."),
]
# preset, step, and the chances of words there, in %
CHANCES = [
    ("merci", 0, {"P": 21, "Thank": 13, "Thanks": 10}),
    ("etudiant", 1, {"'m": 55, " am": 37}),
]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gallery")


@functools.cache
def run(preset: str, folder: Path) -> Recording:
    """The recording that ships for a preset, or else the preset run now."""
    shipped = [path for path in SHIPPED.glob("*.bundle") if path.stem.partition("-")[2] == preset]
    if not shipped:
        make_gallery(folder / preset, ZOO, [Piece(preset, ("weights", "output", "hidden"))])
        shipped = list((folder / preset).glob("*.bundle"))
    return bundle.open(shipped[0])


def find(tokens: Tokens, text: str) -> int:
    """Where a token stands; the last place, if it is said twice."""
    return max(place for place, each in enumerate(tokens.texts) if each == text)


@pytest.mark.parametrize(("preset", "map", "head", "query", "keys", "percent"), WEIGHTS)
def test_heads_look_where_the_point_says(
    preset: str, map: int, head: int, query: str, keys: list[str], percent: int, folder: Path
) -> None:
    seen = run(preset, folder).maps[map]
    weights = seen.weights(head=head)
    row = weights[find(seen.query, query)]
    places = [seen.key.texts.index(key) for key in keys]
    assert 100 * row[places].sum() == pytest.approx(percent, abs=0.6)


def test_one_word_does_not_turn_the_head(folder: Path) -> None:
    """“wide” does not turn the head, and the pronoun stays masculine."""
    for preset in ("animal-street", "animal-wide"):
        target = run(preset, folder).target
        assert target is not None
        assert "qu'il était" in str(target.text)


def test_no_other_word_looks_at_the_animal_as_much(folder: Path) -> None:
    column = run("animal-street", folder).maps[4].weights(head=0)[:, 2]
    assert np.delete(column, 9).max() < 0.235


@pytest.mark.parametrize(("preset", "text"), WRITTEN)
def test_models_write_what_the_point_says(preset: str, text: str, folder: Path) -> None:
    target = run(preset, folder).target
    assert target is not None
    assert target.text == text


@pytest.mark.parametrize(("preset", "step", "chances"), CHANCES)
def test_words_have_the_chances_that_the_point_says(
    preset: str, step: int, chances: dict[str, int], folder: Path
) -> None:
    generation = run(preset, folder).generation
    assert generation is not None
    found = {each.text: 100 * np.exp(each.log_probability) for each in generation.steps[step].alternatives}
    for word, percent in chances.items():
        assert found[word] == pytest.approx(percent, abs=0.6)


def test_the_film_is_good_and_the_last_layer_looks_at_all_words(folder: Path) -> None:
    recording = run("film", folder)
    assert recording.output is not None
    assert recording.output.vocabulary[int(recording.output.ids[0, 0])] == "positive"
    assert np.exp(recording.output.log_probabilities[0, 0]) == pytest.approx(0.975, abs=0.005)
    last = recording.maps[-1]
    assert max(last.weights(head=head)[0].max() for head in range(4)) < 0.095


def test_the_hidden_word_is_guessed(folder: Path) -> None:
    recording = run("animal-mask", folder)
    assert recording.output is not None
    place = find(recording.source, "[MASK]")
    best = [recording.output.vocabulary[int(token)] for token in recording.output.ids[place, :3]]
    assert best == ["bad", "much", "small"]


def test_a_soft_look_up_takes_most_from_the_right_value(folder: Path) -> None:
    recording = run("duan-yu", folder)
    text, offsets = recording.source.text, recording.source.offsets
    assert text is not None
    assert offsets is not None
    row = recording.maps[5].weights(head=7)[-1]

    def weigh(value: str) -> float:
        return float(row[offsets[:, 0] == text.index(value)].sum())

    assert weigh("段延庆") == pytest.approx(0.42, abs=0.01)
    assert weigh("六脉神剑") == pytest.approx(0.35, abs=0.01)


def test_the_same_character_drifts_apart(folder: Path) -> None:
    recording = run("steps", folder)
    places = [place for place, each in enumerate(recording.source.texts) if each == "步"]
    assert len(places) == 4
    for layer, (low, high) in ((0, (0.945, 0.985)), (6, (0.815, 0.915))):
        states = recording.hidden["encoder"][layer, places].astype(float)
        states /= np.linalg.norm(states, axis=1, keepdims=True)
        others = (states @ states.T)[0, 1:]
        assert low < others.min() < others.max() < high
    weights = recording.maps[3].weights(head=2)
    assert np.mean([weights[place, place - 1] for place in places]) == pytest.approx(0.75, abs=0.01)


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
    assert card["title"] == {"code": preset.title.code}
    assert card["note"] == {"code": preset.point.code}
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
    total = make_gallery(tmp_path, zoo, (Piece("two"), Piece("one", ("weights",))))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["01-one.bundle", "01-one.toml"]
    assert total == (tmp_path / "01-one.bundle").stat().st_size
    assert bundle.open(tmp_path / "01-one.bundle").source.text == "the animal"
    card = tomllib.loads((tmp_path / "01-one.toml").read_text(encoding="utf-8"))
    assert card == {"preset": "one", "title": {"code": phrase.code}, "note": {"code": phrase.code}}


def test_every_piece_is_a_preset() -> None:
    from glassformer.workbench.presets import read_presets

    assert {piece.preset for piece in gallery.PIECES} <= {preset.id for preset in read_presets()}
