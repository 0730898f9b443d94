"""Our networks that look and listen are recorded, edited and branched as those that read."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import glassformer as gf
from glassformer.errors import InputError
from glassformer.loaded.model import LoadedModel
from our_networks import WORDS, build
from tolerances import assert_near, largest

PIXELS = np.random.default_rng(0).integers(0, 256, (8, 8, 3)).astype(np.uint8)
NOISE = gf.Waveform(np.random.default_rng(0).normal(size=4000) * 0.1, 8000)
SHOWN: dict[str, Any] = {"reads": "picture", "picture_size": 8, "patch_size": 2}
HEARD: dict[str, Any] = {
    "reads": "sound",
    "max_length": 40,
    "sample_rate": 8000,
    "hop": 80,
    "mel_bins": 20,
    "frame_stride": 4,
}


@pytest.fixture(scope="module")
def sorter() -> LoadedModel:
    network = build(**SHOWN, shape="encoder", head="classes", classes=3, positions="learned")
    return gf.load(network, name="sorter")


@pytest.fixture(scope="module", params=[SHOWN, HEARD], ids=["captioner", "listener"])
def writer(request: pytest.FixtureRequest) -> LoadedModel:
    return gf.load(build(**request.param), WORDS, name="writer")


def inputs_of(model: LoadedModel) -> Any:
    return PIXELS if model.reads == "picture" else NOISE


def test_maps_output_and_states_are_those_of_the_plain_pass(sorter: LoadedModel) -> None:
    recording = gf.record(sorter, PIXELS, want=("weights", "scores", "hidden", "logits"))
    assert recording.source.picture is not None
    assert recording.evidence.exact
    assert recording.map(layer=-1).shape == (2, 17, 17)
    given = torch.from_numpy(sorter.perceive(PIXELS).inputs)[None]
    scores = max(largest(each.scores()) for each in recording.maps)
    with torch.no_grad():
        network = sorter.network.eval()
        assert_near(recording.output.logits[0], network(given)[0], layers=2, scores=scores)
        assert_near(recording.hidden["encoder"][-1], network.encode(given)[0], layers=2, scores=scores)
    assert recording.output.kind == "classes"


def test_a_writer_is_recorded_on_both_sides(writer: LoadedModel, tmp_path: Path) -> None:
    recording = gf.record(writer, inputs_of(writer), decode={"max_new_tokens": 4}, target_language="fr")
    kinds = {(each.stack, each.kind) for each in recording.maps}
    assert kinds == {("encoder", "self"), ("decoder", "self"), ("decoder", "cross")}
    assert recording.target is not None
    assert recording.target.texts[:2] == ("<s>", ">>fr<<")
    assert recording.generation is not None
    assert recording.evidence.exact
    assert (recording.source.picture is None) == (writer.reads == "sound")
    recording.save(tmp_path / "a.bundle")
    again = gf.Recording.open(tmp_path / "a.bundle")
    made = gf.record(writer, again.source, again.target.ids[1:])
    for one, other in zip(recording.maps, made.maps, strict=True):
        assert_near(other.weights(), one.weights(), layers=4)


def test_a_hidden_patch_is_not_seen_and_a_branch_starts_from_what_is_kept(writer: LoadedModel) -> None:
    edit = gf.CutEdge("decoder", "cross", 0, 1, 0, 3)
    recording = gf.record(writer, inputs_of(writer), "chat voit", edits=[edit])
    assert recording.map("decoder", "cross", 0).weights()[1, 0, 3] == 0
    written = gf.record(writer, inputs_of(writer), decode={"max_new_tokens": 3})
    branched = gf.branch(written, step=1, token="dog", model=writer)
    assert branched.generation.steps[1].text.strip() == "dog"
    assert len(branched.source) == len(written.source)


def test_edits_name_patches_and_moments(writer: LoadedModel) -> None:
    edits = [
        gf.CutEdge("encoder", "self", None, None, None, 3),
        gf.CutEdge("decoder", "cross", 1, 0, 2, 3),
        gf.CutEdge("decoder", "self", None, None, None, 1),
    ]
    evidence = gf.record(writer, inputs_of(writer), "chat voit", edits=edits).evidence
    seen = writer.reads == "picture"
    name = "key 3 (patch 0,2)" if seen else "key 3 (0.14 s)"
    hidden, cut, word = (each.text("en") for each in evidence.edits)
    assert f"{name} hidden from all other tokens" in hidden
    assert f"query 2 may not look at {name}" in cut
    assert "key 1 hidden" in word  # a word has its number alone
    assert ("3（图块 0,2）" if seen else "3（0.14 秒）") in evidence.edits[0].text("zh")


def test_many_are_recorded_together(sorter: LoadedModel) -> None:
    found = dict(gf.record_many(sorter, [PIXELS, PIXELS[::-1].copy()]))
    alone = gf.record(sorter, PIXELS[::-1].copy())
    assert_near(found[1].map(layer=1).weights(), alone.map(layer=1).weights(), layers=2)


def test_what_has_no_meaning_is_refused(sorter: LoadedModel, writer: LoadedModel) -> None:
    for model in (sorter, writer):
        with pytest.raises(InputError, match="cannot read a str"):
            gf.record(model, "the cat")
        assert not model.can("reads_text")
    with pytest.raises(InputError, match="reads text and cannot look at or listen to a Waveform"):
        gf.record(gf.load(build(), WORDS), NOISE)
    with pytest.raises(InputError, match="cannot read a str"):
        gf.record(sorter, PIXELS, edits=[gf.AblateHead("encoder", "self", 0, 0, how="mean")])


def test_verbs_answer_pictures_and_sounds(sorter: LoadedModel, writer: LoadedModel) -> None:
    first, second = gf.classify(sorter, [PIXELS, PIXELS[::-1].copy()])
    chances = np.exp(gf.record(sorter, PIXELS).output.log_probabilities[0])
    assert_near(first.probability, chances[0], layers=2)
    assert first != second
    decode = {"max_new_tokens": 4}
    inputs = inputs_of(writer)
    longer = (
        gf.Waveform(np.tile(inputs.samples, 2)[:7000], 8000)
        if writer.reads == "sound"
        else inputs[:, ::-1].copy()
    )
    texts = gf.translate(writer, [inputs, longer], decode=decode, target_language="fr")
    for text, given in zip(texts, (inputs, longer), strict=True):
        alone = gf.record(writer, given, decode=decode, target_language="fr").generation
        assert text == WORDS.decode([step.token for step in alone.steps if step.token != 3]).strip()
