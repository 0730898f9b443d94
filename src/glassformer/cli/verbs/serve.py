"""`glassformer serve`: the page in a browser, with the recordings that ship, are opened or are made in it.

In:   bundles, an address, limits.
Out:  a running server and its address on stdout; it ends on Ctrl-C.

Torch is not imported here: the page opens at once, and a worker process loads models when they are needed.
"""

import errno
import ipaddress
import logging
import os
import re
import secrets
import signal
import socket
import sys
import threading
import webbrowser
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING
from urllib.parse import quote

from glassformer.api.roles import ROLES
from glassformer.cli.configured import add_config
from glassformer.cli.parser import Arguments, Parser
from glassformer.errors import InputError
from glassformer.messages import Message, message

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

    from glassformer.api.jobs import Workbench
    from glassformer.api.library import Library
    from glassformer.api.opening import Opening
    from glassformer.api.people import People
    from glassformer.api.settings import Settings
    from glassformer.api.training import Trainer
    from glassformer.workbench.policy import ModelPolicy

POSITION = 10
EXAMPLES = (
    "glassformer",
    "glassformer serve tom.bundle --port 8000 --no-browser",
    "glassformer serve --models my-models --keep my-recordings",
    "glassformer serve --train --data my-texts",
    "glassformer serve --users users.json --keep recordings --allow-host glass.example.org",
    "glassformer serve --config server.toml",
)
DEVICE = re.compile(r"cpu|mps|cuda(:\d{1,3})?")
PORT = 5000
LEVELS = ("debug", "info", "warning", "error")  # info: a line for each request
SHORTEST_TOKEN = 16  # characters
TRIES = 50  # ports looked at when the first is busy


def add_arguments(parser: Parser) -> None:
    """Recordings, an address, models."""
    parser.add_argument("files", metavar="FILE.bundle", nargs="*", type=Path)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, metavar="N", default=PORT)
    parser.add_argument("--no-browser", action="store_true")
    parser.add_argument("--token", default=os.environ.get("GLASSFORMER_TOKEN"))
    parser.add_argument("--token-file", metavar="FILE", type=Path)
    parser.add_argument("--no-token", action="store_true")
    parser.add_argument("--allow-host", metavar="NAME", action="append", default=[])
    parser.add_argument("--proxy", metavar="ADDRESS", action="append", default=[])
    _add_people(parser)
    parser.add_argument("--keep", metavar="FOLDER", type=Path)
    parser.add_argument("--keep-gigabytes", metavar="N", type=float)
    parser.add_argument("--models", metavar="FOLDER", type=Path, action="append", default=[])
    parser.add_argument("--runs", metavar="FOLDER", type=Path, default=Path("runs"))
    parser.add_argument("--atlases", metavar="FOLDER", type=Path, default=Path("atlases"))
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--data", metavar="FOLDER", type=Path)
    parser.add_argument("--train-jobs", metavar="N", type=int)
    parser.add_argument("--workers", metavar="N", type=int, default=1)
    parser.add_argument("--device", metavar="NAME,NAME")
    parser.add_argument("--engine", choices=("local", "ray"), default="local")
    parser.add_argument("--address", metavar="HOST:PORT")
    parser.add_argument("--model-memory", metavar="GIGABYTES", type=float)
    parser.add_argument("--offline", action="store_true")
    parser.add_argument("--no-models", action="store_true")
    parser.add_argument("--root-path", metavar="/PATH", default="")
    parser.add_argument("--tls-certificate", metavar="FILE", type=Path)
    parser.add_argument("--tls-key", metavar="FILE", type=Path)
    parser.add_argument("--log-level", choices=LEVELS, default="warning")
    parser.add_argument("--log-format", choices=("text", "json"), default="text")
    parser.add_argument("--telemetry", metavar="URL")
    add_config(parser, "serve")
    parser.add_argument("--static", metavar="FOLDER", type=Path, default=os.environ.get("GLASSFORMER_STATIC"))


