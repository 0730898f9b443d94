"""Mixed use of a server by many people, with faults, on this machine's loopback only.

In:   how many people, how many minutes (the whole test: 30 people, 60 minutes); how long they wait.
Out:  a line of JSON: what was asked and answered, what was lost, why jobs failed, memory by quarters.
      It must hold: no 5xx but for 503 with a time to come back, every job ends and says why, every recording
      that was made can be opened in the end, and meanwhile by nobody else; memory of the last quarter
      ≤ 1.05 × that of the second.

The server has users. People read, run texts, listen to the events of their jobs, cancel some, and try to read
what others have made. Faults: the worker is killed each
minute; readers that do not read and connections that say nothing; hostile uploads (noise, cut and changed
bundles, very large numbers) among good ones, some of which are removed again; after an eighth of the time the
server is restarted; after a third and two thirds its disk is full for ten seconds (root only: its folder is a
small file system in memory then; otherwise the report says that this was left out).

    python benchmarks/server_soak.py [--people 30] [--minutes 2] [--pause 1.0] [--log FILE]
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np

import glassformer.api
from glassformer import bundle
from glassformer.api.people import Person, add_person, change_people, hash_token, make_token
from glassformer.messages import literal
from glassformer.place import Place
from glassformer.recording import AttentionMap, Evidence, Picture, Recording, Tokens, measure

WORDS = ("the", "cat", "sat", "on", "a", "mat", "while", "it", "was", "raining", "and", "nobody", "came")
PATIENCE = 120.0  # seconds
MEGABYTES = 1500  # of disk
FULL = 10.0  # seconds
SHIPPED = sorted(
    Path(glassformer.api.__file__).parent.glob("recordings/*.bundle"), key=lambda p: p.stat().st_size
)
ENDS = ("done", "failed", "cancelled")
READS = (
    "",
    "/maps/0/weights?head=0",
    "/maps/0/statistics",
    "/tokens/source",
    "/thumbnails",
    "/scores/entropy",
    "/walk",
)
OPERATOR = "operator"  # an admin, who sees everything


@contextmanager
def make_disk() -> Iterator[tuple[Path, bool]]:
    """A folder, and whether it is a file system of its own."""
    folder = Path(tempfile.mkdtemp(prefix="glassformer-soak-"))
    own = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "none", folder], capture_output=True
    )
    try:
        yield folder, own.returncode == 0
    finally:
        if own.returncode == 0:
            subprocess.run(["umount", "-l", folder], check=False)
        shutil.rmtree(folder, ignore_errors=True)


class Soak:
    """One server and everybody who uses it."""

    def __init__(
        self, folder: Path, own_disk: bool, people: int, minutes: float, pause: float, log: Path
    ) -> None:
        self.folder, self.own_disk, self.people, self.seconds = folder, own_disk, people, minutes * 60
        self.pause = pause  # 1: a person waits 0.6 seconds on average
        self.log = log.open("a")
        self.tokens = {name: make_token() for name in (OPERATOR, *map(name_person, range(people + 4)))}
        change_people(folder / "users.json", self.add_people, create=True)
        self.good = list_good(folder)
        self.port = 0
        self.statuses: Counter[str] = Counter()
        self.faults: list[str] = []  # answers that must not be
        self.jobs: dict[str, dict[str, object]] = {}  # as they were seen last
        self.uploaded: set[str] = set()
        self.memory: list[tuple[float, float, float]] = []  # when, megabytes, those of the process alone
        self.restarted = (0.0, 0.0)  # seconds to end, and to start
        self.over = threading.Event()
        self.process = self.start()

    def add_people(self, people: dict[str, Person]) -> None:
        """One admin, and everybody else with the right to run models."""
        for name, token in self.tokens.items():
            add_person(people, name, "admin" if name == OPERATOR else "runner")
            people[name] = people[name].model_copy(update={"tokens": (hash_token(token),)})

    def open(self, name: str) -> httpx.Client:
        """A client of one person."""
        return httpx.Client(timeout=PATIENCE, headers={"authorization": f"Bearer {self.tokens[name]}"})

    def start(self) -> "subprocess.Popen[str]":
        """The server, at the port that it had before."""
        words = ["--no-browser", "--offline", "--port", str(self.port), "--keep", f"{self.folder}/kept"]
        words += ["--users", f"{self.folder}/users.json"]
        process = subprocess.Popen(
            [sys.executable, "-m", "glassformer", "serve", *words],
            stdout=subprocess.PIPE, stderr=self.log, text=True, cwd=self.folder,
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
        acts = [self.use] * self.people + [self.kill_workers, self.read_nothing, self.upload, self.follow]
        threads = [threading.Thread(target=act, args=(number,)) for number, act in enumerate(acts)]
        for thread in threads:
            thread.start()
        plan = [(1 / 8, self.restart), (1 / 3, self.fill_disk), (2 / 3, self.fill_disk)]
        begin = time.monotonic()
        while (passed := time.monotonic() - begin) < self.seconds:
            time.sleep(0.5)
            if plan and passed > plan[0][0] * self.seconds:
                plan.pop(0)[1]()
            status = Path(f"/proc/{self.process.pid}/status").read_text()
            whole, own = (int(status.partition(each)[2].split()[0]) / 1000 for each in ("VmRSS:", "RssAnon:"))
            self.memory.append((passed, whole, own))
        self.over.set()
        for thread in threads:
            thread.join(PATIENCE)
        return self.judge()

    def restart(self) -> None:
        """End the server as systemd does, and start another one."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        ended = time.monotonic()
        self.process = self.start()
        self.restarted = (round(ended - begin, 1), round(time.monotonic() - ended, 1))

    def fill_disk(self) -> None:
        """Nothing can be written for a while."""
        if not self.own_disk:
            return
        used = shutil.disk_usage(self.folder).used
        self._resize(f"{used // 1024}k")
        time.sleep(FULL)
        self._resize(f"{MEGABYTES}m")
        self.statuses["full disks"] += 1

    def _resize(self, size: str) -> None:
        command = ["mount", "-o", f"remount,size={size}", self.folder]
        if subprocess.run(command, capture_output=True).returncode:  # more was written meanwhile
            subprocess.run(["mount", "-o", f"remount,size={MEGABYTES}m", self.folder], check=True)

    def ask(self, client: httpx.Client, method: str, path: str, **words: object) -> httpx.Response | None:
        """One request; None while the server is away."""
        try:
            answer = client.request(method, f"{self.address}{path}", **words)  # type: ignore[arg-type]
        except httpx.TransportError:
            self.statuses["no connection"] += 1
            return None
        self.statuses[str(answer.status_code)] += 1
        if answer.status_code >= 500 and not (answer.status_code == 503 and "retry-after" in answer.headers):
            self.faults.append(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
        return answer

    def use(self, number: int) -> None:
        """A person: reads recordings, runs a short text now and then, tries what is another's."""
        chance = random.Random(number)
        with self.open(name_person(number)) as client:
            while not self.over.wait(self.pause * chance.uniform(0.2, 1.0)):
                if chance.random() < 0.2:
                    self.run_text(client, chance)
                listed = self.ask(client, "GET", "/api/recordings?count=20")
                if listed is not None and listed.status_code == 200:
                    id = chance.choice(listed.json())["id"]
                    for path in ("", *chance.sample(READS, 2)):
                        self.ask(client, "GET", f"/api/recordings/{id}{path}")
                if chance.random() < 0.1:
                    self.spy(client, number, chance)

    def spy(self, client: httpx.Client, number: int, chance: random.Random) -> None:
        """Ask for a recording that somebody else has made, and has not shared."""
        made = [job for job in list(self.jobs.values()) if job["state"] == "done"]
        others = [job["recording"] for job in made if job["owner"] != name_person(number)]
        if others:
            path = f"/api/recordings/{chance.choice(others)}{chance.choice(READS)}"
            answer = self.ask(client, "GET", path)
            if answer is not None and answer.status_code == 200:
                self.faults.append(f"{name_person(number)} could read {path}")

    def run_text(self, client: httpx.Client, chance: random.Random) -> None:
        """A job; some cancel it, some listen to its events."""
        text = " ".join(chance.choices(WORDS, k=chance.randint(3, 12)))
        body = {"kind": "record", "model": "zoo/gpt2", "text": text}
        made = self.ask(client, "POST", "/api/jobs", json=body)
        if made is None or made.status_code != 202:
            return
        id = made.json()["id"]
        self.jobs.setdefault(id, {"state": "accepted"})
        if chance.random() < 0.1:
            self.ask(client, "DELETE", f"/api/jobs/{id}")
        elif chance.random() < 0.3:
            try:
                with client.stream("GET", f"{self.address}/api/jobs/{id}/events") as answer:
                    last = [line for line in answer.iter_lines() if line.startswith("event:")][-1:]
                self.statuses["streams " + ("ended" if last and last[0][7:] in ENDS else "broke off")] += 1
            except httpx.TransportError:
                self.statuses["streams broke off"] += 1

    def follow(self, _: int) -> None:
        """Note how jobs end: the server remembers the last ones only."""
        with self.open(OPERATOR) as client:
            while not self.over.wait(1.0):
                self.note_ends(client)

    def note_ends(self, client: httpx.Client) -> None:
        listed = self.ask(client, "GET", "/api/jobs")
        for job in [] if listed is None or listed.status_code != 200 else listed.json():
            self.jobs[job["id"]] = job

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
        """Bundles that are none, or almost; now and then a good one."""
        chance = random.Random(number)
        with self.open(name_person(number)) as client:
            while not self.over.wait(1.0):
                body = spoil(chance.choice(self.good), chance)
                made = self.ask(client, "POST", "/api/recordings", content=body)
                if made is None or made.status_code != 201:
                    continue
                self.uploaded.add(id := made.json()["id"])
                if chance.random() < 0.5:
                    gone = self.ask(client, "DELETE", f"/api/recordings/{id}")
                    if gone is None or gone.status_code == 204:  # None: nobody knows
                        self.uploaded.discard(id)

    def judge(self) -> dict[str, object]:
        """Wait for the jobs that are left, then open what was made."""
        lost = []
        with self.open(OPERATOR) as client:
            end = time.monotonic() + PATIENCE
            self.note_ends(client)
            while time.monotonic() < end and any(job["state"] not in ENDS for job in self.jobs.values()):
                time.sleep(0.5)
                self.note_ends(client)
            made = [str(job["recording"]) for job in self.jobs.values() if job["state"] == "done"]
            for id in dict.fromkeys([*made, *self.uploaded]):
                for path in ("", "/tokens/source"):
                    opened = self.ask(client, "GET", f"/api/recordings/{id}{path}")
                    if opened is None or opened.status_code != 200:
                        lost.append(f"{id}: {None if opened is None else opened.text[:200]}")
        self.process.terminate()
        self.process.wait(PATIENCE)
        parts = [[mb for at, *mb in self.memory if q <= 4 * at / self.seconds < q + 1] for q in range(4)]
        quarters = [
            [round(statistics.median(each), 1) for each in zip(*part, strict=True)] or [0.0, 0.0]
            for part in parts
        ]
        return {
            "people": self.people,
            "minutes": self.seconds / 60,
            "answers": dict(self.statuses),
            "jobs": dict(Counter(str(job["state"]) for job in self.jobs.values())),
            "why jobs failed": dict(Counter(
                f"{job.get('code')}: {job.get('message')}"[:200]
                for job in self.jobs.values() if job["state"] == "failed"
            )),
            "uploaded": len(self.uploaded),
            "lost": lost[:20],
            "5xx but for 503 with a time": self.faults[:20],
            "seconds of the restart, end and start": self.restarted,
            "disk": "filled" if self.own_disk else "not filled: no file system of its own (root only)",
            "MB by quarter, and of the process alone": quarters,
            "last quarter / second": round(quarters[3][0] / (quarters[1][0] or 1), 3),
            "load of the machine": round(os.getloadavg()[0], 1),
        }  # fmt: skip


def name_person(number: int) -> str:
    """One of those who use the server."""
    return f"person{number}"


def list_good(folder: Path) -> list[bytes]:
    """Bundles as people upload them: of a text, and of a picture."""
    pixels = np.arange(60 * 100 * 3, dtype=np.uint32).reshape(60, 100, 3).astype(np.uint8)
    cells = np.arange(15)
    names = tuple(f"{cell // 5},{cell % 5}" for cell in cells)
    tokens = Tokens("source", names, cells, picture=Picture(pixels, 3, 5, cells))
    weights = np.full((2, 15, 15), 1 / 15, dtype=np.float32)
    place = Place("encoder", "self", 0)
    seen = AttentionMap(place, tokens, tokens, measure(weights), dense=weights)
    evidence = Evidence("soak", "0" * 16, literal("none"), "float32", False)
    path = folder / "picture.bundle"
    bundle.save(Recording(model="soak", evidence=evidence, source=tokens, maps=(seen,)), path)
    return [SHIPPED[0].read_bytes(), path.read_bytes()]


def spoil(whole: bytes, chance: random.Random) -> bytes:
    """A bundle as an attacker sends it."""
    match chance.randrange(6):
        case 0:
            return b"[" * chance.randint(1, 10_000) + chance.randbytes(chance.randint(0, 100_000))
        case 1:
            return whole[: chance.randrange(len(whole))]
        case 2:
            number = rb": " + str(10 ** chance.randint(6, 30)).encode()
            return re.sub(rb": ?\d+(?=[,}])", lambda m: number if chance.random() < 0.1 else m[0], whole)
        case 3:  # nothing is wrong with it; but for one value, so that it is another recording
            return change(whole, chance)
        case _:
            changed = bytearray(whole)
            for _ in range(chance.randint(1, 20)):
                changed[chance.randrange(min(len(whole), 4000))] = chance.randrange(256)
            return bytes(changed)


def change(whole: bytes, chance: random.Random) -> bytes:
    """The same bundle with two other bits in the middle of its arrays."""
    middle = 8 + int.from_bytes(whole[:8], "little") + 4 * (len(whole) // 8)
    changed = bytearray(whole)
    changed[middle] ^= chance.randrange(256)
    return bytes(changed)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--people", type=int, default=30)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--log", type=Path, default=Path(os.devnull), help="what the server says")
    parser.add_argument("--pause", type=float, default=1.0, help="how long people wait, times 0.6 seconds")
    arguments = parser.parse_args()
    with make_disk() as (folder, own):
        soak = Soak(folder, own, arguments.people, arguments.minutes, arguments.pause, arguments.log)
        print(json.dumps(soak.run(), indent=1))


if __name__ == "__main__":
    main()
