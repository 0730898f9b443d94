"""A recording: maps by place, checked and read-only."""

import copy
import pickle
from dataclasses import replace
from math import nan

import numpy as np
import pytest

from glassformer.errors import RecordingError
from glassformer.place import Place
from glassformer.recording import Recording, Tokens

SOURCE, TARGET = Tokens.positional("source", 24), Tokens.positional("target", 24)


@pytest.fixture
def recording(make, evidence):
    example = make("causal")
    maps = [example.map("dense", layer=layer) for layer in range(3)]
    maps += [example.map("dense", kind="cross"), example.map("dense", stack="encoder", query=SOURCE)]
    maps += [example.map("none", layer=0, step=step) for step in (0, 1)]
    return Recording("tiny", evidence, SOURCE, TARGET, tuple(maps), {"encoder": np.zeros((2, 24, 5))})


def test_maps_by_place(recording):
    assert recording.map("decoder", layer=2).layer == 2
    assert recording.map("decoder", kind="cross").kind == "cross"
    assert recording.map(layer=1).stack == "decoder"  # the only stack with a second layer
    assert recording.map("decoder", step=1).step == 1
    assert recording.map("decoder", layer=-1) is recording.maps[2]
    assert recording.map("decoder", layer=-3) is recording.maps[0]
    assert recording.map(Place("decoder", "cross", 0)) is recording.maps[3]
    assert recording.map("decoder.self.0@1") is recording.maps[6]


def test_all_layers_of_a_stack_in_one_array(recording, monkeypatch):
    tensor = recording.tensor("decoder")
    assert tensor.shape == (3, 4, 24, 24)
    assert np.array_equal(tensor[2], np.asarray(recording.map("decoder", layer=2)))
    assert recording.tensor(kind="cross").shape == (1, 4, 24, 24)
    with pytest.raises(RecordingError, match="at encoder layer 0, cross"):
        recording.tensor("encoder", "cross")
    monkeypatch.setattr("glassformer.recording.recording.MOST_BYTES", 100)
    with pytest.raises(RecordingError) as caught:
        recording.tensor("decoder")
    assert caught.value.message.code == "recording.large_tensor"


def test_a_map_is_an_array(recording):
    weights = np.asarray(recording.maps[0])
    assert np.shares_memory(weights, recording.maps[0].dense)
    assert np.asarray(recording.maps[0], dtype=np.float64).dtype == np.float64
    assert np.array(recording.maps[0], copy=True).flags.writeable


def test_it_saves_itself_and_opens_again(recording, tmp_path):
    recording.save(tmp_path / "tiny.bundle")
    again = Recording.open(tmp_path / "tiny.bundle")
    assert repr(again) == repr(recording)
    assert np.array_equal(again.tensor("decoder"), recording.tensor("decoder"))


def test_a_map_that_is_not_there_lists_those_that_are(recording, evidence):
    listed = (
        "There is no attention map at decoder layer 7, self. The recording has: decoder self layers 0–2, "
        "decoder cross layer 0, encoder self layer 0, decoder self layer 0 (steps 0, 1). "
        "Choose one of these."
    )
    with pytest.raises(RecordingError) as caught:
        recording.map("decoder", layer=7)
    assert str(caught.value) == listed
    for arguments, code in (
        ({"layer": 9}, "recording.no_layer"),
        ({"stack": "encoder", "step": 4}, "recording.no_map"),
        ({"stack": "decoder", "layer": -4}, "recording.no_map"),
        ({"stack": Place("encoder", "cross", 0)}, "recording.no_map"),
        ({"stack": "decoder.cross.1"}, "recording.no_map"),
        ({}, "recording.several_stacks"),
    ):
        with pytest.raises(RecordingError) as caught:
            recording.map(**arguments)
        assert caught.value.message.code == code
    with pytest.raises(RecordingError) as caught:
        Recording("tiny", evidence, SOURCE).map()
    assert caught.value.message.code == "recording.no_maps"


