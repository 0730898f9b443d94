"""A bundle from a stranger: whatever its numbers are, it is refused or shown, and nothing breaks."""

import random
from pathlib import Path
from typing import Any

import numpy as np

from campaigns import campaign
from glassformer.bundle.layout import read_header

ROUTES = (
    "",
    "/tokens/source",
    "/picture",
    "/sound",
    "/thumbnails",
    "/thumbnails?how=max",
    "/maps/0/weights",
    "/maps/0/weights?head=mean",
    "/maps/0/weights?as=float16",
    "/maps/0/scores?head=0",
    "/maps/0/tiles/0/0/0/0",
    "/maps/0/tiles/0/1/0/0?how=max",
    "/maps/0/statistics",
    "/maps/0/vectors/keys?head=0",
    "/average?stack=decoder",
    "/hidden/decoder/1",
    "/hidden/decoder/activations?by=change",
    "/distribution?of=attention&map=0",
    "/distribution?of=scores&map=0",
    "/distribution?of=scores_unscaled&map=0",
    "/distribution?of=hidden",
    "/flow",
    "/scores/entropy",
    "/scores/overall_sparsity?over=query",
    "/scores/uniform_divergence?over=model",
)
STRANGE = {
    "F32": (np.nan, np.inf, -np.inf, 3e38, -1.0, 1e-45),
    "F64": (np.nan, np.inf, -np.inf, 1e308),
    "I64": (-1, 2**63 - 1, -(2**63)),
    "BOOL": (2, 255, 0),
    "U8": (0, 255),
}


def spoil(path: Path, seed: int) -> bytes:
    """The file with strange numbers in one of its arrays, everywhere or here and there."""
    chance = random.Random(seed)
    data = bytearray(path.read_bytes())
    with path.open("rb") as file:
        start, entries = read_header(file, len(data), path)
    numeric = [each for each in entries.values() if each.name != "recording" and each.stop > each.start]
    entry = chance.choice([each for each in numeric if not each.name.startswith("padding")])
    kind = np.dtype(entry.dtype).newbyteorder("<")
    array = np.frombuffer(data, kind, (entry.stop - entry.start) // kind.itemsize, start + entry.start)
    codes = {"float32": "F32", "float64": "F64", "int64": "I64", "int32": "I64", "bool": "BOOL"}
    choices = STRANGE[codes.get(kind.name, "U8")]
    with np.errstate(all="ignore"):
        value = np.array(chance.choice(choices)).astype(kind if kind.kind != "b" else np.uint8)
    raw = array.view(np.uint8) if kind.kind == "b" else array
    if chance.random() < 0.5:
        raw[:] = value
    else:
        raw[chance.sample(range(raw.size), max(1, raw.size // 7))] = value
    return bytes(data)


@campaign("seed", range(10_000), sample=16)
def test_strange_numbers_break_nothing(site: Any, invented: dict[str, Path], seed: int) -> None:
    added = site.client.post("/api/recordings", content=spoil(invented["decoder"], seed))
    assert added.status_code in (201, 422), added.text
    if added.status_code == 201:
        for route in ROUTES:
            answer = site.client.get(f"/api/recordings/{added.json()['id']}{route}")
            assert answer.status_code in (200, 404, 422), (route, answer.text)


@campaign("seed", range(10_000), sample=20)
def test_strange_bytes_break_nothing(site: Any, invented: dict[str, Path], seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray(invented["single"].read_bytes())
    for _ in range(chance.choice((1, 3, 20))):
        data[chance.randrange(len(data))] = chance.randrange(256)
    added = site.client.post("/api/recordings", content=bytes(data[: chance.choice((len(data), 2000))]))
    assert added.status_code in (201, 422), added.text
    if added.status_code == 201:
        for route in ROUTES:
            answer = site.client.get(f"/api/recordings/{added.json()['id']}{route}")
            assert answer.status_code in (200, 404, 422), (route, answer.text)
