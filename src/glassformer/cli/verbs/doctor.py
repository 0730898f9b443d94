"""`glassformer doctor`: what is installed on this machine, what runs, what to do about the rest.

Exit code 0 if everything needed is there, 1 if something is missing.
"""

import json
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from glassformer import __version__
from glassformer.cli.output import count_columns
from glassformer.cli.parser import Arguments, Parser
from glassformer.messages import Message, literal, message
from glassformer.render.terminal.text import fit, wrap

POSITION = 180
EXAMPLES = ("glassformer doctor",)
State = Literal["good", "missing", "note"]
MARKS = {"good": "✓", "missing": "✗", "note": "·"}
REQUIRED = (
    "numpy", "torch", "transformers", "tokenizers", "safetensors", "fastapi", "uvicorn", "matplotlib",
    "anywidget", "rich",
)  # fmt: skip
OPTIONAL = ("pandas", "sacrebleu", "tensorboard")
TOPIC = 12  # columns


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked, and what to do about it."""

    topic: str
    state: State
    text: Message
    do: Message | None = None

    def to_json(self) -> dict[str, Any]:
        """In English: programs read it."""
        do = "" if self.do is None else self.do.text("en")
        return {"topic": self.topic, "state": self.state, "text": self.text.text("en"), "do": do}


def add_arguments(parser: Parser) -> None:
    """Output for programs."""
    parser.add_argument("--json", action="store_true")


def run(arguments: Arguments) -> None:
    """Check this machine and print what was found."""
    checks: tuple[Callable[[], Iterator[Finding]], ...] = (
        _check_python, _check_packages, _check_device, _check_compiler, _check_limits, _check_page,
        _check_zoo, _check_fonts,
    )  # fmt: skip
    findings = [finding for check in checks for finding in check()]
    if arguments.json:
        print(json.dumps([finding.to_json() for finding in findings], ensure_ascii=False, indent=1))
    else:
        columns = count_columns()
        for finding in findings:
            topic = message(f"cli.doctor.topics.{finding.topic}", finding.topic)
            start = f"{MARKS[finding.state]} {fit(str(topic), TOPIC)} "
            print(wrap(f"{start}{finding.text}", columns, hanging=len(start)))
            if finding.do is not None:
                print(wrap(f"→ {finding.do}", columns, indent=len(start), hanging=2))
    if any(finding.state == "missing" for finding in findings):
        raise SystemExit(1)


def _check_python() -> Iterator[Finding]:
    yield Finding(
        "glassformer", "good", literal(f"{__version__}, Python {platform.python_version()}, {sys.prefix}")
    )


def _check_packages() -> Iterator[Finding]:
    for name in (*REQUIRED, *OPTIONAL):
        version = _find_version(name)
        if version is not None:
            yield Finding(name, "good", literal(version))
            continue
        use = message(f"cli.doctor.uses.{name}")
        install = message("cli.doctor.install", name=name)
        if name in REQUIRED:
            yield Finding(name, "missing", message("cli.doctor.package_missing", use=use), install)
        else:
            yield Finding(name, "note", message("cli.doctor.package_optional", use=use), install)


def _find_version(name: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _check_device() -> Iterator[Finding]:
    try:
        import torch
    except ImportError as error:
        broken = message("cli.doctor.torch_broken", error=str(error))
        yield Finding("device", "missing", broken, message("cli.doctor.torch_install"))
        return
    if not torch.cuda.is_available():
        yield Finding("device", "note", message("cli.doctor.no_cuda", threads=torch.get_num_threads()))
        return
    memory = torch.cuda.get_device_properties(0).total_memory / 2**30
    yield Finding("device", "good", literal(f"{torch.cuda.get_device_name()}, {memory:.0f} GiB"))
    triton = _find_version("triton")
    if triton is None:
        install = message("cli.doctor.install", name="triton")
        yield Finding("kernels", "note", message("cli.doctor.no_triton"), install)
    else:
        yield Finding("kernels", "good", message("cli.doctor.triton", version=triton))


def _check_compiler() -> Iterator[Finding]:
    found = next((name for name in ("c++", "g++", "clang++", "cl") if shutil.which(name)), None)
    if found is None:
        install = message("cli.doctor.compiler_install")
        yield Finding("compiler", "note", message("cli.doctor.no_compiler"), install)
    else:
        yield Finding("compiler", "good", literal(found))


def _check_limits() -> Iterator[Finding]:
    from glassformer.api.settings import Settings
    from glassformer.workbench import WorkbenchSettings

    settings = Settings()
    limits = message(
        "cli.doctor.limits",
        tokens=settings.tokens,
        seconds=settings.seconds,
        memory=WorkbenchSettings().memory / 2**30,
        queue=settings.queue,
    )
    yield Finding("limits", "note", limits)


def _check_page() -> Iterator[Finding]:
    from glassformer.render.html.export import EMBEDDED

    page = EMBEDDED.parent.parent / "index.html"
    for topic, path in (("page", page), ("notebook", EMBEDDED)):
        if path.is_file():
            yield Finding(topic, "good", message("cli.doctor.built"))
        else:
            missing = message("cli.doctor.not_built", file=path.name)
            yield Finding(topic, "missing", missing, message("cli.doctor.build"))


def _check_zoo() -> Iterator[Finding]:
    from glassformer.api.library import SHIPPED
    from glassformer.weights.hub import ZOO

    names = sorted(path.parent.name for path in ZOO.glob("*/config.json"))
    count = len(list(SHIPPED.glob("*.bundle")))
    if names:
        yield Finding("zoo", "good", message("cli.doctor.zoo", names=names, count=count))
    else:
        again = message("cli.doctor.install_again")
        yield Finding("zoo", "missing", message("cli.doctor.no_zoo"), again)


def _check_fonts() -> Iterator[Finding]:
    from glassformer.errors import InputError
    from glassformer.render.figures.fonts import choose_fonts

    try:
        families = choose_fonts(["汤姆追逐杰瑞"])
        yield Finding("fonts", "good", message("cli.doctor.font", name=families[-1]))
    except (InputError, ImportError):
        install = message("cli.doctor.font_install")
        yield Finding("fonts", "note", message("cli.doctor.no_font"), install)
