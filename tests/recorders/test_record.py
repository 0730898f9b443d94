"""`record`: evidence, edits and refusals, whatever runs the network."""

from typing import Any

import numpy as np
import pytest
import torch

import generating_models
import glassformer as gf
from edited_models import KINDS, find_block, make_subject
from glassformer.errors import InputError
from glassformer.loaded.opening import load
from glassformer.messages import Message, message
from glassformer.model.generation_settings import GenerationSettings
from glassformer.place import Place
from glassformer.recorders.edits import Edit, Scores, Weights
from glassformer.rounding import rounding
from glassformer.text.builders import build_words
from our_networks import TEXT, WORDS, build, state_of
from tolerances import assert_near, largest


def test_recording_is_deterministic_and_without_dropout() -> None:
    network = build().train()
    subject = load(network, WORDS)
    one, two = subject.record(TEXT, "le chat"), subject.record(TEXT, "le chat")
    for first, second in zip(one.maps, two.maps, strict=True):
        np.testing.assert_array_equal(first.weights(), second.weights())
        assert_near(first.weights().sum(-1), 1, layers=2)


def test_evidence_says_which_model_and_how() -> None:
    network = build()
    subject = load(network, WORDS, name="tiny")
    recording = subject.record(TEXT, "le chat", want=("weights", "scores"))
    evidence = recording.evidence
    assert (evidence.model, str(evidence.kernel), evidence.dtype, evidence.exact) == (
        "tiny",
        "explicit",
        "float32",
        True,
    )
    assert evidence.largest_error is not None
    sharpest = max(largest(each.scores()) for each in recording.maps)
    assert evidence.largest_error < rounding(layers=2, summands=network.config.width, scores=sharpest)
    assert str(evidence.reference) == "the explicit path (weights of 7 tokens)"
    assert evidence.versions["torch"] == torch.__version__
    assert len(evidence.model_hash) == 64
    assert load(build(), WORDS).record(TEXT, "le chat").evidence.model_hash == evidence.model_hash


class Halve(Edit):
    """An edit after the softmax: half of everything."""

    def change_weights(self, weights: Weights) -> None:
        for head in range(weights.heads):
            weights.replace(head, weights.rows(head) / 2)

    def as_message(self) -> Message:
        return message("toy.halve", default="every weight halved")


class Cut(Edit):
    """An edit before the softmax: nobody sees the first key of the source."""

    def touches(self, place: Place) -> bool:
        return place == ("encoder", "self", 0, None)

    def change_scores(self, scores: Scores) -> None:
        scores.hide(key=0)

    def as_message(self) -> Message:
        return message("toy.cut", default="the first source token cut off")


def test_edits_act_and_are_stamped() -> None:
    network = build()
    subject = load(network, WORDS)
    before = state_of(network)
    plain = subject.record(TEXT, "le chat")
    halved = subject.record(TEXT, "le chat", edits=[Halve()])
    assert_near(halved.maps[0].weights(), plain.maps[0].weights() / 2)
    assert tuple(map(str, halved.evidence.edits)) == ("every weight halved",)
    assert str(halved.maps[0].relaxed) == "every weight halved"
    cut = subject.record(TEXT, "le chat", edits=[Cut()], want=("weights", "scores"))
    first = cut.maps[0]
    assert first.weights()[:, :, 0].max() == 0
    assert first.statistics.allowed.max() == 6
    assert first.relaxed is None
    assert_near(first.weights().sum(-1), 1, layers=2)
    assert cut.maps[1].statistics.allowed.max() == 7
    assert state_of(network) == before
    assert cut.evidence.largest_error == plain.evidence.largest_error  # the check is of the unedited model


def test_bad_input_is_refused_in_words() -> None:
    subject = load(build(), WORDS)
    with pytest.raises(InputError, match=r"21 tokens, but this network has positions for 20"):
        subject.record("cat " * 20, "le")
    with pytest.raises(InputError, match=r"21 tokens, but this network has positions for 20"):
        subject.record("cat", "le " * 20)
    with pytest.raises(InputError, match="Does the tokenizer belong"):
        load(build(), build_words([*"abcdefghijklmnop"])).record("o p")
    with pytest.raises(InputError, match="Does the tokenizer belong"):
        load(build(), build_words([*"abcdefghijklmnop"])).record("a", "p")
    with pytest.raises(InputError, match="nothing to decode"):
        subject.record(TEXT, "le", decode=GenerationSettings())
    with pytest.raises(InputError, match="one stack and no target side"):
        load(build(shape="decoder"), WORDS).record(TEXT, "le")
    with pytest.raises(InputError, match=r"\(encoder\) cannot generate"):
        load(build(shape="encoder"), WORDS).record(TEXT, decode=GenerationSettings())
    with pytest.raises(InputError, match="segments"):
        load(build(shape="encoder", segments=1), WORDS).record(TEXT, second_text="cat")
    with pytest.raises(InputError, match="start_id"):
        load(build(start_id=None), WORDS).record(TEXT, "le")


@pytest.mark.parametrize("kind", KINDS)
def test_hooks_of_a_user_act_in_recordings_and_sweeps_and_stay(kind: str) -> None:
    """A hook that doubles what a layer gives: recordings, edits and sweeps are those of the changed model."""
    subject, reads = make_subject(kind)
    block, seen = find_block(subject, "decoder", 1), []

    def double(_: Any, __: Any, output: Any) -> Any:
        states = output if isinstance(output, torch.Tensor) else output[0]
        seen.append(states.shape)
        return 2 * states if isinstance(output, torch.Tensor) else (2 * states, *output[1:])

    edit = gf.AblateHead("decoder", "self", 2, 1)
    plain = subject.record(*reads, want="logits").output.logits
    handle = block.register_forward_hook(double)
    hooks = dict(block._forward_hooks)
    hooked = subject.record(*reads, want="logits").output.logits
    edited = subject.record(*reads, want="logits", edits=[edit]).output.logits
    sweep = gf.sweep(subject, *reads, outcome=gf.LogitDifference(7, 9), edits=[edit])
    assert dict(block._forward_hooks) == hooks  # as they were
    ids = [torch.tensor([each]) for each in reads]
    with torch.no_grad():
        if len(reads) == 1:
            wanted = subject.network(ids[0])
        else:
            start = torch.cat((torch.tensor([[3]]), ids[1]), dim=1)
            named = "target" if subject.library == "native" else "decoder_input_ids"
            wanted = subject.network(ids[0], **{named: start})
    wanted = (wanted if isinstance(wanted, torch.Tensor) else wanted.logits)[0]
    handle.remove()
    assert_near(hooked, wanted, layers=5, scores=64, magnitude=32)
    assert np.abs(hooked - plain).max() > 1e-3
    for value, logits in ((sweep.baseline, hooked), (sweep.values[0], edited)):
        assert_near(value, logits[-1, 7] - logits[-1, 9], layers=5, scores=64, magnitude=32)
    assert (subject.record(*reads, want="logits").output.logits == plain).all()


def test_a_drawn_text_of_transformers_is_repeated_by_the_seed_of_torch() -> None:
    model = load(generating_models.make("GPT-2"))
    decode = GenerationSettings(sample=True, max_new_tokens=8)
    drawn = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        drawn.append(gf.record(model, [7, 9, 11], decode=decode).generation)
    assert drawn[0].steps == drawn[1].steps != drawn[2].steps
    assert drawn[0].settings == drawn[1].settings
