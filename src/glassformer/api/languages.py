"""The language of a response: what the request asks for, among those that have catalogues.

In:   the scope of a request (ASGI).
Out:  the code of a language; that of this process where the request names none that is known.
"""

from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.types import Scope

from glassformer.messages import get_language, match_language


def choose_language(scope: Scope) -> str:
    """`?language=zh` first, then Accept-Language in the order of its preferences."""
    query = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1")))
    accepted = _read_preferences(Headers(scope=scope).get("accept-language", ""))
    wishes = map(match_language, (query.get("language", ""), *accepted))
    return next(filter(None, wishes), get_language())


def _read_preferences(header: str) -> list[str]:
    """The languages of an Accept-Language header, the preferred one first; refused ones left out."""
    weighted = []
    for entry in header[:1000].split(","):
        name, _, quality = entry.partition(";")
        try:
            weight = float(quality.strip().removeprefix("q=") or 1.0)
        except ValueError:
            weight = 0.0
        if weight > 0:
            weighted.append((weight, name.strip()))
    return [name for _, name in sorted(weighted, key=lambda pair: -pair[0])]
