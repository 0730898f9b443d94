"""A recording holds together, and can be asked for its parts."""

import copy
import pickle
from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest

from glassformer.errors import RecordingError
from glassformer.place import Place
from glassformer.recording import Alternative, Evidence, Generation, Output, Recording, Step, Tokens

SOURCE, TARGET = Tokens.positional("source", 24), Tokens.positional("target", 24)


@pytest.fixture
def recording(make, evidence):
    example = make("causal")
    maps = [example.map("dense", layer=layer) for layer in range(3)]
    maps += [example.map("dense", kind="cross"), example.map("dense", stack="encoder", query=SOURCE)]
    maps += [example.map("none", layer=0, step=step) for step in (0, 1)]
    return Recording("tiny", evidence, SOURCE, TARGET, tuple(maps), {"encoder": np.zeros((2, 24, 5))})


def test_maps_by_place(recording):
    assert recording.map("decoder", 2).layer == 2
    assert recording.map("decoder", kind="cross").kind == "cross"
    assert recording.map(layer=1).stack == "decoder"  # the only stack with a second layer
    assert recording.map("decoder", step=1).step == 1
    assert recording.map("decoder", -1) is recording.maps[2]
    assert recording.map("decoder", -3) is recording.maps[0]
    assert recording.map(Place("decoder", "cross", 0)) is recording.maps[3]
    assert recording.map("decoder.self.0@1") is recording.maps[6]


def test_all_layers_of_a_stack_in_one_array(recording, monkeypatch):
    tensor = recording.tensor("decoder")
    assert tensor.shape == (3, 4, 24, 24)
    assert np.array_equal(tensor[2], np.asarray(recording.map("decoder", 2)))
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
        recording.map("decoder", 7)
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


# Evidence


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_hash": ""}, "Evidence.model_hash is ''"),
        ({"exact": 1}, "Evidence.exact is 1"),
        ({"largest_error": nan}, "Evidence.largest_error is nan"),
        ({"largest_error": -1.0}, "Evidence.largest_error is -1.0"),
        ({"reference": None}, "Evidence.reference is None. Expected what the error was measured against"),
        ({"edits": ("",)}, "Evidence.edits is ''"),
        ({"versions": {"torch": 2}}, r"Evidence.versions\['torch'\] is 2"),
    ],
)
def test_evidence_that_says_nothing_is_refused(evidence, changes, message):
    with pytest.raises(RecordingError, match=message):
        replace(evidence, **changes)


def test_evidence_in_one_line(evidence):
    line = "tiny (0123456789ab) · kernel: eager · float32 · exact"
    assert str(evidence) == f"{line} · no difference from eager"
    assert str(replace(evidence, largest_error=1.25e-6)) == f"{line} · largest error 1.3e-06 against eager"
    assert str(Evidence("m", "ab", "sdpa + recomputed", "bfloat16", False)) == (
        "m (ab) · kernel: sdpa + recomputed · bfloat16 · approximate · not checked against a reference"
    )


# Output and generation


def test_output_in_words():
    output = Output("decoder", [[1, 2], [2, 1]], np.log([[0.75, 0.25], [0.5, 0.5]]), {1: "one", 2: "two"})
    assert output.texts(1) == ("two", "one")
    np.testing.assert_allclose(output.probabilities[0], [0.75, 0.25])
    assert repr(output) == "Output(decoder, tokens, 2 positions, top 2)"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"log_probabilities": [[0.5, -1.0]]}, "Output.log_probabilities is 0.5"),
        ({"log_probabilities": [[nan, -1.0]]}, "Output.log_probabilities is nan"),
        ({"log_probabilities": [[-1.0]]}, "log_probabilities has shape"),
        ({"vocabulary": {1: "one"}}, "Id 2 has no text"),
        ({"vocabulary": {1: "one", 2: 2}}, "Output.vocabulary is 2. Expected str"),
        ({"kind": "words"}, "Output.kind is 'words'"),
    ],
)
def test_output_that_cannot_be(changes, message):
    parts = {
        "stack": "d",
        "ids": [[1, 2]],
        "log_probabilities": [[-0.1, -2.0]],
        "vocabulary": {1: "a", 2: "b"},
    }
    with pytest.raises(RecordingError, match=message):
        Output(**(parts | changes))


def test_a_beam_tree():
    nodes = (
        Step(0, 5, "I", -0.1),
        Step(0, 6, "We", -0.9, beam=1),
        Step(1, 7, " love", -0.2, (Alternative(8, " like", -1.0),), parent=0, score=-0.3),
        Step(1, 7, " love", -inf, beam=1, parent=1),
    )
    generation = Generation((nodes[0], nodes[2]), nodes, "beam")
    assert generation.text == "I love"
    assert repr(generation) == "Generation(beam, 2 steps, 4 nodes)"
    with pytest.raises(RecordingError, match="Step 0 says that it is step 1"):
        Generation((nodes[2],))
    with pytest.raises(RecordingError, match="Node 0 at step 1 continues node 0"):
        Generation((), (nodes[2],))
    with pytest.raises(RecordingError, match="Node 1 at step 2 continues node 0"):
        Generation((), (nodes[0], replace(nodes[2], index=2)))
    with pytest.raises(RecordingError, match="Node 1 at step 1 has parent None"):
        Generation((), (nodes[0], replace(nodes[2], parent=None)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"index": -1}, "Step.index is -1"),
        ({"index": 2**60}, "Step.index is"),
        ({"alternatives": ("a",)}, "Step.alternatives is 'a'. Expected Alternative"),
        ({"token": 1.5}, "Step.token is 1.5"),
        ({"text": None}, "Step.text is None"),
        ({"log_probability": 0.5}, "Step.log_probability is 0.5"),
        ({"log_probability": nan}, "Step.log_probability is nan"),
        ({"beam": -1}, "Step.beam is -1"),
        ({"parent": -1}, "Step.parent is -1"),
        ({"score": nan}, "Step.score is nan"),
    ],
)
def test_a_step_that_cannot_be(changes, message):
    with pytest.raises(RecordingError, match=message):
        replace(Step(0, 5, "I", -0.1), **changes)
