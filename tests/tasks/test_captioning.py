"""Each picture has a caption in each language, named behind the start of the target."""

from pathlib import Path

import pytest
import torch

import glassformer as gf
from glassformer.model.loss import IGNORED
from glassformer.tasks.captioning import Captioning
from glassformer.tasks.task import build_task
from glassformer.text.builders import build_words
from small_media import write_table

WORDS = build_words(["left", "right", "gauche", "droite", ">>en<<", ">>fr<<"])


@pytest.mark.slow
def test_a_network_learns_to_name_pictures_in_two_languages(tmp_path: Path) -> None:
    write_table(tmp_path)
    table = {"name": "captioning", "folder": str(tmp_path), "path": "sides.tsv", "archive": "sides.tar.gz"}
    task = build_task(table | {"file": "file", "split_by": "base", "languages": ["en", "fr"]}, WORDS)
    assert isinstance(task, Captioning)
    assert task.tags(task.settings) == (">>en<<", ">>fr<<")
    assert set(task.texts(task.settings)) == {"left", "right", "gauche", "droite"}
    torch.manual_seed(0)
    settings = {"picture_size": 8, "patch_size": 4, "width": 16, "heads": 2, "layers": 1, "feed_forward": 32}
    network = gf.Transformer(
        gf.ModelConfig(**task.network_settings(), **settings, dropout=0.0, max_length=8, class_token=False)
    )
    task.accept(network.config)
    batch = task.collate("train", [0, 1])
    assert torch.equal(batch.ids[0], batch.ids[1])  # one picture, two languages
    shown = [WORDS.display(row) for row in batch.target.tolist()]
    assert shown[0][1:3] == (">>en<<", shown[0][2])
    assert shown[1][1] == ">>fr<<"
    assert batch.labels[:, 0].tolist() == [IGNORED, IGNORED]
    assert batch.count == 4
    count = len(task.examples("train").lengths)
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-2)
    whole = task.collate("train", range(count))
    for _ in range(120):  # with other seeds, too, it is right by then: processors round differently
        optimiser.zero_grad()
        (task.loss(network, whole) / whole.count).backward()
        optimiser.step()
    scores = task.evaluate(network, "dev")
    assert set(scores) == set(task.score_names())
    assert scores["exact_en"] == scores["exact_fr"] == 1.0
    samples = task.samples(network, "dev", 2)
    assert {sample.output for sample in samples} <= {"left", "right"}
    last = len(task.examples("dev").lengths) - 2  # in the first of two languages
    assert [sample.input for sample in samples] == ["dev 0", f"dev {last}"]
