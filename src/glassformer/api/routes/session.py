"""Signing in and out, and who is signed in.

In:   GET and POST /sign-in, a plain form; GET and DELETE /api/session.
Out:  a page without scripts, in the language of the browser; a cookie; who it is and what they may use.
"""

from html import escape
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from glassformer.api.encodings import NO_STORE, REVALIDATE
from glassformer.api.identity import Identity
from glassformer.api.languages import choose_language
from glassformer.api.people import LONGEST_NAME
from glassformer.api.responses import AppContext, Context, respond
from glassformer.api.roles import Role
from glassformer.api.security import OWN_HEADERS, POLICY, SESSION, write_cookie
from glassformer.api.settings import RETRY
from glassformer.errors import ApiError
from glassformer.messages import Message, known_languages, message
from glassformer.schema import ResponseModel

router = APIRouter(tags=["session"])

_LONGEST_FORM = 8 << 10  # bytes
_HEADERS = {  # a form may be sent here, and its origin be named: without that it could not be checked
    "content-security-policy": POLICY.replace("form-action 'none'", "form-action 'self'"),
    "referrer-policy": "same-origin",
}
_STYLE = """\
:root {
  color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif;
  --ground: light-dark(#f7f7f8, #12141c); --panel: light-dark(#fff, #1b1e29);
  --line: light-dark(#d9d9e0, #3a3f52);
  --accent: light-dark(#4a3ec4, #a9a4ff); --on-accent: light-dark(#fff, #12141c);
  --bad: light-dark(#b3261e, #ffb4ab);
}
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--ground); }
main {
  width: min(22rem, 100vw - 2rem); box-sizing: border-box; padding: 2rem; background: var(--panel);
  border: 1px solid var(--line); border-radius: 10px;
}
h1 { display: flex; align-items: center; gap: 0.6rem; margin: 0 0 1.25rem; font-size: 1.4rem; }
h1 img { width: 2rem; height: 2rem; }
form, label { display: grid; gap: 0.25rem; }
form { gap: 1rem; }
input, button { font: inherit; padding: 0.5rem 0.65rem; border-radius: 6px; }
input { border: 1px solid var(--line); background: var(--ground); color: inherit; }
button { border: 0; background: var(--accent); color: var(--on-accent); font-weight: 600; cursor: pointer; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
nav { margin-top: 1.5rem; display: flex; gap: 1rem; }
a { color: var(--accent); }
[role="alert"] { border-inline-start: 0.25rem solid var(--bad); padding-inline-start: 0.75rem; }
"""


class SessionDescription(ResponseModel):
    """Who sends requests, as this server sees it."""

    users: bool  # whether this server has users; without them everybody may do everything
    name: str | None  # None: a visitor, or a server without users
    role: Role | None
    signs_out: bool  # whether there is a session to end: not where a proxy or a token says who it is
    storage: int | None = None  # bytes of disk that their recordings take
    storage_most: int | None = None  # bytes that they may take; None: any


@router.get("/api/session", response_model=SessionDescription)
async def read_session(request: Request, context: Context) -> Response:
    """Who is signed in."""
    person = context.access.person

    def make() -> SessionDescription:
        return SessionDescription(
            users=context.access.limited,
            name=None if person is None else person.name,
            role=None if person is None else person.role,
            signs_out=request.scope.get(SESSION) is not None,
            storage=None if person is None else context.library.bytes_of(person.name),
            storage_most=None if person is None else context.settings.person_bytes,
        )

    return await respond(request, context, make, keep=NO_STORE)


@router.delete("/api/session", status_code=204)
async def end_session(request: Request, context: Context) -> Response:
    """Sign out: the cookie opens nothing any more."""
    session, identity = request.scope.get(SESSION), request.app.state.identity
    response = Response(status_code=204, headers={"cache-control": NO_STORE})
    if session is not None:
        await context.threads.run(request, lambda: identity.sessions.end(session))
        forgotten = write_cookie(request.scope, request.headers, context.settings, "", SESSION)
        response.headers.append("set-cookie", forgotten)
        request.scope[SESSION] = None
        response.headers["clear-site-data"] = '"cache"'
    return response


@router.get("/sign-in", include_in_schema=False)
async def show_form(request: Request, context: Context) -> Response:
    """The page on which a name and a password are written."""
    return show_sign_in(request, context, request.query_params.get("next", "/"))


