"""Connections of a real server: silent ones, clients that do not read, and one client with very many."""

import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
import uvicorn

from glassformer.api.connections import FEWEST, OTHERS, LimitedProtocol, fit_descriptors, make_protocol
from glassformer.api.settings import Settings

PATIENCE = 120.0  # seconds, reached only by what fails
LARGE = b"x" * (64 << 20)
SERVED: dict[int, type[LimitedProtocol]] = {}  # the protocol of each server, by its port


async def app(scope: Any, receive: Any, send: Any) -> None:
    """A response that no buffer of a system holds; at /small, a short one."""
    if scope["type"] != "http":
        return
    body = b"ok" if scope["path"] == "/small" else LARGE
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def serve() -> Iterator[Callable[..., int]]:
    """Start a server with some limits; gives its port."""
    started: list[tuple[uvicorn.Server, threading.Thread]] = []

    def start(**limits: Any) -> int:
        protocol = make_protocol(Settings(**limits))
        config = uvicorn.Config(app, log_level="error", lifespan="off", http=protocol)
        server, line = uvicorn.Server(config), socket.create_server(("127.0.0.1", 0))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [line]}, daemon=True)
        thread.start()
        started.append((server, thread))
        port = int(line.getsockname()[1])
        SERVED[port] = protocol
        return port

    yield start
    for server, thread in started:
        server.force_exit = server.should_exit = True
        thread.join(PATIENCE)


def wait(ready: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < end
        time.sleep(0.01)


def connect(port: int, host: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), PATIENCE, (host, 0))


def count_open(port: int) -> int:
    return SERVED[port].open_connections.total()


def ends(line: socket.socket) -> bool:
    """Wait for the server to end a connection."""
    try:
        while line.recv(1 << 20):
            pass
    except ConnectionResetError:
        return True
    return True


def test_a_connection_that_says_nothing_is_closed(serve: Callable[..., int]) -> None:
    port = serve(head_seconds=0.1)
    with connect(port) as silent, connect(port) as slow:
        with suppress(ConnectionError):  # where it was closed before
            slow.sendall(b"GET / HT")  # half a request is none
        assert ends(silent)
        assert ends(slow)


def test_the_head_of_a_later_request_must_come_in_time_as_well(serve: Callable[..., int]) -> None:
    port = serve(head_seconds=10 * PATIENCE)  # however long this process is kept waiting
    with connect(port) as line:
        for _ in range(3):  # as often as it likes
            line.sendall(b"GET /small HTTP/1.1\r\nhost: x\r\n\r\n")
            answer = b""
            while not answer.endswith(b"0\r\n\r\n"):  # the last chunk
                answer += line.recv(1000)
        SERVED[port].limits = Settings(head_seconds=0.1)
        line.sendall(b"GET /small HT")
        assert ends(line)


def test_a_client_that_reads_next_to_nothing_is_cut_off(serve: Callable[..., int]) -> None:
    port = serve(write_seconds=0.2, write_rate=1 << 30)  # no client reads as fast as that
    with connect(port) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        wait(lambda: bool(slow.recv(4096)) and not count_open(port))


@pytest.mark.slow
def test_a_client_that_does_not_read_is_cut_off(serve: Callable[..., int]) -> None:
    port = serve(write_seconds=0.2)
    with connect(port) as lazy:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        assert lazy.recv(1, socket.MSG_PEEK)  # the response has begun
        wait(lambda: not count_open(port))  # the rest is given up, not kept for it


def test_one_client_has_a_share_of_all_connections(serve: Callable[..., int]) -> None:
    port = serve(connections=4, client_share=0.5)
    lines = [connect(port) for _ in range(2)]
    for line in lines:
        line.sendall(b"GET /small HTTP/1.1\r\nhost: x\r\n\r\n")
        assert line.recv(100).startswith(b"HTTP/1.1 200")
    with connect(port) as third:
        assert ends(third)
    for line in lines:
        line.close()


@pytest.mark.parametrize(("proxy", "served"), [("127.0.0.0/8", True), ("::1", False)])
def test_a_proxy_brings_as_many_connections_as_there_are(
    serve: Callable[..., int], proxy: str, served: bool
) -> None:
    port = serve(connections=4, client_share=0.5, proxies=(proxy,), head_seconds=10 * PATIENCE)
    lines = [connect(port) for _ in range(2)]
    wait(lambda: count_open(port) == 2)
    with connect(port) as third:
        if served:
            third.sendall(b"GET /small HTTP/1.1\r\nhost: x\r\n\r\n")
            assert third.recv(100).startswith(b"HTTP/1.1 200")
        else:
            assert ends(third)
    for line in lines:
        line.close()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no second address of their own")
def test_many_clients_together_have_so_many_connections(serve: Callable[..., int]) -> None:
    port = serve(connections=4, head_seconds=10 * PATIENCE)  # silence alone ends none
    lines = [connect(port, f"127.0.0.{number}") for number in range(1, 6)]
    wait(lambda: count_open(port) == 5)  # one more than there are, to be told so
    with connect(port, "127.0.0.9") as another:
        assert ends(another)
    lines[0].sendall(b"GET /small HTTP/1.1\r\nhost: x\r\n\r\n")
    told = lines[0].recv(1000)
    assert told.startswith(b"HTTP/1.1 503")
    assert b"retry-after: 5\r\n" in told
    for line in lines:
        line.close()


@pytest.mark.parametrize(
    ("soft", "hard", "set_to", "connections"),
    [
        (1024, 1 << 20, OTHERS + 2250, 1000),
        (1024, 1024, 1024, (1024 - OTHERS) * 4 // 9),
        (64, 256, 256, FEWEST),
        (1 << 20, 1 << 20, None, 1000),
    ],
)
def test_connections_fit_the_descriptors_of_the_process(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, set_to: int | None, connections: int
) -> None:
    resource = pytest.importorskip("resource", reason="a Unix has limits of descriptors")
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: given.append(limits))
    assert fit_descriptors(Settings(connections=1000)).connections == connections
    assert given == ([] if set_to is None else [(set_to, hard)])
