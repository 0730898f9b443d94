"""FIRST~SECOND as a recording over HTTP: each number is the subtraction of two that the server sends."""

from collections.abc import Iterator
from urllib.parse import quote

import numpy as np
import pytest
from starlette.testclient import TestClient

from glassformer.api.app import create_app
from glassformer.api.differences import split_id
from glassformer.api.frames import decode_frame
from glassformer.api.library import Library
from glassformer.api.settings import Settings
from glassformer.recording import from_arrays

Pair = tuple[TestClient, str, str]


def draw(seed: int, words: list[str]):
    count = len(words)
    return from_arrays(np.random.default_rng(seed).dirichlet(np.ones(count), size=(2, 3, count)), words)


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    library = Library(shipped=None)
    ids = [library.add(draw(seed, ["the", "cat", "sat"])) for seed in (0, 1)]
    library.add(draw(2, ["one", "dog"]))
    with TestClient(create_app(library, None, Settings()), base_url="http://localhost:5000") as client:
        yield client, *ids
    library.close()


def floats(client: TestClient, path: str, name: str) -> np.ndarray:
    answer = client.get(f"/api/recordings/{path}")
    assert answer.status_code == 200, answer.text
    return decode_frame(answer.content).arrays[name].array


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("maps/encoder.self.1/weights?as=float32", "weights"),
        ("maps/encoder.self.1/tiles/2/0/0/0?as=float32", "tile"),
        ("maps/encoder.self.0/tiles/1/1/0/0?as=float32", "tile"),
        ("average?how=model&stack=encoder&kind=self&as=float32", "weights"),
    ],
)
def test_numbers_are_subtractions(pair: Pair, path: str, name: str) -> None:
    client, first, second = pair
    one, other, both = (floats(client, f"{id}/{path}", name) for id in (first, second, f"{first}~{second}"))
    np.testing.assert_allclose(both, one - other, rtol=0, atol=4 * np.finfo(np.float32).eps)
    assert np.abs(both).max() > 0.05


def test_scores_are_subtractions(pair: Pair) -> None:
    client, first, second = pair
    values = []
    for id in (first, second, f"{first}~{second}"):
        found = client.get(f"/api/recordings/{id}/scores/entropy?over=head").json()
        values.append(np.array([part["values"] for part in found["parts"]]))
    np.testing.assert_array_equal(values[2], values[0] - values[1])


def test_the_description_says_what_is_subtracted(pair: Pair) -> None:
    client, first, second = pair
    found = client.get(f"/api/recordings/{quote(f'{first}~{second}')}").json()
    assert found["difference"]["first"]["id"] == first
    assert found["difference"]["second"]["id"] == second
    assert found["difference"]["identical"]
    assert {each["content"] for each in found["maps"]} == {"signed"}
    assert client.get(f"/api/recordings/{first}").json()["difference"] is None


def test_refusals(pair: Pair) -> None:
    client, first, second = pair
    listed = [entry["id"] for entry in client.get("/api/recordings").json()]
    (third,) = (id for id in listed if id not in (first, second))
    answer = client.get(f"/api/recordings/{first}~{third}")
    assert answer.status_code == 422
    assert "comparison.nothing_in_common" in answer.text
    assert client.get(f"/api/recordings/{first}~nothing").status_code == 404
    assert client.get(f"/api/recordings/{first}~{second}/bundle").status_code == 409
    assert split_id("a~b") == ("a", "b")
    assert [split_id(id) for id in ("a", "~b", "a~", "a~b~c")] == [None] * 4
