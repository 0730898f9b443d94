"""The workbench behind the real server: jobs over HTTP, cancelled, crashed, refused; two clients at once."""

import json
import os
import signal
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from glassformer.api.app import create_app
from glassformer.api.branches import list_branches
from glassformer.api.library import Library
from glassformer.workbench import LocalWorkbench, WorkbenchSettings

pytestmark = pytest.mark.slow

TEXT = {"kind": "record", "model": "zoo/decoder", "text": "the animal was too tired"}
ENDLESS = {**TEXT, "kind": "generate", "model": "zoo/slow", "decode": {"max_new_tokens": 1000}}


class Client:
    """Somebody with a browser."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        line = HTTPConnection("localhost", self.port, timeout=300)
        words = None if body is None else json.dumps(body)
        line.request(method, f"/api{path}", words, {"content-type": "application/json"})
        answer = line.getresponse()
        content = json.loads(answer.read() or "null")
        line.close()
        return answer.status, content

    def hear(self, job: str) -> Generator[tuple[str, dict[str, Any]]]:
        """Server-sent events, until there are no more."""
        line = HTTPConnection("localhost", self.port, timeout=300)
        line.request("GET", f"/api/jobs/{job}/events")
        name = ""
        with closing(line), line.getresponse() as answer:
            for raw in answer:
                word, _, rest = raw.decode().strip().partition(": ")
                if word == "event":
                    name = rest
                elif word == "data":
                    yield name, json.loads(rest)


class Server:
    """The server, its workbench and its clients."""

    def __init__(self, zoo: Path, folder: Path) -> None:
        library = Library(folder)
        self.bench = LocalWorkbench(
            WorkbenchSettings(offline=True, queue=2),
            folder=library.folder,
            add=lambda path, request, owner: library.adopt(path, request=request, owner=owner),
            locate=library.path,
            zoo=zoo,
        )
        app = create_app(library, self.bench)
        self.server = uvicorn.Server(
            uvicorn.Config(app, port=0, log_level="error", ws="none", timeout_graceful_shutdown=1)
        )
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)

    def client(self) -> Client:
        return Client(self.server.servers[0].sockets[0].getsockname()[1])

    def close(self) -> None:
        self.server.should_exit = True
        self.thread.join()


@pytest.fixture
def server(zoo: Path, tmp_path: Path) -> Iterator[Server]:
    server = Server(zoo, tmp_path)
    yield server
    server.close()


@pytest.fixture
def client(server: Server) -> Client:
    return server.client()


def start(client: Client, body: dict[str, Any]) -> str:
    status, job = client.ask("POST", "/jobs", body)
    assert status == 202
    return str(job["id"])


def test_a_job_becomes_a_recording_of_the_library(client: Client) -> None:
    status, models = client.ask("GET", "/models")
    assert status == 200
    assert "zoo/decoder" in [model["name"] for model in models]
    name, data = list(client.hear(start(client, TEXT)))[-1]
    assert name == "done"
    _, description = client.ask("GET", f"/recordings/{data['recording']}")
    assert description["model"] == "zoo/decoder"
    assert description["source"]["text"] == TEXT["text"]
    assert description["request"]["model"] == "zoo/decoder"
    _, entries = client.ask("GET", "/recordings")
    assert [entry["origin"] for entry in entries if entry["id"] == data["recording"]] == ["made"]
    first = data["recording"]
    edit = {"kind": "ablate", "stack": "decoder", "attention": "self", "layer": 0, "head": 1}
    branch = {"kind": "generate", "decode": {"max_new_tokens": 1}, "prefix": [5, 7]}
    for change in ({"edits": [edit]}, branch):
        job = start(client, {**TEXT, **change, "parent": first})
        recording = list(client.hear(job))[-1][1]["recording"]
        _, sent = client.ask("GET", f"/jobs/{job}")
        assert (sent["parent"], sent["prefix"]) == (first, change.get("prefix"))
        _, entries = client.ask("GET", "/recordings")
        assert [entry["parent"] for entry in entries if entry["id"] == recording] == [first]


def test_branches_form_a_tree_that_is_kept(client: Client, server: Server) -> None:
    write = {**TEXT, "kind": "generate", "decode": {"max_new_tokens": 5}}
    root = list(client.hear(start(client, write)))[-1][1]["recording"]
    _, before = client.ask("GET", f"/recordings/{root}")
    steps = before["generation"]["steps"]
    other = next(each["token"] for each in steps[2]["alternatives"] if each["token"] != steps[2]["token"])
    block = {"kind": "block", "stack": "decoder", "attention": "self", "layer": 0, "head": 1}
    changes = {"step": 2, "token": other, "name": " other word "}
    events = list(client.hear(start(client, {**write, "parent": root, "branch": changes})))
    child = events[-1][1]["recording"]
    written = [data["token"] for name, data in events if name == "step"]
    assert written[:3] == [steps[0]["token"], steps[1]["token"], other]
    _, after = client.ask("GET", f"/recordings/{child}")
    assert after["generation"]["steps"][:2] == steps[:2]
    assert after["generation"]["forced"] == [2]
    assert after["branch"] == {"step": 2, "token": other, "name": "other word"}
    changes = {"step": 2, "edits": [block], "temperature": 2.0, "seed": 4}
    leaf = list(client.hear(start(client, {**write, "parent": child, "branch": changes})))[-1][1]["recording"]
    for id in (root, child, leaf):
        status, tree = client.ask("GET", f"/recordings/{id}/branches")
        assert status == 200
        found = [(each["id"], each["parent"], each["step"]) for each in tree]
        assert found == [(root, None, 0), (child, root, 2), (leaf, child, 2)]
    assert client.ask("PUT", f"/recordings/{leaf}/branch", {"name": "hot"})[0] == 204
    assert client.ask("DELETE", f"/recordings/{child}")[0] == 204
    again = Library(server.bench.folder)  # as after a restart
    (left,) = list_branches(again, leaf)
    assert (left.name, left.parent, left.lost) == ("hot", None, True)
    again.close()
    wrong = {**write, "parent": root}
    for branch in (
        {"step": 2, "token": 1, "text": "a"},
        {"node": 0, "token": 1},
        {"max_new_tokens": 99_999},
        {"name": "\x00"},
        {"edits": [{**block, "stack": "encoder"}]},
        {"edits": [{**block, "kind": "ablate"}]},
    ):
        found, answer = client.ask("POST", "/jobs", {**wrong, "branch": branch})
        assert (found, answer["error"]["code"]) == (422, "bad_branch")
    assert client.ask("POST", "/jobs", {**wrong, "branch": {"step": -1}})[0] == 422
    assert client.ask("POST", "/jobs", {**wrong, "parent": "none", "branch": {}})[0] == 404
    assert client.ask("POST", "/jobs", {**write, "branch": {}})[0] == 422
    for branch in ({"step": 77}, {"text": "two words more"}, {"node": 3}):
        name, data = list(client.hear(start(client, {**wrong, "branch": branch})))[-1]
        assert name == "failed", data
    assert client.ask("PUT", f"/recordings/{root}/branch", {"name": "root"})[0] == 422
    assert client.ask("PUT", f"/recordings/{leaf}/branch", {"name": "x" * 121})[0] == 422
    assert client.ask("GET", "/recordings/none/branches")[0] == 404


def test_cancelling_in_the_middle(client: Client) -> None:
    job = start(client, ENDLESS)
    events = client.hear(job)
    assert any(name == "step" for name, _ in events)
    status, cancelled = client.ask("DELETE", f"/jobs/{job}")
    assert (status, cancelled["state"]) == (200, "cancelled")
    assert list(events)[-1][0] == "cancelled"
    assert list(client.hear(start(client, TEXT)))[-1][0] == "done"


def test_a_killed_worker_leaves_the_server_standing(client: Client, server: Server) -> None:
    job = start(client, ENDLESS)
    events = client.hear(job)
    assert any(name == "step" for name, _ in events)
    assert server.bench.slots[0].worker is not None
    os.kill(server.bench.slots[0].worker.id, signal.SIGKILL)
    name, data = list(events)[-1]
    assert (name, data["code"]) == ("failed", "crashed")
    assert client.ask("GET", f"/jobs/{job}")[1]["state"] == "failed"
    assert list(client.hear(start(client, TEXT)))[-1][0] == "done"


def test_refusals_are_sentences_with_a_code(client: Client) -> None:
    for body, status, code in (
        ({**TEXT, "model": "zoo/decodr"}, 404, "no_model"),
        ({**TEXT, "model": "../../etc"}, 404, "no_model"),
        ({**TEXT, "layers": 99}, 422, "bad_layers"),
        ({**TEXT, "text": " "}, 422, "bad_text"),
    ):
        found, answer = client.ask("POST", "/jobs", body)
        assert (found, answer["error"]["code"]) == (status, code)
        assert answer["error"]["sentence"]
    assert client.ask("GET", "/jobs/none")[0] == 404


def test_a_full_queue_and_two_clients(client: Client, server: Server) -> None:
    first = start(client, ENDLESS)
    events = client.hear(first)
    assert any(name == "step" for name, _ in events)
    other = server.client()
    waiting = [start(each, TEXT) for each in (client, other)]
    status, answer = other.ask("POST", "/jobs", TEXT)
    assert (status, answer["error"]["code"]) == (429, "queue_full")
    client.ask("DELETE", f"/jobs/{first}")
    assert list(events)[-1][0] == "cancelled"
    heard: dict[str, str] = {}

    def listen(each: Client, job: str) -> None:
        heard[job] = list(each.hear(job))[-1][0]

    listeners = [
        threading.Thread(target=listen, args=pair) for pair in zip((client, other), waiting, strict=True)
    ]
    for listener in listeners:
        listener.start()
    for listener in listeners:
        listener.join()
    assert heard == dict.fromkeys(waiting, "done")


def test_closing_the_server_ends_the_worker(server: Server, client: Client) -> None:
    events = client.hear(start(client, ENDLESS))
    assert any(name == "step" for name, _ in events)
    worker = server.bench.slots[0].worker
    assert worker is not None
    server.close()
    assert not worker.alive
    events.close()
