"""What W&B keeps of a run offline, read back from its file."""

import json
import struct
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from glassformer.runlog import read_run
from glassformer.training.recipe import train

pytestmark = pytest.mark.skipif(find_spec("wandb") is None, reason="W&B is not installed: pip install wandb")

HEADER, BLOCK, PREFIX = 7, 32768, 7  # bytes: of a file, of a block, before each piece of a record
LAST = (1, 4)  # kinds of pieces that end a record: a whole one, the last of several


def read_pieces(data: bytes) -> Iterator[bytes]:
    """The records of a file, which is a log of LevelDB's format."""
    place, record = HEADER, b""
    while place + PREFIX <= len(data):
        if BLOCK - place % BLOCK < PREFIX:
            place += BLOCK - place % BLOCK
        _, size, kind = struct.unpack_from("<IHB", data, place)
        record += data[place + PREFIX : place + PREFIX + size]
        place += PREFIX + size
        if kind in LAST:
            yield record
            record = b""


def read_records(folder: Path) -> tuple[list[dict[str, float]], list[str]]:
    """Numbers of steps, and the texts of alerts, of all sessions of a run."""
    from wandb.proto.wandb_internal_pb2 import Record

    rows, alerts = [], []
    for path in sorted(folder.glob("wandb/offline-run-*/*.wandb"), key=lambda file: file.stat().st_mtime):
        for data in read_pieces(path.read_bytes()):
            record = Record()
            record.ParseFromString(data)
            if record.HasField("history"):
                items = [(item.key or ".".join(item.nested_key), item) for item in record.history.item]
                rows.append({name: json.loads(item.value_json) for name, item in items})
            if record.HasField("alert"):
                alerts.append(record.alert.text)
    return rows, alerts


@pytest.mark.slow
def test_a_run_and_its_continuation_offline(recipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    changes = {
        "monitor.callbacks": ["wandb"],
        "monitor.explode": 0.001,
        "train.schedule": "constant",
        "train.steps": 5,
    }
    runs = recipe.parent / "runs"
    train(recipe, changes, runs=runs, name="run", silent=True)
    train(None, {"train.steps": 9}, resume=True, runs=runs, name="run", silent=True)
    log = read_run(runs / "run")
    assert not [event for event in log.events if "wandb" in event.message]
    rows, alerts = read_records(runs / "run")
    for name in ("loss", "dev_loss", "norm.decoder.0"):
        points = [(row["step"], row[name]) for row in rows if name in row]
        curve = log.scalars[name]
        assert points == list(zip(curve.steps.tolist(), curve.values.tolist(), strict=True))
    assert [row["step"] for row in rows if "entropy/decoder.self.1.0" in row] == [0, 4, 8]
    (event,) = (event for event in log.events if event.is_alarm)
    assert alerts == [f"Step 0: {event.message}"]
    (identity,) = {path.stem for path in (runs / "run").glob("wandb/*/*.wandb")}  # both sessions are one run
    assert identity == f"run-{json.loads((runs / 'run' / 'tracking.json').read_text())['wandb']}"
