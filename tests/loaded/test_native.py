"""Our own networks as loaded models."""

from dataclasses import replace
from pathlib import Path

import pytest

from glassformer.errors import CheckpointError, InputError
from glassformer.loaded.opening import load
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recorders.record import record
from glassformer.weights.checkpoint import save_checkpoint
from live_models import EVERY
from our_networks import TEXT, WORDS, build
from tiny_models import build_model, build_recurrent


def test_a_folder_is_loaded_with_its_tokenizer(tmp_path: Path) -> None:
    network = build()
    settings = GenerationSettings(beams=2, max_new_tokens=5)
    save_checkpoint(network, tmp_path / "tiny", WORDS, generation=settings)
    recording = record(tmp_path / "tiny", TEXT)
    assert recording.model == "tiny"
    assert recording.generation is not None
    assert recording.generation.method == "beam"  # as the folder says
    again = load(network, WORDS).record(TEXT, decode=replace(settings, alternatives=5))
    assert again.target is not None
    assert recording.target is not None
    assert recording.target.ids.tolist() == again.target.ids.tolist()
    assert recording.evidence.model_hash == again.evidence.model_hash
    assert load(str(tmp_path / "tiny"), name="mine").name == "mine"
    with pytest.raises(InputError, match="brings its own tokenizer"):
        load(tmp_path / "tiny", WORDS)
    with pytest.raises(CheckpointError, match="There is no folder"):
        load(tmp_path / "nowhere")
    with pytest.raises(CheckpointError, match="zoo"):
        load("zoo/nothing-of-this-name")


NATIVE = {
    ("decoder", "language"): EVERY | {"generates", "traces"},
    ("encoder-decoder", "language"): EVERY | {"translates", "traces"},
    ("encoder", "masked"): EVERY | {"fills", "traces"},
    ("encoder", "classes"): EVERY | {"classifies", "traces"},
    ("encoder", "none"): EVERY | {"traces"},
}


@pytest.mark.parametrize(("shape", "head"), NATIVE)
def test_capabilities_of_our_folders(shape: str, head: str, tmp_path: Path) -> None:
    model = load(build_model(tmp_path / "model", shape, head))
    assert model.capabilities == NATIVE[shape, head]
    assert model.library == "native"
    recurrent = load(build_recurrent(tmp_path / "recurrent"))
    assert recurrent.capabilities == EVERY | {"translates", "traces"}
