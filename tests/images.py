"""The wheel, the image of deploy/Containerfile, and its steps taken where no image can be built."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from glassformer.render.html.export import EMBEDDED
from ports import hold_port

ROOT = Path(__file__).parent.parent


def _find_why_not() -> str | None:
    if not EMBEDDED.is_file():
        return "the page is not built: make page"
    if sys.version_info[:2] != (3, 11):
        return "the base has Python 3.11, and is lent its packages"
    if os.name != "posix" or os.geteuid() != 0:
        return "only root builds an image without user spaces"
    if not (shutil.which("buildah") and shutil.which("mmdebstrap")):
        return "there is no buildah or no mmdebstrap"
    return None


NO_IMAGE = _find_why_not()  # why no image can be built here, if so


def build_wheel(folder: Path) -> Path:
    """The wheel of these sources, in a folder."""
    # The page is built already: without this, a machine whose sources changed meanwhile would build it twice.
    environment = {**os.environ, "GLASSFORMER_SKIP_PAGE": "1"}
    words = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [path] = folder.glob("*.whl")
    return path


def take_steps_of_container(wheel: Path) -> None:
    """As Containerfile says, in a plain environment, with the wheel for the source and packages lent."""
    text = (ROOT / "deploy" / "Containerfile").read_text().replace("\\\n", "")
    port = hold_port()
    with tempfile.TemporaryDirectory(prefix="glassformer-container-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # of another user than the server's
        for ours, theirs in (
            ("/usr/local/glassformer", f"{folder}/program"),
            ("/var/lib/glassformer", f"{folder}/state"),
            ("/etc/glassformer", f"{folder}/settings"),
            ("/source/constraints.txt", f"{ROOT}/constraints.txt"),
            (" /source\n", f" --quiet --no-index --no-deps {wheel}\n"),
            ("127.0.0.1:5000", f"127.0.0.1:{port}"),
        ):
            assert ours in text
            text = text.replace(ours, theirs)
        [install] = re.findall(r"^RUN (python .*)$", text, re.M)
        subprocess.run(
            install, shell=True, check=True, env={"PATH": f"{Path(sys.executable).parent}:/usr/bin"}
        )
        paths = {"base": f"{folder}/program", "platbase": f"{folder}/program"}
        lent = Path(sysconfig.get_path("purelib", vars=paths)) / "lent.pth"
        lent.write_text(sysconfig.get_path("purelib") + "\n")
        [words] = re.findall(r"^ENV (.*)$", text, re.M)
        environment = dict(word.split("=", 1) for word in words.replace("$PATH", "/usr/bin:/bin").split())
        [user] = map(int, re.findall(r"^USER (\d+)$", text, re.M))
        for each in ("state", "settings"):
            (folder / each).mkdir()
        server = (ROOT / "deploy" / "server.toml").read_text().replace("port = 5000", f"port = {port}")
        for ours in ("/var/lib/glassformer", "/etc/glassformer"):
            server = server.replace(ours, f"{folder}/{'state' if 'var' in ours else 'settings'}")
        (folder / "settings" / "server.toml").write_text(server)
        (folder / "settings" / "token").write_text("a long secret token")
        program = folder / "program" / "bin"
        other: dict[str, int] = {}
        if os.geteuid() == 0:
            (folder / "state").chmod(0o700)
            os.chown(folder / "state", user, user)
            reached = subprocess.run(["test", "-x", program / "python"], user=user, group=user)
            other = {"user": user, "group": user} if reached.returncode == 0 else {}
        entry = json.loads(re.findall(r"^ENTRYPOINT (.*)$", text, re.M)[0])
        check = json.loads(re.findall(r"^HEALTHCHECK .* CMD (\[.*\])$", text, re.M)[0])
        process = subprocess.Popen(
            [program / entry[0], *entry[1:], "--no-models"], env=environment, cwd=folder / "state", **other
        )
        try:
            healthy = [program / check[0], *check[1:]]
            while subprocess.run(healthy, env=environment, capture_output=True).returncode:
                assert process.poll() is None
        finally:
            process.terminate()
            process.wait(120)
        assert (folder / "state" / "recordings").is_dir()
