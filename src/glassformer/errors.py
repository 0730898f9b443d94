"""The exceptions that Glassformer raises on purpose.

Each carries a message that says what was seen, what was wanted and what to do, so that a command line can
print it as it is: `raise InputError("recorders.unknown_head", head=7, place=place)`. Codes are those of the
catalogues.
"""

import sys
from typing import Any

from glassformer.messages import Message, literal
from glassformer.messages.message import is_code


class GlassformerError(Exception):
    """Anything a person can mend: the message is meant to be read by them, without a traceback."""

    def __init__(self, text: str | Message, /, **parameters: Any) -> None:
        self.message = _as_message(text, parameters)
        super().__init__(self.message)

    def __str__(self) -> str:
        return str(self.message)


class ConfigurationError(GlassformerError):
    """A setting that is not possible: an unknown name, a value out of range, two values that contradict."""


class CheckpointError(GlassformerError):
    """A model folder or file that cannot be opened, or whose weights do not fit its configuration."""


class InputError(GlassformerError):
    """Text, tokens or arguments that the model at hand cannot take."""


class RecordingError(GlassformerError):
    """Something recorded that cannot be true: shapes that miss their tokens, rows that do not sum to one."""


class BundleError(GlassformerError):
    """A bundle file that cannot be read: truncated, of another version, or malformed."""


class TrainingError(GlassformerError):
    """A run that cannot go on: a loss that is not a number, a full disk, a recipe that changed."""


class EngineError(GlassformerError):
    """A task that could not be run: its process or machine was lost, or it cannot be sent to another one."""


class ApiError(GlassformerError):
    """A request that is refused; `code` and `status` are for programs, the message is for a person."""

    def __init__(
        self, text: str | Message, /, code: str | None = None, status: int = 400, **parameters: Any
    ) -> None:
        super().__init__(text, **parameters)
        self.code = code or self.message.code.rpartition(".")[2]
        self.status = status

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.code, self.status)


def _as_message(text: str | Message, parameters: dict[str, Any]) -> Message:
    if isinstance(text, Message):
        return text
    return Message(text, parameters) if is_code(text) else literal(text)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, of this machine or of a GPU."""
    torch: Any = sys.modules.get("torch")  # it is not imported to ask
    kinds = (MemoryError,) if torch is None else (MemoryError, torch.OutOfMemoryError)
    if isinstance(error, kinds):
        return True
    # torch's allocators for CPU and MPS, and files that cannot be mapped, raise errors that only their text
    # tells from others: "can't allocate memory", "Cannot allocate memory (12)".
    return isinstance(error, RuntimeError | OSError) and any(
        text in str(error) for text in ("allocate memory", "out of memory")
    )
