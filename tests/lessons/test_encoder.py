"""A watched pass through an encoder shows what a recording has, and leaves the network as it was."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from glassformer.lessons.encoder import watch_encoder
from glassformer.loaded.opening import load
from tolerances import assert_near

TEXT = "the animal was too tired to cross the street"


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("layer", [0, 1])
def test_a_pass_is_that_of_a_recording(
    build: Callable[..., Path], tmp_path: Path, layer: int, shared: bool
) -> None:
    model: Any = load(build(tmp_path, "encoder", "masked", share_layers=shared))
    recording = model.record(TEXT, want=("weights", "scores", "hidden"))
    seen = watch_encoder(model.network, torch.tensor([list(recording.source.ids)]), layer)
    assert_near(seen.weights[0], recording.map("encoder", layer=layer).weights(), layers=2)
    assert_near(seen.states[0], recording.hidden["encoder"][-1], layers=2)
    scores = max(abs(each.scores(head)).max() for each in recording.maps for head in range(2))
    assert_near(seen.largest_score, scores, layers=2)
    assert not any(part._forward_hooks for part in model.network.modules())
