"""Outcomes against what torch gives for the same logits, computed by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers as hf

import glassformer as gf
from edited_models import KINDS, SOURCE, TARGET, make_subject
from glassformer.errors import InputError
from glassformer.model.attention import SelfAttention
from our_networks import build
from tolerances import assert_near

EDIT = gf.AblateHead("decoder", "self", 1, 2)


def compute_logits(kind: str) -> Any:
    """(token, vocabulary) of a plain pass."""
    subject, _ = make_subject(kind)
    network = subject.network
    source, target = torch.tensor([SOURCE]), torch.tensor([[3, *TARGET]])
    with torch.no_grad():
        if kind == "GPT-2":
            return network(source).logits[0]
        if kind == "BART":
            return network(source, decoder_input_ids=target).logits[0]
        return (network(source) if kind == "our decoder" else network(source, target=target))[0]


def measure(kind: str, outcome: Any) -> float:
    subject, reads = make_subject(kind)
    return gf.sweep(subject, *reads, outcome=outcome, edits=[EDIT]).baseline


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_outcomes_are_read_from_the_logits(kind: str) -> None:
    logits = compute_logits(kind)
    logs = logits.log_softmax(-1)
    ids = [3, *TARGET, 2] if kind in ("BART", "our translator") else SOURCE
    chosen = [float(logs[at, token]) for at, token in enumerate(ids[1:])]
    wanted = {
        gf.LogProbability(7): logs[-1, 7],
        gf.LogProbability(7, position=1): logs[1, 7],
        gf.LogitDifference(7, 9, position=-2): logits[-2, 7] - logits[-2, 9],
        gf.Loss(): -sum(chosen) / len(chosen),
        gf.Loss((2, 3)): -(chosen[1] + chosen[2]) / 2,
        gf.TextScore(): sum(chosen),
        gf.Rank(7, position=2): (logits[2] > logits[2, 7]).sum(),
    }
    for outcome, value in wanted.items():
        assert_near(measure(kind, outcome), value, layers=5, scores=64, magnitude=32, where=outcome)


@pytest.mark.parametrize("theirs", [False, True])
def test_of_a_model_that_only_gives_vectors_it_is_how_alike_they_stay(theirs: bool) -> None:
    """The cosine by hand, of a pass without the rows of the value and output projections of one head."""
    if theirs:
        small = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
        network: Any = hf.BertModel(hf.BertConfig(**small, vocab_size=20, initializer_range=0.5)).eval()
        outputs = [each.attention.output.dense for each in network.encoder.layer]
    else:
        network = build(shape="encoder", head="none", heads=4).eval()
        outputs = [each.output for each in network.modules() if isinstance(each, SelfAttention)]
    subject = gf.load(network)
    edits = [gf.AblateHead("encoder", "self", 1, head) for head in range(4)]
    found = gf.sweep(subject, SOURCE, outcome=gf.Similarity(), edits=edits)

    def embed() -> Any:
        with torch.no_grad():
            states = network(torch.tensor([SOURCE]))
        return (states.last_hidden_state if theirs else states)[0].double().mean(0)

    usual, weight = embed(), outputs[1].weight
    for head in range(4):
        width = weight.shape[1] // 4
        kept = weight.detach().clone()
        weight.data[:, head * width : (head + 1) * width] = 0
        wanted = torch.cosine_similarity(embed(), usual, dim=0)
        weight.data[:] = kept
        assert_near(found.values[head], wanted, layers=2, scores=64, magnitude=1, where=head)
    assert found.baseline == pytest.approx(1, abs=1e-12)
    assert (found.effects < -1e-3).all()


def test_how_alike_vectors_stay_is_refused_where_it_says_nothing() -> None:
    subject, reads = make_subject("GPT-2")
    with pytest.raises(InputError, match="Similarity is for models that only give vectors"):
        gf.sweep(subject, *reads, outcome=gf.Similarity())
    vectors = gf.load(build(shape="encoder", head="none", layers=1))
    with pytest.raises(InputError, match="gradient is zero"):
        gf.estimate(vectors, SOURCE, outcome=gf.Similarity())
    with pytest.raises(InputError, match="Similarity where a model only gives vectors"):
        gf.sweep(vectors, SOURCE, outcome=gf.Loss())


@pytest.mark.parametrize("kind", KINDS)
def test_several_outcomes_of_the_same_passes(kind: str) -> None:
    subject, reads = make_subject(kind)
    outcomes = (gf.LogProbability(7), gf.Rank(7), gf.LogitDifference(7, 9, position=1), gf.Loss())
    edits = [EDIT, gf.AblateHead("decoder", "self", 0, 1)]
    together = gf.sweep(subject, *reads, outcome=outcomes, edits=edits)
    for outcome, several in zip(outcomes, together, strict=True):
        alone = gf.sweep(subject, *reads, outcome=outcome, edits=edits)
        assert several.outcome == outcome
        assert_near(several.baseline, alone.baseline, layers=5, scores=64, magnitude=32, where=outcome)
        assert_near(several.values, alone.values, layers=5, scores=64, magnitude=32, where=outcome)
    for wrong in ((), [gf.Rank(7), "rank"]):
        with pytest.raises(InputError) as error:
            gf.sweep(subject, *reads, outcome=wrong, edits=edits)
        assert error.value.message.code == "recorders.causes.not_an_outcome"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("edits", [(), (EDIT,)])
def test_targets_of_a_recording_are_scored_at_every_position(kind: str, edits: Any, tmp_path: Path) -> None:
    subject, reads = make_subject(kind)
    recording = subject.record(*reads, want=("logits",), targets=(7, 9), edits=edits)
    logits, scores = recording.output.logits, recording.output.targets
    if not edits:
        assert_near(logits, compute_logits(kind), layers=5, scores=64, magnitude=32)
    logs = torch.tensor(logits).log_softmax(-1).numpy()
    assert scores.ids.tolist() == [7, 9]
    assert (scores.logits == logits[:, [7, 9]]).all()
    assert_near(scores.log_probabilities, logs[:, [7, 9]])
    assert_near(scores.losses, -logs[:, [7, 9]])
    assert (scores.ranks == [[(row > row[7]).sum(), (row > row[9]).sum()] for row in logits]).all()
    assert (scores.difference() == logits[:, 7] - logits[:, 9]).all()
    recording.save(tmp_path / "targets.bundle")
    opened = gf.Recording.open(tmp_path / "targets.bundle").output
    for name in ("ids", "logits", "log_probabilities", "ranks"):
        assert (getattr(opened.targets, name) == getattr(scores, name)).all()
    assert (opened.logits == logits).all()
    plain = subject.record(*reads, edits=edits)
    assert plain.output.logits is plain.output.targets is None


def test_targets_may_be_classes() -> None:
    model = gf.load("zoo/sentiment")
    recording = model.record("A moving film.", targets=("positive", 0))
    (answer,) = gf.classify(model, ["A moving film."])
    assert_near(
        np.exp(recording.output.targets.log_probabilities[0]),
        [answer.probabilities["positive"], answer.probabilities[model.labels[0]]],
        layers=5,
    )


@pytest.mark.parametrize(
    ("targets", "code"),
    [
        (" Mary", "record.targets_not_a_list"),
        (7, "record.targets_not_a_list"),
        ([None], "record.targets_not_a_list"),
        ([True], "record.targets_not_a_list"),
        ([30], "recorders.causes.unknown_token"),
        ([-1], "recorders.causes.unknown_token"),
    ],
)
def test_targets_that_cannot_be(targets: Any, code: str) -> None:
    subject, reads = make_subject("GPT-2")
    with pytest.raises(InputError) as error:
        subject.record(*reads, targets=targets)
    assert error.value.message.code == code


def test_logits_that_no_recording_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    subject, reads = make_subject("GPT-2")
    monkeypatch.setattr("glassformer.recorders.outputs.LARGEST_LOGITS", 100)
    with pytest.raises(InputError, match="targets"):
        subject.record(*reads, want="logits")


def test_probability_of_a_class() -> None:
    model = gf.load("zoo/sentiment")
    text = "A moving film."
    sweep = gf.sweep(
        model, text, outcome=gf.ClassProbability("positive"), edits=[gf.AblateHead("encoder", "self", 0, 0)]
    )
    (answer,) = gf.classify(model, [text])
    assert_near(sweep.baseline, answer.probabilities["positive"], layers=5)


@pytest.mark.slow
def test_a_text_has_to_be_one_token() -> None:
    def sweep(outcome: Any) -> None:
        gf.sweep("zoo/gpt2", "The cat sat on the", outcome=outcome)

    with pytest.raises(InputError, match="tokens in this vocabulary"):
        sweep(gf.LogProbability("a whole sentence"))
    with pytest.raises(InputError, match="no token 10000000"):
        sweep(gf.LogProbability(10_000_000))
    with pytest.raises(InputError, match="no position 99"):
        sweep(gf.LogProbability(" cat", position=99))
    for outcome in ("cat", None, (), [gf.Loss(), 5]):
        with pytest.raises(InputError, match="not an outcome"):
            sweep(outcome)
    for token in (None, 1.5, True, ["cat"]):
        with pytest.raises(InputError, match="Expected a text that is one token"):
            sweep(gf.LogProbability(token))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no position last"):
        sweep(gf.Rank(" cat", position="last"))  # type: ignore[arg-type]
    for positions in ((0,), (1, 99), ("a",)):
        with pytest.raises(InputError, match="Choose positions from 1 to 4"):
            sweep(gf.Loss(positions))  # type: ignore[arg-type]
    for none in ((), "1", 3):
        with pytest.raises(InputError, match="positions of a loss are"):
            sweep(gf.Loss(none))  # type: ignore[arg-type]


def test_a_token_may_be_a_number_of_numpy_or_torch() -> None:
    subject, reads = make_subject("GPT-2")
    edits = [gf.AblateHead("decoder", "self", 0, 0)]
    values = [
        gf.sweep(subject, *reads, outcome=gf.LogProbability(token, position), edits=edits).baseline
        for token, position in ((7, 2), (np.int64(7), np.int64(2)), (torch.tensor(7), torch.tensor(2)))
    ]
    assert values[0] == values[1] == values[2]
    assert subject.record(*reads, targets=[np.int64(7)]).output.targets is not None


def test_a_recurrent_network_is_read_at_the_position_asked_for() -> None:
    model = gf.load("zoo/recurrent")
    text, target = "The cat sleeps.", "Le chat dort."
    recording = model.record(text, target)
    for position in (-1, 1):
        sweep = gf.sweep(
            model,
            text,
            target,
            outcome=gf.LogProbability(int(recording.output.ids[position, 0]), position),
            edits=[gf.AblateHead("decoder", "cross", 0, 0)],
        )
        assert_near(sweep.baseline, recording.output.log_probabilities[position, 0], layers=8)


def test_a_model_without_words_is_refused() -> None:
    for outcome in (gf.LogProbability(5), gf.LogitDifference(5, 6)):
        with pytest.raises(InputError, match="predicts no words"):
            gf.sweep("zoo/sentiment", "A moving film.", outcome=outcome)


def test_an_encoder_has_no_loss() -> None:
    with pytest.raises(InputError, match="does not write text"):
        gf.sweep("zoo/bert", "The cat.", outcome=gf.Loss())
