"""Every error is a sentence: {"error": {"sentence": …, "code": …, "zh": …}}.

In:   what went wrong anywhere behind a route.
Out:  a 4xx answer with a sentence for a person, in English and Chinese, and a code for a program.
"""

import logging
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response

from glassformer.api.chinese import translate
from glassformer.errors import ApiError, GlassformerError
from glassformer.schema import ResponseModel

log = logging.getLogger("glassformer.server")


class ErrorBody(ResponseModel):
    """What went wrong."""

    sentence: str
    code: str
    zh: str | None = None  # the sentence in Chinese, where it is known


class ErrorResponse(ResponseModel):
    """The form of every error."""

    error: ErrorBody


_SENTENCES = {
    404: "There is nothing at this address. The list of addresses is at /api/docs.",
    405: "This address does not take this method. /api/docs says which it takes.",
}

# For the schema: what any route may answer beside its own success.
ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ErrorResponse, "description": "A refusal in one sentence, and a code for programs."}
}


def error_response(status: int, code: str, sentence: str) -> Response:
    """An error as an answer."""
    return JSONResponse(
        {"error": {"sentence": sentence, "code": code, "zh": translate(sentence, code)}}, status
    )


def install(app: FastAPI) -> None:
    """Let every error of the application be a sentence."""

    async def refuse(_: Request, error: Exception) -> Response:
        known = cast(ApiError, error)
        return error_response(known.status, known.code, str(known))

    async def refuse_ours(_: Request, error: Exception) -> Response:
        return error_response(422, "cannot_be", str(error))

    async def refuse_fields(_: Request, error: Exception) -> Response:
        return error_response(422, "malformed", describe_invalid_fields(cast(RequestValidationError, error)))

    async def refuse_http(_: Request, error: Exception) -> Response:
        known = cast(HTTPException, error)
        if known.status_code == 400:  # what FastAPI says of bytes that are no text
            return error_response(
                422, "malformed", "The body cannot be read. Wanted JSON in UTF-8. Send it again."
            )
        sentence = _SENTENCES.get(known.status_code, str(known.detail))
        answer = error_response(
            known.status_code, "no_such_address" if known.status_code == 404 else "http", sentence
        )
        for name, value in (known.headers or {}).items():
            answer.headers[name] = value
        return answer

    async def handle_disconnect(_: Request, __: Exception) -> Response:
        return error_response(499, "gone", "Whoever sent this left before its end. Send it again.")

    async def handle_crash(request: Request, error: Exception) -> Response:
        log.error("a bug at %s", request.url.path, exc_info=error)
        return error_response(
            500, "bug", "Something broke here that should not. The terminal of the server says what."
        )

    app.add_exception_handler(ApiError, refuse)
    app.add_exception_handler(GlassformerError, refuse_ours)
    app.add_exception_handler(RequestValidationError, refuse_fields)
    app.add_exception_handler(HTTPException, refuse_http)
    app.add_exception_handler(ClientDisconnect, handle_disconnect)
    app.add_exception_handler(Exception, handle_crash)


def describe_invalid_fields(error: RequestValidationError) -> str:
    """What is wrong with the fields of a question, in one sentence."""
    found = []
    for each in error.errors()[:3]:
        place = ".".join(str(part) for part in each["loc"][1:]) or "the body"
        found.append(f"{place[:80]}: {str(each['msg'])[:200]}")
    return f"The question is malformed ({'; '.join(found)}). /api/docs says what each address takes."
