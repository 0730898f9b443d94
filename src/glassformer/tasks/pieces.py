"""More labelled texts to learn from, long ones cut into pieces: each piece has the label of its text.

In:   tables `[[task.also]]` of a classification task.
Out:  rows of label and text.

A piece of a review says less surely what the review says, but there are many of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from glassformer.config import check_types
from glassformer.errors import ConfigurationError
from glassformer.tasks.corpus import find_path
from glassformer.text.files import Problems
from glassformer.text.readers import Row, read_numbered_rows


@dataclass(frozen=True, slots=True)
class MoreLabelled:
    """One table `[[task.also]]`: another file with labels of the same kind, for training alone."""

    path: str  # such as "reviews/{split}.tsv.gz"
    label: int | str = 0  # the column with the label
    text: int | str = 1  # the column with the text
    words: int | None = None  # longer texts are cut into pieces of so many words; None: they stay whole
    repeat: int = 1  # how often it is read in an epoch

    def __post_init__(self) -> None:
        check_types(self)
        for name in ("words", "repeat"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigurationError("settings.too_small", name=name, value=value, least=1)

    def read(self, folder: str, split: str, problems: Problems) -> Iterator[tuple[int, Row]]:
        """The line of each piece, and its label and text."""
        for _ in range(self.repeat):
            path = find_path(self.path, folder, split)
            for number, (label, text) in read_numbered_rows(path, (self.label, self.text), problems):
                for piece in cut_words(text, self.words):
                    yield number, (label, piece)


def cut_words(text: str, most: int | None) -> Iterator[str]:
    """A text in pieces of `most` words, all of nearly the same length."""
    words = text.split()
    if most is None or len(words) <= most:
        yield text
        return
    count = -(-len(words) // most)
    for place in range(count):
        yield " ".join(words[place * len(words) // count : (place + 1) * len(words) // count])
