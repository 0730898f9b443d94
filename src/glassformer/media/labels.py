"""Words with their times in a WAV file: regions with a label, as programs that edit sound write them.

In:   an open WAV file, its rate and how many samples it has.
Out:  words in the order of time. They are an addition: what is not understood of them is left out.

A WAV is a RIFF file, whose chunks are a name, a size and so many bytes. The chunk "cue " says at which sample
each mark stands; a list "adtl" has the label of a mark ("labl") and how many samples it lasts ("ltxt").
"""

import struct
from collections.abc import Iterator

from glassformer.media.contents import Opened

LabelledWord = tuple[str, float, float]  # text, start and end in seconds

MOST_WORDS = 1000
LONGEST = 100  # letters of a label
_UNKNOWN = 2**32 - 1  # the size of a chunk
_MOST_CHUNKS = 256
_MARK = struct.Struct("<II4sIII")  # number, place in a play list, chunk, its start, its block, sample
_MOST_BYTES = 64 * MOST_WORDS  # of a chunk that is read here


def list_chunks(opened: Opened) -> Iterator[tuple[bytes, int, int]]:
    """The name of each chunk, where its bytes begin in the file, and how many it promises."""
    place = 12
    for _ in range(_MOST_CHUNKS):
        opened.stream.seek(place)
        head = opened.stream.read(8)
        if len(head) < 8:  # the end, or behind it
            return
        name, size = head[:4], int.from_bytes(head[4:], "little")
        place += 8
        if size == _UNKNOWN:  # as written by programs that did not know how much would follow
            size = opened.size - place
        yield name, place, size
        place += size + size % 2


def read_labels(opened: Opened, rate: int, count: int) -> tuple[LabelledWord, ...]:
    """The regions of a file that have a label and lie within its samples."""
    starts: dict[int, int] = {}
    lengths: dict[int, int] = {}
    texts: dict[int, str] = {}
    for name, place, size in list_chunks(opened):
        if name not in {b"cue ", b"LIST"}:
            continue
        opened.stream.seek(place)
        content = opened.stream.read(min(size, _MOST_BYTES))
        if name == b"cue ":
            marks = content[4 : len(content) - (len(content) - 4) % _MARK.size]
            starts.update((number, sample) for number, *_, sample in _MARK.iter_unpack(marks))
        elif content.startswith(b"adtl"):
            _read_list(content[4:], lengths, texts)
    words = []
    for number, start in starts.items():
        end = min(start + lengths.get(number, 0), count)
        if start < end and texts.get(number):
            words.append((texts[number], start / rate, end / rate))
    return tuple(sorted(words, key=lambda word: word[1:])[:MOST_WORDS])


def _read_list(content: bytes, lengths: dict[int, int], texts: dict[int, str]) -> None:
    """What a list says of marks, by their number."""
    while len(content) >= 12:
        name, size, number = content[:4], *struct.unpack("<II", content[4:12])
        rest = content[12 : 8 + size]
        if name == b"labl":
            label = rest.partition(b"\0")[0].decode("utf-8", errors="replace")
            texts[number] = label.strip()[:LONGEST]
        elif name == b"ltxt" and len(rest) >= 4:
            lengths[number] = int.from_bytes(rest[:4], "little")
        content = content[8 + size + size % 2 :]
