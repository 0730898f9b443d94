"""Hashes for the packages of a server: `python deploy/hashes.py INDEX … > deploy/requirements.txt`.

In:   constraints.txt, what is installed here (which package needs which), and package indexes: addresses or
      folders of the simple kind (PEP 503), whose pages name a SHA-256 for every file; folders of wheels.
Out:  the exact version of everything that the server needs on Linux, torch without GPU packages, each with
      the hashes of its wheels; for `pip install --require-hashes`. No address of an index is in it.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from html.parser import HTMLParser
from importlib.metadata import requires
from pathlib import Path
from urllib.parse import unquote
from urllib.request import urlopen

from packaging.requirements import Requirement
from packaging.tags import Tag
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

ROOT = Path(__file__).parents[1]
OLDEST = 11  # minor version of Python
_MACHINES = ("_x86_64", "_aarch64")


def read_pins(text: str) -> dict[str, str]:
    """The versions of a file of constraints or requirements, by name."""
    return {canonicalize_name(name): pin for name, pin in re.findall(r"^([\w.-]+)==([^\s;\\]+)", text, re.M)}


def list_needs(package: str = "glassformer") -> set[str]:
    """The names of everything that a package needs, itself left out, as far as it is installed here."""
    found: set[str] = set()
    waiting = [Requirement(package)]
    while waiting:
        each = waiting.pop()
        for need in map(Requirement, requires(each.name) or ()):
            name = canonicalize_name(need.name)
            extras = ("", *each.extras)
            if name not in found and (
                need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in extras)
            ):
                found.add(name)
                waiting.append(need)
    return found


class _Links(HTMLParser):
    """The links of a page of an index."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if tag == "a" and name == "href" and value]


def list_hashes(indexes: list[str], name: str, version: str) -> list[str]:
    """The hashes of the wheels of one version, for Linux; of builds without GPUs where there are any."""
    files = (pair for index in indexes for pair in _list_files(index, name))
    found = {digest: file for file, digest in files if _fits(file, name, version)}
    plain = {digest for digest, file in found.items() if "+cpu" in file}
    return sorted(plain or found)


def _list_files(index: str, name: str) -> Iterator[tuple[str, str]]:
    """Names of files and their hashes: of an index, or of a folder of wheels."""
    folder = Path(index)
    for wheel in [] if "://" in index else folder.glob(f"{name.replace('-', '_')}-*.whl"):
        yield wheel.name, sha256(wheel.read_bytes()).hexdigest()
    page = f"{index}/{name}/" if "://" in index else (folder / name / "index.html").resolve().as_uri()
    links = _Links()
    with suppress(OSError), urlopen(page, timeout=60) as opened:  # OSError: it has no such package
        links.feed(opened.read().decode())
    for link in links.found:
        address, _, digest = link.partition("#sha256=")
        if digest:
            yield unquote(address.rpartition("/")[2]), digest


def _fits(file: str, name: str, version: str) -> bool:
    """Whether a file is a wheel of this version that a server may take."""
    try:
        found, has, _, tags = parse_wheel_filename(file)
    except ValueError:  # a source, or older than the rules
        return False
    return (found, has.public) == (name, Version(version).public) and any(map(_is_usable, tags))


def _is_usable(tag: Tag) -> bool:
    """Whether a wheel may be taken by a server."""
    python = re.fullmatch(r"(?:cp|py)3(\d*)", tag.interpreter)
    minor = int(python[1] or 0) if python else 99
    fits = python is not None and (minor >= OLDEST or tag.abi in ("abi3", "none"))
    machine = tag.platform == "any" or (
        tag.platform.startswith(("manylinux", "linux_")) and tag.platform.endswith(_MACHINES)
    )
    return fits and machine and not tag.abi.endswith("t")  # with the lock of Python


def main(indexes: list[str]) -> None:
    """Print the file."""
    pins = read_pins((ROOT / "constraints.txt").read_text())
    print("# Made by `python deploy/hashes.py INDEX …` from constraints.txt: see docs/how-to/deploy.md.")
    for name in sorted(list_needs()):
        hashes = list_hashes(indexes, name, pins[name])
        if not hashes:
            sys.exit(f"no index has a hash for {name} {pins[name]}")
        print(f"{name}=={pins[name]}", *(f"--hash=sha256:{each}" for each in hashes), sep=" \\\n    ")


if __name__ == "__main__":
    main(sys.argv[1:])
