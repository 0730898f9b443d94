"""Atlases of one folder and those that ship: what every head of a model does.

In:   folders with atlas.json, as `glassformer atlas` writes them.
Out:  AtlasEntry, AtlasDescription, FoundHeads and AtlasPairs for JSON. A file is read again once it changes.
"""

import threading
from pathlib import Path

from glassformer.api.examples import find_atlas, find_example, make_example_id
from glassformer.atlases import Atlas, open_atlas
from glassformer.atlases.atlas import FILE
from glassformer.atlases.naming import (
    explain_detector,
    find_detectors,
    list_terms,
    name_detector,
    number_colours,
    search_heads,
)
from glassformer.atlases.schema import (
    AtlasCorpus,
    AtlasHead,
    AtlasModel,
    AtlasPlace,
    Cluster,
    Detector,
)
from glassformer.errors import ApiError, InputError
from glassformer.schema import MessageField, ResponseModel

LARGEST = 64 << 20  # bytes of an atlas.json that is read
MOST_OPEN = 16  # atlases that stay in memory
MOST_CHANGES = 20  # scores of a pair that are listed


class AtlasEntry(ResponseModel):
    """One atlas in a list."""

    id: str
    shipped: bool  # an example: it is only read
    model: AtlasModel
    corpus: AtlasCorpus
    heads: int
    named: int  # heads that have a type


class DetectorDescription(Detector):
    """A detector with its words."""

    title: MessageField
    about: MessageField
    terms: tuple[str, ...]  # in all languages: what a question about it may contain
    colour: int  # the number of its colour, in the order of colours of heads


class AtlasDescription(ResponseModel):
    """An atlas with the cards of all heads."""

    entry: AtlasEntry
    places: tuple[AtlasPlace, ...]
    detectors: tuple[DetectorDescription, ...]
    heads: tuple[AtlasHead, ...]
    clusters: tuple[Cluster, ...]
    notes: tuple[MessageField, ...]
    examples: dict[str, str]  # by the number of an example the id of its recording


class FoundHead(ResponseModel):
    """A head, by its address."""

    place: str
    head: int
    type: str | None


class FoundHeads(ResponseModel):
    """The heads that a question is about, the strongest first."""

    detectors: tuple[str, ...]  # that the question names
    heads: tuple[FoundHead, ...]


class ScoreDifference(ResponseModel):
    """A score of two heads whose 95 % intervals do not overlap."""

    detector: str
    first: float
    second: float


class AtlasPair(ResponseModel):
    """A head of the first model and its counterpart in the second."""

    first: FoundHead
    second: FoundHead
    distance: float
    changes: tuple[ScoreDifference, ...]  # the largest first


class AtlasPairs(ResponseModel):
    """Two atlases beside each other."""

    first: AtlasEntry
    second: AtlasEntry
    same_architecture: bool  # pairs are heads of the same place; otherwise those that behave most alike
    changed: int  # pairs with different types
    pairs: tuple[AtlasPair, ...]