def _add_people(parser: Parser) -> None:
    """Users, what each may take, and which models they may name."""
    parser.add_argument("--users", metavar="FILE", type=Path)
    parser.add_argument("--user-header", metavar="NAME")
    parser.add_argument("--header-role", choices=ROLES)
    parser.add_argument("--quota-storage", metavar="GIGABYTES", type=float)
    parser.add_argument("--quota-jobs", metavar="N", type=int)
    parser.add_argument("--quota-requests", metavar="N", type=int, default=100)
    parser.add_argument("--allow-model", metavar="PATTERN", action="append", default=[])
    parser.add_argument("--quota-model", metavar="GIGABYTES", type=float)
    parser.add_argument("--quota-download", metavar="GIGABYTES", type=float)
    parser.add_argument("--use-hub-token", action="store_true")


def run(arguments: Arguments) -> None:
    """Serve until Ctrl-C."""
    from glassformer.api.connections import fit_descriptors
    from glassformer.api.logs import set_up_logging
    from glassformer.api.opening import Opening
    from glassformer.api.tracing import collect, open_collector

    for folder in arguments.models:
        if not Path(folder).expanduser().is_dir():
            raise InputError("cli.serve.no_folder", folder=str(folder))
    _check_training(arguments)
    _check_workers(arguments)
    for address in arguments.proxy:
        _check_address(address)
    _check_certificate(arguments)
    sockets, note = _listen(arguments.host, arguments.port)
    set_up_logging(arguments.log_level, arguments.log_format)
    with ExitStack() as opened:
        if arguments.telemetry is not None:
            opened.enter_context(collect(open_collector(arguments.telemetry)))
        for each in sockets:
            opened.enter_context(each)
        people = _read_people(arguments)
        settings = fit_descriptors(_build_settings(arguments))
        limit = _read_limit(arguments)

        def build() -> "FastAPI":
            return _build_app(arguments, settings, people, limit, opened)

        early = not (arguments.files or arguments.keep or arguments.train or people)
        app = None if early else build()  # what may be wrong with these is said before the address
        token = settings.token if people is None else None  # with users it opens the counters alone
        port = sockets[0].getsockname()[1]
        address = _format_address(arguments, port, token)
        shown = _format_address(arguments, port, None if _is_token_secret(arguments) else token)
        greeting = (note, message("cli.serve.address", address=shown), message("cli.serve.end"))
        print("\n".join(str(line) for line in greeting if line is not None), flush=True)
        opening = Opening(settings, lambda: app or build(), early=early)
        _run_server(_configure(opening, arguments), sockets, None if arguments.no_browser else address)
        if opening.failure is not None:
            raise opening.failure


def _build_app(
    arguments: Arguments,
    settings: "Settings",
    people: "People | None",
    limit: int | None,
    opened: ExitStack,
) -> "FastAPI":
    """The application with what it opens, to be closed after it."""
    from glassformer.api.app import create_app
    from glassformer.api.library import Library

    library = opened.enter_context(closing(Library(arguments.keep, disk=limit)))
    if arguments.train:
        _say(message("cli.serve.trains", folder=str(arguments.data)), arguments)
    for note_of_folder in _describe_folder(arguments):
        _say(note_of_folder, arguments)
    for broken in library.broken:
        _say(message("cli.serve.left_out", error=broken), arguments)
    for file in arguments.files:
        library.open_file(file)
    workbench = None if arguments.no_models else _open_workbench(arguments, library)
    trainer = _open_trainer(arguments) if arguments.train else None
    return create_app(library, workbench, settings, trainer=trainer, people=people)


def _say(note: Message, arguments: Arguments) -> None:
    """Print a note of the start on stderr: a line, or an entry of a log in JSON, at any log level."""
    if arguments.log_format != "json":
        print(note, file=sys.stderr)
        return
    log = logging.getLogger("glassformer.server")
    log.handle(log.makeRecord(log.name, logging.INFO, __file__, 0, "%s", (note,), None))


def _read_people(arguments: Arguments) -> "People | None":
    """The people of `--users`; InputError for options that would let others in."""
    for count in (arguments.quota_jobs, arguments.quota_requests):
        if count is not None and count < 1:
            raise InputError("cli.serve.wrong_quota", value=count)
    header: str | None = arguments.user_header
    if header is not None and not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]{0,80}", header):
        raise InputError("cli.serve.wrong_header", header=header)
    if (header is not None and not (arguments.users and arguments.proxy)) or (
        arguments.header_role is not None and header is None
    ):
        raise InputError("cli.serve.header_without_proxy")
    if arguments.users is None:
        return None
    from glassformer.api.people import People

    path = Path(arguments.users).expanduser()
    people = People(path)
    _say(message("cli.serve.has_users", count=people.count(), path=str(path)), arguments)
    if os.name == "posix" and path.stat().st_mode & 0o077:
        _say(message("cli.serve.readable_users", path=str(path)), arguments)
    return people


