"""A server in a process of its own, for benchmarks of the page.

In:   options of `glassformer serve`.
Out:  its address, and the process, which ends with the context.
"""

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def serving(*options: str) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """`glassformer serve` at a free port."""
    command = [sys.executable, "-m", "glassformer", "serve", "--no-browser", "--port", "0", *options]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        found = re.search(r"http://[^\s/]+", server.stdout.readline())
        assert found is not None
        threading.Thread(target=server.stdout.read, daemon=True).start()  # a full pipe would stop it
        yield found[0], server
    finally:
        server.terminate()
        server.wait()
