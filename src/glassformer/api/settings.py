"""What can be set about a server, and every limit it keeps.

In:   choices of whoever starts it.
Out:  Settings, frozen.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from glassformer.messages import Message

STATIC = Path(__file__).with_name("static")  # where the built page lies


@dataclass(frozen=True, slots=True)
class Settings:
    """Defaults fit one person on one machine."""

    token: str | None = None  # that requests must carry; None: no token is needed
    hosts: tuple[str, ...] = ()  # names the server may be called by, beside localhost
    any_address: bool = False  # also any numeric address: for servers that others reach
    static: Path = STATIC
    runs: Path = Path("runs")  # folder of training runs
    offline: bool = False  # no hub
    why_no_workbench: Message | None = None
    text_characters: int = 200_000  # of a text to run
    tokens: int = 32_768  # that a run may read
    body_bytes: int = 4 << 20  # of a question
    upload_bytes: int = 1 << 30  # of a bundle that is sent
    uploads: int = 4  # bundles that may be on their way at the same time
    queue: int = 8  # runs that may wait
    jobs: int = 1  # runs at the same time
    seconds: float = 600.0  # that a run may take
    answer_seconds: float = 60.0  # that an answer may take
    body_seconds: float = 30.0  # that a question may take to arrive, and a bundle may say nothing
    upload_seconds: float = 600.0  # that a bundle may take to arrive
    waiting: int = 512  # questions that may wait for a thread
    threads: int = min(4, os.cpu_count() or 1)
    slow_threads: int = 2  # for measurements, beside the others
    cache_bytes: int = 128 << 20  # of encoded answers
    listeners: int = 64  # connections that listen to jobs at the same time
