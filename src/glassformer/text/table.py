"""What a table of rows looks like: its columns, its header, its quotation marks.

In:   settings that a person wrote; the first row of a file.
Out:  `TableFormat`, and whether a row is a header.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Column = int | str  # by number, from 0, or by name
Row = tuple[str, ...]

# What columns are usually called. A first row of such words alone is a header.
WORDS = """
    answer category chinese class content de document en english fr french german hypothesis id idx index
    label label_text labels polarity premise query question question1 question2 rating review reviews score
    sentence sentence1 sentence2 sentences sentiment source src stars summary tag tags target text text1 text2
    texts tgt title topic translation value zh
"""
HEADER_NAMES = frozenset(WORDS.split())


@dataclass(frozen=True, slots=True)
class TableFormat:
    """How TSV and CSV files are to be read; the other formats describe themselves."""

    header: bool | None = None  # whether the first row names the columns; None: as it looks
    quotes: bool | None = None  # whether fields may be in quotation marks; None: in CSV yes, in TSV no
    names: tuple[str, ...] = ()  # further names of columns that make a header, such as languages


PLAIN = TableFormat()


def looks_like_header(cells: Sequence[str], names: Iterable[str] = ()) -> bool:
    """Whether all wanted cells of a first row are names of columns, each another one."""
    words = [cell.strip().lower() for cell in cells]
    known = HEADER_NAMES | {name.lower() for name in names}
    return len(set(words)) == len(words) and all(word in known for word in words)
