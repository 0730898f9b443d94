"""Who sends a request, on a server with users: somebody whom a proxy names, or with a token, or a session.

In:   every request, before any route.
Out:  a Person, or nobody. What somebody may do is decided by rules.py.

The header of a proxy is believed only where the connection itself comes from an address of `--proxy`: whoever
reaches the server in another way can write any header.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from glassformer.api.attempts import Attempts
from glassformer.api.people import People, Person, is_name
from glassformer.api.sessions import Session, Sessions
from glassformer.api.settings import Settings

TRUSTED = "glassformer.from_proxy"  # in the scope of a request: its connection comes from `--proxy`


class Forwarded(ProxyHeadersMiddleware):
    """Believes addresses of `--proxy` when they say whom a request comes from, and remembers it."""

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:  # type: ignore[override]
        if scope["type"] == "http":
            client = scope.get("client")
            scope[TRUSTED] = client is not None and client[0] in self.trusted_hosts
        await super().__call__(scope, receive, send)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Found:
    """Who sends a request."""

    person: Person | None = None
    session: Session | None = None  # where a cookie says so
    wrong: bool = False  # a token was sent, and it is nobody's


class Identity:
    """Finds out who sends a request."""

    def __init__(self, people: People, settings: Settings, folder: Path | None) -> None:
        self.people = people
        self.sessions = Sessions(people, settings.session_seconds, folder)
        self.attempts = Attempts(settings.attempts)
        self.names = Attempts(5 * settings.attempts)  # of one name, by whichever clients
        self._header = settings.user_header
        self._role = settings.header_role

    def find(self, scope: Scope, headers: Headers, cookie: str, tokens: list[str]) -> Found:
        """Whom the proxy names; else whose session or token it is."""
        if self._header is not None and scope.get(TRUSTED) and headers.getlist(self._header):
            return Found(self._find_named(headers.getlist(self._header)))
        if (session := self.sessions.find(cookie)) is not None:
            return Found(session.person, session)
        for token in tokens:
            if (person := self.people.find_token(token)) is not None:
                return Found(person)
        return Found(wrong=bool(tokens))

    def _find_named(self, names: list[str]) -> Person | None:
        """The person with the name that a proxy sent; a header that came twice is somebody's trick.

        ALICE is alice: the file says how a name is written, and small letters that of whom it does not have.
        Somebody who was removed from the file is not let in as a person whom it does not list.
        """
        if len(names) != 1 or not is_name(names[0]):
            return None
        person = self.people.find(names[0])
        if person is None and self._role is not None and not self.people.was_removed(names[0]):
            return Person(name=names[0].lower(), role=self._role)
        return person

    def sign_in(self, client: str, name: str, password: str) -> str | None:
        """The cookie of a new session; None for a wrong name or password. Slow: not for the event loop."""
        key = f"name {name[:80].lower()}"
        self.attempts.check(client)
        self.names.check(key)
        person = self.people.check(name, password)
        if person is None:
            self.attempts.add(client)
            self.names.add(key)
            return None
        return self.sessions.begin(person)
