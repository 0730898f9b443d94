"""Connections that hardly say anything are ended; those that speak are not."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn

from glassformer.api.app import create_app
from glassformer.api.connections import HeaderTimeoutProtocol
from glassformer.api.library import Library
from glassformer.api.settings import Settings

QUESTION = b"GET /api/about HTTP/1.1\r\nhost: localhost\r\n\r\n"


class Hasty(HeaderTimeoutProtocol):
    """With the patience of a test."""

    seconds = 1.0


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    library = Library(shipped=None)
    app = create_app(library, None, Settings(body_seconds=1.0))
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        line.listen(16)
        config = uvicorn.Config(app, http=Hasty, log_level="critical", ws="none", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [line]}, daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        yield line.getsockname()[1]
        server.should_exit = True
        thread.join(10)
    library.close()


@pytest.fixture
def line(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), 120) as line:
        yield line


def hear(line: socket.socket) -> bytes:
    """Everything until the other side ends the connection."""
    heard = b""
    try:
        while piece := line.recv(65536):
            heard += piece
    except ConnectionResetError:  # it ended while we were still speaking
        pass
    return heard


def hear_answer(line: socket.socket) -> bytes:
    """One whole answer with a body of JSON."""
    heard = b""
    while not heard.endswith(b"}"):
        piece = line.recv(65536)
        assert piece, heard
        heard += piece
    return heard


@pytest.mark.parametrize(
    "said",
    [b"", b"GET /api/about HTTP/1.1\r\nhost: local", b"GET", b"POST /api/jobs HTTP/1.1\r\n"],
    ids=["nothing", "half a header", "half a word", "a line"],
)
def test_who_sends_no_whole_request_is_let_go(line: socket.socket, said: bytes) -> None:
    line.sendall(said)
    assert hear(line).startswith(b"HTTP/1.1 408 ")


def test_a_byte_now_and_then_does_not_help(line: socket.socket) -> None:
    line.sendall(QUESTION[:-2])
    letters = threading.Thread(target=drip, args=(line,), daemon=True)
    letters.start()
    assert hear(line).startswith(b"HTTP/1.1 408 ")
    letters.join(20)


def drip(line: socket.socket) -> None:
    try:
        while True:
            line.sendall(b"x")
            time.sleep(0.02)
    except OSError:  # the end that the test is about
        pass


def test_the_second_request_of_a_connection_is_watched_too(line: socket.socket) -> None:
    line.sendall(QUESTION)
    assert hear_answer(line).startswith(b"HTTP/1.1 200 ")
    line.sendall(b"GET /api/ab")
    assert hear(line).startswith(b"HTTP/1.1 408 ")


def test_who_asks_again_after_a_while_is_answered(line: socket.socket) -> None:
    for _ in range(3):
        line.sendall(QUESTION)
        assert hear_answer(line).startswith(b"HTTP/1.1 200 ")
        time.sleep(1.2)  # longer than a header may take: between two requests there is none


@pytest.mark.parametrize("path", [b"/api/jobs", b"/api/recordings"])
def test_a_body_that_does_not_come_is_refused(line: socket.socket, path: bytes) -> None:
    line.sendall(b"POST " + path + b" HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{")
    heard = hear_answer(line)
    assert heard.startswith(b"HTTP/1.1 408 ")
    assert b"within 1 seconds" in heard
