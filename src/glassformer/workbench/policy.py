"""Which models people may name, how large they may be, and whether the operator's token of the hub is used.

In:   patterns of names on the hub, limits in bytes; the model of a request.
Out:  nothing; or an error that says what is allowed. Folders are those of `--models`.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from glassformer.errors import ApiError
from glassformer.workbench.models import Model

BYTES = 4  # of a parameter in memory


@dataclass(frozen=True, slots=True)
class ModelPolicy:
    """What a server allows. By default everything, as for one person on their own machine."""

    names: tuple[str, ...] | None = None  # patterns of names on the hub, as "google/*"; None: all
    download: int | None = None  # bytes of one model, checked before its download begins
    memory: int | None = None  # bytes of one model in memory
    hub_token: bool = True  # whether downloads use the token of whoever started the server

    def allows(self, name: str) -> bool:
        """Whether a name on the hub may be used."""
        return self.names is None or any(fnmatchcase(name, pattern) for pattern in self.names)

    def check(self, model: Model) -> None:
        """ApiError for a model that may not be used."""
        if model.folder is None and not self.allows(model.name):
            raise ApiError("workbench.model_not_allowed", status=403, name=model.name)
        count = None if model.description is None else model.description.parameters
        if self.memory is not None and count is not None and count * BYTES > self.memory:
            raise ApiError(
                "workbench.model_too_large",
                status=403,
                name=model.name,
                size=count * BYTES / 1e9,
                most=self.memory / 1e9,
            )
