"""What the documents promise: their Python runs, their commands parse, their links lead somewhere."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from glassformer.cli import build_parser

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(?P<tag>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)

every_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


def blocks(document: Path, *tags: str) -> list[str]:
    """The fenced blocks of a document that carry one of these tags."""
    text = document.read_text(encoding="utf-8")
    return [match["body"] for match in FENCE.finditer(text) if match["tag"].strip() in tags]


@every_document
def test_python_runs(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of one document share their names, as they do for a reader.

    What is marked `python no-run` needs a hub, or names that the page leaves to its reader. Pandas, which
    a fresh installation does not have, is not needed.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "pandas", None)
    names: dict[str, object] = {"__name__": "__main__"}
    for body in blocks(document, "python"):
        exec(compile(body, str(document), "exec"), names)


@every_document
def test_commands_parse(document: Path) -> None:
    for line in "".join(blocks(document, "sh", "bash", "console")).splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if words[:1] == ["glassformer"] and "--help" not in words:
            build_parser().parse_args(words[1:])
        if words[:1] == ["make"]:
            makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
            assert all(f"\n{target}:" in makefile for target in words[1:] if "=" not in target), line


@pytest.mark.lint
@every_document
def test_links_lead_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]
    for target in targets:
        assert not target or "://" in target or (document.parent / target).exists(), target


def test_documents_agree_on_when_matrices_are_no_longer_kept() -> None:
    from glassformer.recorders.store import LONGEST_DENSE

    for name in ("commands.md", "how-to/long.md"):
        assert f"{LONGEST_DENSE:,} tokens" in (ROOT / "docs" / name).read_text(encoding="utf-8"), name
