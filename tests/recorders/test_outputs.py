"""What a network says, as a recording keeps it."""

from pathlib import Path

import numpy as np
import pytest
import torch

from glassformer.loaded.opening import load
from glassformer.recorders.outputs import read_words
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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("words", [3, 11, 5000])
def test_the_likeliest_words_are_those_of_a_softmax_over_all(words: int, dtype: torch.dtype) -> None:
    logits = 30 * torch.randn(1030, words, dtype=dtype, generator=torch.Generator().manual_seed(words))
    before = logits.clone()
    output = read_words(logits, "decoder", lambda ids: list(map(str, ids)))
    wanted, ids = logits.double().log_softmax(-1).topk(min(10, words))
    assert torch.equal(logits, before)
    assert np.array_equal(output.ids, ids.numpy())
    assert_near(output.log_probabilities, wanted.numpy(), summands=words)
