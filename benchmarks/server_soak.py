"""Mixed use of a server by many people, with faults, on this machine's loopback only.

In:   how many people, how many minutes (the whole test: 30 people, 60 minutes).
Out:  a line of JSON: what was asked and answered, what was lost, memory in the third and the last quarter.
      It must hold: no 5xx but for 503, every job ends or is kept over the restart, every recording that was
      made can be opened in the end, memory of the last quarter ≤ 1.05 × that of the third.

Faults: the worker is killed now and then, readers that do not read, hostile uploads, and once, after a
quarter, the server itself is restarted. A full disk needs a file system of its own and is not among them.

    python benchmarks/server_soak.py [--people 30] [--minutes 2]
"""

import argparse
import json
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import httpx

WORDS = ("the", "cat", "sat", "on", "a", "mat", "while", "it", "was", "raining", "and", "nobody", "came")
PATIENCE = 120.0  # seconds


class Soak:
    """One server and everybody who uses it."""

    def __init__(self, folder: str, people: int, minutes: float) -> None:
        self.folder, self.people, self.seconds = folder, people, minutes * 60
        self.port = 0
        self.statuses: Counter[str] = Counter()
        self.jobs: list[str] = []
        self.memory: list[tuple[float, float]] = []  # when, megabytes
        self.over = threading.Event()
        self.process = self.start()

    def start(self) -> "subprocess.Popen[str]":
        """The server, at the port that it had before."""
        words = ("--no-browser", "--offline", "--port", str(self.port), "--keep", f"{self.folder}/kept")
        process = subprocess.Popen(
            [sys.executable, "-m", "glassformer", "serve", *words],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=self.folder,
        )  # fmt: skip
        assert process.stdout is not None
        found = re.search(r"http://localhost:(\d+)", process.stdout.readline())
        assert found is not None
        self.port = int(found[1])
        while True:
            try:
                httpx.get(f"{self.address}/readyz")
                return process
            except httpx.TransportError:
                time.sleep(0.05)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def run(self) -> dict[str, object]:
        """Everybody at once, until time is up."""
        begin = time.monotonic()
        acts = [self.use] * self.people + [self.kill_workers, self.read_nothing, self.upload]
        threads = [threading.Thread(target=act, args=(number,)) for number, act in enumerate(acts)]
        for thread in threads:
            thread.start()
        restarted = False
        while (passed := time.monotonic() - begin) < self.seconds:
            time.sleep(0.5)
            if not restarted and passed > self.seconds / 4:  # memory is compared after it
                self.process.send_signal(signal.SIGTERM)
                self.process.wait(PATIENCE)
                self.process, restarted = self.start(), True
            status = Path(f"/proc/{self.process.pid}/status").read_text()
            self.memory.append((passed, int(status.partition("VmRSS:")[2].split()[0]) / 1000))
        self.over.set()
        for thread in threads:
            thread.join(PATIENCE)
        return self.judge()

    def ask(self, client: httpx.Client, method: str, path: str, **words: object) -> httpx.Response | None:
        """One request; None while the server is away."""
        try:
            answer = client.request(method, f"{self.address}{path}", **words)  # type: ignore[arg-type]
        except httpx.TransportError:
            self.statuses["no connection"] += 1
            return None
        self.statuses[str(answer.status_code)] += 1
        return answer

    def use(self, number: int) -> None:
        """A person: reads recordings, runs a short text now and then, cancels some."""
        chance = random.Random(number)
        with httpx.Client(timeout=PATIENCE) as client:
            while not self.over.wait(chance.uniform(0.2, 1.0)):
                if chance.random() < 0.2:
                    text = " ".join(chance.choices(WORDS, k=chance.randint(3, 12)))
                    body = {"kind": "record", "model": "zoo/gpt2", "text": text}
                    made = self.ask(client, "POST", "/api/jobs", json=body)
                    if made is not None and made.status_code == 202:
                        self.jobs.append(made.json()["id"])
                        if chance.random() < 0.1:
                            self.ask(client, "DELETE", f"/api/jobs/{self.jobs[-1]}")
                listed = self.ask(client, "GET", "/api/recordings?count=20")
                if listed is not None and listed.status_code == 200:
                    id = chance.choice(listed.json())["id"]
                    for path in ("", "/maps/0/weights?head=0", "/tokens/source"):
                        self.ask(client, "GET", f"/api/recordings/{id}{path}")

    def kill_workers(self, _: int) -> None:
        """kill -9 for the worker, each minute or ten times in all."""
        while not self.over.wait(min(60.0, self.seconds / 10)):
            threads = Path(f"/proc/{self.process.pid}/task").glob("*/children")
            for child in " ".join(each.read_text() for each in threads if each.exists()).split():
                command = Path(f"/proc/{child}/cmdline")
                if command.exists() and b"glassformer.workbench.worker" in command.read_bytes():
                    os.kill(int(child), signal.SIGKILL)
                    self.statuses["killed workers"] += 1

    def read_nothing(self, _: int) -> None:
        """Connections that ask for something and do not read it, or say nothing at all."""
        held: list[socket.socket] = []
        while not self.over.wait(1.0):
            try:
                held.append(socket.create_connection(("127.0.0.1", self.port), 5))
                if len(held) % 2:
                    held[-1].sendall(b"GET /api/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
            except OSError:
                continue
            if len(held) > 50:
                held.pop(0).close()
        for each in held:
            each.close()

    def upload(self, number: int) -> None:
        """Bundles that are none."""
        chance = random.Random(number)
        with httpx.Client(timeout=PATIENCE) as client:
            while not self.over.wait(1.0):
                content = b"[" * chance.randint(1, 10_000) + chance.randbytes(chance.randint(0, 100_000))
                self.ask(client, "POST", "/api/recordings", content=content)

    def judge(self) -> dict[str, object]:
        """Wait for the jobs that are left, then open what was made."""
        ends: Counter[str] = Counter()
        lost = []
        with httpx.Client(timeout=PATIENCE) as client:
            end = time.monotonic() + PATIENCE
            for id in self.jobs[-90:]:  # of the others the server may have forgotten that they ended
                while True:
                    answer = self.ask(client, "GET", f"/api/jobs/{id}")
                    job = None if answer is None or answer.status_code != 200 else answer.json()
                    if job is None or job["state"] not in ("queued", "running") or time.monotonic() > end:
                        break
                    time.sleep(0.2)
                ends["forgotten" if job is None else job["state"]] += 1
                if job is not None and job["state"] == "done":
                    opened = self.ask(client, "GET", f"/api/recordings/{job['recording']}")
                    if opened is None or opened.status_code != 200:
                        lost.append(id)
        self.process.terminate()
        self.process.wait(PATIENCE)
        parts = [[mb for at, mb in self.memory if q <= 4 * at / self.seconds < q + 1] for q in range(4)]
        third, last = (statistics.median(part) if part else 0.0 for part in (parts[2], parts[3]))
        return {
            "people": self.people,
            "minutes": self.seconds / 60,
            "answers": dict(self.statuses),
            "jobs": len(self.jobs),
            "ends of the last jobs": dict(ends),
            "lost": lost,
            "5xx": sum(n for status, n in self.statuses.items() if status[0] == "5" and status != "503"),
            "MB in the third quarter": round(third),
            "MB in the last": round(last),
            "load of the machine": round(os.getloadavg()[0], 1),
        }


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--people", type=int, default=30)
    parser.add_argument("--minutes", type=float, default=2.0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="glassformer-soak-") as folder:
        print(json.dumps(Soak(folder, arguments.people, arguments.minutes).run()))


if __name__ == "__main__":
    main()
