"""For operators: is the server alive, can it take requests, and what is it doing.

In:   GET /healthz, /readyz, /metrics.
Out:  a word for probes, which need no token; counters for Prometheus, which needs it.
"""

from fastapi import APIRouter, Request
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import PlainTextResponse, Response

from glassformer.api.encodings import NO_STORE
from glassformer.api.responses import Context
from glassformer.api.settings import RETRY

router = APIRouter(include_in_schema=False)

_HEADERS = {"cache-control": NO_STORE}
_LATER = {**_HEADERS, "retry-after": RETRY}


@router.get("/healthz")
async def read_health() -> Response:
    """The event loop answers."""
    return PlainTextResponse("ok\n", headers=_HEADERS)


@router.get("/readyz")
async def read_readiness(request: Request, context: Context) -> Response:
    """Whether a proxy may send requests here: not while the server ends or its disk is full."""
    if request.app.state.closing.is_set():
        return PlainTextResponse("closing\n", 503, headers=_LATER)
    if not await context.threads.run(request, context.library.can_write):
        return PlainTextResponse("the folder of recordings cannot be written\n", 503, headers=_LATER)
    return PlainTextResponse("ready\n", headers=_HEADERS)


@router.get("/metrics")
async def read_counters(request: Request, context: Context) -> Response:
    """Counters as Prometheus reads them."""
    registry = request.app.state.counters.registry
    body = await context.threads.run(request, lambda: generate_latest(registry))
    return Response(body, headers={**_HEADERS, "content-type": CONTENT_TYPE_LATEST})
