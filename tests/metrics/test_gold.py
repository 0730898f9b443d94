"""Readers of gold data: what is there, and what is wrong on which line."""

import gzip
import lzma
from pathlib import Path

import pytest

from glassformer.errors import InputError
from glassformer.metrics.gold import AlignedPair, read_alignments, read_conllu

GOLD = Path(__file__).parents[3] / "shared" / "data" / "gold"
needs_gold = pytest.mark.skipif(not GOLD.exists(), reason="the gold data is not beside the repository")

TREE = """# sent_id = one
# text = Don't go = stay
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_
3.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t0:root\t_

1\tStay\tstay\tVERB\tVB\t_\t0\troot\t_\t_
"""


def write(folder: Path, **files: str) -> list[Path]:
    paths = []
    for name, text in files.items():
        paths.append(folder / f"{name}.txt")
        paths[-1].write_text(text, encoding="utf-8")
    return paths


def test_trees_are_read_plain_and_packed(tmp_path: Path) -> None:
    (path,) = write(tmp_path, tree=TREE)
    packed = tmp_path / "tree.conllu.gz"
    packed.write_bytes(gzip.compress(TREE.encode()))
    assert list(read_conllu(path)) == list(read_conllu(packed))
    one, two = read_conllu(path)
    assert (one.name, one.text, one.forms) == ("one", "Don't go = stay", ("Do", "n't", "go"))
    assert [(word.head, word.relation, word.tag) for word in one.words] == [
        (2, "aux", "AUX"), (2, "advmod", "PART"), (-1, "root", "VERB"),
    ]  # fmt: skip
    assert (two.name, two.text) == ("line 9", "Stay")


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("1\ta\tb\n", "line 1: There are 3 columns"),
        ("# x\n2\ta\t_\t_\t_\t_\t0\troot\t_\t_\n", "line 2: The word has number '2'. Expected 1"),
        ("1\ta\t_\t_\t_\t_\tx\troot\t_\t_\n", "line 1: The head is 'x'"),
        (f"1\ta\t_\t_\t_\t_\t{'9' * 5000}\troot\t_\t_\n", "line 1: The head is '999"),
        ("\n\n1\ta\t_\t_\t_\t_\t7\tdep\t_\t_\n", "line 3: A head is word 7. Expected at most 1"),
    ],
)
def test_a_broken_tree_is_refused_with_its_line(tmp_path: Path, broken: str, message: str) -> None:
    (path,) = write(tmp_path, tree=broken)
    with pytest.raises(InputError) as error:
        list(read_conllu(path))
    assert f"{path}, {message}" in str(error.value)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        list(read_conllu(tmp_path / "nowhere.conllu"))
    bad = tmp_path / "bad.conllu"
    bad.write_bytes(b"# fine\n1\t\xff\n")
    with pytest.raises(InputError, match="line 2: There are bytes that are not UTF-8"):
        list(read_conllu(bad))
    whole = gzip.compress(TREE.encode())
    for name, damaged in {
        "cut.gz": whole[:-20],
        "turned.gz": whole[:30] + bytes([whole[30] ^ 255]) + whole[31:],
        "cut.xz": lzma.compress(TREE.encode())[:-20],
    }.items():
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(InputError, match="cannot be read"):
            list(read_conllu(tmp_path / name))


def test_links_are_sure_or_possible(tmp_path: Path) -> None:
    paths = write(
        tmp_path, links="0\t0-0 1p1 \n1\t\n", source="0\tle chat\n1\toui\n", target="0\tthe cat\n1\tyes\n"
    )
    first, second = read_alignments(*paths)
    assert (first.source, first.target) == (("le", "chat"), ("the", "cat"))
    assert (first.sure, first.possible) == ({(0, 0)}, {(0, 0), (1, 1)})  # sure links are possible
    assert second.possible == frozenset()


def test_swapped_links_go_the_other_way() -> None:
    pair = AlignedPair(("a", "b"), ("c",), frozenset({(1, 0)}), frozenset({(0, 0)}))
    other = pair.swapped()
    assert (other.source, other.sure, other.possible) == (("c",), {(0, 1)}, {(0, 0), (0, 1)})
    assert other.swapped() == pair


@pytest.mark.parametrize(
    ("links", "source", "message"),
    [
        (
            "0\t0-0\n1\t0_1\n",
            "0\ta\n1\tb\n",
            "links.txt, line 2: '0_1' is not a link. Expected links",
        ),
        ("0\t0-0\n", "0\ta\n1\tb\n", "source.txt, line 2: There are 2 lines. Expected 1"),
        ("0\t0-0\n1\t0-0\n", "0\ta\n7\tb\n", "source.txt, line 2: The sentence is"),
        ("0\t3-0\n1\t\n", "0\ta\n1\tb\n", "links.txt, line 1: A link joins words 3 and 0"),
    ],
)
def test_broken_links_are_refused_with_their_line(
    tmp_path: Path, links: str, source: str, message: str
) -> None:
    paths = write(tmp_path, links=links, source=source, target="0\tx\n1\ty\n")
    with pytest.raises(InputError) as error:
        read_alignments(*paths)
    assert message in str(error.value)


@needs_gold
def test_the_gold_data_is_whole() -> None:
    sentences = list(read_conllu(GOLD / "en_ewt-ud-dev.conllu.gz"))
    assert len(sentences) > 1900
    assert sentences[0].forms == ("From", "the", "AP", "comes", "this", "story", ":")
    assert all(sum(word.head < 0 for word in sentence.words) == 1 for sentence in sentences)
    folder = GOLD / "alibi_fr-en" / "ChatBotte_MasterCat"
    pairs = read_alignments(
        folder / "ali_w2w_ChatBotte_MasterCat.txt",
        folder / "ChatBotte_sents.txt",
        folder / "MasterCat_sents.txt",
    )
    assert len(pairs) == 52
    assert pairs[0].source[:2] == ("Le", "maître")
    assert (4, 5) in pairs[0].possible - pairs[0].sure