def test_its_short_form_tells_the_essentials(recording):
    assert repr(recording).splitlines() == [
        "Recording of tiny: 24 source tokens, 24 target tokens",
        "  maps: decoder self layers 0–2, decoder cross layer 0, encoder self layer 0, "
        "decoder self layer 0 (steps 0, 1)",
        "  hidden: encoder (2, 24, 5)",
        f"  evidence: {recording.evidence}",
    ]


@pytest.mark.parametrize("again", [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))])
def test_it_can_be_copied_and_pickled_and_is_checked_again(recording, again):
    other = again(recording)
    assert repr(other) == repr(recording)
    assert other.evidence == recording.evidence
    for one, two in zip(recording.maps, other.maps, strict=True):
        assert np.array_equal(one.statistics.entropy, two.statistics.entropy)
        assert one.query.texts == two.query.texts
        assert not two.statistics.entropy.flags.writeable
        if one.has_weights:
            assert np.array_equal(one.weights(), two.weights())
    assert {stack: states.tolist() for stack, states in other.hidden.items()} == {
        stack: states.tolist() for stack, states in recording.hidden.items()
    }
    with pytest.raises(TypeError):
        other.hidden["encoder"] = None


def test_nothing_can_be_changed(recording):
    with pytest.raises(AttributeError):
        recording.model = "another"
    with pytest.raises(TypeError):
        recording.hidden["encoder"] = None
    with pytest.raises(ValueError, match="read-only"):
        recording.hidden["encoder"][0, 0, 0] = 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": ""}, "Recording.model is ''"),
        ({"evidence": None}, "evidence is None"),
        ({"source": TARGET}, "wrong side"),
        ({"source": "a text"}, "Recording.source is 'a text'. Expected Tokens"),
        ({"output": 3}, "Recording.output is 3. Expected Output"),
        ({"generation": ()}, r"Recording.generation is \(\). Expected Generation"),
        ({"maps": (None,)}, "Recording.maps is None. Expected AttentionMap"),
        ({"target": None}, "has target tokens, but the recording has no target"),
        ({"hidden": {"encoder": np.zeros((2, 23, 5))}}, "has 23 tokens. Expected 24"),
        ({"hidden": {"encoder": np.zeros((24, 5))}}, "Recording.hidden\\['encoder'\\] has shape"),
        ({"hidden": {"encoder": np.full((2, 24, 5), nan)}}, "NaN or infinity, first after layer 0"),
        ({"hidden": {"": np.zeros((2, 24, 5))}}, "Recording.hidden is ''"),
    ],
)
def test_what_cannot_be_is_refused(recording, changes, message):
    with pytest.raises(RecordingError, match=message):
        replace(recording, **changes)


def test_maps_have_one_place_each_and_edits_are_stamped(recording, evidence, make):
    with pytest.raises(RecordingError, match="two maps at decoder layer 0, self"):
        replace(recording, maps=(recording.maps[0], recording.maps[0]))
    relaxed = make("causal").map("dense", relaxed="head 1 zeroed")
    with pytest.raises(RecordingError, match=r"head 1 zeroed.*the evidence names no edit"):
        replace(recording, maps=(relaxed,))
    stamped = replace(recording, maps=(relaxed,), evidence=replace(evidence, edits=("zero head 1",)))
    assert str(stamped.evidence).endswith("edited: zero head 1")


def test_a_map_in_the_order_of_a_place_and_in_the_old_one(recording):
    assert recording.map("decoder", "cross", 0) is recording.map(*Place("decoder", "cross", 0))
    for old in (("decoder", 0, "cross"), ("decoder", 2), ("decoder", -1), ("decoder", np.int64(2))):
        with pytest.warns(DeprecationWarning, match=r"\(stack, kind, layer\)") as caught:
            found = recording.map(*old)
        assert caught[0].filename == __file__
        assert found is recording.map(old[0], *old[2:], layer=old[1])


@pytest.mark.parametrize("arguments", [("encoder", "self", "cross"), ("encoder", None), (None, 0, 1)])
def test_a_map_asked_for_in_no_order_is_a_sentence(recording, arguments):
    with pytest.raises(RecordingError, match=r"such as \"decoder\", \"cross\", 3"):
        recording.map(*arguments)
