"""Access control: which requests are accepted, and the security headers of every response.

In:   every request, before any route.
Out:  the same request, or an error. Responses get headers that restrict what a browser does with them.

- Host: only names and addresses the server is known by: no foreign name can be bound to it (DNS rebinding).
- Origin and Sec-Fetch-Site: calls from pages of other sites are refused, also of other ports of this machine.
- Token: where one is set, in a header; or, for browsers, in the address with ?token=, which sets a cookie.
  The cookie is not the token: it is a time, signed with the token, until which the browser stays signed in.
- Probes: /healthz and /readyz answer one word to everybody, without host and token.
- Wrong tokens: after a few in a minute a client is refused until the minute has passed.
- Users: on a server with users a request is somebody's, or a visitor's (identity.py); rules.py decides what
  they may do. The token of the server opens the counters alone.
"""

import hmac
import ipaddress
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from glassformer.api.attempts import Attempts
from glassformer.api.languages import choose_language
from glassformer.api.roles import AGAIN, PERSON
from glassformer.api.settings import Settings
from glassformer.errors import ApiError
from glassformer.messages import message

if TYPE_CHECKING:
    from glassformer.api.identity import Identity
    from glassformer.api.people import Person

COOKIE = "glassformer_token"  # and the port behind it: cookies are shared by all ports of a machine
SESSION = "glassformer_session"  # the cookie of a person, and in the scope of a request: its Session
OWN_HEADERS = "glassformer.headers"  # in the scope: security headers that its response has instead
HEADER = "x-glassformer-token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PROBES = ("/healthz", "/readyz")  # answer one word to everybody: a balancer asks by an address
COUNTERS = "/metrics"
SIGN_IN = "/sign-in"
BRINGING = ("POST", "PUT", "PATCH")  # methods whose requests have a body: megabytes of JSON take a while
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), microphone=(self), geolocation=()",
}


def _encode(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers.items()]


_PAIRS = _encode(HEADERS)  # as they are sent
_NAMES = frozenset(name for name, _ in _PAIRS)


