"""Settings and limits of a server.

In:   options of `glassformer serve`.
Out:  Settings, frozen.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from glassformer.api.roles import Role
from glassformer.messages import Message

STATIC = Path(__file__).with_name("static")  # where the built page lies
SHIPPED_RUNS = Path(__file__).with_name("shipped_runs")
SHIPPED_ATLASES = Path(__file__).with_name("shipped_atlases")
RETRY = "5"  # seconds after which a client may come back that was refused for now


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Limits of one run of a model; the page shows them."""

    offline: bool = False  # never contact the hub
    text_characters: int = 200_000  # of a text to run
    tokens: int = 32_768  # that a run may read
    queue: int = 8  # runs that may wait
    jobs: int = 1  # runs at the same time
    seconds: float = 600.0  # that a run may take


@dataclass(frozen=True, slots=True)
class Settings(RunSettings):
    """Defaults fit one person on one machine."""

    token: str | None = None  # that requests must carry; None: no token is needed
    hosts: tuple[str, ...] = ()  # names of the server beside localhost
    any_address: bool = False  # also any IP address: for servers on a network
    root_path: str = ""  # below which a proxy shows this server, as "/glass"
    person_bytes: int | None = None  # of disk that the recordings of one person may take; None: any
    person_jobs: int | None = None  # of one person that wait or run; None: their share of the queue
    person_requests: int = 100  # of one person at the same time, event streams too
    proxies: tuple[str, ...] = ()  # addresses and networks whose X-Forwarded-… headers are believed
    user_header: str | None = None  # in which such a proxy names who sends a request
    header_role: Role | None = (
        None  # of people whom the proxy names and the file of users does not; None: refused
    )
    static: Path = STATIC
    runs: Path = Path("runs")  # folder of training runs
    shipped_runs: Path | None = SHIPPED_RUNS  # folder of examples, which are only read; None: no examples
    atlases: Path = Path("atlases")  # folder of atlases
    shipped_atlases: Path | None = SHIPPED_ATLASES  # as shipped_runs
    hidden: tuple[Path, ...] = ()  # other folders whose paths are never shown: models, data
    why_no_workbench: Message | None = None
    body_bytes: int = 4 << 20  # of a request
    upload_bytes: int = 1 << 30  # of an uploaded bundle
    uploads: int = 4  # bundles, pictures and sounds that may be uploaded at the same time
    input_bytes: int = 64 << 20  # of a picture or a sound
    body_pause: float = 30.0  # seconds without a byte before a body is whole
    body_rate: int = 1000  # bytes per second that a body must reach, after the first `body_pause` seconds
    head_seconds: float = 20.0  # that a connection may take for the head of a request
    write_seconds: float = 30.0  # after which it is looked how much of a response a client has read
    write_rate: int = 1000  # bytes per second that a client must read, at least
    connections: int = 1000  # at the same time
    client_share: float = 1.0  # of connections, uploads, listeners and jobs that one client may take
    attempts: int = 10  # wrong tokens of one client in a minute
    session_seconds: int = 12 * 3600  # that a browser stays signed in after its last visit
    response_seconds: float = 60.0  # that a response may take
    waiting: int = 512  # requests that may wait for a thread
    threads: int = min(4, os.cpu_count() or 1)
    slow_threads: int = 2  # for measurements, beside the others
    cache_bytes: int = 128 << 20  # of encoded responses
    listeners: int = 512  # connections that listen to jobs at the same time

    def share(self, most: int) -> int:
        """How much of a limit one client may take."""
        return max(1, int(most * self.client_share))
