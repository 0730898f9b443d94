"""Names, sizes and cards of recordings.

In:   a recording, or its file.
Out:  a name for URLs, a hash of the content, bytes of memory; its card: title, note, request.
"""

import json
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict

from glassformer.api.jobs import JobRequest
from glassformer.api.owners import Visibility
from glassformer.messages import get_language, literal
from glassformer.recording import Recording
from glassformer.recording.arrays import is_mapped
from glassformer.recording.later import Later, Lazy
from glassformer.schema import MessageField

_WHOLE = 16 << 20  # bytes up to which a file is hashed as a whole
_SAMPLES, _SAMPLE = 256, 4096  # pieces of a longer file, and bytes of each


def _read_text(value: Any) -> Any:
    """A text of a card: a message, or, in old cards, a text in each language."""
    if not isinstance(value, dict) or "code" in value:
        return value
    return literal(str(value.get(get_language()) or value["en"]))


def _read_measured(value: Any) -> Any:
    """What was measured: a hash of it, or, in old cards, the whole request."""
    return hash_request(value) if isinstance(value, dict) else value


def hash_request(request: Any) -> str:
    """A hash of a request, or of several, as JSON: the same for equal ones."""
    return blake2b(json.dumps(request, sort_keys=True).encode(), digest_size=16).hexdigest()


CardText = Annotated[MessageField, BeforeValidator(_read_text)]


class Card(BaseModel):
    """Metadata of a recording from a file beside it; unknown keys are ignored."""

    model_config = ConfigDict(frozen=True)

    title: CardText | None = None
    note: CardText | None = None
    id: str | None = None  # of a shipped recording whose file was written again: its links stay
    preset: str | None = None  # the id of the preset that it shows
    selection: dict[str, str] | None = None  # where the page opens it
    request: JobRequest | None = None  # that made it
    # Of effects: a hash of the request that measured them. A request may be long, and is only compared.
    measured: Annotated[str | None, BeforeValidator(_read_measured)] = None
    owner: str | None = None  # whose it is, on a server with users
    visibility: Visibility = "private"

    @property
    def made_by(self) -> str | None:
        """A hash of the requests that made it; None where they are not known."""
        if self.request is None:
            return None
        return hash_request([self.request.model_dump(mode="json"), self.measured])


def estimate_bytes(recording: Recording) -> int:
    """About how many bytes of memory a recording takes, its texts too; mapped arrays are not counted."""
    seen: set[int] = set()  # of what may be shared: not of texts and numbers, which may be millions
    total = 100_000
    waiting: list[Any] = [recording]
    while waiting:
        value = waiting.pop()
        if not isinstance(value, str | int | float | None):
            if id(value) in seen:
                continue
            seen.add(id(value))
        total += sys.getsizeof(value)
        if isinstance(value, np.ndarray):
            total += 0 if is_mapped(value) or value.base is None else value.nbytes  # its own are counted
        elif isinstance(value, Later):
            total += value.memory
        elif is_dataclass(value):
            look = value.peek if isinstance(value, Lazy) else partial(getattr, value)
            waiting += [look(each.name) for each in fields(value)]
        elif isinstance(value, tuple) and value and isinstance(value[0], str | int | float):
            total += sum(map(sys.getsizeof, value))
        elif isinstance(value, tuple):
            waiting += value
        elif isinstance(value, Mapping):
            waiting += (*value.keys(), *value.values())
    return total


def read_card(path: Path) -> Card:
    """The card beside a bundle: TOML if written by hand, JSON if by the library."""
    written, kept = path.with_suffix(".toml"), path.with_suffix(".json")
    try:
        if written.is_file():
            return Card.model_validate(tomllib.loads(written.read_text(encoding="utf-8")))
        return Card.model_validate_json(kept.read_bytes())
    except (OSError, ValueError, KeyError):
        return Card()


def slugify(name: str) -> str:
    """A name as it may stand in a URL."""
    plain = re.sub(r"[^a-z0-9]+", "-", re.sub(r"^[0-9]+-", "", name.lower())).strip("-")
    return plain[:40].strip("-") or "recording"


def hash_file(path: Path, owner: str | None = None) -> str:
    """A hash of the content; of a long file, of its ends and of pieces spread over it.

    The same file of two people has two hashes: neither finds out that the other has it.
    """
    size = path.stat().st_size
    key = b"" if owner is None else blake2b(owner.encode()).digest()
    digest = blake2b(str(size).encode(), digest_size=6, key=key)
    with path.open("rb") as file:
        if size <= _WHOLE:
            digest.update(file.read())
        else:
            for place in np.linspace(0, size - _SAMPLE, _SAMPLES).astype(np.int64).tolist():
                file.seek(place)
                digest.update(file.read(_SAMPLE))
    return digest.hexdigest()
