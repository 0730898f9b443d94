"""The exceptions that Glassformer raises on purpose.

Each message says what we saw, what we wanted and what to do, so that a command line can print it as it is.
"""


class GlassformerError(Exception):
    """Anything a person can mend: the message is meant to be read by them, without a traceback."""


class ConfigurationError(GlassformerError):
    """A setting that cannot be: an unknown name, a value out of range, two values that contradict."""


class CheckpointError(GlassformerError):
    """A model folder or file that cannot be opened, or whose weights do not fit its configuration."""


class InputError(GlassformerError):
    """Text, tokens or arguments that the model at hand cannot take."""


class RecordingError(GlassformerError):
    """Something recorded that cannot be true: shapes that miss their tokens, rows that do not sum to one."""


class BundleError(GlassformerError):
    """A bundle file that cannot be read: truncated, of another version, or malformed."""


class ApiError(GlassformerError):
    """A question that gets no answer; `code` and `status` are for programs, the message is for a person."""

    def __init__(self, sentence: str, code: str, status: int = 400) -> None:
        super().__init__(sentence)
        self.code = code
        self.status = status
