"""What goes wrong is said in Chinese, too: every sentence that can reach the page, with all its details."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import glassformer
from glassformer.api.chinese import (
    Room,
    _pairs,
    _read,
    translate,
    translate_all,
    translate_evidence,
)
from glassformer.recording import Evidence

PACKAGE = Path(glassformer.__file__).parent
ROOMS = (  # packages that still raise sentences instead of messages
    "workbench/*.py",
    "lessons/topics.py",
    "lessons/models.py",
    "lessons/heads.py",
    "lessons/similarity.py",
)
PLACES = {"say": 2, "_refuse": 1, "fail": 1}  # which argument of a call is the sentence, where not the first
# Read by nobody here.
FOR_PROGRAMS = r"Record both with|`edits=`|none of AblateHead|A mapping holds|live network|has no windows"


def read_string(node: ast.AST) -> str | None:
    """A string as it is written, with Q1Z, Q2Z … for its details; None: no string."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else f"Q{at}Z"
            for at, part in enumerate(node.values)
        )
    return None


def find_sentences(path: Path) -> Iterator[str]:
    """Sentences that a file may raise; Q1Z, Q2Z … stand for details."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name == "say" and path.parent.name != "server":
            continue
        place = PLACES.get(name, 0 if name.endswith("Error") and name[0].isupper() else None)
        if name == "_refuse" and path.stem == "topics":
            place = 0
        if place is None or len(node.args) <= place:
            continue
        text = read_string(node.args[place])
        if text is not None:
            yield text


def list_sentences() -> list[str]:
    files = sorted({path for room in ROOMS for path in PACKAGE.glob(room)})
    found = {sentence for path in files for sentence in find_sentences(path) if " " in sentence}
    return sorted(each for each in found if not re.search(FOR_PROGRAMS, each))


def test_all_of_them_are_found() -> None:
    found = list_sentences()
    assert len(found) > 50
    assert "There is no text; type one, or choose a random sequence." in found


def check(english: str, chinese: str | None) -> None:
    """The Chinese is there, and has every detail."""
    assert chinese is not None, "add it to api/chinese.toml"
    assert re.search("[\u4e00-\u9fff]", chinese)
    missing = set(re.findall(r"Q\d+Z", english)) - set(re.findall(r"Q\d+Z", chinese))
    assert not missing, f"{chinese} lacks {missing}"


@pytest.mark.parametrize("sentence", list_sentences())
def test_a_sentence_has_its_chinese_with_every_detail(sentence: str) -> None:
    check(sentence, translate(sentence))


def test_reasons_after_each_other_are_translated_one_by_one() -> None:
    both = "No row looks anywhere. Rows that are padding, or may look at no key, have no value."
    assert translate_all(both) == "没有任何一行关注任何键。填充的行，或不能关注任何键的行，没有值。"
    assert (
        translate_all("No row looks anywhere. Nobody said this.")
        == "没有任何一行关注任何键。Nobody said this."
    )


def test_the_page_is_told_why_in_both_languages(site: Any) -> None:
    seen = set()
    for each in site.json("/api/metrics"):
        for name in ("decoder", "translation", "single"):
            answer = site.client.get(site.of(name) + f"/scores/{each['name']}")
            for part in answer.json()["parts"] if answer.status_code == 200 else ():
                english = part["why"]
                chinese = part["zh"]["why"] if part["zh"] else [None] * len(english)
                for one, other in zip(english, chinese, strict=True):
                    assert (one is None) == (other is None)
                    assert one is None or re.search("[\u4e00-\u9fff]", other)
                    seen.add(other)
    assert "交叉注意力关注另一段文本：查询与键没有共同的位置。" in seen


def test_the_page_is_told_the_stamp_in_both_languages(site: Any) -> None:
    evidence = site.json(site.of("decoder"))["evidence"]
    assert evidence["line"] == str(site.recordings["decoder"].evidence)
    assert "精确" in evidence["zh"]["line"]
    assert evidence["model"] in evidence["zh"]["line"]


@pytest.mark.parametrize("room", ["sentences", "stamps"])
def test_sentences_are_recognised_as_a_pattern_would(room: Room) -> None:
    sentences = [*list_sentences(), "", "edited: ", "kernel: exact · exact"]
    for pair in _pairs(room):
        places = [f"(?P<{name}>.*?)" for name in pair.names]
        pieces = zip(map(re.escape, pair.texts), [*places, ""], strict=True)
        pattern = re.compile("".join(piece for both in pieces for piece in both), re.DOTALL)
        for sentence in sentences:
            found = pattern.fullmatch(sentence)
            assert pair.match(sentence) == (None if found is None else found.groupdict())


def test_what_a_stranger_wrote_into_a_stamp_is_looked_at_once() -> None:
    many = 20_000
    places = " may not look at key " * many + " in every head of " * many + " layer " * many
    notes = (f"query {places}", "edited: " * many)  # for a pattern, centuries; too deep for Python
    stamp = Evidence("toy", "0123456789abcdef", "explicit", "float32", True, notes=notes)
    said = translate_evidence(stamp)[0].notes
    assert tuple(map(str, said)) == (notes[0], "修改：" + "edited: " * (many - 1))


@pytest.mark.parametrize("room", ["sentences", "stamps"])
def test_the_details_of_each_pair_are_the_same(room: str) -> None:
    for english, chinese in _read()[room]:
        assert set(re.findall(r"\{\w+\}", english)) == set(re.findall(r"\{\w+\}", chinese)), english


def test_a_sentence_in_a_sentence_and_words_are_translated() -> None:
    said = "BERT does encoding and masked language modelling, not translation; choose another model or task."
    assert translate(said) == "BERT 能做的是编码和掩码语言模型，不是翻译。请换一个模型或任务。"
    said = "There is no task 'classify'. Did you mean 'classification'? Known: classification, encoding."
    found = "没有名为 'classify' 的任务。是不是想找 'classification'？已有：classification, encoding。"
    assert translate(said) == found
    said = (
        "The file is no bundle: it has 3 bytes. Wanted at least the 8 that say how long its header is. "
        "Save the recording again, or copy the file once more."
    )
    found = "该文件不是可用的记录文件：只有 3 字节；需要至少 8 个说明文件头长度的字节。"
    assert translate(said) == found + "请重新保存记录，或再复制一次文件。"
    said = "runs/mine is the folder of a run, not of a model. Its model is in runs/mine/best: give that."
    assert (
        translate(said) == "runs/mine 是训练运行的文件夹，不是模型的文件夹。模型在 runs/mine/best，请给出它。"
    )


def test_what_is_not_known_is_quoted_behind_its_code() -> None:
    assert translate("Nobody ever said {this}.") is None
    assert translate("Nobody ever said {this}.", "failed") == "模型运行失败：Nobody ever said {this}."
    assert translate("Nobody ever said {this}.", "unheard_of") is None
