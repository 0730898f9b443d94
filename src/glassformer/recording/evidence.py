"""Where numbers come from: the stamp that every recording carries.

In:   what a recorder knows about the model, the kernel and its own self-check.
Out:  Evidence; `str()` is one line for a person, in the language of this process.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from glassformer.messages import Message, get_language, literal, message
from glassformer.recording.arrays import Rebuilt, keep, require_text, wrong_value


@dataclass(frozen=True, slots=True)
class Evidence(Rebuilt):
    """How numbers were made; `largest_error` is that of the self-check against `reference`, if any.

    What was not compared is not called exact: without `largest_error`, `exact` is False, whatever was given.
    Kernel, reference, edits and notes are messages; a plain string is kept as it is, in no language of ours.

    >>> evidence = gf.record("zoo/bert", "The cat sleeps.").evidence
    >>> evidence.exact, evidence.dtype
    (True, 'float32')
    """

    model: str
    model_hash: str
    kernel: Message  # "eager", "sdpa + recomputed", "explicit" …
    dtype: str
    exact: bool
    largest_error: float | None = None
    reference: Message | None = None
    edits: tuple[Message, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Message, ...] = ()

    def __post_init__(self) -> None:
        keep(
            self,
            kernel=as_message("Evidence.kernel", self.kernel),
            reference=None if self.reference is None else as_message("Evidence.reference", self.reference),
            edits=tuple(as_message("Evidence.edits", edit) for edit in self.edits),
            versions=MappingProxyType(dict(self.versions)),
            notes=tuple(as_message("Evidence.notes", note) for note in self.notes),
        )
        for name in ("model", "model_hash", "dtype"):
            require_text(f"Evidence.{name}", getattr(self, name))
        if not isinstance(self.exact, bool):
            raise wrong_value("Evidence.exact", self.exact, "boolean")
        if self.largest_error is not None:
            if not isinstance(self.largest_error, float) or not self.largest_error >= 0:
                raise wrong_value("Evidence.largest_error", self.largest_error, "positive")
            if self.reference is None:
                raise wrong_value("Evidence.reference", None, "reference")
        keep(self, exact=self.exact and self.largest_error is not None)
        for package, version in self.versions.items():
            require_text("Evidence.versions", package)
            require_text(f"Evidence.versions[{package!r}]", version)

    @property
    def mark(self) -> Message | None:
        """What every picture, table and file of an edited recording says first; None: nothing was edited."""
        return message("recording.evidence.mark", edits=self.edits) if self.edits else None

    @property
    def summary(self) -> tuple[Message, ...]:
        """The parts of the one line: model, kernel, precision, how it was checked, and every edit."""
        return (
            literal(f"{self.model} ({self.model_hash[:12]})"),
            message("recording.evidence.kernel", kernel=self.kernel),
            literal(self.dtype),
            *self._describe_comparison(),
            *(message("recording.evidence.edited", edit=edit) for edit in self.edits),
        )

    def _describe_comparison(self) -> tuple[Message, ...]:
        error, reference = self.largest_error, self.reference
        if error is None:
            return (message("recording.evidence.not_compared"),)
        exact = message("recording.evidence.exact" if self.exact else "recording.evidence.approximate")
        if error == 0:
            return exact, message("recording.evidence.no_difference", reference=reference)
        return exact, message("recording.evidence.largest_error", error=error, reference=reference)

    def text(self, language: str) -> str:
        """The one line in a language."""
        return " · ".join(part.text(language) for part in self.summary)

    def __str__(self) -> str:
        return self.text(get_language())


def as_message(name: str, value: Message | str) -> Message:
    """A text of a result: a message, or a string that stays as it is."""
    if isinstance(value, Message):
        return value
    require_text(name, value)
    return literal(value)
