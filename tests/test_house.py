"""The house itself: rooms stay small, doors stay shut, and no workplace leaks into the repository."""

import ast
import importlib
import re
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
GALLERY = ("recording", "bundle", "runlog", "metrics", "walk", "api", "render")
PAGE = sorted(path for ending in ("*.ts", "*.tsx") for path in (ROOT / "web" / "src").rglob(ending))
MOST_LINES = 500


def written_files() -> list[Path]:
    """Every text file that people wrote."""
    folders = ("src", "tests", "docs", "benchmarks", ".ci")
    files = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in folders:
        files += (ROOT / folder).rglob("*")
    words = {".py", ".md", ".toml", ".txt", ".typed", ""}
    return sorted(path for path in files if path.is_file() and path.suffix in words)


def gallery_rooms() -> list[str]:
    """The rooms of the gallery that exist."""
    house = ROOT / "src" / "glassformer"
    return [
        room for room in GALLERY if (house / f"{room}.py").exists() or (house / room / "__init__.py").exists()
    ]


def gallery_modules() -> list[str]:
    """Every module in those rooms."""
    inside = [path.relative_to(ROOT / "src").with_suffix("").parts for path in SOURCES]
    return [".".join(parts).removesuffix(".__init__") for parts in inside if parts[1] in GALLERY]


def loaded_after(statement: str, *names: str) -> str:
    """Which of these packages a fresh interpreter has loaded after one statement."""
    question = f"import sys; {statement}; print([n for n in {names!r} if n in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", question], capture_output=True, text=True, check=True)
    return answer.stdout.strip()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_room_is_small_and_has_a_sign_on_its_door(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= MOST_LINES, f"over {MOST_LINES} lines: split the room"
    assert ast.get_docstring(ast.parse(text)), "the module docstring says what happens here"


@pytest.mark.parametrize("path", PAGE, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_room_of_the_page_is_small_and_has_a_sign_on_its_door(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= MOST_LINES, f"over {MOST_LINES} lines: split the room"
    assert ".test." in path.name or text.startswith("/**"), "the first comment says what happens here"


def imports_of(path: Path) -> set[Path]:
    """The files of the page that one of them needs to run: types are gone by then."""
    text = re.sub(r"^(?:import|export) type [^;]*;", "", path.read_text(encoding="utf-8"), flags=re.M)
    names = re.findall(r'^(?:import|export|\}).*? from "(\.[^"]+)";$', text, re.M)
    stems = [(path.parent / name).resolve() for name in names]
    return {file for stem in stems for ending in (".ts", ".tsx") if (file := Path(f"{stem}{ending}")) in PAGE}


def test_no_room_of_the_page_imports_itself_by_a_detour() -> None:
    waiting = {path: imports_of(path) for path in PAGE}
    assert sum(map(len, waiting.values())) > len(PAGE)
    while ready := {path for path, wanted in waiting.items() if not wanted & waiting.keys()}:
        waiting = {path: wanted for path, wanted in waiting.items() if path not in ready}
    assert not waiting, [str(path.relative_to(ROOT)) for path in waiting]


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_after("import glassformer", "torch", "transformers", "numpy", "argparse") == "[]"


def test_the_command_line_starts_without_anything_heavy() -> None:
    start = "from glassformer.cli import build_parser; build_parser().format_help()"
    assert loaded_after(start, "torch", "transformers", "numpy", "tokenizers") == "[]"


def test_the_gallery_never_loads_torch() -> None:
    imports = "; ".join(f"import {module}" for module in ["glassformer", *gallery_modules()])
    assert loaded_after(imports, "torch", "transformers") == "[]"


def test_the_import_contracts_know_every_room_of_the_gallery() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    _, gallery = settings["tool"]["importlinter"]["contracts"]
    assert set(gallery["source_modules"]) >= {f"glassformer.{room}" for room in gallery_rooms()}
    rooms = {path.parent.name for path in (ROOT / "src" / "glassformer").glob("*/__init__.py")}
    rooms -= {*GALLERY, "messages", "lessons"}  # without torch; the schema of lessons is, too
    assert set(gallery["forbidden_modules"]) >= {f"glassformer.{room}" for room in rooms}


def test_every_public_name_leads_somewhere() -> None:
    package = importlib.import_module("glassformer")
    for name in package.__all__:
        assert getattr(package, name) is not None
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        _ = package.lode


def test_no_file_names_a_workplace() -> None:
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


@pytest.mark.parametrize("path", TESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_skip_says_why(path: Path) -> None:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    explained = {id(call.func) for call in calls if any(word.arg == "reason" for word in call.keywords)}
    explained |= {id(call.func) for call in calls if call.args and ast.unparse(call.func) == "pytest.skip"}
    skips = ("pytest.skip", "pytest.mark.skip", "pytest.mark.skipif", "pytest.mark.xfail")
    for node in nodes:
        if isinstance(node, ast.Attribute) and ast.unparse(node) in skips:
            assert id(node) in explained, f"line {node.lineno}: skipped or failing, but why?"


def test_tests_cannot_leave_this_machine() -> None:
    with socket.socket() as line, pytest.raises(ConnectionRefusedError, match="tests stay on this machine"):
        line.connect(("192.0.2.1", 80))  # an address reserved for documentation
