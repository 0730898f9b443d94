"""Outputs and generated texts, beams included."""

from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest

from glassformer.errors import RecordingError
from glassformer.recording import Alternative, Generation, Output, Step, TargetScores


def test_output_in_words():
    output = Output("decoder", [[1, 2], [2, 1]], np.log([[0.75, 0.25], [0.5, 0.5]]), {1: "one", 2: "two"})
    assert output.texts(1) == ("two", "one")
    np.testing.assert_allclose(output.probabilities[0], [0.75, 0.25])
    assert repr(output) == "Output(decoder, tokens, 2 positions, top 2)"
    assert output.per_token
    numbers = Output("encoder", [[0, 1]], np.zeros((1, 2)), {0: "a", 1: "b"}, "numbers", numbers=(2.5, -1.0))
    assert not numbers.per_token
    assert dict(zip(numbers.texts(0), numbers.numbers, strict=True)) == {"a": 2.5, "b": -1.0}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"log_probabilities": [[0.5, -1.0]]}, "Output.log_probabilities is 0.5"),
        ({"log_probabilities": [[nan, -1.0]]}, "Output.log_probabilities is nan"),
        ({"log_probabilities": [[-1.0]]}, "log_probabilities has shape"),
        ({"vocabulary": {1: "one"}}, "Id 2 has no text"),
        ({"vocabulary": {1: "one", 2: 2}}, "Output.vocabulary is 2. Expected str"),
        ({"kind": "words"}, "Output.kind is 'words'"),
        ({"logits": [[0.0], [1.0]]}, "Output.logits has shape"),
        ({"targets": 5}, "Output.targets is 5"),
        ({"targets": TargetScores([7], [[0.0]], [[-1.0]], [[0]])}, "Id 7 has no text"),
        ({"targets": TargetScores([1], [[0.0]] * 2, [[-1.0]] * 2, [[0]] * 2)}, "Output.targets has shape"),
        ({"kind": "numbers"}, "has 0 numbers and ids of shape"),
        ({"kind": "numbers", "numbers": (1.0,)}, "has 1 numbers and ids of shape"),
        ({"kind": "classes", "numbers": (1.0,)}, "of kind 'classes' has no `numbers`"),
        ({"kind": "numbers", "numbers": (1.0, "two")}, "Output.numbers is 'two'"),
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


def test_targets_that_cannot_be():
    scores = TargetScores([1, 2], [[3.0, 1.5]], [[-0.5, -2.0]], [[0, 4]])
    assert scores.losses.tolist() == [[0.5, 2.0]]
    assert scores.difference(1, 0).tolist() == [-1.5]
    for changes, message in (
        ({"log_probabilities": [[0.5, 0.0]]}, "log_probabilities is 0.5"),
        ({"ranks": [[0, -1]]}, "ranks is -1"),
        ({"logits": [[0.0]]}, "logits has shape"),
    ):
        with pytest.raises(RecordingError, match=message):
            replace(scores, **changes)


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


def test_the_kept_hypothesis_comes_first_and_a_short_pruned_one_last():
    nodes = (
        Step(0, 5, "I", -0.5, score=-0.5),
        Step(0, 6, "We", -0.6, beam=1, score=-0.6),  # pruned; the highest sum, as it is the shortest
        Step(1, 7, " go", -0.9, parent=0, score=-1.4),
        Step(1, 8, " am", -1.0, beam=1, parent=0, score=-1.5),
    )
    generation = Generation((nodes[0], nodes[3]), nodes, "beam")
    assert generation.hypotheses() == [3, 2, 1]


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
