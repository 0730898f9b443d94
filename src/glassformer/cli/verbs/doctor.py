"""`glassformer doctor`: what is installed on this machine, what runs, what to do about the rest.

Exit code 0 if everything needed is there, 1 if something is missing.
"""

import json
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Literal

from glassformer import __version__
from glassformer.cli.output import count_columns
from glassformer.cli.parser import Arguments, Parser
from glassformer.errors import InputError
from glassformer.messages import Message, literal, message
from glassformer.render.terminal.text import fit, measure, wrap

POSITION = 180
EXAMPLES = ("glassformer doctor",)
State = Literal["good", "missing", "note"]
MARKS = {"good": "✓", "missing": "✗", "note": "·"}
REQUIRED = (
    "numpy", "torch", "transformers", "tokenizers", "safetensors", "fastapi", "uvicorn", "matplotlib",
    "anywidget", "rich",
)  # fmt: skip
OPTIONAL = ("pandas", "sacrebleu", "tensorboard", "mlflow", "wandb", "optuna", "ray")
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
        _check_packages, _check_device, _check_compiler, _check_limits, _check_page, _check_zoo, _check_fonts,
    )  # fmt: skip
    findings = [finding for check in checks for finding in check()]
    if arguments.json:
        print(json.dumps([finding.to_json() for finding in findings], ensure_ascii=False, indent=1))
    else:
        columns = count_columns()
        for finding in findings:
            topic = message(f"cli.doctor.topics.{finding.topic}", finding.topic)
            start = f"{MARKS[finding.state]} {fit(str(topic), TOPIC)} "
            width = measure(start)
            print(wrap(f"{start}{finding.text}", columns, hanging=width))
            if finding.do is not None:
                print(wrap(f"→ {finding.do}", columns, indent=width, hanging=2))
    if any(finding.state == "missing" for finding in findings):
        raise SystemExit(1)


def _judge(
    topic: str, found: Message | str | None, problem: Message, do: Message, otherwise: State = "missing"
) -> Finding:
    """What was found; where nothing was, the problem and what to do about it."""
    if found is None:
        return Finding(topic, otherwise, problem, do)
    return Finding(topic, "good", literal(found) if isinstance(found, str) else found)


def _check_packages() -> Iterator[Finding]:
    python = f"{__version__}, Python {platform.python_version()}, {sys.prefix}"
    yield Finding("glassformer", "good", literal(python))
    for name in (*REQUIRED, *OPTIONAL):
        code = "cli.doctor.package_missing" if name in REQUIRED else "cli.doctor.package_optional"
        problem = message(code, use=message(f"cli.doctor.uses.{name}"))
        install = message("cli.doctor.install", name=name)
        yield _judge(name, _find_version(name), problem, install, "missing" if name in REQUIRED else "note")


def _find_version(name: str) -> str | None:
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
    triton, install = _find_version("triton"), message("cli.doctor.install", name="triton")
    found = None if triton is None else message("cli.doctor.triton", version=triton)
    yield _judge("kernels", found, message("cli.doctor.no_triton"), install, "note")


def _check_compiler() -> Iterator[Finding]:
    found = next((name for name in ("c++", "g++", "clang++", "cl") if shutil.which(name)), None)
    install = message("cli.doctor.compiler_install")
    yield _judge("compiler", found, message("cli.doctor.no_compiler"), install, "note")


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
        found = message("cli.doctor.built") if path.is_file() else None
        problem = message("cli.doctor.not_built", file=path.name)
        yield _judge(topic, found, problem, message("cli.doctor.build"))


def _check_zoo() -> Iterator[Finding]:
    from glassformer.api.library import SHIPPED
    from glassformer.weights.hub import ZOO

    names = sorted(path.parent.name for path in ZOO.glob("*/config.json"))
    count = len(list(SHIPPED.glob("*.bundle")))
    found = message("cli.doctor.zoo", names=names, count=count) if names else None
    yield _judge("zoo", found, message("cli.doctor.no_zoo"), message("cli.doctor.install_again"))


def _check_fonts() -> Iterator[Finding]:
    from glassformer.render.figures.fonts import choose_fonts

    found = None
    with suppress(InputError, ImportError):
        found = message("cli.doctor.font", name=choose_fonts(["汤姆追逐杰瑞"])[-1])
    install = message("cli.doctor.font_install")
    yield _judge("fonts", found, message("cli.doctor.no_font"), install, "note")
