"""Building the page: what is fresh is left alone, what fails is said in a sentence."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """web/build.py over a small folder of sources."""
    specification = importlib.util.spec_from_file_location("build_page", ROOT / "web" / "build.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    web = tmp_path / "web"
    for name in (*module.SOURCES[:-2], "public/icon.svg", "src/main.ts", "src/main.test.ts"):
        (web / name).parent.mkdir(parents=True, exist_ok=True)
        (web / name).write_text(name)
    monkeypatch.setattr(module, "WEB", web)
    monkeypatch.setattr(module, "STATIC", tmp_path / "static")
    return module


def pretend_npm(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A Node that is young enough, and an npm that does what the test wants."""
    folder.mkdir()
    for name, body in (("node", "echo v22.12.0"), ("npm", script)):
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_a_page_is_fresh_until_a_source_changes(
    builder: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "asked.txt"
    script = f'echo "$1" >> {asked}; mkdir -p node_modules {builder.STATIC}; '
    script += f"touch node_modules/.package-lock.json; echo page > {builder.STATIC}/index.html"
    pretend_npm(tmp_path / "bin", monkeypatch, script)
    assert not builder.is_fresh()
    assert builder.main() == 0
    assert builder.is_fresh()
    assert asked.read_text().split() == ["ci", "run"]
    assert builder.main() == 0  # nothing to do
    (builder.WEB / "src" / "main.test.ts").write_text("a better test")
    assert builder.is_fresh()  # tests are no part of the page
    (builder.WEB / "src" / "main.ts").write_text("a better page")
    assert not builder.is_fresh()
    assert builder.main() == 0
    assert asked.read_text().split() == ["ci", "run", "run"]  # the packages were there


def test_an_unreachable_registry_is_said(
    builder: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pretend_npm(tmp_path / "bin", monkeypatch, "echo npm error code ENOTFOUND; exit 1")
    assert builder.main() == 1
    said = capsys.readouterr().err
    assert "the npm registry cannot be reached" in said
    assert "GLASSFORMER_SKIP_PAGE=1" in said


def test_another_failure_shows_what_npm_said(
    builder: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_npm(tmp_path / "bin", monkeypatch, "echo error TS2322; exit 2")
    with pytest.raises(builder.PageError, match=r"npm ci .* ended with 2\.\nerror TS2322"):
        builder.build()


def test_an_old_node_is_not_used(
    builder: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend_npm(tmp_path / "bin", monkeypatch, "exit 0")
    assert builder.own_node() == tmp_path / "bin"
    (tmp_path / "bin" / "node").write_text("#!/bin/sh\necho v18.20.1\n")
    assert builder.own_node() is None


def test_the_lock_file_names_no_host_and_every_platform() -> None:
    """A registry's address would tie everybody to it; a missing platform breaks `npm ci` elsewhere."""
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text())
    packages = lock["packages"]
    assert not [name for name, entry in packages.items() if "resolved" in entry]
    missing = [
        f"{wanted} of {name}"
        for name, entry in packages.items()
        for wanted in entry.get("optionalDependencies", {})
        if f"node_modules/{wanted}" not in packages
    ]
    assert not missing
