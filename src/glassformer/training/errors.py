"""The exception of a training run that cannot go on."""

from glassformer.errors import GlassformerError


class TrainingError(GlassformerError):
    """A run that had to end: a loss that is no number, a full disk, a recipe that changed on the way."""