class Guard:
    """Middleware: rejects foreign callers and requests without the token."""

    def __init__(self, app: ASGIApp, settings: Settings, identity: "Identity | None" = None) -> None:
        self.app = app
        self.settings = settings
        self.identity = identity
        self._busy: Counter[str] = Counter()  # requests at the same time, by person or visitor
        self.hosts = {"localhost", *(host.lower().rstrip(".") for host in settings.hosts)}
        self._attempts = Attempts(settings.attempts) if identity is None else identity.attempts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        root = self.settings.root_path
        if root and scope["path"].startswith(f"{root}/"):  # a proxy may leave the path as it was
            scope["path"] = scope["path"].removeprefix(root)
        # Nobody behind this reads cookies, but the framework would take them apart for every route.
        scope["headers"] = [pair for pair in scope["headers"] if pair[0] != b"cookie"]
        probe = scope["path"] in PROBES
        response: Response | None = None
        with ExitStack() as held:
            try:
                if not probe:
                    self._check_caller(scope, headers)
                    response = self._check_sender(scope, headers)
                    held.enter_context(self._hold(scope))
            except ApiError as error:
                from glassformer.api.errors import (
                    respond_with_error,  # a page that is served needs none of it
                )

                response = respond_with_error(error, choose_language(scope))

            renewed = self._renew(scope, headers) if response is None and not probe else None

            async def send_guarded(message: Message) -> None:
                if message["type"] == "http.response.start":
                    own = scope.get(OWN_HEADERS)
                    sent = [pair for pair in message.get("headers", ()) if pair[0].lower() not in _NAMES]
                    if renewed is not None and scope.get(SESSION, True) is not None:
                        sent.append((b"set-cookie", renewed.encode("latin-1")))
                    message["headers"] = sent + (_encode(HEADERS | own) if own else _PAIRS)
                await send(message)

            await (response or self.app)(scope, receive, send_guarded)

    @contextmanager
    def _hold(self, scope: Scope) -> Iterator[None]:
        """One more request of a person, or of a visitor's address; ApiError where too many are under way."""
        if self.identity is None:
            yield
            return
        person: Person | None = scope.get(PERSON)
        whose = f"visitor {_name_client(scope)}" if person is None else f"person {person.name}"
        if self._busy[whose] >= self.settings.person_requests:
            raise ApiError("api.too_many_of_yours", "busy", 429, most=self.settings.person_requests)
        self._busy[whose] += 1
        try:
            yield
        finally:
            self._busy[whose] -= 1
            if not self._busy[whose]:
                del self._busy[whose]

    def _check_sender(self, scope: Scope, headers: Headers) -> Response | None:
        if self.identity is None:
            return self._check_token(scope, headers)
        self._identify(self.identity, scope, headers)
        if scope["method"] in BRINGING and scope["path"] != SIGN_IN:
            self._check_role(scope.get(PERSON))
        return None

    def _check_role(self, person: "Person | None") -> None:
        """ApiError where somebody brings something and may not: rules.py says the same, once it was read."""
        if person is None:
            raise ApiError("api.not_signed_in", status=401)
        if not person.may("runner"):
            raise ApiError("api.role_needed", status=403, role="runner", own=person.role)

    def accepts(self, scope: Scope, headers: Headers) -> bool:
        """Whether the caller of a request may have its answer; a token is asked for beside that."""
        try:
            self._check_caller(scope, headers)
        except ApiError:
            return False
        return True

    def _check_caller(self, scope: Scope, headers: Headers) -> None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._knows(hosts[0]):
            seen = hosts[0][:80] if hosts else "nothing"
            raise ApiError("api.foreign_host", status=421, seen=seen)
        origin = headers.get("origin")
        if origin is not None and urlsplit_safely(origin) != hosts[0].lower():
            raise ApiError("api.foreign_origin", status=403, origin=origin[:80])
        site = headers.get("sec-fetch-site", "same-origin")
        visits = (
            headers.get("sec-fetch-mode") == "navigate"
            and scope["method"] in ("GET", "HEAD")
            and not scope["path"].startswith("/api")
        )
        if site not in ("same-origin", "none") and not visits:
            raise ApiError("api.foreign_site", status=403)

    def _knows(self, host: str) -> bool:
        """Whether this server may be addressed by this name."""
        name = split_host(host)
        if name is None:
            return False
        if name in self.hosts:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return address.is_loopback or self.settings.any_address

    def _check_token(self, scope: Scope, headers: Headers) -> Response | None:
        """None for a request that may pass; else where it goes, or a page that asks for the token."""
        if self.settings.token is None:
            return None
        asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        in_api = scope["path"].startswith("/api") or scope["path"] == COUNTERS
        given = "" if in_api else next((value for name, value in asked if name == "token"), "")
        tokens = [each for each in (given, *_list_tokens(headers)) if each]
        signed_in = self._find_end(headers) is not None
        if tokens and not signed_in:
            self._attempts.check(_name_client(scope))
        if given and self._fits(given):
            rest = urlencode([(name, value) for name, value in asked if name != "token"])
            path = f"{self.settings.root_path}/" + scope["path"].lstrip("/")  # never another server's address
            redirect = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
            redirect.headers.append("set-cookie", self._make_cookie(scope, headers))
            return redirect
        if signed_in or any(map(self._fits, tokens)):
            return None
        if tokens:
            self._attempts.add(_name_client(scope))
        if in_api:
            raise ApiError("api.no_token", status=401)
        from glassformer.api.errors import respond_with_page

        return respond_with_page(message("api.locked"), choose_language(scope), 401)

    def _fits(self, given: str) -> bool:
        wanted = self.settings.token or ""
        return bool(given) and hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())

    def _identify(self, identity: "Identity", scope: Scope, headers: Headers) -> None:
        """Note whose request it is; ApiError for a token that is nobody's."""
        tokens, client = _list_tokens(headers), _name_client(scope)
        if scope["path"] == COUNTERS and tokens:  # of the server, for Prometheus
            identity.attempts.check(client)
            if any(map(self._fits, tokens)):
                from glassformer.api.people import Person

                scope[PERSON] = Person(name="prometheus", role="admin")
                return
        cookie = read_cookie(headers, SESSION)
        found = identity.find(scope, headers, cookie, tokens)
        if tokens and found.session is None:
            identity.attempts.check(client)
        if found.wrong:
            identity.attempts.add(client)
            raise ApiError("api.wrong_token", status=401)
        scope[PERSON], scope[SESSION] = found.person, found.session
        scope[AGAIN] = lambda: identity.find(scope, headers, cookie, tokens).person

    # Cookies

    def _sign(self, end: str) -> str:
        """The signature of a time; nobody without the token can make one."""
        key = (self.settings.token or "").encode()
        return hmac.new(key, f"glassformer session until {end}".encode(), "sha256").hexdigest()

    def _make_cookie(self, scope: Scope, headers: Headers) -> str:
        end = str(int(time.time()) + self.settings.session_seconds)
        return write_cookie(scope, headers, self.settings, f"{end}.{self._sign(end)}")

    def _find_end(self, headers: Headers) -> int | None:
        """Until when a browser is signed in, in seconds since 1970; None where it is not."""
        end, _, signature = read_cookie(headers).partition(".")
        if not (end.isdecimal() and len(end) < 12 and signature.isascii()):
            return None
        valid = hmac.compare_digest(signature, self._sign(end)) and int(end) > time.time()
        return int(end) if valid else None

    def _renew(self, scope: Scope, headers: Headers) -> str | None:
        """A cookie for another while, where half of its time has passed."""
        if self.identity is not None:
            session = scope.get(SESSION)
            cookie = None if session is None else self.identity.sessions.renew(session)
            return None if cookie is None else write_cookie(scope, headers, self.settings, cookie, SESSION)
        if self.settings.token is None or (end := self._find_end(headers)) is None:
            return None
        half = end - time.time() < self.settings.session_seconds / 2
        return self._make_cookie(scope, headers) if half else None


