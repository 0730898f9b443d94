"""Importing: nothing heavy is loaded before it is needed, and every public name exists."""

import importlib
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

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


def test_tests_cannot_leave_this_machine() -> None:
    with socket.socket() as line, pytest.raises(ConnectionRefusedError, match="tests stay on this machine"):
        line.connect(("192.0.2.1", 80))  # an address reserved for documentation
