"""Some texts through a model, each beside the same one with its words in another order.

In:   a model and a few texts, which one task reads together.
Out:  `Findings`: scores and measures of every head, text by text. Findings of several tasks are added
      up in their order.

The result of a task depends only on its texts and its number, so that it may run on any machine.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glassformer.corpus.atlas.examples import Candidate
from glassformer.corpus.atlas.measuring import Slots, Table, Where, find_layers, group_words
from glassformer.corpus.atlas.profile import Profile, profile_all
from glassformer.corpus.atlas.texts import MarkedText, shuffle
from glassformer.errors import GlassformerError
from glassformer.loaded.model import LoadedModel
from glassformer.messages import Message
from glassformer.place import Place
from glassformer.recorders.many import record_many
from glassformer.recording import Recording

CANDIDATES = 48  # short texts among which examples are chosen; of constructed ones as many more
TOGETHER = 1 << 18  # weights of one head, of texts that are read together
MOST_TOGETHER = 64


@dataclass(slots=True)
class Findings:
    """What was measured so far."""

    table: Table = field(default_factory=Table)
    profiles: dict[Where, Profile] = field(default_factory=dict)
    places: dict[Where, list[tuple[Place, int]]] = field(default_factory=dict)
    candidates: list[Candidate] = field(default_factory=list)
    read: list[MarkedText] = field(default_factory=list)  # of the corpus
    tokens: int = 0
    skipped: int = 0
    error: Message | None = None  # of the first text that could not be read

    def add(self, other: "Findings") -> None:
        """Add what was measured of the texts that follow."""
        self.table.extend(other.table)
        for where, each in other.profiles.items():
            self.profiles.setdefault(where, Profile(each.heads)).extend(each)
        for where, found in other.places.items():
            self.places.setdefault(where, found)
        for candidate in other.candidates:
            self.keep(candidate)
        self.read += other.read
        self.tokens += other.tokens
        self.skipped += other.skipped
        self.error = self.error or other.error

    def keep(self, candidate: Candidate) -> None:
        """Keep a candidate for the examples, while there is room."""
        if candidate.short and len(self.candidates) < CANDIDATES * (2 if candidate.constructed else 1):
            self.candidates.append(candidate)

    def list_places(self) -> Iterator[tuple[Place, int, Where, int]]:
        """Each place with how many heads it has, and where they begin among those of its stack and kind."""
        for where, places in self.places.items():
            first = 0
            for place, heads in places:
                yield place, heads, where, first
                first += heads


def gather(texts: Iterable[MarkedText]) -> Iterator[list[MarkedText]]:
    """Texts that are read together: at most 64, and fewer where they are long."""
    together: list[MarkedText] = []
    room = TOGETHER
    for text in texts:
        tokens = len(text.text) if isinstance(text.text, tuple) else len(text.text) // 4
        if together and (len(together) == MOST_TOGETHER or tokens**2 > room):
            yield together
            together, room = [], TOGETHER
        together.append(text)
        room -= tokens**2
    if together:
        yield together


def read_texts(
    model: LoadedModel, texts: Sequence[MarkedText], language: str | None, seed: tuple[int, int]
) -> Findings:
    """Measure some texts; those that the model cannot read are counted."""
    reader = _Reader(model, language, np.random.default_rng(seed))
    found = reader.findings
    recordings = reader.record([(each.text, each.target) for each in texts])
    ready = [twin for each in zip(texts, recordings, strict=True) if (twin := reader.prepare(*each))]
    shuffled = reader.record([(each.source, each.target) for each in ready])
    measured = [_add(found, *each) for each in zip(ready, shuffled, strict=True)]
    found.skipped = sum(each.probe is None for each in texts) - sum(measured)
    return found


def try_out(model: LoadedModel, texts: Sequence[MarkedText], language: str | None) -> list[Candidate]:
    """Candidates for the examples; texts that the model cannot read are left out."""
    reader = _Reader(model, language, np.random.default_rng(0))
    recordings = reader.record([(each.text, each.target) for each in texts])
    ready = (reader.prepare(*each) for each in zip(texts, recordings, strict=True))
    return [each.candidate for each in ready if each is not None]


class _Twin(NamedTuple):
    """A text that was recorded, and the same one shuffled, to be recorded."""

    text: MarkedText
    candidate: Candidate
    source: NDArray[np.int64]
    target: NDArray[np.int64] | None
    slots: Slots


def _add(findings: Findings, twin: _Twin, shuffled: Recording | None) -> bool:
    """Measure a text; whether it was one of the corpus."""
    if shuffled is None:
        return False
    text, (recording, layers) = twin.text, (twin.candidate.recording, twin.candidate.layers)
    findings.table.add(layers, shuffled, twin.slots)
    for where, each in layers.items():
        findings.places.setdefault(where, [(one.place, one.heads) for one in each.maps])
    findings.keep(twin.candidate)
    if text.probe is not None:
        return False
    profile_all(findings.profiles, layers)
    findings.read.append(text)
    findings.tokens += len(recording.source) + (0 if recording.target is None else len(recording.target))
    return True


@dataclass(slots=True)
class _Reader:
    """Records texts for one task."""

    model: LoadedModel
    language: str | None
    randomness: np.random.Generator
    findings: Findings = field(default_factory=Findings)

    def prepare(self, text: MarkedText, recording: Recording | None) -> _Twin | None:
        """A text with its words in another order, and where they stand now; None: it cannot be measured."""
        if recording is None:
            return None
        try:
            candidate = Candidate(recording, find_layers(recording, text))
            source, slots = shuffle(recording.source, group_words(recording.source, text), self.randomness)
            target = target_slots = None
            if recording.target is not None:
                groups = group_words(recording.target, text)
                target, target_slots = shuffle(recording.target, groups, self.randomness)
                target = target[1:]  # without the start token
        except GlassformerError as error:
            self.findings.error = self.findings.error or error.message
            return None
        return (
            _Twin(text, candidate, source, target, Slots(slots, target_slots)) if candidate.layers else None
        )

    def record(self, texts: Sequence[tuple[Any, Any]]) -> list[Recording | None]:
        """Recordings of texts with their targets, None where that fails; ids name their language already."""
        found: list[Recording | None] = [None] * len(texts)
        for written in (True, False):
            numbers = [
                number for number, (source, _) in enumerate(texts) if isinstance(source, str) == written
            ]
            given = [texts[number][0] if texts[number][1] is None else texts[number] for number in numbers]
            language = self.language if written else None
            recordings = record_many(self.model, given, target_language=language, want=("weights",))
            for number, recording in recordings:
                found[numbers[number]] = recording
            if recordings.failed:
                self.findings.error = self.findings.error or recordings.failed[0].reason
        return found