def _read_policy(arguments: Arguments) -> "ModelPolicy":
    """Which models may be named. With users: those that the page offers, and without the operator's token."""
    from glassformer.workbench.policy import ModelPolicy
    from glassformer.workbench.published import read_published

    names = tuple(arguments.allow_model)
    if arguments.users is not None and not names:
        names = tuple(read_published())
    return ModelPolicy(
        names=names or None,
        download=_read_gigabytes(arguments.quota_download),
        memory=_read_gigabytes(arguments.quota_model),
        hub_token=arguments.use_hub_token or (arguments.users is None and not names),
    )


def _read_gigabytes(gigabytes: float | None) -> int | None:
    """Bytes; InputError for what is no size."""
    if gigabytes is not None and not 0 < gigabytes < 1e9:
        raise InputError("cli.serve.wrong_quota", value=gigabytes)
    return None if gigabytes is None else int(gigabytes * 1e9)


def _read_limit(arguments: Arguments) -> int | None:
    """Bytes of recordings that the folder keeps; None: all of them."""
    gigabytes: float | None = arguments.keep_gigabytes
    if gigabytes is None:
        return None
    if not 0 < gigabytes < 1e9 or arguments.keep is None:
        raise InputError("cli.serve.wrong_limit", gigabytes=gigabytes)
    return int(gigabytes * 1e9)


def _describe_folder(arguments: Arguments) -> list[Message]:
    """What a person should know about the folder of recordings."""
    notes = []
    if arguments.keep_gigabytes is not None:
        notes.append(
            message("cli.serve.limited", folder=str(arguments.keep), gigabytes=arguments.keep_gigabytes)
        )
    if arguments.keep is not None and os.name == "posix" and Path(arguments.keep).stat().st_mode & 0o077:
        notes.append(message("cli.serve.readable_folder", folder=str(arguments.keep)))
    return notes


def _listen(host: str, port: int) -> tuple[list[socket.socket], Message | None]:
    """Sockets at the port, or at the next free one; and a note where it is another."""
    if not 0 <= port <= 65535:
        raise InputError("cli.serve.no_port", port=port)
    last = min(port + TRIES, 65536) if port else 1
    for number in range(port, last):
        sockets = _bind(host, number)
        if sockets:
            return sockets, message("cli.serve.busy", port=port) if number != port else None
    raise InputError("cli.serve.all_busy", first=port, last=last - 1)


def _bind(host: str, port: int) -> list[socket.socket]:
    """Sockets that listen at this port; none where it is busy. Localhost has two addresses: IPv4 and IPv6."""
    sockets: list[socket.socket] = []
    for address in ("127.0.0.1", "::1") if host in ("localhost", "127.0.0.1") else (host,):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        both = address == "::" and socket.has_dualstack_ipv6()
        place = (address, sockets[0].getsockname()[1] if sockets else port)
        try:
            server = socket.create_server(place, family=family, backlog=128, dualstack_ipv6=both)
            sockets.append(_name_protocol(server))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                for other in sockets:
                    other.close()
                return []
            if not sockets:  # otherwise this machine has no IPv6
                reason = str(error.strerror).partition(" (while")[0]  # Python adds the address
                raise InputError("cli.serve.cannot_listen", address=f"{host}:{port}", error=reason) from None
    return sockets


def _name_protocol(server: socket.socket) -> socket.socket:
    """The same socket with its protocol named: asyncio sets TCP_NODELAY only where it reads IPPROTO_TCP.

    Without it a small response waits up to 40 ms for the client's acknowledgement of its header.
    """
    return socket.socket(server.family, server.type, socket.IPPROTO_TCP, fileno=server.detach())


