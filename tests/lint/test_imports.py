"""Imports: no module of a package or of the page imports itself through others."""

import ast
import re
import tomllib
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = sorted(path for ending in ("*.ts", "*.tsx") for path in (ROOT / "web" / "src").rglob(ending))

pytestmark = pytest.mark.lint


def in_cycles(graph: grimp.ImportGraph) -> list[str]:
    """The modules that import themselves through others; imports inside functions count."""
    return sorted(
        module
        for module in graph.modules
        if any(
            module in graph.find_upstream_modules(imported)
            for imported in graph.find_modules_directly_imported_by(module)
        )
    )


def test_cycles_are_found() -> None:
    graph = grimp.ImportGraph()
    for importer, imported in (("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")):
        graph.add_import(importer=importer, imported=imported)
    assert in_cycles(graph) == ["b", "c"]


def test_no_python_module_is_in_a_cycle() -> None:
    graph = grimp.build_graph("glassformer", exclude_type_checking_imports=True, cache_dir=None)
    assert len(graph.modules) > 250
    assert in_cycles(graph) == []


# Methods that call a package above their own, by its name: no import shows that. No other module may do so.
UPWARD = {
    "recording/recording.py": [
        "glassformer.bundle",
        "glassformer.bundle",
        "glassformer.render.notebook.show",
    ],
    "loaded/model.py": ["glassformer"],  # LoadedModel.record
    "workbench/process.py": ["glassformer"],  # the folder of the package only
}


def find_upward(path: Path) -> list[str]:
    """Our modules that this one imports by a name in a string, or through the public API."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [each.name for each in node.names if each.name == "glassformer"]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            name = node.args[0]
            if isinstance(name, ast.Constant) and str(name.value).startswith("glassformer"):
                found.append(str(name.value))
    return sorted(found)


def test_methods_that_call_upwards_are_few_and_known() -> None:
    source = ROOT / "src" / "glassformer"
    found = {str(path.relative_to(source)): find_upward(path) for path in sorted(source.rglob("*.py"))}
    assert {name: modules for name, modules in found.items() if modules} == UPWARD


def imports_of(path: Path) -> set[Path]:
    """The files of the page that this one imports at run time (`import type` left out)."""
    text = re.sub(r"^(?:import|export) type [^;]*;", "", path.read_text(encoding="utf-8"), flags=re.M)
    names = re.findall(r'^(?:import|export|\}).*? from "(\.[^"]+)";$', text, re.M)
    stems = [(path.parent / name).resolve() for name in names]
    return {file for stem in stems for ending in (".ts", ".tsx") if (file := Path(f"{stem}{ending}")) in PAGE}


def test_no_module_of_the_page_is_in_a_cycle() -> None:
    waiting = {path: imports_of(path) for path in PAGE}
    assert sum(map(len, waiting.values())) > len(PAGE)
    while ready := {path for path, wanted in waiting.items() if not wanted & waiting.keys()}:
        waiting = {path: wanted for path, wanted in waiting.items() if path not in ready}
    assert not waiting, [str(path.relative_to(ROOT)) for path in waiting]


def test_every_package_is_with_or_without_torch() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = [
        each
        for each in settings["tool"]["importlinter"]["contracts"]
        if "torch" in each.get("forbidden_modules", [])
    ]
    without, with_torch = set(contract["source_modules"]), set(contract["forbidden_modules"])
    packages = {
        f"glassformer.{path.parent.name}" for path in (ROOT / "src" / "glassformer").glob("*/__init__.py")
    }
    assert (
        packages - {"glassformer.lessons"} <= without | with_torch
    )  # lessons: a schema without, computations with
    assert not without & with_torch
