"""Files of tagged words: CoNLL-U with its spaces, columns of any kind, broken lines by their number."""

from pathlib import Path

import pytest

from glassformer.errors import InputError
from glassformer.tasks.tagged_files import Sentence, read_tagged
from glassformer.text.files import Problems

CONLLU = """# sent_id = 1
# text = Don't go, Ann.
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\tSpaceAfter=No
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
3.1\twent\tgo\tVERB\tVB\t_\t_\t_\t3:x\t_
4\t,\t,\tPUNCT\t,\t_\t3\tpunct\t_\t_
5\tAnn\tAnn\tPROPN\tNNP\t_\t3\tvocative\t_\tCorrectForm=Anne|SpaceAfter=No
6\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_
"""


def read(path: Path, content: str, **columns: int | str | None) -> list[Sentence]:
    path.write_text(content, encoding="utf-8")
    return list(read_tagged(path, columns.get("word"), columns.get("tag"), None, Problems()))


def test_conllu_keeps_the_spaces_of_its_text(tmp_path: Path) -> None:
    first, second = read(tmp_path / "a.conllu", CONLLU)
    assert first.words == ["Do", "n't", "go", ",", "Ann", "."]
    assert first.tags == ["AUX", "PART", "VERB", "PUNCT", "PROPN", "PUNCT"]
    assert first.text == "Don't go, Ann."
    assert first.pieces == ["Do", "n't", " go", ",", " Ann", "."]
    assert (second.line, second.words, second.tags) == (12, ["Yes"], ["INTJ"])
    (one, _) = read(tmp_path / "a.conllu", CONLLU, tag="xpos")
    assert one.tags[:2] == ["VB", "RB"]
    (one, _) = read(tmp_path / "a.conllu", CONLLU, word="lemma", tag=7)
    assert list(zip(one.words, one.tags, strict=True))[2] == ("go", "root")


def test_the_space_after_words_in_one_is_that_of_their_line(tmp_path: Path) -> None:
    lines = (
        "1-2\tCan't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No",
        "1\tCa\tcan\tAUX\tMD\t_\t0\troot\t_\tSpaceAfter=No",
        "2\tn't\tnot\tPART\tRB\t_\t1\tadvmod\t_\t_",
        "3\t!\t!\tPUNCT\t.\t_\t1\tpunct\t_\t_",
        "",
        "1\tSo\tso\tADV\tRB\t_\t0\troot\t_\t_",
        "2\tbe\tbe\tAUX\tVB\t_\t1\tcop\t_\t_",
        "3\tit\tit\tPRON\tPRP\t_\t1\tnsubj\t_\t_",
    )
    found = read(tmp_path / "a.conllu", "\n".join(lines) + "\n")
    assert [each.text for each in found] == ["Can't!", "So be it"]


@pytest.mark.parametrize(
    "content",
    [
        "Ann\tB-PER\nsleeps\tO\n\nYes\tO",
        "Ann B-PER\nsleeps O\n\n\nYes O\n\n",
        "-DOCSTART- -X- O\n\nAnn NNP B-PER\nsleeps VBZ O\n\n-DOCSTART- -X- O\n\nYes UH O\n",
        "word\ttag\nAnn\tB-PER\nsleeps\tO\n\nYes\tO\n",
    ],
)
def test_a_word_a_line_in_all_its_forms(tmp_path: Path, content: str) -> None:
    found = read(tmp_path / "a.tsv", content)
    assert [each.words for each in found] == [["Ann", "sleeps"], ["Yes"]]
    assert [each.tags for each in found] == [["B-PER", "O"], ["O"]]
    assert found[0].text == "Ann sleeps"


def test_columns_may_be_named_by_a_header(tmp_path: Path) -> None:
    (found,) = read(tmp_path / "a.tsv", "tag\tword\nO\tAnn\n", word="word", tag="tag")
    assert (found.words, found.tags) == (["Ann"], ["O"])
    with pytest.raises(InputError, match="Did you mean 'word'"):
        read(tmp_path / "a.tsv", "tag\tword\nO\tAnn\n", word="wort", tag="tag")
    with pytest.raises(InputError, match="the same column"):
        read(tmp_path / "a.tsv", "Ann\nsleeps\n")


def test_broken_lines_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a.tsv:2: 1 columns; the first row has 2"):
        read(tmp_path / "a.tsv", "Ann\tO\nsleeps\n")
    with pytest.raises(InputError, match=r"a.conllu:2: column 'upos' is empty"):
        read(tmp_path / "a.conllu", "#\n1\tYes\tyes\t_\tUH\t_\t0\troot\t_\t_\n")
    problems = Problems("skip")
    path = tmp_path / "a.tsv"
    path.write_text("Ann\tO\n \tO\nsleeps\tO\n", encoding="utf-8")
    (found,) = read_tagged(path, None, None, None, problems)
    assert found.words == ["Ann", "sleeps"]
    assert problems.count == 1