def _build_settings(arguments: Arguments) -> "Settings":
    from glassformer.api.settings import STATIC, Settings

    local = _is_loopback(arguments.host)
    others = (not local or bool(arguments.allow_host)) and arguments.users is None
    token = _read_token(arguments, needed=others)
    names = [] if local else [socket.gethostname(), arguments.host]
    return Settings(
        token=token,
        hosts=(*arguments.allow_host, *names),
        proxies=tuple(arguments.proxy),
        person_bytes=_read_gigabytes(arguments.quota_storage),
        person_jobs=arguments.quota_jobs,
        person_requests=arguments.quota_requests,
        user_header=arguments.user_header,
        header_role=arguments.header_role,
        client_share=1.0 if local and not arguments.allow_host and arguments.users is None else 0.5,
        any_address=not local,
        static=STATIC if arguments.static is None else Path(arguments.static),
        root_path=_read_root_path(arguments.root_path),
        runs=Path(arguments.runs).expanduser(),
        atlases=Path(arguments.atlases).expanduser(),
        hidden=tuple(map(Path, (*arguments.models, *([arguments.data] if arguments.data else ())))),
        offline=arguments.offline,
        jobs=arguments.workers,
        why_no_workbench=message("api.started_without_models") if arguments.no_models else None,
    )


