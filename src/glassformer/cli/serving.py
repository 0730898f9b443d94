"""The verb that serves: the page in a browser, over recordings that ship, that were opened, or that are made.

In:   bundles, an address, limits.
Out:  a running server and its address on stdout; it ends on Ctrl-C.

Torch is not imported here: the page is there at once, and a worker process loads models when they are
asked for.
"""

import errno
import ipaddress
import os
import secrets
import signal
import socket
import sys
import threading
import time
import webbrowser
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from glassformer.cli.verb import Arguments, Parser
from glassformer.errors import InputError

if TYPE_CHECKING:
    from glassformer.api.jobs import JobRequest, Workbench
    from glassformer.api.library import Library
    from glassformer.api.settings import Settings

PORT = 5000
TRIES = 50  # ports looked at when the first is busy


def add_serve(parser: Parser) -> None:
    """The words of `serve`."""
    parser.add_argument("files", metavar="FILE.bundle", nargs="*", type=Path, help="recordings to show")
    parser.add_argument(
        "--host", default="127.0.0.1", help="the address to listen at (127.0.0.1: this machine only)"
    )
    parser.add_argument("--port", type=int, metavar="N", help=f"({PORT}; if it is busy, the next free one)")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument(
        "--token", help="what callers must know; where others can reach the server, one is made up"
    )
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="a name this server is called by, too",
    )
    parser.add_argument("--keep", metavar="FOLDER", type=Path, help="keep recordings made in the page there")
    parser.add_argument(
        "--models",
        metavar="FOLDER",
        type=Path,
        action="append",
        default=[],
        help="a folder with models of yours",
    )
    parser.add_argument("--offline", action="store_true", help="never ask the Hugging Face hub for a model")
    parser.add_argument("--no-models", action="store_true", help="show recordings only, run no models")
    parser.add_argument(
        "--static", metavar="FOLDER", type=Path, default=os.environ.get("GLASSFORMER_STATIC"),
        help="a page built elsewhere",
    )  # fmt: skip


def serve_at_once(_: Arguments) -> None:
    """What happens without a verb: serve with every default."""
    parser = Parser(prog="glassformer serve")
    add_serve(parser)
    run_serve(parser.parse_args([]))


def run_serve(arguments: Arguments) -> None:
    """Serve until Ctrl-C."""
    from glassformer.api.app import create_app
    from glassformer.api.library import Library

    for folder in arguments.models:
        if not Path(folder).expanduser().is_dir():
            raise InputError(f"There is no folder {str(folder)!r} to take models from; check --models.")
    lines, note = _listen(arguments.host, PORT if arguments.port is None else arguments.port)
    library = None
    try:
        settings = _settle(arguments)
        library = Library(arguments.keep)
        for sentence in library.broken:
            print(f"Left out: {sentence}", file=sys.stderr)
        for file in arguments.files:
            library.open_file(file)
        workbench = None if arguments.no_models else _open_workbench(arguments, library, settings)
        address = _spell_address(arguments.host, lines[0].getsockname()[1], settings.token)
        print(f"{note}Glassformer is at {address}\nCtrl-C ends it.", flush=True)
        app = create_app(library, workbench, settings)
        _run(app, lines, None if arguments.no_browser else address)
    finally:
        for line in lines:
            line.close()
        if library is not None:
            library.close()


def _listen(host: str, port: int) -> tuple[list[socket.socket], str]:
    """Sockets at the port, or at the next free one; and a word about it where it is another."""
    if not 0 <= port <= 65535:
        raise InputError(f"There is no port {port}; choose one from 1 to 65535, or 0 for any.")
    last = min(port + TRIES, 65536) if port else 1
    for number in range(port, last):
        lines = _bind(host, number)
        if lines:
            busy = f"Port {port} is busy; this is the next free one.\n" if number != port else ""
            return lines, busy
    raise InputError(f"Ports {port} to {last - 1} are all busy; choose one with --port.")


