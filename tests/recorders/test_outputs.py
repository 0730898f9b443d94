"""What a network says, as a recording keeps it."""

from pathlib import Path

from glassformer.loaded.opening import load
from glassformer.weights.checkpoint import save_checkpoint
from our_networks import TEXT, WORDS, build
from tolerances import assert_near


def test_a_classifier_names_its_classes(tmp_path: Path) -> None:
    network = build(shape="encoder", head="classes", classes=3)
    save_checkpoint(network, tmp_path / "model", WORDS, labels=("bad", "fair", "good"))
    recording = load(tmp_path / "model").record(TEXT)
    assert recording.output is not None
    assert recording.output.kind == "classes"
    assert sorted(recording.output.texts(0)) == ["bad", "fair", "good"]
    assert_near(recording.output.probabilities.sum(), 1.0)
    nameless = load(network, WORDS).record(TEXT).output
    assert nameless is not None
    assert set(nameless.texts(0)) == {"class 0", "class 1", "class 2"}


def test_a_network_without_a_head_has_no_output() -> None:
    assert load(build(shape="encoder", head="none"), WORDS).record(TEXT).output is None