def _name_client(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def split_host(host: str) -> str | None:
    """The name in a Host header, without its port; None where it is malformed."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return None
    whole = parts.netloc == host and "@" not in host and not parts.path and not parts.query
    return parts.hostname.rstrip(".") if whole and parts.hostname else None


def urlsplit_safely(origin: str) -> str:
    """Host and port of an Origin; empty where there are none, as in `null`."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return ""
    return parts.netloc.lower() if parts.scheme in ("http", "https") else ""


def _list_tokens(headers: Headers) -> list[str]:
    """What a request may carry in its headers."""
    scheme, _, credentials = headers.get("authorization", "").partition(" ")
    bearer = credentials if scheme.lower() == "bearer" else ""  # others are for a proxy
    return [each for each in (headers.get(HEADER, ""), bearer) if each]


def name_cookie(headers: Headers, name: str = COOKIE) -> str:
    """The name of our cookie; the guard has checked the host before."""
    port = urlsplit(f"//{headers['host']}").port
    return name if port is None else f"{name}_{port}"


def write_cookie(scope: Scope, headers: Headers, settings: Settings, value: str, kind: str = COOKIE) -> str:
    """A cookie that scripts cannot read and other sites cannot send; an empty one is forgotten."""
    cookie: SimpleCookie = SimpleCookie()
    name = name_cookie(headers, kind)
    cookie[name] = value
    cookie[name].update(
        {
            "max-age": str(settings.session_seconds if value else 0),
            "path": f"{settings.root_path}/",
            "samesite": "lax",
        }
    )
    cookie[name]["httponly"] = True
    if scope.get("scheme") == "https":  # itself, or the proxy before it
        cookie[name]["secure"] = True
    return cookie[name].OutputString()


def read_cookie(headers: Headers, name: str = COOKIE) -> str:
    """The value of our cookie; empty where a browser has none.

    Others of the same host may have any form: what they say is not read. Python's own reading of 60 kB with
    quotes in it takes seconds, and it finds nothing at all where one of them is not as it expects.
    """
    wanted = name_cookie(headers, name)
    for each in ";".join(headers.getlist("cookie")).split(";"):
        found, _, value = each.partition("=")
        if found.strip() == wanted:
            return value.strip().strip('"')
    return ""
