"""Files of texts and of studies, disturbed at random: read as far as they can be, or refused in words."""

import gzip
import json
import lzma
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import glassformer as gf
from campaigns import campaign
from glassformer.corpus.measuring import identify
from glassformer.corpus.sources import TextFiles
from glassformer.errors import InputError
from glassformer.studies.study import State
from our_networks import WORDS, build

arrow: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed (glassformer[data])")

LINES = [f"The cat number {number} sees a “ähnlich” dog." for number in range(24)]
ROWS = list(enumerate(LINES))
TREES = "".join(
    f"# sent_id = {number}\n1\tcats\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tsleep\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
    for number in range(12)
).encode()
PLAIN = "".join(f"{line}\n" for line in LINES).encode()
CASES = range(2000)
# What people's files have had in them, and what readers have stumbled over.
STRANGE = (
    *(b"\0", b"\xff", b"\n", b"\r", b"\t", b'"', b"\xed\xa0\x80", b"\xe2\x80\xa8", b"\\ud800", b"{", b"#"),
    *(b"9" * 5000, b"[" * 3000, b"NaN", b"1e999", b"\xef\xbb\xbf", "٣".encode(), b"true", b",", b"-"),
)


def _write_parquet(path: Path) -> None:
    from pyarrow import parquet

    parquet.write_table(arrow.table({"text": LINES, "number": range(24)}), path, row_group_size=7)


def _write_arrow(path: Path) -> None:
    table = arrow.table({"text": LINES})
    with arrow.OSFile(str(path), "wb") as file, arrow.ipc.new_stream(file, table.schema) as out:
        out.write_table(table)


def _write(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


FILES: dict[str, Callable[[Path], object]] = {
    "a.txt": _write(PLAIN),
    "a.txt.gz": _write(gzip.compress(PLAIN)),
    "a.txt.xz": _write(lzma.compress(PLAIN)),
    "a.tsv": _write(("text\tnumber\n" + "".join(f"{line}\t{at}\n" for at, line in ROWS)).encode()),
    "a.csv": _write(("text,number\n" + "".join(f'"{line}",{at}\n' for at, line in ROWS)).encode()),
    "a.jsonl": _write("".join(json.dumps({"text": line, "n": at}) + "\n" for at, line in ROWS).encode()),
    "a.conllu": _write(TREES),
    "a.conllu.gz": _write(gzip.compress(TREES)),
    "a.conllu.xz": _write(lzma.compress(TREES)),
    "a.parquet": _write_parquet,
    "a.arrow": _write_arrow,
}


def disturb(content: bytes, randomness: random.Random) -> bytes:
    """Bytes that are changed, lost, doubled or put in."""
    found = bytearray(content)
    for _ in range(randomness.choice((1, 1, 1, 2, 5, 20))):
        place = randomness.randrange(len(found) + 1)
        match randomness.randrange(6):
            case 0:
                found[place : place + 1] = randomness.randbytes(1)
            case 1:
                del found[place : place + randomness.choice((1, 3, 40))]
            case 2:
                found[place:place] = randomness.choice(STRANGE)
            case 3:
                del found[place:]
            case 4:
                found[place:place] = found[place : place + randomness.randrange(1, 60)]
            case _:
                found[place : place + 4] = randomness.randbytes(4)
    return bytes(found)


def catch(look: Callable[[], object]) -> InputError | None:
    """The sentence in which something is refused; any other error is a fault."""
    try:
        look()
    except InputError as error:
        return error
    return None


@campaign("seed", CASES, sample=88)
def test_a_damaged_file_is_read_as_far_as_it_can_be(seed: int, tmp_path: Path) -> None:
    randomness = random.Random(seed)
    name = list(FILES)[seed % len(FILES)]
    path, other = tmp_path / name, tmp_path / "other.txt"
    FILES[name](path)
    other.write_bytes(PLAIN)
    path.write_bytes(disturb(path.read_bytes(), randomness))
    named = name.endswith(("tsv", "csv", "jsonl", "parquet", "arrow")) and randomness.random() < 0.5
    parallel = other if name.startswith("a.txt") and randomness.random() < 0.3 else None
    files = TextFiles(path, ("text",) if named else (0,), parallel)
    refused = catch(lambda: list(files))
    if refused is not None:
        assert str(path) in str(refused)
        return
    texts = list(files)
    assert files.count() == len(texts)  # a study that goes on reads the same
    identify(list(enumerate(texts)))
    assert len(files.problems.notes()) >= min(1, files.problems.count)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> gf.Study:
    """One that was interrupted would have the same files."""
    model = gf.load(build(shape="encoder"), WORDS)
    folder, texts = tmp_path_factory.mktemp("studies") / "whole", ["the cat sees", "", "a red dog"] * 2
    return gf.study(model, texts, folder, metrics=["entropy"], values=True, shard=4)


@campaign("seed", range(600), sample=27)
def test_a_damaged_study_is_refused_in_words(seed: int, study: gf.Study, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(study.folder, copy)
    names = sorted(path.relative_to(copy) for path in copy.rglob("*") if path.is_file())
    path = copy / names[seed % len(names)]
    path.write_bytes(disturb(path.read_bytes(), random.Random(seed)))
    for look in (
        lambda: gf.open_study(copy).frame("heads"),
        lambda: gf.open_study(copy).table("values"),
        lambda: gf.open_study(copy).table("texts"),
        lambda: State.open(copy),
        lambda: gf.pool_studies([copy], tmp_path / "pooled"),
    ):
        refused = catch(look)
        if refused is not None:
            assert refused.message.code in ("study.damaged", "study.not_a_study")
            assert str(copy) in str(refused)
