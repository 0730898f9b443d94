"""Names to folders: paths, the zoo, and a hub that a thread of this test imitates."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from glassformer.errors import CheckpointError
from glassformer.weights import hub
from glassformer.weights.checkpoint import open_checkpoint
from glassformer.weights.hub import find_folder
from tolerances import assert_near

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FETCH = """
import sys
from glassformer.errors import CheckpointError
from glassformer.weights.hub import find_folder
try:
    print(find_folder(sys.argv[1]))
except CheckpointError as error:
    print("refused:", error)
"""


class Hub(ThreadingHTTPServer):
    """The few routes of a model hub that fetching needs."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), HubHandler)
        self.models: dict[str, dict[str, bytes]] = {}
        self.gated: set[str] = set()
        self.fetched: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class HubHandler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Hub
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.path.split("?")[0].strip("/")
        if path.startswith("api/models/"):
            self.answer_about(path.removeprefix("api/models/"))
        else:
            self.answer_with_file(path)

    do_HEAD = do_GET  # noqa: N815 – as http.server calls it

    def answer_about(self, path: str) -> None:
        name, _, rest = path.partition("/revision/")
        if not rest:
            name, _, rest = path.partition("/tree/")
            files = self.server.models.get(name, {})
            listing = [
                {"type": "file", "path": file, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
                for file, data in files.items()
            ]
            self.send(200, json.dumps(listing).encode())
        elif name in self.server.gated:
            self.send(403, b"{}", {"X-Error-Code": "GatedRepo"})
        elif name not in self.server.models:
            self.send(404, b"{}", {"X-Error-Code": "RepoNotFound"})
        else:
            siblings = [{"rfilename": file} for file in self.server.models[name]]
            about = {
                "_id": "1",
                "id": name,
                "sha": COMMIT,
                "siblings": siblings,
                "private": False,
                "downloads": 0,
            }
            self.send(200, json.dumps({**about, "tags": [], "likes": 0}).encode())

    def answer_with_file(self, path: str) -> None:
        name, _, file = path.partition(f"/resolve/{COMMIT}/")
        data = self.server.models.get(name, {}).get(file)
        if data is None:
            self.send(404, b"", {"X-Error-Code": "EntryNotFound"})
            return
        if self.command == "GET":
            self.server.fetched.append(file)
        self.send(200, data, {"ETag": f'"{hashlib.sha1(data).hexdigest()}"', "X-Repo-Commit": COMMIT})

    def send(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Hub]:
    with Hub() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def fetch(name: str, home: Path, endpoint: str, **environment: str) -> str:
    """What a fresh interpreter finds: the hub's library reads its environment once, when it is imported."""
    ours = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("HF_", "HUGGING", "TRANSFORMERS"))
    }
    ours |= {"HF_HOME": str(home), "HF_ENDPOINT": endpoint, "HF_HUB_DISABLE_XET": "1", "NO_PROXY": "*"}
    ours |= environment
    done = subprocess.run(
        [sys.executable, "-c", FETCH, name], env=ours, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.mark.slow
def test_a_model_is_fetched_once_and_only_what_is_needed(
    server: Hub,
    saved: Callable[..., Path],
    answer: Callable[..., Any],
    make: Callable[..., Any],
    tmp_path: Path,
) -> None:
    folder = saved("BertModel")
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    rest = (
        "pytorch_model.bin",
        "tf_model.h5",
        "modeling.py",
        "README.md",
        "onnx/model.onnx",
        "onnx/config.json",
    )
    files |= dict.fromkeys(rest, b"not wanted") | {"tokenizer.json": b"{}", "vocab.txt": b"[PAD]\n"}
    server.models["someone/tiny-bert"] = files

    found = fetch("someone/tiny-bert", tmp_path / "home", server.address)
    assert set(server.fetched) == {"config.json", "model.safetensors", "tokenizer.json", "vocab.txt"}
    assert Path(found).is_relative_to(tmp_path / "home")
    assert_near(answer(open_checkpoint(found).network), answer(make("BertModel")), layers=2)

    server.fetched.clear()
    assert fetch("someone/tiny-bert", tmp_path / "home", server.address) == found
    assert fetch("someone/tiny-bert", tmp_path / "home", server.address, HF_HUB_OFFLINE="1") == found
    nobody = "http://127.0.0.1:9"  # the discard port: nobody listens
    assert fetch("someone/tiny-bert", tmp_path / "home", nobody) == found
    assert server.fetched == []


@pytest.mark.slow
def test_what_the_hub_does_not_give_is_said_in_one_sentence(server: Hub, tmp_path: Path) -> None:
    server.gated.add("someone/gated")
    server.models["someone/pickled"] = {"config.json": b"{}", "pytorch_model.bin": b"\x80"}
    server.models["someone/empty"] = {"README.md": b"soon"}
    home = tmp_path / "home"

    text = fetch("someone/unknown", home, server.address)
    assert text.startswith(
        "refused: There is no folder 'someone/unknown' here and no public model of that name at"
    )
    assert server.address in text
    text = fetch("someone/gated", home, server.address)
    assert text.startswith("refused: someone/gated is gated. Ask for access")
    text = fetch("someone/pickled", home, server.address)
    assert text.startswith("refused: someone/pickled has no safetensors")
    assert "can run any code" in text
    text = fetch("someone/empty", home, server.address)
    assert text.startswith("refused: someone/empty has no safetensors")
    assert "pytorch_model.bin" not in server.fetched


@pytest.mark.slow
def test_offline_and_unreachable(tmp_path: Path) -> None:
    text = fetch("someone/model", tmp_path, "http://127.0.0.1:9", HF_HUB_OFFLINE="1")
    assert text.startswith("refused: someone/model was never downloaded, and HF_HUB_OFFLINE forbids")
    text = fetch("someone/model", tmp_path, "http://127.0.0.1:9")
    assert text.startswith(
        "refused: someone/model is not on this machine, and http://127.0.0.1:9 cannot be reached"
    )


def test_a_folder_is_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_folder(tmp_path) == tmp_path
    (tmp_path / "gpt2").mkdir()
    monkeypatch.chdir(tmp_path)
    assert find_folder("gpt2") == Path("gpt2")  # before any hub is asked
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_folder("~/gpt2") == tmp_path / "gpt2"


@pytest.mark.parametrize(
    "name",
    [
        "./gone",
        "/gone/too",
        "a/b/c",
        "C:\\models\\mine",
        "two words",
        "a/.b",
        "x" * 97,
        "-",
        "é/é",
        "a--b",
        "gpt2\n",
    ],
)
def test_what_can_only_be_a_path_is_not_asked_of_the_hub(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(hub, "_download", lambda name: pytest.fail("asked the hub"))
    with pytest.raises(CheckpointError, match="There is no folder") as error:
        find_folder(name)
    assert "\n" not in str(error.value)


def test_no_name_is_not_the_folder_where_we_are() -> None:
    with pytest.raises(CheckpointError, match="name of the model is empty"):
        find_folder("")


@pytest.mark.parametrize("name", ["gpt2", "bert-base-uncased", "Helsinki-NLP/opus-mt-en-de", "a_b/c.d-e"])
def test_hub_names_go_to_the_hub(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(hub, "_download", lambda name: Path("fetched") / name)
    assert find_folder(name) == Path("fetched") / name


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"is a file\. Give the folder"):
        find_folder(tmp_path / "model.safetensors")


def test_the_zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "ZOO", tmp_path)
    with pytest.raises(CheckpointError, match="There are none"):
        find_folder("zoo/translator")
    (tmp_path / "translator").mkdir()
    (tmp_path / "translator" / "config.json").write_text("{}")
    assert find_folder("zoo/translator") == tmp_path / "translator"
    with pytest.raises(CheckpointError, match=r"no model called 'translater'. Did you mean 'translator'"):
        find_folder("zoo/translater")
    with pytest.raises(CheckpointError, match="no model called"):
        find_folder("zoo/../../secrets")