def _read_token(arguments: Arguments, *, needed: bool) -> str | None:
    """The token that was given, or one that is made up where others can reach the server."""
    token: str | None = arguments.token
    if arguments.token_file is not None:
        try:
            token = Path(arguments.token_file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError("cli.serve.no_token_file", path=str(arguments.token_file)) from error
    if arguments.no_token:
        if token is not None or not (_is_loopback(arguments.host) or arguments.users):
            raise InputError("cli.serve.token_needed")
        return None
    if token is None:
        return secrets.token_urlsafe(24) if needed else None
    if len(token.strip()) < SHORTEST_TOKEN:
        raise InputError("cli.serve.short_token", count=len(token.strip()), least=SHORTEST_TOKEN)
    return token


def _is_token_secret(arguments: Arguments) -> bool:
    """Whether the token comes from where secrets are kept; what a service prints is kept in a log."""
    known = os.environ.get("GLASSFORMER_TOKEN")
    return arguments.token_file is not None or (known is not None and arguments.token == known)


def _is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host == "localhost":
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def _open_workbench(arguments: Arguments, library: "Library") -> "Workbench":
    """Runs models, in processes that start when models are needed. A folder that is kept keeps the queue."""
    from glassformer.api.access import check_storage
    from glassformer.workbench import LocalWorkbench, WorkbenchSettings, open_table

    gigabytes: float | None = arguments.model_memory
    policy, most = _read_policy(arguments), _read_gigabytes(arguments.quota_storage)
    chosen = WorkbenchSettings(
        models=tuple(arguments.models),
        runs=Path(arguments.runs).expanduser(),
        offline=arguments.offline,
        jobs=arguments.workers,
        devices=_read_devices(arguments.device),
        engine=arguments.engine,
        address=arguments.address,
        loaded=None if gigabytes is None else int(gigabytes * 1e9),
        download=policy.download_most,
        model_bytes=policy.memory,
        hub_token=policy.hub_token,
    )
    return LocalWorkbench(
        chosen,
        folder=library.folder,
        add=lambda path, request, owner: library.adopt(
            path,
            request=request,
            owner=owner,
            check=lambda size: check_storage(library, owner, most, size),  # known only now
        ),
        locate=library.path,
        table=None if arguments.keep is None else open_table(library.folder),
        policy=policy,
    )


def _check_workers(arguments: Arguments) -> None:
    """Refuse numbers of workers, devices and memory that cannot be."""
    if not 1 <= arguments.workers <= 256:
        raise InputError("cli.serve.wrong_workers", count=arguments.workers)
    for device in _read_devices(arguments.device):
        if not DEVICE.fullmatch(device):
            raise InputError("cli.serve.wrong_device", device=device)
    if arguments.address is not None and arguments.engine != "ray":
        raise InputError("engine.address_of_local", address=arguments.address)
    if arguments.model_memory is not None and not 0 < arguments.model_memory < 1e6:
        raise InputError("cli.serve.wrong_model_memory", gigabytes=arguments.model_memory)


def _read_devices(text: str | None) -> tuple[str, ...]:
    """ "cuda:0,cuda:1" → the two; none: the CPU."""
    return tuple(each.strip() for each in (text or "").split(",") if each.strip())


def _check_training(arguments: Arguments) -> None:
    """Refuse options of training that do not go together."""
    if not arguments.train:
        if arguments.data is not None or arguments.train_jobs is not None:
            raise InputError("cli.serve.data_without_train")
        return
    if arguments.data is None:
        raise InputError("cli.serve.train_data")
    if not Path(arguments.data).expanduser().is_dir():
        raise InputError("cli.serve.no_data_folder", folder=str(arguments.data))
    if not 1 <= (arguments.train_jobs or 1) <= 64:
        raise InputError("cli.serve.wrong_train_jobs", count=arguments.train_jobs)


def _open_trainer(arguments: Arguments) -> "Trainer":
    """Trains runs in processes of their own."""
    from glassformer.workbench import LocalTrainer, TrainerSettings

    policy = _read_policy(arguments)

    chosen = TrainerSettings(
        runs=Path(arguments.runs).expanduser(),
        data=Path(arguments.data).expanduser(),
        models=tuple(arguments.models),
        offline=arguments.offline,
        jobs=arguments.train_jobs or 1,
        allows=policy.allows,
        download=policy.download_most,
        hub_token=policy.hub_token,
    )
    return LocalTrainer(chosen)


def _format_address(arguments: Arguments, port: int, token: str | None) -> str:
    host: str = arguments.host
    shown = "localhost" if _is_loopback(host) and ":" not in host else f"[{host}]" if ":" in host else host
    if host in ("0.0.0.0", "::"):
        shown = socket.gethostname()
    scheme = "http" if arguments.tls_certificate is None else "https"
    return f"{scheme}://{shown}:{port}/" + (f"?token={quote(token, safe='')}" if token else "")


def _check_address(address: str) -> None:
    try:
        ipaddress.ip_network(address, strict=False)
    except ValueError:
        raise InputError("cli.serve.wrong_proxy", address=address) from None


def _check_certificate(arguments: Arguments) -> None:
    """Refuse a certificate without its key, or files that do not belong together."""
    certificate, key = arguments.tls_certificate, arguments.tls_key
    if certificate is None and key is None:
        return
    if certificate is None or key is None:
        raise InputError("cli.serve.half_tls")
    import ssl

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except OSError as error:  # ssl.SSLError as well
        reason = error.strerror or str(error)
        raise InputError(
            "cli.serve.wrong_tls", certificate=str(certificate), key=str(key), error=reason
        ) from error


def _read_root_path(path: str) -> str:
    """The path below which a proxy shows this server, as /glass; empty for the root."""
    clean = path.rstrip("/")
    if clean and not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", clean):
        raise InputError("cli.serve.wrong_root_path", path=path)
    return clean


def _configure(app: "Opening", arguments: Arguments) -> "uvicorn.Config":
    """How the application is served."""
    import uvicorn

    from glassformer.api.connections import BACKLOG, make_protocol

    return uvicorn.Config(
        app,
        log_config=None,  # see set_up_logging
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,  # the application does so itself, and remembers whom a header came from
        ssl_certfile=arguments.tls_certificate,
        ssl_keyfile=arguments.tls_key,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=3,
        h11_max_incomplete_event_size=64 << 10,
        backlog=BACKLOG,
        http=make_protocol(app.settings),
        ws="none",
    )


def _run_server(config: "uvicorn.Config", sockets: list[socket.socket], address: str | None) -> None:
    """Run until a signal; the browser opens when the server answers."""
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if address is not None and _has_browser():
                threading.Thread(target=_open_browser, args=(address,), daemon=True).start()

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            opening.close()
            super().handle_exit(sig, frame)

    server = Server(config)
    opening: Opening = config.app  # type: ignore[assignment]

    def stop() -> None:
        server.should_exit = True

    opening.stop = stop
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end as after Ctrl-C
    with suppress(KeyboardInterrupt):
        server.run(sockets=sockets)


def _has_browser() -> bool:
    """Whether a browser can be expected to open a window here."""
    if os.name != "posix" or sys.platform == "darwin":
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER"))


def _open_browser(address: str) -> None:
    """Open the page; a machine without a browser has the printed address."""
    with suppress(Exception):  # the server goes on, whatever the browser does
        webbrowser.open(address)
