"""Recordings of different lengths are batched, and sorted by a network that listens."""

from pathlib import Path

import torch

import glassformer as gf
from glassformer.tasks.task import build_task
from small_media import write_tones


def test_a_network_learns_to_tell_tones_apart(tmp_path: Path) -> None:
    write_tones(tmp_path)
    table = {"name": "sound_classification", "folder": str(tmp_path), "path": "tones.npz"}
    task = build_task(table | {"words": ["low", "high"], "dev_takes": [0, 1], "test_takes": [2]}, None)
    assert task.labels == ("low", "high")
    torch.manual_seed(0)
    settings = {"hop": 80, "mel_bins": 20, "frame_stride": 4, "width": 16, "heads": 2, "layers": 1}
    network = gf.Transformer(
        gf.ModelConfig(**{**task.network_settings(), **settings}, feed_forward=32, dropout=0.0)
    )
    task.accept(network.config)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-2)
    for epoch in range(10):
        batch = task.collate("train", range(36), epoch)
        assert batch.real is not None
        loss = task.loss(network, batch) / batch.count
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert task.evaluate(network, "dev")["accuracy"] == 1.0
    assert {sample.output for sample in task.samples(network, "dev", 4)} <= {"low", "high"}
