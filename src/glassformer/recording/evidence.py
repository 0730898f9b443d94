"""Where numbers come from: the stamp that every recording carries.

In:   what a recorder knows about the model, the kernel and its own self-check.
Out:  Evidence; `str()` is one line for a person.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from glassformer.recording.arrays import (
    Rebuilt,
    keep,
    refuse,
    require_text,
)

_DO = "Fill the stamp in when recording."


@dataclass(frozen=True, slots=True)
class Evidence(Rebuilt):
    """How numbers were made; `largest_error` is that of the self-check against `reference`, if any."""

    model: str
    model_hash: str
    kernel: str  # "eager", "sdpa + recomputed", "explicit" …
    dtype: str
    exact: bool
    largest_error: float | None = None
    reference: str | None = None
    edits: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("model", "model_hash", "kernel", "dtype"):
            require_text(f"Evidence.{name}", getattr(self, name), _DO)
        if not isinstance(self.exact, bool):
            refuse(f"Evidence.exact is {self.exact!r}.", "Wanted True or False.", _DO)
        if self.largest_error is not None:
            if not isinstance(self.largest_error, float) or not self.largest_error >= 0:
                refuse(f"The largest error is {self.largest_error!r}.", "Wanted a float from 0 up.", _DO)
            require_text("Evidence.reference", self.reference, "Say what the error was measured against.")
        for name in ("edits", "notes"):
            keep(self, **{name: tuple(getattr(self, name))})
            for line in getattr(self, name):
                require_text(f"A line of Evidence.{name}", line, _DO)
        keep(self, versions=MappingProxyType(dict(self.versions)))
        for package, version in self.versions.items():
            require_text("A package in Evidence.versions", package, _DO)
            require_text(f"Evidence.versions[{package!r}]", version, _DO)

    def __str__(self) -> str:
        parts = [f"{self.model} ({self.model_hash[:12]})", f"kernel: {self.kernel}", self.dtype]
        parts.append("exact" if self.exact else "approximate")
        if self.largest_error is None:
            parts.append("not checked against a reference")
        elif self.largest_error == 0:
            parts.append(f"no difference from {self.reference}")
        else:
            parts.append(f"largest error {self.largest_error:.1e} against {self.reference}")
        if self.edits:
            parts.append("edited: " + "; ".join(self.edits))
        return " · ".join(parts)
