"""Bundles from strangers, changed in one place: refused in words or shown, and the server goes on as before.

A mutant is a bundle in which one value of the description or of the header is another one: huge, negative, of
another type, half of a surrogate pair, nested, twenty megabytes long; or some numbers of an array are others.
Bundles of texts, pictures and sounds are changed. Whatever the server answers, it answers
all routes, in time, without an error of its own, and without growing. `make test-long` makes 100,000.
"""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bundles import make_recording
from campaigns import campaign
from glassformer import bundle
from glassformer.config import ModelConfig
from glassformer.recording import Recording
from inventions import invent_captioner, invent_decoder, invent_listener, invent_translation

ROUTES = (
    "",
    "/tokens/source",
    "/tokens/written",
    "/thumbnails",
    "/maps/0/weights?head=mean",
    "/maps/1/scores?head=0",
    "/maps/0/tiles/0/1/0/0?how=max",
    "/maps/0/statistics",
    "/maps/0/vectors/keys?head=0",
    "/average?stack=decoder",
    "/hidden/decoder/1",
    "/hidden/decoder/activations?by=change",
    "/distribution?of=attention",
    "/distribution?of=scores",
    "/distribution?of=scores_unscaled",
    "/distribution?of=hidden",
    "/flow",
    "/scores/entropy",
    "/scores/alignment",
    "/scores/uniform_divergence?over=model",
    "/walk",
    "/trace/decoder/0/self/weights",
    "/cell/decoder.0.self.weights",
    "/cell/output.likeliest",
    "/picture",
    "/sound",
    "/bundle",
)
DEEP: Any = []
for _ in range(300):
    DEEP = [DEEP]
HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 7, 0.5, -0.0, 1e-300, 1e300, 2**31, 5_000_000_000, 2**53, 2**63, -(2**63),
    2**70, 10**400, float("nan"), float("inf"), "", "x", "0", "-1", "é", "\ud800", "\0", "a\nb",
    "../../etc/passwd", "{", "{x!r:>99999999}", "x" * 5_000, "X", [], {}, [[]], [None], [0, 0], ["x"], DEEP,
    [[]] * 10_000,
    {"array": "nowhere"}, {"array": []}, {"array": "content/hidden/decoder"}, {"array": "tokens/0/ids"},
    {"float": "nan"}, {"float": "inf"}, {"float": "-inf"}, {"float": "1e999"}, {"float": []},
    {"tokens": 0}, {"tokens": 1}, {"tokens": -1}, {"tokens": 99}, {"pairs": []}, {"pairs": 3},
    {"pairs": [["a", 1]]}, {"pairs": [[{}, 1]]}, {"pairs": [["a", {"float": "inf"}]]},
    {"message": {"code": "a.b", "parameters": {"x": 1}}},
    {"message": {"code": "text.literal", "default": "{"}},
    {"message": {"code": "x" * 300, "parameters": {"y": {"code": "a.b"}}}}, {"message": DEEP},
    {"type": "Tokens", "fields": {}}, {"type": "os.system", "fields": {}},
)  # fmt: skip
LONG_TEXT = "x" * 20_000_000
PATTERNS = (
    b"\0", b"\xff", b"\x80", b"\0\0\xc0\x7f", b"\0\0\x80\xff", b"\xff\xff\x7f\x7f", b"\0\0\0\0\0\0\xf8\x7f",
)  # fmt: skip
BATCH = 20


def invent_traced() -> Recording:
    """A decoder with an architecture and steps of its pass."""
    plain = invent_decoder(tokens=6, layers=2)
    config = ModelConfig(vocabulary_size=11, shape="decoder", layers=2, width=16, heads=4, feed_forward=8)
    stream = np.random.default_rng(0).normal(size=(6, 16)).astype(np.float32)
    names = ("decoder/embedding/tokens", "decoder/0/self/output", "decoder/0/feed_forward/output")
    kept = {name: value for name, value in asdict(config).items() if not isinstance(value, tuple)}
    return replace(plain, architecture=kept, trace=dict.fromkeys(names, stream))


@pytest.fixture(scope="session")
def originals(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[dict[str, Any], bytes, dict[str, Any]]]:
    """Header, data and description of a few bundles."""
    folder = tmp_path_factory.mktemp("originals")
    found = []
    texts = (invent_decoder(tokens=6, layers=2), invent_translation(), make_recording(), invent_traced())
    made = (*texts, invent_captioner(), invent_listener())
    for number, recording in enumerate(made):
        path = folder / f"{number}.bundle"
        bundle.save(recording, path)
        content = path.read_bytes()
        end = 8 + int.from_bytes(content[:8], "little")
        table = json.loads(content[8:end])
        start, stop = table["recording"]["data_offsets"]
        found.append((table, content[end : end + start], json.loads(content[end + start : end + stop])))
    return found


