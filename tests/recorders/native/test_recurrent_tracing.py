"""The trace of a recurrent translator: its own numbers, and gates that lead to its own states."""

from typing import Any

import pytest
import torch

from glassformer.loaded.opening import load
from our_networks import TEXT, WORDS, build_recurrent
from proof import prove
from tolerances import assert_near
from traces import record_recurrent

WANT = ("weights", "hidden", "output", "trace", "parameters")


@pytest.mark.parametrize("context", ["attention", "fixed"])
@pytest.mark.parametrize("settings", [{}, {"cell": "lstm", "layers": 2}, {"bidirectional": False}])
def test_every_number_follows_from_the_parameters(context: str, settings: dict[str, Any]) -> None:
    plan = prove(record_recurrent(context=context, **settings))
    operations = {step.operation for chapter in plan.chapters for step in chapter.steps}
    assert ("additive" in operations) == (context == "attention")
    assert ("repeat" in operations) == (context == "fixed")


@pytest.mark.parametrize("context", ["attention", "fixed"])
def test_states_and_scores_are_those_of_the_network(context: str) -> None:
    network = build_recurrent(context)
    recording = load(network, WORDS).record(TEXT, "le chat", want=WANT)
    ids, target = (torch.tensor([side.ids.tolist()]) for side in (recording.source, recording.target) if side)
    with torch.no_grad():
        source = network.eval().encode(ids)
        logits, _ = network.decode(target, source.start, source)
    trace = recording.trace
    assert (trace["output/logits"] == logits[0].numpy()).all()
    assert (trace["encoder/1/both/states"] == source.values[0, 0].numpy()).all()
    assert (trace["encoder/1/bridge/last"] == source.summary[0].numpy()).all()
    assert (trace["decoder/1/forward/state"] == recording.hidden["decoder"][0]).all()
    start = trace["encoder/1/bridge/start"]
    assert_near(start, source.start[0][1, 0], operations=1)
    if context == "fixed":
        assert (trace["decoder/context/context"] == source.summary[0].numpy()).all()


def test_nothing_listens_after_the_pass() -> None:
    network = build_recurrent()
    load(network, WORDS).record(TEXT, "le chat", want=WANT)
    assert not any(module._forward_hooks for module in network.modules())
