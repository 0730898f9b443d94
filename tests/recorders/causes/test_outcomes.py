"""Outcomes against what torch gives for the same logits, computed by hand."""

from typing import Any

import pytest
import torch

import glassformer as gf
from edited_models import KINDS, SOURCE, TARGET, make_subject
from glassformer.errors import InputError
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
    }
    for outcome, value in wanted.items():
        assert_near(measure(kind, outcome), value, layers=5, scores=64, magnitude=32, where=outcome)


def test_probability_of_a_class() -> None:
    model = gf.load("zoo/sentiment")
    text = "A moving film."
    sweep = gf.sweep(
        model, text, outcome=gf.ClassProbability("positive"), edits=[gf.AblateHead("encoder", "self", 0, 0)]
    )
    (answer,) = gf.classify(model, [text])
    assert_near(sweep.baseline, answer.probabilities["positive"], layers=5)


def test_a_text_has_to_be_one_token() -> None:
    def sweep(outcome: Any) -> None:
        gf.sweep("zoo/gpt2", "The cat sat on the", outcome=outcome)

    with pytest.raises(InputError, match="tokens in this vocabulary"):
        sweep(gf.LogProbability("a whole sentence"))
    with pytest.raises(InputError, match="no token 10000000"):
        sweep(gf.LogProbability(10_000_000))
    with pytest.raises(InputError, match="no position 99"):
        sweep(gf.LogProbability(" cat", position=99))
    with pytest.raises(InputError, match="not an outcome"):
        sweep("cat")
    with pytest.raises(InputError, match="no position 0"):
        sweep(gf.Loss((0,)))


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
