"""Tests mirror the sources: `src/glassformer/text/files.py` is tested by `tests/text/test_files.py`."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SOURCES = ROOT / "src" / "glassformer"

# Packages in which every file has its test file, those of their sub-packages too.
PACKAGES = {
    "bundle",
    "cli",
    "atlases",
    "comparison",
    "corpus",
    "lessons",
    "loaded",
    "media",
    "metrics",
    "model",
    "recorders",
    "recording",
    "render",
    "runlog",
    "studies",
    "tasks",
    "text",
    "training",
    "walk",
    "weights",
    "workbench",
}

pytestmark = pytest.mark.lint


def missing_tests(package: Path, tests: Path) -> list[Path]:
    """The test files that a package lacks."""
    modules = sorted(path for path in package.rglob("*.py") if not path.name.startswith("__"))
    assert modules, f"{package} has no modules"
    wanted = [tests / path.relative_to(package).with_name(f"test_{path.name}") for path in modules]
    return [path for path in wanted if not path.is_file()]


def test_a_missing_test_file_is_found(tmp_path: Path) -> None:
    package, tests = tmp_path / "package", tmp_path / "tests"
    for file in (package / "__init__.py", package / "a.py", package / "inner" / "b.py", tests / "test_a.py"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    assert missing_tests(package, tests) == [tests / "inner" / "test_b.py"]


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_every_module_has_its_test_file(package: str) -> None:
    missing = missing_tests(SOURCES / package, ROOT / "tests" / package)
    assert not missing, [str(path.relative_to(ROOT)) for path in missing]


def test_every_module_outside_packages_has_its_test_file() -> None:
    modules = [path for path in SOURCES.glob("*.py") if not path.name.startswith("__")]
    assert len(modules) > 5
    missing = [path.name for path in modules if not (ROOT / "tests" / f"test_{path.name}").is_file()]
    assert not missing, missing
