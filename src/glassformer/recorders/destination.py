"""A recording on its way into a file: what is large goes there while the model runs.

In:   the path of a bundle.
Out:  the bundle, whole or not at all. A short text is written when all is known; of a long one queries and
      keys are written layer by layer, so that memory holds one layer and disk the rest.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

from torch import Tensor

from glassformer.bundle import BundleWriter, save
from glassformer.recorders.maps import LONGEST_DENSE
from glassformer.recorders.store import LARGE, Array, keep_aside, keep_in
from glassformer.recording import Recording


class Destination:
    """The file that a recording will be; `finish` writes it."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path
        self.writer: BundleWriter | None = None
        BundleWriter(path, arrays=0).discard()  # a place that cannot be written is refused before the work

    def keep(self, name: str, tensor: Tensor) -> Array:
        """A `Keep`: into the bundle if it is large and of a long text."""
        if 4 * tensor.numel() < LARGE or max(tensor.shape) <= LONGEST_DENSE:
            return keep_aside(name, tensor)
        if self.writer is None:
            self.writer = BundleWriter(self.path)
        return keep_in(self.writer)(name, tensor)

    def finish(self, recording: Recording) -> None:
        """Write what is not there yet, and give the file its name."""
        if self.writer is None:
            save(recording, self.path)
        else:
            self.writer.finish(recording)


@contextmanager
def heading_for(path: str | PathLike[str]) -> Iterator[Destination]:
    """A file for `record(…, keep=destination.keep)` inside this context; without `finish` nothing stays."""
    destination = Destination(path)
    try:
        yield destination
    finally:
        if destination.writer is not None:
            destination.writer.discard()
