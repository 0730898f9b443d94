"""Files: each module says what it is for, each skip why, and no path of one machine is in the repository."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
PAGE = sorted(path for ending in ("*.ts", "*.tsx") for path in (ROOT / "web" / "src").rglob(ending))

pytestmark = pytest.mark.lint


def written_files() -> list[Path]:
    """Every text file that people wrote."""
    folders = ("src", "tests", "docs", "benchmarks", ".ci")
    files = [path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"]
    for folder in folders:
        files += (ROOT / folder).rglob("*")
    words = {".py", ".md", ".toml", ".txt", ".typed", ""}
    return sorted(path for path in files if path.is_file() and path.suffix in words)


def per_file(paths: list[Path]) -> pytest.MarkDecorator:
    """One test for each file."""
    return pytest.mark.parametrize("path", paths, ids=lambda path: str(path.relative_to(ROOT)))


@per_file(SOURCES)
def test_a_module_has_a_docstring(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), "say what the module is for"


@per_file([path for path in PAGE if path.name != "generated.ts"])
def test_a_module_of_the_page_starts_with_a_comment(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ".test." in path.name or text.startswith("/**"), "say what the module is for"


def test_no_file_names_a_path_of_one_machine() -> None:
    # An absolute path into somebody's machine; paths of Debian's own (/usr, /dev) are the same everywhere.
    path = re.compile(r"(?<![\w.~$)}/-])/(home|root|work|opt|mnt|Users)/\w")
    found = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()}"
        for file in written_files()
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if path.search(line)
    ]
    assert not found, "\n".join(found)


def test_the_constraints_are_plain_pins() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", pin) for pin in pins), (
        "name==version and no more"
    )
    assert "torch==2.13.0" in pins
    assert pins == sorted(pins, key=str.lower)


@per_file(TESTS)
def test_every_skip_says_why(path: Path) -> None:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    explained = {id(call.func) for call in calls if any(word.arg == "reason" for word in call.keywords)}
    explained |= {id(call.func) for call in calls if call.args and ast.unparse(call.func) == "pytest.skip"}
    skips = ("pytest.skip", "pytest.mark.skip", "pytest.mark.skipif", "pytest.mark.xfail")
    for node in nodes:
        if isinstance(node, ast.Attribute) and ast.unparse(node) in skips:
            assert id(node) in explained, f"line {node.lineno}: skipped or failing, but why?"
