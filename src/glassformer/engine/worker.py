"""A worker process of `LocalEngine`: runs one task after another until its parent closes the connection.

In:   the number of a socket; through it `sys.path`, then functions with arguments.
Out:  for each, whether it succeeded, and its value or exception.

When the parent ends, however it ends, this process ends at once: a task is never run by nobody's worker while
a restarted program runs it again.
"""

import os
import select
import sys
import threading
from multiprocessing.connection import Connection
from typing import Any

from glassformer.engine.engine import pickle_error, run_task


def main() -> None:
    """Serve the parent at the socket whose number is the only argument."""
    number = int(sys.argv[1])
    os.set_inheritable(number, False)
    connection: Connection[Any, Any] = Connection(number)
    threading.Thread(target=_end_with_parent, args=(number,), daemon=True).start()
    try:
        sys.path[:] = connection.recv()
        while True:
            connection.send(_receive_and_run(connection))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass


def _receive_and_run(connection: "Connection[Any, Any]") -> tuple[bool, bytes]:
    try:
        function, arguments = connection.recv()
    except (EOFError, ConnectionResetError):
        raise
    except Exception as error:  # its module cannot be imported
        return False, pickle_error(error)
    return run_task(function, arguments)


def _end_with_parent(number: int) -> None:
    poll = select.poll()
    poll.register(number, 0)  # hang-ups are always reported
    poll.poll()
    os._exit(0)


if __name__ == "__main__":
    main()
