"""The server beside JupyterHub, TensorBoard and LIT where they do the same work: a page, its script, a list.

In:   a virtual environment with `jupyterhub`, `tensorboard` and `lit-nlp`, and the command of
      configurable-http-proxy, which JupyterHub needs (npm); how many clients, how long.
Out:  a line of JSON for each server, round and kind of work: requests per second, latency, bytes of an
      answer, processor time of all its processes per request; their memory at first and at last.

All are started first, with their own defaults, on loopback; then each is asked in turn. What they list is
their own: eight recordings, eight users, eight runs, one model and data of eight rows.

    python benchmarks/server_peers.py VENV PROXY [--clients 100] [--seconds 3] [--rounds 2]
"""

import argparse
import asyncio
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

TICKS = os.sysconf("SC_CLK_TCK")
PATIENCE = 120.0  # seconds that a server may take to start
TOKEN = "a-token-of-this-benchmark-alone"
HUB = """
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {hub}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api}"
c.ConfigurableHTTPProxy.command = ["{proxy}"]
c.JupyterHub.spawner_class = "simple"
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allowed_users = {{f"user{{n}}" for n in range(8)}}
c.JupyterHub.services = [{{"name": "reader", "api_token": "{token}"}}]
scopes = ["list:users", "read:users"]
c.JupyterHub.load_roles = [{{"name": "reader", "scopes": scopes, "services": ["reader"]}}]
c.JupyterHub.log_level = "ERROR"
"""
BOARD = """
import sys
from tensorboard.summary import Writer
for run in range(8):
    writer = Writer(f"{sys.argv[1]}/run{run}")
    for step in range(100):
        writer.add_scalar("loss", 1 / (step + 1), step)
    writer.close()
"""
LIT = """
import sys
from absl import flags
from lit_nlp import dev_server, server_flags
from lit_nlp.api import dataset, model, types
flags.FLAGS(["lit", "--port", sys.argv[1], "--host", "127.0.0.1"])

class Texts(dataset.Dataset):
    def __init__(self):
        self._examples = [{"text": f"the cat number {n} sat"} for n in range(8)]
    def spec(self):
        return {"text": types.TextSegment()}

class Length(model.Model):
    def input_spec(self):
        return {"text": types.TextSegment()}
    def output_spec(self):
        return {"length": types.RegressionScore()}
    def predict(self, inputs, **_):
        return [{"length": float(len(each["text"]))} for each in inputs]

dev_server.Server({"length": Length()}, {"texts": Texts()}, **server_flags.get_flags()).serve()
"""


@dataclass
class Server:
    """A server with all processes that it has started."""

    name: str
    process: "subprocess.Popen[bytes]"
    port: int
    page: str
    listing: str
    headers: tuple[str, ...] = ()

    def _list_processes(self) -> list[list[str]]:
        """What the system says about each, from its state on."""
        known = {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                number, rest = path.read_text().split(" ", 1)
            except OSError:  # it has ended
                continue
            known[int(number)] = rest.rsplit(")", 1)[1].split()
        ours = {self.process.pid}
        while more := {each for each, fields in known.items() if int(fields[1]) in ours} - ours:
            ours |= more
        return [known[each] for each in ours]

    def processor_seconds(self) -> float:
        return sum(int(fields[11]) + int(fields[12]) for fields in self._list_processes()) / TICKS

    def megabytes(self) -> float:
        pages = sum(int(fields[21]) for fields in self._list_processes())
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def find_script(self) -> str:
        """The largest script that the page names."""
        with httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=PATIENCE) as client:
            page = client.get(self.page)
            named = re.findall(r"""<script[^>]*src=["']?([^"' >]+)""", page.text)
            paths = [page.url.join(each).raw_path.decode() for each in named]
            return max(paths, key=lambda path: len(client.get(path).content))


