"""The wheel as a person gets it: built, put into an empty environment without Node, and used."""

import json
import re
import subprocess
import sys
import sysconfig
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest

from campaigns import LONG
from glassformer.render.html.export import EMBEDDED
from images import NO_IMAGE, build_wheel, take_steps_of_container

pytestmark = [
    pytest.mark.slow,
    pytest.mark.first,
    pytest.mark.skipif(not EMBEDDED.is_file(), reason="the page is not built: make page"),
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def glassformer(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The command of an environment that has the wheel, and a PATH without Node or npm.

    What the wheel depends on is lent by this environment: the same files that `pip install` would put there.
    """
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    words = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        str(site),
        str(wheel),
    ]
    subprocess.run(words, check=True)
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (folder / "bin" / "glassformer").write_text(
        f"#!{folder}/bin/python\nimport sys\nfrom glassformer.cli import main\nsys.exit(main())\n"
    )
    (folder / "bin" / "glassformer").chmod(0o755)
    environment = {
        "PATH": str(folder / "bin"),
        "HOME": str(folder),
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
    }
    where = subprocess.run(
        [folder / "bin" / "python", "-c", "import glassformer; print(glassformer.__file__)"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert str(site) in where.stdout
    return folder / "bin" / "glassformer", environment


def test_the_wheel_holds_page_zoo_and_recordings(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in (
        "glassformer/api/static/index.html",
        "glassformer/api/static/embedded/embedded.js",
        "glassformer/api/static/embedded/file.js",
        "glassformer/api/static/embedded/loader.js",
        "glassformer/api/static/embedded/walk.js",
        "glassformer/zoo/translator/model.safetensors",
        "glassformer/workbench/presets.toml",
        "glassformer/api/shipped_runs/reversed-words/scalars.jsonl",
        "glassformer/api/shipped_runs/reversed-words/probes/step-00000300-0.bundle",
        "glassformer/recipes/reversed.toml",
    ):
        assert wanted in names
    assert any(re.fullmatch(r"glassformer/api/recordings/.*\.bundle", name) for name in names)
    assert not any("node_modules" in name or name.startswith("tests/") for name in names)


def test_record_export_serve(glassformer: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    command, environment = glassformer

    def run(*words: str) -> str:
        done = subprocess.run(
            [str(command), *words], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("record", "zoo/translator", "Where is Tom?", "--target-language", "fr", "--output", "tom.bundle")
    assert "Wrote" in run("export", "tom.bundle", "tom.html")
    assert (tmp_path / "tom.html").stat().st_size > 100_000
    server = subprocess.Popen(
        [str(command), "serve", "tom.bundle", "--no-browser", "--port", "0"],
        cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        address = re.search(r"http://\S+", server.stdout.readline())
        assert address is not None
        with urllib.request.urlopen(f"{address[0]}api/recordings", timeout=120) as answer:
            titles = [entry["title"]["parameters"].get("text") for entry in json.load(answer)]
        assert "tom" in titles
        with urllib.request.urlopen(address[0], timeout=120) as answer:
            assert b"<script" in answer.read()
    finally:
        server.terminate()
        server.communicate(timeout=120)


@pytest.mark.long
@pytest.mark.skipif(
    not LONG and NO_IMAGE is None, reason="test_container.py builds an image by these steps, and starts it"
)
def test_the_steps_of_the_container_lead_to_a_server_that_is_ready(wheel: Path) -> None:
    take_steps_of_container(wheel)
