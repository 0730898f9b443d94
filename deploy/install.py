"""Install everything for `make run`, in parallel: `python deploy/install.py .venv`.

In:   deploy/requirements.txt, the exact version of everything that is needed; indexes as pip knows them.
Out:  an environment with the product and a built page; what is done meanwhile is printed.

Versions that are known need no search, so pips unpack side by side while Node builds the page. What a machine
needs beyond that list (a graphics card, another system) pip looks for as usual. Bytecode is written when a
module is first imported: compiling all of it would take longer than the rest.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LARGEST = "torch"  # takes as long to unpack as all others together
PAUSE = 10  # seconds between two lines of progress


class Step:
    """A command in the background, without its output: a step that fails is repeated, and then shows why."""

    def __init__(self, name: str, command: list[str], **environment: str) -> None:
        self.name = name
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @property
    def running(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def succeed(self) -> bool:
        """Wait for its end; whether all went well."""
        return self._process.wait() == 0


def say(text: str) -> None:
    """Tell the person who waits."""
    print(text, flush=True)


def read_pins() -> dict[str, str]:
    """`name==version` of everything that the product needs, by name."""
    text = (ROOT / "deploy" / "requirements.txt").read_text(encoding="utf-8")
    return {name: f"{name}=={pin}" for name, pin in re.findall(r"^([\w.-]+)==([^\s\\]+)", text, re.M)}


def pip(python: str, *words: str) -> list[str]:
    """A command of pip that installs."""
    quiet = ("--quiet", "--disable-pip-version-check", "--no-compile")
    return [python, "-m", "pip", "install", *quiet, *words]


def normalise(name: str) -> str:
    """A name of a package as files of installed packages spell it."""
    return re.sub(r"[-_.]+", "_", name).lower()


def count_here(folder: Path, names: set[str]) -> int:
    """How many of these packages are installed; pip, which a new environment has already, is not counted."""
    found = {
        normalise(path.name.partition("-")[0]) for path in folder.glob("lib/*/site-packages/*.dist-info")
    }
    return len(found & {normalise(name) for name in names})


def watch(steps: list[Step], folder: Path, packages: set[str]) -> None:
    """Print progress until all steps have ended."""
    running, told = list(steps), time.monotonic()
    while running:
        time.sleep(0.1)
        for step in [step for step in running if not step.running]:
            running.remove(step)
            if step.succeed():
                say(f"  {step.name}: done")
        if running and time.monotonic() - told > PAUSE:
            told = time.monotonic()
            here = count_here(folder, packages)
            names = ", ".join(step.name for step in running)
            say(f"  {here} of {len(packages)} packages are installed; still running: {names}")


def is_complete(python: str) -> bool:
    """Whether everything that the product needs on this machine is installed."""
    command = [python, "-c", "import sys; sys.path[:0] = ['deploy']; import hashes; hashes.list_needs()"]
    return subprocess.run(command, cwd=ROOT, stderr=subprocess.DEVNULL).returncode == 0


def install(folder: Path) -> bool:
    """Make the environment, install packages, build the page; False after an error that pip has shown."""
    python = str(folder / "bin" / "python")
    if not os.path.exists(python):
        say(f"Creating {folder} ...")
        if subprocess.run([sys.executable, "-m", "venv", folder]).returncode:  # it has said why
            return False
    page = Step("the page", [python, "web/build.py"])
    pins = read_pins()
    say(f"Installing {len(pins)} packages into {folder}, PyTorch above all, and building the page.")
    say("That takes a minute, longer where they are downloaded ...")
    names = set(pins)
    largest = pins.pop(LARGEST)
    packages = [
        Step("PyTorch", pip(python, "--no-deps", largest)),
        Step("the other packages", pip(python, "--no-deps", *pins.values())),
        Step("Glassformer", pip(python, "--no-deps", "--editable", "."), GLASSFORMER_SKIP_PAGE="1"),
    ]
    watch([*packages, page], folder, names)
    if not (all(step.succeed() for step in packages) and is_complete(python)):
        say("Some packages are missing: pip is looking for them ...")
        command = pip(python, "-c", "constraints.txt", "--editable", ".")
        if subprocess.run(command, cwd=ROOT, env={**os.environ, "GLASSFORMER_SKIP_PAGE": "1"}).returncode:
            return False
    if page.succeed():
        return True
    say("Building the page with a Node of its own ...")
    return subprocess.run(pip(python, "--no-deps", "--editable", "."), cwd=ROOT).returncode == 0


if __name__ == "__main__":
    sys.exit(0 if install(Path(sys.argv[1])) else 1)