@router.get("/sign-in.css", include_in_schema=False)
async def read_style() -> Response:
    """The style of that page."""
    return Response(_STYLE, media_type="text/css", headers={"cache-control": REVALIDATE})


@router.post("/sign-in", include_in_schema=False)
async def sign_in(request: Request, context: Context) -> Response:
    """Begin a session, and go on to the page that was asked for."""
    identity: Identity | None = request.app.state.identity
    if identity is None:
        raise ApiError("api.no_users", status=409)
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _LONGEST_FORM:
            raise ApiError("api.body_too_long", status=413, limit=_LONGEST_FORM)
    given = dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
    name, password, goal = (given.get(each, "") for each in ("name", "password", "next"))
    client = request.client.host if request.client is not None else ""
    try:
        # Among the quick ones: measurements must not keep people out, and wrong passwords are few a minute.
        cookie = await context.threads.run(request, lambda: identity.sign_in(client, name, password))
    except ApiError as error:
        return show_sign_in(request, context, goal, error.message, error.status, name)
    if cookie is None:
        return show_sign_in(request, context, goal, message("api.sign_in.wrong"), name=name)
    response = RedirectResponse(context.settings.root_path + clean_goal(goal), 303)
    response.headers.append(
        "set-cookie", write_cookie(request.scope, request.headers, context.settings, cookie, SESSION)
    )
    request.scope[SESSION] = None  # what the browser brought along is not renewed
    return response


def lead_to_form(request: Request, context: AppContext) -> Response:
    """To the page to sign in on, and from there back to the page that was asked for.

    A browser takes along what stands behind #, which no server is told: there, too, may be a recording.
    """
    query = request.url.query
    asked = {"next": clean_goal(f"/?{query}") if query else "/"}
    if language := request.query_params.get("language"):
        asked["language"] = language
    address = f"{context.settings.root_path}/sign-in?{urlencode(asked)}"
    return RedirectResponse(address, 303, {"cache-control": NO_STORE})


def show_sign_in(
    request: Request,
    context: AppContext,
    goal: str,
    problem: Message | None = None,
    status: int = 401,
    name: str = "",
) -> Response:
    """The page to sign in on, which leads to `goal`; after a mistake with the name that was written."""
    request.scope[OWN_HEADERS] = _HEADERS
    language, root, goal = choose_language(request.scope), context.settings.root_path, clean_goal(goal)

    def say(code: str) -> str:
        return escape(message(f"api.sign_in.{code}").text(language))

    def link(code: str) -> str:
        address = escape(f"{root}/sign-in?{urlencode({'language': code, 'next': goal})}")
        name = escape(message("api.language_name").text(code))
        return f'<a href="{address}" hreflang="{code}" lang="{code}">{name}</a>'

    alert = "" if problem is None else f'<p role="alert">{escape(problem.text(language))}</p>'
    written, focus = escape(name[:LONGEST_NAME]), (" autofocus", "") if not name else ("", " autofocus")
    proxy = "" if context.settings.user_header is None else f"<p>{say('proxy')}</p>"
    page = (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{say('title')} · Glassformer</title>"
        f'<link rel="stylesheet" href="{root}/sign-in.css"></head><body><main>'
        f'<h1><img src="{root}/icon.svg" alt="">Glassformer</h1>{proxy}{alert}'
        '<form method="post">'  # to this address, so that what stands behind # comes along
        f'<label>{say("name")}<input name="name" autocomplete="username" autocapitalize="none" '
        f'value="{written}" required{focus[0]}></label>'
        f'<label>{say("password")}<input name="password" type="password" '
        f'autocomplete="current-password" required{focus[1]}></label>'
        f'<input type="hidden" name="next" value="{escape(goal)}">'
        f"<button>{say('button')}</button></form>"
        f"<nav>{''.join(map(link, known_languages()))}</nav></main></body></html>"
    )
    later = {"retry-after": RETRY} if status in (429, 503) else {}
    return HTMLResponse(page, status, headers={"cache-control": NO_STORE, **later})


def clean_goal(goal: str) -> str:
    """An address of this server; the first page where it could be another's."""
    plain = goal.startswith("/") and not goal.startswith("//") and len(goal) < 4000
    return goal if plain and goal.isascii() and goal.isprintable() and "\\" not in goal else "/"
