"""Refusals in Chinese: every code that the server or a run may answer with has its words in the page."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import glassformer

ROOT = Path(__file__).parents[2]
WORDS = ROOT / "web" / "src" / "i18n" / "refusals.ts"
PLACES = {"RefusalError": 1, "say": 1, "fail": 2}  # which argument of a call is the code


def find_codes(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            place = PLACES.get(name) if name != "say" or path.parent.name == "server" else None
            given = node.args[place] if place is not None and len(node.args) > place else None
        elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and path.stem == "worker":
            given = node.value.elts[-1]
        else:
            continue
        for part in (given.body, given.orelse) if isinstance(given, ast.IfExp) else (given,):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.value


@pytest.mark.skipif(not WORDS.is_file(), reason="the page's sources are not here")
def test_every_code_has_chinese_words() -> None:
    package = Path(glassformer.__file__).parent
    found = {
        code for room in ("show", "workbench") for path in (package / room).rglob("*.py")
        for code in find_codes(path) if re.fullmatch("[a-z]+(_[a-z]+)*", code)
    }  # fmt: skip
    assert {"no_recording", "busy", "crashed", "out_of_memory", "cannot_be"} <= found
    known = set(re.findall(r"^  ([a-z_]+): ", WORDS.read_text(encoding="utf-8"), re.MULTILINE))
    assert found <= known, f"no Chinese words for {sorted(found - known)}"