class Atlases:
    """The atlases of a folder, and examples that are only read. Safe to use from several threads."""

    def __init__(self, folder: Path, shipped: Path | None = None) -> None:
        self.shipped = shipped
        self.folders = (folder, *([] if shipped is None else [shipped]))
        self._open: dict[Path, tuple[tuple[int, int], Atlas]] = {}
        self._lock = threading.Lock()

    def entries(self) -> list[AtlasEntry]:
        """Every atlas that can be read, by name; examples at the end."""
        found: dict[str, AtlasEntry] = {}
        for folder in self.folders:
            for path in sorted(folder.glob(f"*/{FILE}")) if folder.is_dir() else ():
                if path.parent.name not in found:
                    try:
                        found[path.parent.name] = self._describe_entry(path.parent)
                    except ApiError:  # damaged, or removed meanwhile; it says why when it is opened
                        continue
        return list(found.values())

    def describe(self, id: str) -> AtlasDescription:
        """One atlas."""
        path = self._find(id)
        body = self._read(path).body
        numbers = sorted({example.bundle for head in body.heads for example in head.examples})
        examples = {str(each): make_example_id(id, each) for each in numbers}
        colours = number_colours(body.detectors)
        return AtlasDescription(
            entry=self._describe_entry(path),
            places=body.places,
            detectors=tuple(_describe_detector(each, colours[each.family]) for each in body.detectors),
            heads=body.heads,
            clusters=body.clusters,
            notes=body.notes,
            examples={each: name for each, name in examples.items() if find_example(self.folders, name)},
        )

    def search(self, id: str, question: str, stack: str | None, type: str | None) -> FoundHeads:
        """Heads by words, by the stack and kind of their place, by a type that they have."""
        body = self._read(self._find(id)).body
        if type is not None and type not in {each.name for each in body.detectors}:
            known = tuple(each.name for each in body.detectors[:40])
            raise ApiError("atlases.no_detector", status=422, detector=type[:80], known=known)
        named = find_detectors(body.detectors, question) if question.strip() else []
        heads = search_heads(body, question) if question.strip() else list(body.heads)
        return FoundHeads(
            detectors=tuple(each.name for each in named),
            heads=tuple(
                _find_head(each)
                for each in heads
                if (stack is None or each.place.rpartition(".")[0] == stack)
                and (type is None or type in each.types)
            ),
        )

    def compare(self, id: str, other: str) -> AtlasPairs:
        """The heads of two atlases in pairs."""
        one, two = self._find(id), self._find(other)
        found = self._read(one).compare(self._read(two))
        return AtlasPairs(
            first=self._describe_entry(one),
            second=self._describe_entry(two),
            same_architecture=found.same_architecture,
            changed=len(found.changed),
            pairs=tuple(
                AtlasPair(
                    first=_find_head(pair.first),
                    second=_find_head(pair.second),
                    distance=pair.distance,
                    changes=tuple(
                        ScoreDifference(**change._asdict()) for change in pair.changes[:MOST_CHANGES]
                    ),
                )
                for pair in found.pairs
            ),
        )

    def _find(self, id: str) -> Path:
        path = find_atlas(self.folders, id)
        if path is None:
            raise ApiError("api.no_atlas", status=404, id=id[:80])
        return path

    def _read(self, path: Path) -> Atlas:
        """The atlas of a folder, read again once its file has changed."""
        try:
            state = (path / FILE).stat()
            stamp = state.st_size, state.st_mtime_ns
            with self._lock:
                known = self._open.get(path)
            if known is not None and known[0] == stamp:
                return known[1]
            if state.st_size > LARGEST:
                raise ApiError("api.large_atlas", status=422, id=path.name[:80], most=LARGEST >> 20)
            atlas = open_atlas(path)
        except OSError:
            raise ApiError("api.no_atlas", status=404, id=path.name[:80]) from None
        except InputError as error:
            # the folder's own place is nobody's business
            raise ApiError(error.message.replace(f"{path.parent}/", ""), status=422) from error
        with self._lock:
            if len(self._open) >= MOST_OPEN:
                self._open.clear()
            self._open[path] = stamp, atlas
        return atlas

    def _describe_entry(self, path: Path) -> AtlasEntry:
        body = self._read(path).body
        return AtlasEntry(
            id=path.name,
            shipped=path.parent == self.shipped,
            model=body.model,
            corpus=body.corpus,
            heads=len(body.heads),
            named=sum(each.type is not None for each in body.heads),
        )


def _describe_detector(detector: Detector, colour: int) -> DetectorDescription:
    return DetectorDescription(
        **dict(detector),
        colour=colour,
        title=name_detector(detector),
        about=explain_detector(detector),
        terms=tuple(sorted(list_terms(detector))),
    )


def _find_head(head: AtlasHead) -> FoundHead:
    return FoundHead(place=head.place, head=head.head, type=head.type)
