"""How a server answers many clients at once, on this machine's loopback only.

In:   how many clients, how long; the server is started here, with the shipped recordings, and ended again.
Out:  lines of JSON: requests per second, latency, processor time of the server per request, memory.
      Goals on two idle cores: 100 clients reading ≥ 1,200 requests/s, 95 % within 120 ms (200 ms while a job
      runs); 500 open pages with event streams ≤ 400 MB. On a busy machine only the processor time means
      something.

    python benchmarks/server_load.py [--seconds 10] [--clients 100] [--streams 500]
"""

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

import httpx

TICKS = os.sysconf("SC_CLK_TCK")
JOB = {"kind": "generate", "model": "zoo/gpt2", "text": "It was", "decode": {"max_new_tokens": 1000}}


@dataclass
class Server:
    """A server of its own, and what the system says about its process."""

    process: "subprocess.Popen[str]"
    address: httpx.URL

    def processor_seconds(self) -> float:
        """Of the server alone, without its workers."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def megabytes(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1000


@contextmanager
def serve(*words: str) -> Iterator[Server]:
    """`glassformer serve` at a free port."""
    with tempfile.TemporaryDirectory(prefix="glassformer-load-") as folder:
        command = [sys.executable, "-m", "glassformer", "serve", "--no-browser", "--offline", "--port", "0"]
        process = subprocess.Popen(
            [*command, "--keep", f"{folder}/kept", *words], stdout=subprocess.PIPE, text=True, cwd=folder
        )
        assert process.stdout is not None
        try:
            found = re.search(r"http://localhost:(\d+)", process.stdout.readline())
            assert found is not None
            address = httpx.URL(f"http://127.0.0.1:{found[1]}")
            while True:
                try:
                    httpx.get(address.join("/readyz"))
                    break
                except httpx.ConnectError:
                    time.sleep(0.05)
            yield Server(process, address)
        finally:
            process.terminate()
            process.communicate(timeout=60)


@dataclass
class Tally:
    """What clients have seen."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)


def list_paths(address: httpx.URL) -> list[tuple[str, str]]:
    """What a page asks for when it opens and moves about, each with the ETag of its last answer."""
    found = []
    with httpx.Client(base_url=address, headers={"accept-encoding": "zstd"}) as client:
        recordings = [each["id"] for each in client.get("/api/recordings").json()][:6]
        paths = ["/", "/api/about", "/api/recordings", "/api/jobs"]
        for id in recordings:
            paths.append(f"/api/recordings/{id}")
            for map in range(2):
                paths += [f"/api/recordings/{id}/maps/{map}/weights?head={head}" for head in range(2)]
                paths.append(f"/api/recordings/{id}/maps/{map}/tiles/0/0/0/0")
        for path in paths:
            answer = client.get(path)
            if answer.status_code == 200:
                found.append((path, answer.headers.get("etag", "")))
    return found


async def read(
    address: httpx.URL, paths: Sequence[tuple[str, str]], start: int, end: float, tally: Tally
) -> None:
    """One client with one connection that asks for one thing after another; every other time it has it."""
    reader, writer = await asyncio.open_connection(address.host, address.port)
    try:
        for number, (path, mark) in enumerate(cycle([*paths[start:], *paths[:start]])):
            known = f"If-None-Match: {mark}\r\n" if mark and number % 2 else ""
            begin = time.perf_counter()
            if begin > end:
                return
            request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: zstd\r\n{known}\r\n"
            writer.write(request.encode())
            head = await reader.readuntil(b"\r\n\r\n")
            status = int(head[9:12])
            length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
            if length and status != 304:
                await reader.readexactly(int(length[1]))
            tally.seconds.append(time.perf_counter() - begin)
            tally.statuses[status] += 1
    finally:
        writer.close()


async def read_all(server: Server, clients: int, seconds: float) -> dict[str, object]:
    """All clients at once; what they saw."""
    paths = list_paths(server.address)
    tally = Tally()
    end = time.perf_counter() + seconds
    used, begin = server.processor_seconds(), time.perf_counter()
    await asyncio.gather(*(read(server.address, paths, n % len(paths), end, tally) for n in range(clients)))
    passed, used = time.perf_counter() - begin, server.processor_seconds() - used
    count = len(tally.seconds)
    quantiles = statistics.quantiles(tally.seconds, n=100)
    return {
        "clients": clients,
        "addresses": len(paths),
        "requests": count,
        "requests/s": round(count / passed),
        "p50 ms": round(quantiles[49] * 1e3, 1),
        "p95 ms": round(quantiles[94] * 1e3, 1),
        "server CPU ms per request": round(used / count * 1e3, 3),
        "server CPU of wall": round(used / passed, 2),
        "statuses": dict(tally.statuses),
        "load of the machine": round(os.getloadavg()[0], 1),
    }


async def listen(server: Server, streams: int) -> dict[str, object]:
    """Open pages: each holds the events of a job that waits."""
    with httpx.Client(base_url=server.address, timeout=60) as client:
        for _ in range(4):  # the last one waits for the others, longer than is measured
            job = client.post("/api/jobs", json=JOB).json()["id"]
        before = server.megabytes()
        held = []
        for _ in range(streams):
            reader, writer = await asyncio.open_connection(server.address.host, server.address.port)
            writer.write(f"GET /api/jobs/{job}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            held.append((reader, writer))
        statuses = Counter([int((await reader.readuntil(b"\r\n\r\n"))[9:12]) for reader, _ in held])
        used, begin = server.processor_seconds(), time.perf_counter()
        await asyncio.sleep(3.0)
        share = (server.processor_seconds() - used) / (time.perf_counter() - begin)
        found = {
            "event streams": streams,
            "statuses": dict(statuses),
            "MB before": round(before),
            "MB with them": round(server.megabytes()),
            "server CPU of wall while nothing happens": round(share, 3),
        }
        for _, writer in held:
            writer.close()
        return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--streams", type=int, default=500)
    arguments = parser.parse_args()
    with serve() as server:
        print(json.dumps(asyncio.run(read_all(server, arguments.clients, arguments.seconds))), flush=True)
        httpx.post(server.address.join("/api/jobs"), json=JOB)
        found = asyncio.run(read_all(server, arguments.clients, arguments.seconds))
        print(json.dumps({"while a job runs": found}), flush=True)
    with serve() as server:
        print(json.dumps(asyncio.run(listen(server, arguments.streams))), flush=True)


if __name__ == "__main__":
    main()