@contextmanager
def start(
    name: str, command: list[str], page: str, listing: str, port: int, *headers: str
) -> Iterator[Server]:
    """A server that answers."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server = Server(name, process, port, page, listing, headers)
    try:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                if httpx.get(f"http://127.0.0.1:{port}{page}", timeout=5).status_code == 200:
                    break
            except httpx.TransportError:
                pass
            if process.poll() is not None or time.monotonic() > end:
                sys.exit(f"{name} did not start")
            time.sleep(0.2)
        yield server
    finally:
        process.terminate()
        process.wait(PATIENCE)


async def fetch(
    server: Server, path: str, end: float, seconds: list[float], statuses: Counter[int], sizes: list[int]
) -> None:
    """One client that asks for one path again and again; it connects anew where the server closes."""
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", "Accept-Encoding: gzip", *server.headers]
    request = "\r\n".join([*lines, "\r\n"]).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        while (begin := time.perf_counter()) < end:
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = re.search(rb"content-length: (\d+)", head)
            closes = b"connection: close" in head or (
                head.startswith(b"http/1.0") and b"keep-alive" not in head
            )
            if length:
                size = len(await reader.readexactly(int(length[1])))
            elif b"transfer-encoding: chunked" in head:
                size = 0
                while count := int(await reader.readline(), 16):
                    size += len(await reader.readexactly(count + 2)) - 2
                await reader.readline()
            else:
                size, closes = len(await reader.read()), True
            seconds.append(time.perf_counter() - begin)
            statuses[int(head[9:12])] += 1
            sizes.append(size)
            if closes:
                writer.close()
                reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    finally:
        writer.close()


async def measure(server: Server, work: str, path: str, clients: int, duration: float) -> dict[str, object]:
    """All clients at once."""
    seconds: list[float] = []
    statuses: Counter[int] = Counter()
    sizes: list[int] = []
    used, begin = server.processor_seconds(), time.perf_counter()
    end = begin + duration
    asked = (fetch(server, path, end, seconds, statuses, sizes) for _ in range(clients))
    failed = [each for each in await asyncio.gather(*asked, return_exceptions=True) if each is not None]
    passed, used = time.perf_counter() - begin, server.processor_seconds() - used
    return {
        "server": server.name,
        "work": work,
        "path": path,
        "bytes": round(statistics.median(sizes)),
        "requests/s": round(len(seconds) / passed),
        "p50 ms": round(statistics.median(seconds) * 1e3, 1),
        "p95 ms": round(statistics.quantiles(seconds, n=20)[18] * 1e3, 1),
        "CPU ms per request": round(used / len(seconds) * 1e3, 3),
        "statuses": dict(statuses),
        "clients that broke off": len(failed),
        "load": round(os.getloadavg()[0], 1),
    }


def hold_ports(count: int) -> list[int]:
    """Free ports."""
    with ExitStack() as opened:
        sockets = [opened.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]


@contextmanager
def start_all(venv: Path, proxy: Path) -> Iterator[list[Server]]:
    """All four."""
    python = str(venv / "bin" / "python")
    ours, hub, inner, api, board, lit = hold_ports(6)
    with tempfile.TemporaryDirectory(prefix="glassformer-peers-") as name, ExitStack() as opened:
        folder = Path(name)
        os.chdir(folder)
        settings = folder / "hub.py"
        settings.write_text(HUB.format(port=hub, hub=inner, api=api, proxy=proxy, token=TOKEN))
        subprocess.run([python, "-c", BOARD, str(folder / "runs")], check=True)
        command = ["-m", "glassformer", "serve", "--no-browser", "--offline", "--port", str(ours)]
        command = [sys.executable, *command, "--keep", str(folder / "kept")]
        board_command = [python, "-m", "tensorboard.main", "--logdir", str(folder / "runs"), "--port"]
        yield [
            opened.enter_context(start("glassformer", command, "/", "/api/recordings", ours)),
            opened.enter_context(
                start("jupyterhub", [python, "-m", "jupyterhub", "-f", str(settings)], "/hub/login",
                      "/hub/api/users", hub, f"Authorization: token {TOKEN}")
            ),
            opened.enter_context(
                start("tensorboard", [*board_command, str(board)], "/", "/data/plugin/scalars/tags", board)
            ),
            opened.enter_context(start("lit", [python, "-c", LIT, str(lit)], "/", "/get_info", lit)),
        ]  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("venv", type=Path)
    parser.add_argument("proxy", type=Path, help="configurable-http-proxy")
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    with start_all(arguments.venv.absolute(), arguments.proxy.absolute()) as servers:
        for server in servers:
            print(json.dumps({"server": server.name, "MB at first": round(server.megabytes())}), flush=True)
        scripts = {server.name: server.find_script() for server in servers}
        for _ in range(arguments.rounds):
            for work in ("page", "script", "list"):
                for server in servers:
                    path = {"page": server.page, "script": scripts[server.name], "list": server.listing}[work]
                    found = measure(server, work, path, arguments.clients, arguments.seconds)
                    print(json.dumps(asyncio.run(found)), flush=True)
        for server in servers:
            print(json.dumps({"server": server.name, "MB at last": round(server.megabytes())}), flush=True)


if __name__ == "__main__":
    main()
