"""What goes wrong is said in Chinese, too: every sentence that can reach the page, with all its details."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import glassformer
from glassformer.show.chinese import _read, translate
from glassformer.show.workbench import JobRequest
from glassformer.workbench.jobs import Board
from glassformer.workbench.models import Model

PACKAGE = Path(glassformer.__file__).parent
ROOMS = (
    "show/server/*.py", "show/walk/*.py", "show/distributions.py", "show/hidden.py", "show/library.py",
    "show/measuring.py", "show/patience.py", "show/tiles.py", "workbench/*.py",
    "workbench/playground/topics.py", "workbench/playground/models.py", "workbench/playground/heads.py",
    "workbench/playground/similarity.py", "recorders/changes.py", "recorders/edits.py",
    "recorders/first_layers.py", "recorders/generation.py", "recorders/ours.py", "recorders/search.py",
    "recorders/selfcheck.py", "recorders/softmaxes.py", "recorders/tracing.py", "metrics/rollout.py",
    "metrics/flow.py", "metrics/masks.py", "text/languages.py", "weights/hub.py", "recorders/pretrained.py",
)  # fmt: skip
PLACES = {"say": 2, "_refuse": 1, "fail": 1}  # which argument of a call is the sentence, where not the first
FOR_PROGRAMS = (
    r"`edits=`|none of AblateHead|A mapping holds|live network|has no windows"  # read by nobody here
)


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
        given = node.args[place]
        if isinstance(given, ast.Constant) and isinstance(given.value, str):
            yield given.value
        elif isinstance(given, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else f"Q{at}Z"
                for at, part in enumerate(given.values)
            )


def list_sentences() -> list[str]:
    files = sorted({path for room in ROOMS for path in PACKAGE.glob(room)})
    found = {sentence for path in files for sentence in find_sentences(path) if " " in sentence}
    return sorted(each for each in found if not re.search(FOR_PROGRAMS, each))


def test_all_of_them_are_found() -> None:
    found = list_sentences()
    assert len(found) > 130
    assert "There is no text; type one, or choose a random sequence." in found


@pytest.mark.parametrize("sentence", list_sentences())
def test_a_sentence_has_its_chinese_with_every_detail(sentence: str) -> None:
    chinese = translate(sentence)
    assert chinese is not None, "add it to show/chinese.toml"
    assert re.search("[\u4e00-\u9fff]", chinese)
    missing = set(re.findall(r"Q\d+Z", sentence)) - set(re.findall(r"Q\d+Z", chinese))
    assert not missing, f"{chinese} lacks {missing}"


def test_the_details_of_each_pair_are_the_same() -> None:
    for english, chinese in _read()["sentences"]:
        assert set(re.findall(r"\{\w+\}", english)) == set(re.findall(r"\{\w+\}", chinese)), english


def test_a_sentence_in_a_sentence_and_words_are_translated() -> None:
    said = "BERT does encoding and masked language modelling, not translation; choose another model or task."
    assert translate(said) == "BERT 能做的是编码和掩码语言模型，不是翻译。请换一个模型或任务。"
    said = "There is no task 'classify'. Did you mean 'classification'? Known: classification, encoding."
    found = "没有名为 'classify' 的任务。是不是想找 'classification'？已有：classification, encoding。"
    assert translate(said) == found
    said = (
        "The file has 3 bytes. Wanted at least the 8 that say how long its header is. "
        "Save the recording again, or copy the file once more."
    )
    found = "该文件不是可用的记录文件：只有 3 字节；需要至少 8 个说明文件头长度的字节。"
    assert translate(said) == found + "请重新保存记录，或再复制一次文件。"


def test_what_is_not_known_is_quoted_behind_its_code() -> None:
    assert translate("Nobody ever said {this}.") is None
    assert translate("Nobody ever said {this}.", "failed") == "模型运行失败：Nobody ever said {this}."
    assert translate("Nobody ever said {this}.", "unheard_of") is None


def test_a_refusal_is_sent_in_both_languages(site: Any) -> None:
    error = site.refusal("/api/recordings/nowhere", 404)
    assert error["sentence"].startswith("There is no recording 'nowhere' here.")
    assert error["zh"] == "这里没有记录 'nowhere'，它可能已被移除。请从列表中选择。"


def test_a_failed_job_says_why_in_both_languages() -> None:
    board = Board(queue=1, kept=1)
    request = JobRequest(kind="record", model="m", text="x")
    job = board.submit(request, Model("m", None, None))
    entry = board.take(1.0)
    assert entry is not None
    board.fail(entry, "The text has 600 tokens, and m reads 512; shorten it.", "refused")
    assert board.job(job.id).zh == "文本有 600 个词元，而 m 最多读 512 个。请缩短。"
    assert board.events(job.id, 0)[-1].data["zh"] == board.job(job.id).zh
