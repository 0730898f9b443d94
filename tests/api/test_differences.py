"""FIRST~SECOND as a recording over HTTP: each number is the subtraction of two that the server sends."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from starlette.testclient import TestClient

from glassformer import bundle
from glassformer.api import differences
from glassformer.api.app import create_app
from glassformer.api.cancellation import cancelled_by
from glassformer.api.differences import Differences, split_id
from glassformer.api.frames import decode_frame
from glassformer.api.library import Library
from glassformer.api.settings import Settings
from glassformer.comparison.difference import Difference, make_difference
from glassformer.errors import ApiError
from glassformer.recording import Recording, from_arrays
from glassformer.runlog.probes import name_probe

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
    assert list(split_id("a~b")) == [("a", "b")]
    assert [list(split_id(id)) for id in ("a", "~b", "a~", "~" * 300)] == [[]] * 4
    assert list(split_id("a~b~c")) == [("a", "b~c"), ("a~b", "c")]


class Recordings:
    """Recordings by id, and how often a difference of them was computed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, most: int = 1 << 30) -> None:
        self.known = {name: draw(seed, ["the", "cat"]) for seed, name in enumerate("abcd")}
        self.computed = list[str]()
        self.before: Callable[[], None] = lambda: None
        self.differences = Differences(self.known.__getitem__, most)
        monkeypatch.setattr(differences, "make_difference", self.make)

    def make(self, first: Recording, second: Recording) -> Difference:
        self.computed.append(threading.current_thread().name)
        self.before()
        return make_difference(first, second)


def test_one_slow_difference_is_computed_once_and_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    recordings = Recordings(monkeypatch)
    started, finish = threading.Event(), threading.Event()

    def wait() -> None:
        if len(recordings.computed) == 1:
            started.set()
            finish.wait()

    recordings.before = wait
    with ThreadPoolExecutor(3) as pool:
        slow = pool.submit(recordings.differences.find, ("a", "b"))
        started.wait()
        same = pool.submit(recordings.differences.find, ("a", "b"))
        try:
            assert recordings.differences.find(("c", "d")).first is recordings.known["c"]
            assert not recordings.differences.is_ready(("a", "b"))
        finally:
            finish.set()
        assert slow.result() is same.result()
    assert len(recordings.computed) == 2
    assert recordings.differences.is_ready(("a", "b"))


def test_who_waits_goes_on_where_the_first_request_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    recordings = Recordings(monkeypatch)
    started, flag = threading.Event(), threading.Event()

    def compute() -> Difference:
        with cancelled_by(flag):
            return recordings.differences.find(("a", "b"))

    def wait() -> None:
        if len(recordings.computed) == 1:
            started.set()
            flag.wait()

    recordings.before = wait
    with ThreadPoolExecutor(2) as pool:
        left = pool.submit(compute)
        started.wait()
        stays = pool.submit(recordings.differences.find, ("a", "b"))
        flag.set()  # the client of the first disconnects: weights are not read any more
        with pytest.raises(ApiError) as error:
            left.result()
        assert error.value.code == "gone"
        assert stays.result().second is recordings.known["b"]


def test_differences_are_kept_by_bytes_and_released(monkeypatch: pytest.MonkeyPatch) -> None:
    recordings = Recordings(monkeypatch, most=250_000)  # of recordings that count as 100,000 each
    for pair in (("a", "b"), ("b", "c"), ("c", "d")):
        recordings.differences.find(pair)
    assert [recordings.differences.is_ready(pair) for pair in (("a", "b"), ("b", "c"), ("c", "d"))] == [
        False,
        True,
        True,
    ]
    assert 200_000 < recordings.differences.size < 250_000
    recordings.differences.release("d")
    assert not recordings.differences.is_ready(("c", "d"))
    recordings.differences.clear()
    assert recordings.differences.size == 0


def test_a_library_releases_the_difference_of_a_recording_that_is_removed() -> None:
    library = Library(shipped=None)
    first, second = (library.add(draw(seed, ["the", "cat"])) for seed in (0, 1))
    assert library.difference(first) is None
    assert not library.is_ready(f"{first}~{second}")
    library.get(f"{first}~{second}")
    assert library.is_ready(f"{first}~{second}")
    library.remove(second)
    assert not library.is_ready(f"{first}~{second}")
    library.close()


def test_the_name_of_a_run_may_contain_the_sign(tmp_path: Path) -> None:
    library = Library(shipped=None)
    library.runs = (tmp_path,)
    for run in ("a~b", "c"):
        (tmp_path / run / "probes").mkdir(parents=True)
        (tmp_path / run / "events.jsonl").touch()
        bundle.save(draw(3, ["the", "cat"]), tmp_path / run / "probes" / name_probe(1, 0))
    assert library.split("a~b:1:0") is None
    assert library.get("a~b:1:0").source.texts == ("the", "cat")
    assert library.split("a~b:1:0~c:1:0") == ("a~b:1:0", "c:1:0")
    assert library.get("c:1:0~a~b:1:0").map().content == "signed"
    library.close()
