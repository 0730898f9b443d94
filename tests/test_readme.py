"""What the documents promise: their Python runs, their commands parse, their links lead somewhere."""

import ast
import math
import os
import re
import shlex
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from safetensors import safe_open

import glassformer
from glassformer.cli import build_parser
from glassformer.weights.hub import ZOO

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(?P<tag>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)

TRANSLATED = {ROOT / "README.md": ROOT / "README.zh.md"}
TRANSLATED |= {ROOT / "docs" / "tutorial.md": ROOT / "docs" / "zh" / "tutorial.md"}
HEADING = re.compile(r"^(#+) ", re.MULTILINE)
COMMENT = re.compile(r"\s*#\s.*")  # of a shell or of Python

every_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


def blocks(document: Path, *tags: str) -> list[str]:
    """The fenced blocks of a document that carry one of these tags."""
    text = document.read_text(encoding="utf-8")
    return [match["body"] for match in FENCE.finditer(text) if match["tag"].strip() in tags]


def look_for_pandas() -> None:
    """pyarrow does so once in a process, with its first array: not while a test hides pandas."""
    if find_spec("pyarrow") is not None:
        import_module("pyarrow").array([0])


@every_document
def test_python_runs(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of one document share their names, as they do for a reader.

    What is marked `python no-run` needs a hub, or names that the page leaves to its reader. Pandas, which
    a fresh installation does not have, is not needed.
    """
    if document in TRANSLATED.values():
        pytest.skip("its programs are those of the English document (test_translations_are_in_step)")
    monkeypatch.chdir(tmp_path)
    look_for_pandas()
    monkeypatch.setitem(sys.modules, "pandas", None)
    names: dict[str, Any] = {"__name__": "__main__"}
    for body in blocks(document, "python"):
        exec(compile(body, str(document), "exec"), names)
    if document.name == "tutorial.md":  # what it says of the model that ships
        assert names["best"].values.max() > 0.4
        assert names["repeated"].output.texts(-1)[0] == " Bumble"


# What a document may import beside the public API, and why.
OTHERS = {
    "numpy": "arrays",
    "torch": "hooks of a reader's own",
    "transformers": "models of others",
    "ipywidgets": "notebooks",
    "pandas": "tables",
    "polars": "tables",
    "duckdb": "tables",
    "math": "the standard library",
    "pathlib": "the standard library",
    "typing": "the standard library",
    "glassformer.corpus.atlas.detector": "authors of a detector",
    "glassformer.metrics": "authors of a metric",
    "glassformer.recording": "authors of a metric",
}


@every_document
def test_python_uses_the_public_api(document: Path) -> None:
    """Blocks that are not run, too. Every name of `gf` exists."""
    for body in blocks(document, "python", "python no-run"):
        tree = ast.parse(body)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                assert {each.name for each in node.names} <= {"glassformer", *OTHERS}, ast.unparse(node)
            elif isinstance(node, ast.ImportFrom):
                assert node.module in OTHERS, f"import glassformer as gf in place of {ast.unparse(node)}"
            elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "gf":
                assert node.attr in glassformer.__all__, ast.unparse(node)


@every_document
def test_commands_parse(document: Path) -> None:
    parser = build_parser()
    for line in "".join(blocks(document, "sh", "bash", "console")).splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if words[:1] == ["glassformer"] and "--help" not in words:
            parser.parse_args(words[1:])
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


@pytest.mark.lint
def test_files_that_are_named_exist() -> None:
    """Paths below one of our folders; decisions and the changelog also name files of their time."""
    tops = ("benchmarks/", "docs/", "recipes/", "src/", "tests/", "web/")
    for document in DOCUMENTS:
        if document.parent.name == "decisions" or document.name == "CHANGELOG.md":
            continue
        prose = FENCE.sub("", document.read_text(encoding="utf-8"))
        for path in re.findall(r"`([\w./-]+)`", prose):
            if path.startswith(tops) and "NAME" not in path:
                assert (ROOT / path).exists(), (document.name, path)


def test_python_names_of_the_reference_exist() -> None:
    reference = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    names = re.findall(r"^::: (\S+)$", reference, re.MULTILINE)
    assert names
    for name in names:
        module, _, last = name.rpartition(".")
        assert hasattr(import_module(module), last) or import_module(name), name


@pytest.mark.lint
def test_every_address_of_the_server_is_documented(tmp_path: Path) -> None:
    """By the last word of its path: addresses below another are written `…/weights` or `/recipes`."""
    from glassformer.api.library import Library

    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for path in glassformer.create_app(Library(tmp_path)).openapi()["paths"]:
        last = [part for part in path.split("/") if "{" not in part][-1]
        assert re.search(rf"/{re.escape(last)}\b", text), path


def test_documents_count_the_metrics_there_are() -> None:
    there = len(list(glassformer.METRICS))
    per_head = sum(glassformer.METRICS[name].over == "head" for name in glassformer.METRICS)
    compared = (ROOT / "docs/compare.md").read_text("utf-8")
    assert f"| Metrics | {there}, documented; {per_head} of them per head |" in compared
    words = {26: "Twenty-six", 27: "Twenty-seven", 28: "Twenty-eight", 29: "Twenty-nine", 30: "Thirty"}
    assert f"{words[there]} metrics are described" in (ROOT / "docs/tutorial.md").read_text("utf-8")


def test_documents_agree_on_when_matrices_are_no_longer_kept() -> None:
    from glassformer.recorders.store import LONGEST_DENSE

    for name in ("commands.md", "how-to/long.md"):
        assert f"{LONGEST_DENSE:,} tokens" in (ROOT / "docs" / name).read_text(encoding="utf-8"), name


def read_table(document: Path, first: str) -> list[list[str]]:
    """The rows of a table whose first cell begins so."""
    lines = document.read_text(encoding="utf-8").splitlines()
    return [line.strip("|").split("|") for line in lines if line.startswith(f"| {first}")]


def test_the_table_of_the_zoo_says_what_cards_and_weights_say() -> None:
    rows = read_table(ROOT / "README.md", "`zoo/")
    assert {row[0].strip(" `") for row in rows} == {
        f"zoo/{card.parent.name}" for card in ZOO.glob("*/README.md")
    }
    for name, _, weights, measured in rows:
        folder = ZOO / name.strip(" `").removeprefix("zoo/")
        with safe_open(folder / "model.safetensors", "np") as file:
            count = sum(math.prod(file.get_slice(key).get_shape()) for key in file.keys())  # noqa: SIM118
        assert float(weights.removesuffix("M ")) == round(count / 1e6, 1), name
        card = (folder / "README.md").read_text(encoding="utf-8")
        assert all(number in card for number in re.findall(r"\d+\.\d+", measured)), name


def test_what_compare_measured_is_in_the_results() -> None:
    """Ratios of its first row are quotients of the CPU seconds there; 39 GB is arithmetic."""
    results = (ROOT / "benchmarks/results.md").read_text(encoding="utf-8")
    seconds = dict(
        re.findall(r"^\| ([^|]+?) \| (\d+\.\d{3}) \|", results.split("busy machine: seconds of CPU")[1], re.M)
    )
    recording, *others = (
        read_table(ROOT / "docs/compare.md", "Recording every statistic")
        + read_table(ROOT / "docs/compare.md", "The same at 8,192")
        + read_table(ROOT / "docs/compare.md", "A page with")
        + read_table(ROOT / "docs/compare.md", "One offline file")
    )
    plain = float(seconds["transformers sdpa, plain forward"])
    wanted = [
        float(seconds[name]) / plain
        for name in (
            "glassformer, all statistics of 144 heads",
            "transformers eager, `output_attentions`",
            "nnsight, attentions saved",
            "TransformerLens, patterns",
        )
    ]
    assert re.findall(r"(\d\.\d\d) ×", recording[1]) + re.findall(r"(\d\.\d\d) ×", recording[2]) == [
        f"{ratio:.2f}" for ratio in wanted
    ]
    assert f"{144 * 8192**2 * 4 / 1e9:.0f} GB" in others[0][2]
    assert "134 MB more than without" in results
    assert "134 MB" in others[0][1]


def read_code(document: Path) -> list[list[str]]:
    """Every fenced block: its tag, and its lines without comments; of a listing the names at the left."""
    found = []
    for match in FENCE.finditer(document.read_text(encoding="utf-8")):
        lines = match["body"].split("\n")
        if "src/glassformer/" in lines[0]:
            lines = [line.split()[0] if line.strip() else "" for line in lines]
        found.append([match["tag"], *(COMMENT.sub("", line) for line in lines)])
    return found


def find_headings(document: Path) -> list[int]:
    """The levels of the headings, in their order; comments of a shell are none."""
    return [len(level) for level in HEADING.findall(FENCE.sub("", document.read_text(encoding="utf-8")))]


def count_parts(document: Path) -> dict[str, int]:
    """Rows of tables, pictures and links."""
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    return {
        "rows": len(re.findall(r"^\|", text, re.MULTILINE)),
        "pictures": text.count("!["),
        "links": len(re.findall(r"\]\(", text)),
    }


@pytest.mark.parametrize("english", TRANSLATED, ids=lambda path: path.name)
def test_translations_are_in_step(english: Path) -> None:
    """The same commands and programs in the same order, the same headings, tables, pictures and links."""
    chinese = TRANSLATED[english]
    assert read_code(chinese) == read_code(english)
    assert find_headings(chinese) == find_headings(english)
    assert count_parts(chinese) == count_parts(english)
    for document, other in ((english, chinese), (chinese, english)):
        head = "\n".join(document.read_text(encoding="utf-8").split("\n")[:5])
        assert f"({os.path.relpath(other, document.parent)})" in head


@pytest.mark.parametrize("english", TRANSLATED, ids=lambda path: path.name)
def test_numbers_are_the_same_in_translations(english: Path) -> None:
    """What was measured: every number of the tables, in the same order."""
    rows = [
        [re.findall(r"\d+(?:\.\d+)?", line) for line in re.findall(r"^\| `zoo.*$", text, re.MULTILINE)]
        for text in (each.read_text(encoding="utf-8") for each in (english, TRANSLATED[english]))
    ]
    assert rows[0] == rows[1]
