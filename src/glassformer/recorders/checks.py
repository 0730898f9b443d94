"""What a recording is asked for: the words of `want`, edits, settings of generation, a device.

In:   the arguments of `record` and `load`, as a person gives them.
Out:  the same, checked; or an error that says what was expected.
"""

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import torch

from glassformer.errors import InputError
from glassformer.model.generation_settings import GenerationSettings
from glassformer.recorders.edits.edit import Edit
from glassformer.registry import suggest

WANTS = ("statistics", "weights", "scores", "queries", "keys", "values", "hidden", "output")
TRACES = ("trace", "parameters")  # every step of one pass, and what it was computed with: only of ours
USUAL = ("weights", "output")  # what is kept where nothing is said; statistics always are


def check_want(want: Collection[str], *, ours: bool = False) -> frozenset[str]:
    """The wanted things as a set; an unknown word is an error that offers the nearest one."""
    words = (want,) if isinstance(want, str) else want
    if not isinstance(words, Collection):
        raise InputError(f"What to record is {want!r}; give words, such as ('weights', 'output').")
    for word in words:
        if word in TRACES and not ours:
            raise InputError(
                f"{word!r} is kept of our own networks, which have windows; of a model of transformers leave "
                "it out: queries, keys, values, scores and hidden states show much of the same."
            )
        if word not in (*WANTS, *TRACES):
            nearest = suggest(str(word), (*WANTS, *TRACES))
            raise InputError(f"Nothing that can be recorded is called {word!r}.{nearest}")
    return frozenset(words)


def check_edits(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits, if they are some; one alone has to stand in a list, too."""
    if isinstance(edits, str) or not isinstance(edits, Iterable):
        raise InputError(f"The edits are {edits!r}; give a list of them, also of one.")
    for edit in edits:
        if not isinstance(edit, Edit):
            raise InputError(
                f"{edit!r} is no edit; make one of AblateHead, CutEdge, ScaleScores or FirstLayers "
                "(in glassformer.recorders.edits)."
            )
    return tuple(edits)


def check_decode(decode: GenerationSettings | None) -> None:
    """Refuse a way to write that is none."""
    if decode is not None and not isinstance(decode, GenerationSettings):
        raise InputError(
            f"How to decode is {decode!r}; give GenerationSettings(beams=4) or the like "
            "(in glassformer.model.choosing)."
        )


def check_device(device: str | torch.device | None) -> None:
    """Refuse a device that torch cannot compute on here."""
    if device is None:
        return
    try:
        (torch.zeros(1, device=device) + 1).item()
    except (RuntimeError, AssertionError, TypeError) as error:  # an unknown word; not built in; no numbers
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(f"Nothing runs on {str(device)!r} here ({reason}); try cpu.") from error


def name_path(model: str | Path) -> str:
    """What a model is called: of a path, which is nobody's business but its owner's, the last word."""
    path = Path(model).expanduser()
    return Path(os.path.abspath(path)).name if path.is_dir() else str(model)