def _bind(host: str, port: int) -> list[socket.socket]:
    """Sockets that listen at this port; none where it is busy. Localhost has an older and a newer address."""
    lines: list[socket.socket] = []
    for each in ("127.0.0.1", "::1") if host in ("localhost", "127.0.0.1") else (host,):
        line = socket.socket(socket.AF_INET6 if ":" in each else socket.AF_INET, socket.SOCK_STREAM)
        if os.name == "posix":
            line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            line.bind((each, lines[0].getsockname()[1] if lines else port))
            line.listen(128)
            lines.append(line)
        except OSError as error:
            line.close()
            if error.errno == errno.EADDRINUSE:
                for other in lines:
                    other.close()
                return []
            if lines:  # this machine has no newer address
                continue
            raise InputError(
                f"{host}:{port} cannot be listened at ({error.strerror or error}); "
                "127.0.0.1 is this machine, 0.0.0.0 all its networks."
            ) from None
    return lines


def _settle(arguments: Arguments) -> "Settings":
    from glassformer.api.settings import STATIC, Settings

    lonely = _is_loopback(arguments.host)
    token = arguments.token
    if token is not None and not token.strip():
        raise InputError("The token is empty; give a longer one, or leave --token out.")
    if token is None and not lonely:
        token = secrets.token_urlsafe(24)
    names = [] if lonely else [socket.gethostname(), arguments.host]
    return Settings(
        token=token,
        hosts=(*arguments.allow_host, *names),
        any_address=not lonely,
        static=STATIC if arguments.static is None else Path(arguments.static),
        offline=arguments.offline,
        why_no_workbench="This server was started with --no-models." if arguments.no_models else None,
    )


def _is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host == "localhost":
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def _open_workbench(arguments: Arguments, library: "Library", settings: "Settings") -> "Workbench":
    """Whoever runs models, in a process that starts when the first model is asked for."""
    from glassformer.workbench import LocalWorkbench, WorkbenchSettings

    chosen = WorkbenchSettings(
        models=tuple(arguments.models),
        offline=settings.offline,
        queue=settings.queue,
        seconds=settings.seconds,
        characters=settings.text_characters,
        tokens=settings.tokens,
    )

    def add(path: Path, request: "JobRequest") -> str:
        return library.adopt(path, request=request)

    return LocalWorkbench(chosen, folder=library.folder, add=add)


def _spell_address(host: str, port: int, token: str | None) -> str:
    shown = "localhost" if _is_loopback(host) and ":" not in host else f"[{host}]" if ":" in host else host
    if host in ("0.0.0.0", "::"):
        shown = socket.gethostname()
    return f"http://{shown}:{port}/" + (f"?token={quote(token, safe='')}" if token else "")


def _run(app: Any, lines: list[socket.socket], address: str | None) -> None:
    """Run until a signal; the browser opens when the server answers."""
    import uvicorn

    from glassformer.api.connections import HeaderTimeoutProtocol

    config = uvicorn.Config(
        app,
        http=HeaderTimeoutProtocol,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=64 << 10,
        limit_concurrency=1000,
        ws="none",
    )

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            app.state.closing.set()
            super().handle_exit(sig, frame)

    server = Server(config)
    if address is not None and _has_browser():
        threading.Thread(target=_open_browser, args=(server, address), daemon=True).start()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever ends us so wants order, too
    with suppress(KeyboardInterrupt):
        server.run(sockets=lines)


def _has_browser() -> bool:
    """Whether a browser can be expected to open a window here."""
    if os.name != "posix" or sys.platform == "darwin":
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER"))


def _open_browser(server: Any, address: str) -> None:
    """Open the page once the server has started; a machine without a browser has the printed address."""
    for _ in range(100):
        if server.started or server.should_exit:
            break
        time.sleep(0.05)
    if server.started:
        with suppress(Exception):  # whatever a browser does wrong, the server goes on
            webbrowser.open(address)
