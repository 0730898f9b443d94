"""Every error has the same form: {"error": {"sentence": …, "code": …, "message": {…}}}.

In:   an exception raised behind any route.
Out:  a 4xx response: a sentence in the language of the request, a code for programs, the message itself.
"""

import errno
import logging
import sqlite3
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse, Response

from glassformer.api.folders import hide_folders
from glassformer.api.index import lacks_room
from glassformer.api.languages import choose_language
from glassformer.api.settings import RETRY
from glassformer.errors import ApiError, GlassformerError
from glassformer.messages import Message
from glassformer.schema import (
    LONGEST_TEXT,
    MessageField,
    ResponseModel,
    describe_faults,
    replace_surrogates,
)

log = logging.getLogger("glassformer.server")


class ErrorBody(ResponseModel):
    """What went wrong."""

    sentence: str  # the message as text, in the language of the request
    code: str  # for programs
    message: MessageField


class ErrorResponse(ResponseModel):
    """The form of every error."""

    error: ErrorBody


# For the schema: what any route may respond beside its own success.
ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ErrorResponse, "description": "An error: a sentence, a code for programs, the message."}
}


def respond_with_error(error: ApiError, language: str) -> Response:
    """An error as a response."""
    body = ErrorBody(
        sentence=replace_surrogates(error.message.text(language)[:LONGEST_TEXT]),
        code=error.code,
        message=error.message,
    )
    headers = {"retry-after": RETRY} if error.status in (429, 503) else None
    return JSONResponse(ErrorResponse(error=body).model_dump(mode="json"), error.status, headers)


def respond_with_page(text: Message, language: str, status: int) -> Response:
    """A text as a small page, where a person may open the address in a browser."""
    page = (
        f'<!doctype html><html lang="{language}"><meta charset="utf-8"><title>Glassformer</title>'
        f"<h1>Glassformer</h1><p>{escape(text.text(language))}</p></html>"
    )
    return HTMLResponse(page, status)


def install(app: FastAPI, folders: Iterable[Path]) -> None:
    """Give every error of the application its form; none says where these folders lie."""
    hidden = tuple(folders)

    async def handle(request: Request, error: Exception) -> Response:
        explained = _explain(request, error)
        shown = ApiError(hide_folders(explained.message, hidden), explained.code, explained.status)
        response = respond_with_error(shown, choose_language(request.scope))
        if isinstance(error, HTTPException):
            response.headers.update(error.headers or {})
        return response

    known = (GlassformerError, RequestValidationError, HTTPException, ClientDisconnect)
    for kind in (*known, OSError, sqlite3.OperationalError, Exception):  # the last is also re-raised
        app.add_exception_handler(kind, handle)


def _explain(request: Request, error: Exception) -> ApiError:
    """Any error as one of the API."""
    match error:
        case ApiError():
            return error
        case GlassformerError():
            return ApiError(error.message, "cannot_be", 422)
        case RequestValidationError():
            faults = [{**each, "loc": each["loc"][1:]} for each in error.errors()]
            return ApiError("api.malformed", status=422, faults=describe_faults(faults))
        case OSError() | sqlite3.OperationalError() if _lacks_room(error):
            log.warning("no room on the disk at %s", request.url.path)
            return ApiError("api.no_disk", "no_room", 503)
        case ClientDisconnect() | HTTPException():
            return _explain_http(error)
    log.error("a bug at %s", request.url.path, exc_info=error)
    return ApiError("api.bug", status=500)


def _lacks_room(error: OSError | sqlite3.OperationalError) -> bool:
    """Whether the disk is full, as a file or a database says it."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    return lacks_room(error)


def _explain_http(error: ClientDisconnect | HTTPException) -> ApiError:
    """What Starlette and FastAPI raise by themselves."""
    if isinstance(error, ClientDisconnect):
        return ApiError("api.client_left", "gone", 499)
    match error.status_code:
        case 400:  # bytes that are not JSON in UTF-8
            return ApiError("api.body_not_json", "malformed", 422)
        case 404:
            return ApiError("api.no_such_address", status=404)
        case 405:
            return ApiError("api.no_such_method", "http", 405)
        case _:
            return ApiError("api.http", status=error.status_code, detail=str(error.detail))
