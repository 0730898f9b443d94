"""Which models people may name, how large they may be, and whether the operator's token of the hub is used.

In:   patterns of names on the hub, limits in bytes; the model of a request.
Out:  nothing; or an error that says what is allowed. Folders are those of `--models`.

The size of a model that is not here is not known when a job is submitted: its worker asks the hub before the
download, and looks at the files before the model is opened.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from glassformer.errors import ApiError
from glassformer.workbench.cards import count_parameters
from glassformer.workbench.models import Model

BYTES = 4  # of a parameter in memory


def measure_model(model: Model) -> int | None:
    """About how many bytes of memory a model takes; None where that is not known yet."""
    count = None if model.description is None else model.description.parameters
    return None if count is None else count * BYTES


def check_memory(name: str, folder: Path, most: int) -> None:
    """ApiError for a model on this machine that takes more memory, or does not say how much."""
    count = count_parameters(folder)
    if count is None:
        raise ApiError("workbench.model_size_unknown", status=403, name=name, most=most / 1e9)
    _check_size(name, count * BYTES, most)


def _check_size(name: str, size: int, most: int) -> None:
    if size > most:
        raise ApiError("workbench.model_too_large", status=403, name=name, size=size / 1e9, most=most / 1e9)


@dataclass(frozen=True, slots=True)
class ModelPolicy:
    """What a server allows. By default everything, as for one person on their own machine."""

    names: tuple[str, ...] | None = None  # patterns of names on the hub, as "google/*"; None: all
    download: int | None = None  # bytes of one model, checked before its download begins
    memory: int | None = None  # bytes of a model, and of all that the jobs of one person use at a time
    hub_token: bool = True  # whether downloads use the token of whoever started the server

    def allows(self, name: str) -> bool:
        """Whether a name on the hub may be used."""
        return self.names is None or any(fnmatchcase(name, pattern) for pattern in self.names)

    def check(self, model: Model) -> None:
        """ApiError for a model that may not be used."""
        if model.folder is None and not self.allows(model.name):
            raise ApiError("workbench.model_not_allowed", status=403, name=model.name)
        size = measure_model(model)
        if self.memory is not None and size is not None:
            _check_size(model.name, size, self.memory)

    @property
    def download_most(self) -> int | None:
        """Bytes of a download: what is larger than its memory may be need not be downloaded, either."""
        return min((each for each in (self.download, self.memory) if each is not None), default=None)
