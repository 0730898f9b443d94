"""Tokens of transformers' `generate` as they are chosen.

In:   a function that generates and takes a streamer, as `generate(streamer=…)` does.
Out:  an iterator over new tokens. Generation runs in a thread; its exceptions surface when the iterator is
      read, and closing the iterator stops it.
"""

import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any

from torch import Tensor


class Streamer:
    """Receives the tokens of `generate`, the prompt first."""

    def __init__(self) -> None:
        self.queue: SimpleQueue[list[int] | BaseException | None] = SimpleQueue()  # None: the end
        self.stopped = threading.Event()
        self.prompt = True

    def put(self, tokens: Tensor) -> None:
        """Called by `generate` with the prompt, then with each new token."""
        if self.stopped.is_set():
            raise InterruptedError
        if not self.prompt:
            self.queue.put(tokens.flatten().tolist())
        self.prompt = False

    def end(self) -> None:
        """Called by `generate` after the last token."""


def stream_tokens(generate: Callable[[Any], object]) -> Iterator[list[int]]:
    """The new tokens of one prompt, step by step."""
    streamer = Streamer()

    def run() -> None:
        try:
            generate(streamer)
            streamer.queue.put(None)
        except BaseException as error:  # raised again where the tokens are read
            streamer.queue.put(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while (found := streamer.queue.get()) is not None:
            if isinstance(found, BaseException):
                raise found
            yield found
    finally:
        streamer.stopped.set()
        thread.join()
