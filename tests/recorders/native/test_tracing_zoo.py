"""The models that ship: every number of a walk through each of them is what its parameters say."""

from pathlib import Path
from typing import Any

import pytest

import glassformer
from glassformer.loaded.opening import load
from glassformer.text.languages import list_languages
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
NAMES = sorted(each.name for each in ZOO.glob("*") if (each / "model.safetensors").exists())


@pytest.mark.skipif(not NAMES, reason="no model is shipped with this checkout")
@pytest.mark.parametrize("name", NAMES)
def test_every_number_of_a_shipped_model_is_what_its_parameters_say(name: str) -> None:
    subject: Any = load(ZOO / name)
    text = SENTENCES.get(name, "The quick brown fox jumps over the lazy dog.")
    language = _find_language(subject)
    want = ("weights", "hidden", "output", "trace", "parameters")
    plan = prove(subject.record(text, target_language=language, want=want))
    assert plan.stacks[0].tokens > 5


def _find_language(subject: Any) -> str | None:
    """A language that the model has to be told to translate into, where there are any."""
    if subject.shape != "encoder-decoder":
        return None
    return next(iter(list_languages(subject.tokenizer)), None)