def list_places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield (*place, key)
        yield from list_places(each, (*place, key))


def mutate(value: Any, chance: random.Random, strange: Any) -> Any:
    """The value with one part of it changed, removed, or given another name."""
    copy = json.loads(json.dumps(value))
    *way, last = chance.choice(list(list_places(copy)))
    inner = copy
    for key in way:
        inner = inner[key]
    how = chance.random()
    if how < 0.05 and isinstance(inner, dict):
        del inner[last]
    elif how < 0.1 and isinstance(inner, dict):
        inner[chance.choice(("", "x", "\ud800", "__class__"))] = inner.pop(last)
    elif how < 0.15 and isinstance(inner, list):
        inner *= chance.choice((0, 2, 50))
    else:
        inner[last] = strange
    return copy


def mutate_array(table: dict[str, Any], data: bytes, chance: random.Random) -> bytes:
    """The data with one array, or a part of it, filled with zeros, ones, NaN, infinity, or noise."""
    names = sorted(name for name in table if name not in ("__metadata__", "recording"))
    start, stop = table[chance.choice(names)]["data_offsets"]
    first = start + 8 * chance.randrange(max(1, (stop - start) // 8))
    last = stop if chance.random() < 0.5 else min(stop, first + 8)
    pattern = chance.choice((*PATTERNS, chance.randbytes(64)))
    filled = (pattern * ((last - first) // len(pattern) + 1))[: last - first]
    return data[:first] + filled + data[last:]


def breed(originals: list[tuple[dict[str, Any], bytes, dict[str, Any]]], seed: int) -> bytes:
    """One mutant: seven of ten in the description, two in the numbers of an array, one in the header."""
    chance = random.Random(seed)
    table, data, description = chance.choice(originals)
    strange = LONG_TEXT if chance.random() < 0.002 else chance.choice(HOSTILE)
    place = chance.random()
    in_header, in_data = place < 0.1, place > 0.8
    if in_data:
        data = mutate_array(table, data, chance)
    text = json.dumps(description if in_header or in_data else mutate(description, chance, strange)).encode()
    row = {"dtype": "U8", "shape": [len(text)], "data_offsets": [len(data), len(data) + len(text)]}
    whole = {**table, "recording": row}
    header = json.dumps(mutate(whole, chance, strange) if in_header else whole).encode()
    return len(header).to_bytes(8, "little") + header + data + text


def read_memory() -> int:
    """Bytes of this process."""
    status = Path("/proc/self/status")
    return 1024 * int(status.read_text().partition("VmRSS:")[2].split()[0]) if status.exists() else 0


@campaign("batch", range(100_000 // BATCH), sample=3)
def test_a_mutant_is_refused_or_shown(
    build_site: Callable[..., Any],
    originals: list[tuple[dict[str, Any], bytes, dict[str, Any]]],
    batch: int,
) -> None:
    site = build_site(workbench=False)
    before = read_memory()
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        added = site.client.post("/api/recordings", content=breed(originals, seed))
        assert added.status_code in (201, 422), (seed, added.text)
        listed = site.client.get("/api/recordings")
        assert (listed.status_code, len(listed.content) < 100_000) == (200, True), (seed, listed.text[:1000])
        if added.status_code == 201:
            id = added.json()["id"]
            for route in ROUTES:
                answer = site.client.get(f"/api/recordings/{id}{route}")
                assert answer.status_code in (200, 404, 422), (seed, route, answer.text[:1000])
                assert b'"too_slow"' not in answer.content, (seed, route)
            assert site.client.delete(f"/api/recordings/{id}").status_code == 204
    assert read_memory() - before < 256 << 20


@pytest.mark.parametrize("name", ["format", "version"])
def test_metadata_of_any_type_are_refused_in_words(
    build_site: Callable[..., Any],
    originals: list[tuple[dict[str, Any], bytes, dict[str, Any]]],
    name: str,
) -> None:
    """Mutants 28085 and 38061: a list in a list was no parameter of a message."""
    table, data, _ = originals[0]
    site = build_site(workbench=False)
    for strange in ([[]], {}, None, 10**400, "\ud800"):
        metadata = {**table["__metadata__"], name: strange}
        header = json.dumps({**table, "__metadata__": metadata}).encode()
        body = len(header).to_bytes(8, "little") + header + data
        answer = site.client.post("/api/recordings", content=body)
        assert answer.status_code == 422, (strange, answer.text)
