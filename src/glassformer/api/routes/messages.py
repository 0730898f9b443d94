"""Texts: the languages, and the catalogue of each.

In:   the code of a language.
Out:  templates by code, as JSON. docs/api.md says how a page formats messages.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from glassformer.api.encodings import REVALIDATE
from glassformer.api.responses import Context, respond
from glassformer.errors import ApiError
from glassformer.messages import known_languages, message, read_catalogue
from glassformer.messages.catalogues import FALLBACK
from glassformer.schema import ResponseModel

router = APIRouter(prefix="/api", tags=["messages"])

TERMINAL_ONLY = ("cli.", "render.")  # texts that never reach a page


class Language(ResponseModel):
    """A language that has catalogues."""

    code: str
    name: str  # in the language itself


class Catalogue(ResponseModel):
    """Every text that a page may need, in one language; in English where the language lacks it."""

    language: str
    entries: dict[str, str]  # templates by code


@router.get("/languages", response_model=list[Language])
async def list_languages(request: Request, context: Context) -> Response:
    """The languages of messages, English first."""
    name = message("api.language_name")
    found = [Language(code=code, name=name.text(code)) for code in known_languages()]
    return await respond(request, context, lambda: found, keep=REVALIDATE)


@router.get("/messages/{language}", response_model=Catalogue)
async def read_messages(
    request: Request, context: Context, language: Annotated[str, Path(max_length=40)]
) -> Response:
    """The templates of messages in a language."""
    if language not in known_languages():
        raise ApiError("api.no_language", status=404, language=language)

    def make() -> Catalogue:
        texts = {**read_catalogue(FALLBACK), **read_catalogue(language)}
        entries = {code: text for code, text in texts.items() if not code.startswith(TERMINAL_ONLY)}
        return Catalogue(language=language, entries=entries)

    return await respond(request, context, make, keep=REVALIDATE)
