"""Importing: nothing heavy is loaded before it is needed, and every public name exists."""

import ast
import doctest
import importlib
import inspect
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import transformers

import glassformer
from glassformer.loaded import opening

ROOT = Path(__file__).parent.parent


def modules_without_torch() -> list[str]:
    """Every module below the packages for which the import contracts forbid torch."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    packages = {
        name
        for contract in contracts
        if "torch" in contract.get("forbidden_modules", [])
        for name in contract["source_modules"]
    }
    paths = [path.relative_to(ROOT / "src").with_suffix("") for path in (ROOT / "src").rglob("*.py")]
    return sorted(
        ".".join(path.parts).removesuffix(".__init__")
        for path in paths
        if ".".join(path.parts[:2]) in packages
    )


def loaded_after(statement: str, *names: str) -> str:
    """Which of these packages a fresh interpreter has loaded after one statement."""
    question = f"import sys; {statement}; print([n for n in {names!r} if n in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", question], capture_output=True, text=True, check=True)
    return answer.stdout.strip()


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_after("import glassformer", "torch", "transformers", "numpy", "argparse") == "[]"


def test_the_command_line_starts_without_anything_heavy() -> None:
    start = "from glassformer.cli import build_parser; build_parser().format_help()"
    assert loaded_after(start, "torch", "transformers", "numpy", "tokenizers") == "[]"


@pytest.mark.slow
def test_packages_without_torch_never_load_it() -> None:
    modules = modules_without_torch()
    assert len(modules) > 90
    imports = "; ".join(f"import {module}" for module in ["glassformer", *modules])
    assert loaded_after(imports, "torch", "transformers") == "[]"


def test_every_public_name_leads_somewhere() -> None:
    package = importlib.import_module("glassformer")
    for name in package.__all__:
        assert getattr(package, name) is not None
    assert set(package.__all__) <= set(dir(package))
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        _ = package.lode


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse((ROOT / "src" / "glassformer" / "__init__.py").read_text(encoding="utf-8"))
    (block,) = [each for each in tree.body if isinstance(each, ast.If)]
    imports = [each for each in block.body if isinstance(each, ast.ImportFrom)]
    assert {each.names[0].asname: each.module for each in imports} == glassformer._MODULES


class Output(doctest.OutputChecker):
    """An example without a result need only run."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return not want or super().check_output(want, got, optionflags)


@pytest.fixture(scope="module")
def open_once() -> Iterator[None]:
    """Each model of the zoo is opened once for all examples."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "_open", cache(opening._open))
        yield


@pytest.mark.usefixtures("open_once")
@pytest.mark.parametrize("name", [name for name in glassformer.__all__ if not name.startswith("_")])
def test_help_has_an_example_that_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipes").symlink_to(ROOT / "recipes")
    (tmp_path / "README.md").symlink_to(ROOT / "README.md")
    thing = getattr(glassformer, name)
    known = {"gf": glassformer, "np": np, "transformers": transformers}
    found = doctest.DocTestFinder().find(type(thing) if name == "METRICS" else thing, name, globs=known)
    assert any(example for test in found for example in test.examples)
    for test in found:
        report: list[str] = []
        runner = doctest.DocTestRunner(Output(), optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        assert runner.run(test, out=report.append).failed == 0, "".join(report)


def test_tests_cannot_leave_this_machine() -> None:
    with socket.socket() as line, pytest.raises(ConnectionRefusedError, match="tests stay on this machine"):
        line.connect(("192.0.2.1", 80))  # an address reserved for documentation


def test_help_shows_names_of_types() -> None:
    """Not what they stand for, be it inside NumPy or all that a model can read."""
    for name in glassformer.__all__:
        value = getattr(glassformer, name)
        if callable(value) and not isinstance(value, type):
            shown = str(inspect.signature(value))
            assert "numpy._typing" not in shown, name
            assert "tokenizer.Encoding" not in shown, name
