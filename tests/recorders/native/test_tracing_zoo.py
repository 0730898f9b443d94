"""The models that ship: every number of a walk through each of them is what its parameters say."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glassformer
from glassformer.loaded.opening import load
from glassformer.media import Waveform
from glassformer.text.languages import list_languages
from glassformer.walk.types import WalkPlan
from proof import prove

ZOO = Path(glassformer.__file__).parent / "zoo"
SENTENCES = {
    "translator": "The animal didn't cross the street because it was too tired.",
    "bert": "The cat [MASK] on the mat.",
    "albert": "The cat [MASK] on the mat.",
    "sentiment": "A wonderful film, although a little long.",
    "gpt2": "Once upon a time there was",
    "rotary": "Once upon a time there was",
    "recurrent": "I love you very much.",
}
CHANCE = np.random.default_rng(0)
NOISE = {  # for those that look or listen
    "picture": CHANCE.integers(0, 256, (40, 40, 3)).astype(np.uint8),
    "sound": Waveform(CHANCE.normal(size=4000) * 0.1, 8000),
}
NAMES = sorted(
    each.parent.name for each in ZOO.glob("*/config.json") if (each.parent / "model.safetensors").exists()
)


@pytest.mark.skipif(not NAMES, reason="no model is shipped with this checkout")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_every_number_of_a_shipped_model_is_what_its_parameters_say(name: str) -> None:
    subject: Any = load(ZOO / name)
    text = SENTENCES.get(name, "The quick brown fox jumps over the lazy dog.")
    source = NOISE.get(getattr(subject.network.config, "reads", "text"), text)
    language = _find_language(subject)
    want = ("weights", "hidden", "output", "trace", "parameters")
    plan = prove(subject.record(source, target_language=language, want=want))
    assert plan.stacks[0].tokens > 5
    _check_facts(plan, subject.network.config)


def _check_facts(plan: WalkPlan, config: Any) -> None:
    """What the page says of a model is in the plan, and is what its settings say."""
    steps = {step.id: step for chapter in plan.chapters for step in chapter.steps}
    plain = {name: value for name, value in asdict(config).items() if not isinstance(value, tuple)}
    assert plan.architecture == plain  # without numbers of pixels
    if "output.logits" in steps:
        assert steps["output.logits"].words["tied"] == str(config.tie_embeddings).lower()
        named = steps["output.logits"].parameters.weight or ""
        assert ("embeddings" in named) == config.tie_embeddings
    if plan.recurrent:
        return
    operations = {step.operation for step in steps.values()}
    assert ("waves" in operations) == config.positions.startswith("sinusoidal")
    assert ("turn" in operations) == (config.positions == "rotary")
    assert ("scale" in operations) == config.scale_embeddings
    assert ("divide" in operations) == (config.similarity == "scaled-dot")
    assert any(id.endswith(".normed") for id in steps) == (config.norm_position == "pre")
    assert {each.shared for each in plan.stacks} == {config.share_layers}
    orders = {step.words["order"] for step in steps.values() if step.operation == "waves"}
    assert orders <= {"halves" if config.positions == "sinusoidal-halves" else "pairs"}
    inside = [step for step in steps.values() if step.kind == "feed_forward" and step.operation == "activate"]
    assert {step.words["function"] for step in inside} == {config.activation}


def _find_language(subject: Any) -> str | None:
    """A language that the model has to be told to translate into, where there are any."""
    if subject.shape != "encoder-decoder":
        return None
    return next(iter(list_languages(subject.tokenizer)), None)
