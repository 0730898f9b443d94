"""The atlas of a model: one card for each head, in a folder with the recordings of its examples.

In:   a folder `NAME/` with atlas.json and examples/0.bundle, 1.bundle …
Out:  `Atlas`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING

from pydantic import ValidationError

from glassformer.atlases.comparison import AtlasComparison, compare_atlases
from glassformer.atlases.naming import name_detector, search_heads
from glassformer.atlases.schema import AtlasBody, AtlasHead
from glassformer.errors import InputError
from glassformer.messages import message
from glassformer.recording import Recording
from glassformer.schema import describe_faults

if TYPE_CHECKING:
    import pandas

FILE = "atlas.json"
EXAMPLES = "examples"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Atlas:
    """What every head of a model does; `body` is atlas.json with all its fields.

    >>> atlas = gf.open_atlas("zoo/gpt2")  # an atlas that is shipped, or a folder of yours
    >>> len(atlas.heads), atlas.head("decoder.self.0", 3).place
    (48, 'decoder.self.0')
    """

    body: AtlasBody
    folder: Path | None = None
    recordings: Sequence[Recording] = field(default=())  # of the examples, where it was not opened from disk

    @property
    def heads(self) -> tuple[AtlasHead, ...]:
        """The cards, layer by layer."""
        return self.body.heads

    def head(self, place: str, head: int) -> AtlasHead:
        """The card of one head; `place` is an address, "decoder.self.0"."""
        for each in self.heads:
            if (each.place, each.head) == (place, head):
                return each
        raise InputError("atlases.no_head", place=place, head=head, model=self.body.model.name)

    def find(self, detector: str) -> list[AtlasHead]:
        """The heads that pass a detector or one of its family, the strongest first."""
        families = {each.name: each.family for each in self.body.detectors}
        if detector not in families and detector not in families.values():
            raise InputError("atlases.no_detector", detector=detector, known=tuple(families))
        names = [name for name, family in families.items() if detector in (name, family)]

        def weigh(card: AtlasHead) -> float:
            passed = [card.scores[name] for name in names if name in card.types]
            return max(each.mean - each.null for each in passed if each is not None)

        return sorted((each for each in self.heads if set(names) & set(each.types)), key=weigh, reverse=True)

    def search(self, question: str) -> list[AtlasHead]:
        """The heads that pass what is asked for in words, English or Chinese, the strongest first.

        >>> cards = gf.open_atlas("zoo/bert").search("heads that look at the object of a verb")
        >>> [(card.layer, card.head) for card in cards]
        [(5, 2)]
        """
        return search_heads(self.body, question)

    def open_example(self, number: int) -> Recording:
        """The recording of an example text."""
        if self.recordings:
            return self.recordings[number]
        if self.folder is None:
            raise InputError("atlases.no_examples", model=self.body.model.name)
        return Recording.open(self.folder / EXAMPLES / f"{number}.bundle")

    def save(self, folder: str | Path) -> Path:
        """Write atlas.json and the examples; atlas.json is replaced last and in one step."""
        place = Path(folder)
        examples = place / EXAMPLES
        examples.mkdir(parents=True, exist_ok=True)
        for number, recording in enumerate(self.recordings):
            recording.save(examples / f"{number}.bundle")
        if self.folder is not None and not self.recordings and self.folder.resolve() != place.resolve():
            copytree(self.folder / EXAMPLES, examples, dirs_exist_ok=True)
        unfinished = place / f"{FILE}.new"
        unfinished.write_text(self.body.model_dump_json(), encoding="utf-8")
        unfinished.replace(place / FILE)
        return place

    def compare(self, other: "Atlas") -> AtlasComparison:
        """This atlas beside that of another model, or of another checkpoint of the same run.

        Heads are compared place by place where both models have the same; otherwise each head with the one
        that behaves most alike (an optimal assignment over the scores that both have).

        >>> atlas = gf.open_atlas("zoo/gpt2")
        >>> atlas.compare(atlas).changed
        ()
        """
        return compare_atlases(self.body, other.body)

    def frame(self) -> "pandas.DataFrame":
        """One row for each head and detector, for pandas."""
        from pandas import DataFrame

        rows = []
        for each in self.heads:
            for name, score in each.scores.items():
                if score is not None:
                    passes = name in each.types
                    row = {"place": each.place, "head": each.head, "detector": name, "passes": passes}
                    rows.append(row | score.model_dump())
        return DataFrame(rows)

    def __str__(self) -> str:
        body = self.body
        lines = [
            message(
                "atlases.summary",
                model=body.model.name,
                heads=len(body.heads),
                named=sum(each.type is not None for each in body.heads),
                texts=body.corpus.texts,
                tokens=body.corpus.tokens,
            )
        ]
        counts = Counter(each.type for each in body.heads if each.type is not None)
        words = {each.name: name_detector(each) for each in body.detectors}
        for name, count in counts.most_common():
            known = str(words[name]) == name
            best = self.find(name)[0]
            score = best.scores[name]
            assert score is not None
            lines.append(
                message(
                    "atlases.type",
                    name=name if known else message("atlases.named", detector=words[name], name=name),
                    heads=count,
                    place=best.place,
                    head=best.head,
                    score=score.mean,
                    null=score.null,
                )
            )
        return "\n".join(map(str, (*lines, *body.notes)))

    __repr__ = __str__


def is_atlas(folder: str | Path) -> bool:
    """Whether `open_atlas` finds an atlas there."""
    return (_find(folder) / FILE).is_file()


def open_atlas(folder: str | Path) -> Atlas:
    """Open the folder of an atlas, or by its model's name one that is shipped.

    >>> gf.open_atlas("zoo/gpt2").body.model.name
    'zoo/gpt2'
    """
    place = _find(folder)
    try:
        return Atlas(AtlasBody.model_validate_json((place / FILE).read_bytes()), place)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError("atlases.unreadable", folder=str(folder), error=reason) from None
    except ValidationError as error:
        faults = describe_faults(error.errors())
        raise InputError("atlases.malformed", path=str(place / FILE), faults=faults) from None


def _find(folder: str | Path) -> Path:
    """The folder of an atlas; that of a model of the zoo ships."""
    place = Path(folder)
    if (place / FILE).is_file() or not str(folder).startswith("zoo/"):
        return place
    return Path(__file__).parent.parent / "api" / "shipped_atlases" / str(folder).removeprefix("zoo/")
