"""The verb that looks at this machine: what is installed, what runs, what to do about the rest.

In:   nothing.
Out:  a list for people, or JSON. Exit code 0 if everything needed is there, 1 if something is missing.
"""

import json
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from typing import Literal

from glassformer import __version__
from glassformer.cli.verb import Arguments, Parser

State = Literal["good", "missing", "note"]
PACKAGES = {  # what each is for
    "numpy": "everything",
    "torch": "models",
    "transformers": "models of others",
    "tokenizers": "text",
    "safetensors": "weights and recordings",
    "fastapi": "the page",
    "uvicorn": "the page",
    "matplotlib": "figures",
    "anywidget": "notebooks",
}
OPTIONAL = {"pandas": "scores as tables", "sacrebleu": "BLEU of translations", "tensorboard": "event files"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    topic: str
    state: State
    text: str
    do: str = ""


def add_doctor(parser: Parser) -> None:
    """The words of `doctor`."""
    parser.add_argument("--json", action="store_true", help="for programs")


def run_doctor(arguments: Arguments) -> None:
    """Look, and say what was found."""
    checks: tuple[Callable[[], Iterator[Finding]], ...] = (
        _see_python, _see_packages, _see_device, _see_compiler, _see_limits, _see_page, _see_zoo, _see_fonts,
    )  # fmt: skip
    findings = [finding for check in checks for finding in check()]
    if arguments.json:
        print(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False, indent=1))
    else:
        marks = {"good": "✓", "missing": "✗", "note": "·"}
        for finding in findings:
            print(f"{marks[finding.state]} {finding.topic:12} {finding.text}")
            if finding.do:
                print(f"  {'':12} → {finding.do}")
    if any(finding.state == "missing" for finding in findings):
        raise SystemExit(1)


def _see_python() -> Iterator[Finding]:
    yield Finding("glassformer", "good", f"{__version__}, Python {platform.python_version()}, {sys.prefix}")


def _see_packages() -> Iterator[Finding]:
    for name, use in PACKAGES.items():
        version = _version(name)
        if version is None:
            yield Finding(name, "missing", f"not installed; it is for {use}", f"pip install {name}")
        else:
            yield Finding(name, "good", version)
    for name, use in OPTIONAL.items():
        version = _version(name)
        if version is None:
            yield Finding(name, "note", f"not installed; it would give {use}", f"pip install {name}")
        else:
            yield Finding(name, "good", version)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _see_device() -> Iterator[Finding]:
    try:
        import torch
    except ImportError as error:
        yield Finding("device", "missing", f"torch does not start: {error}", "install torch again")
        return
    if not torch.cuda.is_available():
        count = torch.get_num_threads()
        threads = "1 thread" if count == 1 else f"{count} threads"
        yield Finding(
            "device",
            "note",
            f"no CUDA device; the CPU is used, {threads}, in float32",
        )
        return
    name = torch.cuda.get_device_name()
    memory = torch.cuda.get_device_properties(0).total_memory / 2**30
    yield Finding("device", "good", f"{name}, {memory:.0f} GiB")
    if _version("triton") is None:
        yield Finding("kernels", "note", "no Triton: statistics run in plain torch", "pip install triton")
    else:
        yield Finding("kernels", "good", f"Triton {_version('triton')}: statistics without the matrix")


def _see_compiler() -> Iterator[Finding]:
    found = next((name for name in ("c++", "g++", "clang++", "cl") if shutil.which(name)), None)
    if found is None:
        yield Finding(
            "compiler", "note", "no C++ compiler: torch.compile falls back", "install g++ to train faster"
        )
    else:
        yield Finding("compiler", "good", found)


def _see_limits() -> Iterator[Finding]:
    from glassformer.api.settings import Settings
    from glassformer.workbench import WorkbenchSettings

    words, memory = Settings(), WorkbenchSettings().memory
    yield Finding(
        "limits",
        "note",
        f"a run in the page: {words.tokens:,} tokens, {words.seconds:g} seconds, {memory / 2**30:.1f} GiB, "
        f"{words.queue} runs waiting; the command line has none of these",
    )


def _see_page() -> Iterator[Finding]:
    from glassformer.render.html.export import EMBEDDED

    page = EMBEDDED.parent.parent / "index.html"
    do = "install again: pip install --force-reinstall glassformer, or `npm run build` in web/"
    for topic, path in (("page", page), ("notebook", EMBEDDED)):
        if path.is_file():
            yield Finding(topic, "good", "built")
        else:
            yield Finding(topic, "missing", f"{path.name} was not built", do)


def _see_zoo() -> Iterator[Finding]:
    from glassformer.api.library import SHIPPED
    from glassformer.weights.hub import ZOO

    names = sorted(path.parent.name for path in ZOO.glob("*/config.json"))
    count = len(list(SHIPPED.glob("*.bundle")))
    if names:
        yield Finding("zoo", "good", f"{', '.join(names)}; {count} recordings")
    else:
        yield Finding("zoo", "missing", "no model ships with this installation", "install again")


def _see_fonts() -> Iterator[Finding]:
    from glassformer.errors import InputError
    from glassformer.render.figures.fonts import choose_fonts

    try:
        families = choose_fonts(["汤姆追逐杰瑞"])
        yield Finding("fonts", "good", f"Chinese in figures: {families[-1]}")
    except (InputError, ImportError):
        do = "install a font that has it, as fonts-noto-cjk"
        yield Finding("fonts", "note", "no font with Chinese: figures will refuse such text", do)
