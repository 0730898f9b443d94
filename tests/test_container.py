"""The image of deploy/Containerfile: built by buildah, as it is written, started and checked as it says.

Its base is made of Debian packages here, under the name that the file asks for; Python packages are lent by
this environment, which takes a minute less. Where no image can be built, its steps are taken without one.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from images import NO_IMAGE, ROOT, build_wheel, take_steps_of_container
from ports import hold_port

TEXT = (ROOT / "deploy" / "Containerfile").read_text()
BASE = re.findall(r"^FROM (\S+)", TEXT, re.M)[0]
PACKAGES = ("python3-venv", "python-is-python3", "passwd", "login", "dash", "coreutils", "libc-bin",
            "libstdc++6", "base-passwd")  # fmt: skip
COMMON = ("asyncio", "concurrent.futures", "email.parser", "ensurepip", "importlib.metadata",
          "logging.config", "multiprocessing.pool", "sqlite3", "unittest.mock", "urllib.request", "venv",
          "xmlrpc.client", "zipfile")  # fmt: skip
ACCOUNTS = 'for each in passwd group; do cp "$1/usr/share/base-passwd/$each.master" "$1/etc/$each"; done'

pytestmark = [
    pytest.mark.slow,
    pytest.mark.first,
    pytest.mark.skipif(NO_IMAGE is not None, reason=str(NO_IMAGE)),
]

Buildah = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("container")


@pytest.fixture(scope="module")
def command(folder: Path) -> list[str]:
    """buildah with a store of its own, and nothing of this environment."""
    plain = ["env", "-i", f"PATH={os.environ['PATH']}", f"HOME={folder}", "buildah"]
    return [*plain, "--root", f"{folder}/store", "--runroot", f"{folder}/run", "--storage-driver", "vfs"]


@pytest.fixture(scope="module")
def buildah(command: list[str]) -> Buildah:
    def call(*words: object, check: bool = True) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run([*command, *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 0 or not check, done.stderr
        return done

    return call


@pytest.fixture(scope="module")
def lent(folder: Path) -> list[str]:
    """Packages of this environment, and what builds ours, as options of buildah."""
    builder = folder / "builder"
    words = ["-m", "pip", "install", "--quiet", "--target", str(builder), "hatchling"]
    subprocess.run([sys.executable, *words], check=True)
    site = sysconfig.get_path("purelib")
    return ["--isolation", "chroot", "-v", f"{site}:/lent:ro", "-v", f"{builder}:/builder:ro"]


@pytest.fixture(scope="module")
def image(folder: Path, buildah: Buildah, lent: list[str]) -> Iterator[str]:
    """The name of the image, and of a container of it."""
    words = ["--variant=extract", f"--include={','.join(PACKAGES)}", f"--customize-hook={ACCOUNTS}"]
    made = subprocess.run(
        ["mmdebstrap", "--quiet", *words, "bookworm", folder / "base.tar"], capture_output=True, text=True
    )
    if made.returncode:
        skip_image(folder, f"no base can be made of Debian packages: {made.stderr.strip()[-200:]}")
    base = buildah("from", "scratch").stdout.strip()
    buildah("add", base, folder / "base.tar", "/")
    if (tried := buildah("run", "--isolation", "chroot", base, "--", "true", check=False)).returncode:
        skip_image(folder, f"no container can be run here: {tried.stderr.strip()[-200:]}")
    # Debian writes bytecode while it sets packages up, which nobody does here; each start would compile anew.
    buildah("run", "--isolation", "chroot", base, "--", "python", "-c", f"import {', '.join(COMMON)}")
    without = ("PIP_NO_INDEX=1", "PIP_NO_BUILD_ISOLATION=0", "GLASSFORMER_SKIP_PAGE=1")
    settings = ("PYTHONPATH=/builder:/lent", "PYTHONDONTWRITEBYTECODE=1", *without)
    buildah("config", *(word for each in settings for word in ("--env", each)), base)
    buildah("commit", "--quiet", "--rm", base, BASE)
    build = ("build", "--pull-never", "--format", "docker", "--layers=false", "-t", "glassformer", *lent)
    buildah(*build, "-f", ROOT / "deploy" / "Containerfile", ROOT)
    yield buildah("from", "--pull-never", "--name", "started", "glassformer").stdout.strip()
    buildah("rm", "--all")
    shutil.rmtree(folder / "store")


def skip_image(folder: Path, why: str) -> NoReturn:
    """test_wheel.py leaves the steps to this file."""
    take_steps_of_container(build_wheel(folder))
    pytest.skip(f"{why}; its steps were taken without one")


def test_the_image_starts_as_a_user_without_rights_is_healthy_and_ends(
    folder: Path, command: list[str], buildah: Buildah, lent: list[str], image: str
) -> None:
    said = json.loads(buildah("inspect", "--type", "image", "glassformer").stdout)["Docker"]["config"]
    assert (said["User"], said["StopSignal"]) == ("10001", "SIGTERM")
    assert list(said["Volumes"]) == ["/var/lib/glassformer"]
    settings, port = folder / "settings", hold_port()
    settings.mkdir()
    server = (ROOT / "deploy" / "server.toml").read_text().replace("port = 5000", f"port = {port}")
    (settings / "server.toml").write_text(server)
    (settings / "token").write_text("a long secret token")
    os.chown(settings / "token", 10001, 10001)
    (settings / "token").chmod(0o400)
    [kind, *check] = said["Healthcheck"]["Test"]
    assert kind == "CMD"
    healthy = [word.replace(":5000/", f":{port}/") for word in check]
    words = ("run", *lent, "-v", f"{settings}:/etc/glassformer:ro", image, "--", *said["Entrypoint"])
    process = subprocess.Popen([*command, *words, "--no-models"], start_new_session=True)
    try:
        while not answers(port):
            assert process.poll() is None
            time.sleep(0.05)
        while buildah("run", *lent, image, "--", *healthy, check=False).returncode:
            assert process.poll() is None
        [(server_process, user)] = find_server(process.pid)
        assert user == 10001
        os.kill(server_process, signal.SIGTERM)
        assert process.wait(120) == 0
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    for path in ("/usr/local/glassformer/x", "/x", "/etc/x"):
        assert buildah("run", *lent, image, "--", "touch", path, check=False).returncode, path


def answers(port: int) -> bool:
    """Whether somebody listens there: to ask costs less than a container that asks."""
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


def find_server(session: int) -> list[tuple[int, int]]:
    """The process of the server among those of a session, and its user."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text().rsplit(")", 1)[1].split()
            words = (path / "cmdline").read_bytes().split(b"\0")
        except OSError:  # it has ended
            continue
        if int(fields[3]) == session and b"python" in words[0] and words[2:3] == [b"serve"]:
            found.append((int(path.name), path.stat().st_uid))
    return found
