"""The playground: its topics, the result for one set of parameters, and topics that run as jobs.

In:   the name of a topic; its parameters are the query of the URL.
Out:  topics and results as JSON; a job that reports each step. Without a workbench, the shipped results of
      the defaults, and an error for anything else.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from glassformer.api.encodings import NO_STORE, REVALIDATE
from glassformer.api.jobs import Job, Playground
from glassformer.api.limits import find_client
from glassformer.api.responses import AppContext, Context, respond
from glassformer.api.routes.jobs import check_share
from glassformer.errors import ApiError
from glassformer.lessons.schema import Topic, TopicResult, read_defaults

router = APIRouter(prefix="/api", tags=["playground"])

TopicName = Annotated[str, Path(max_length=80)]

_MOST = 20  # parameters
_LONGEST = 1000  # characters of one


@router.get("/playground", response_model=list[Topic])
async def list_topics(request: Request, context: Context) -> Response:
    """Every topic with its texts and parameters."""
    bench = context.workbench
    return await respond(
        request,
        context,
        lambda: list(bench.topics() if isinstance(bench, Playground) else read_defaults().topics),
        keep=REVALIDATE,
    )


@router.get("/playground/{topic}", response_model=TopicResult)
async def play_topic(request: Request, context: Context, topic: TopicName) -> Response:
    """The result of a topic. Its parameters are in the query, as width=6; the others have their defaults.

    The result of the defaults ships, so it is there at once, also where nothing can be computed.
    """
    given = _read(request)
    if not given and topic in read_defaults().results:
        return await respond(request, context, lambda: read_defaults().results[topic], keep=REVALIDATE)
    context.access.require("runner")
    playground = _require(context)
    return await respond(request, context, lambda: playground.play(topic, given), keep=NO_STORE, slow=True)


@router.post("/playground/{topic}", status_code=202, response_model=Job)
async def start_topic(request: Request, context: Context, topic: TopicName) -> Job:
    """Run it as a job; /api/jobs/{id}/events reports each step, and `done` carries the result."""
    playground = _require(context)
    check_share(request, context)
    job = playground.start_play(topic, _read(request), context.access.owner)
    request.app.state.jobs[job.id] = find_client(request)
    return job


def _require(context: AppContext) -> Playground:
    if not isinstance(context.workbench, Playground):
        raise ApiError("api.no_workbench", status=409, why=context.why_no_workbench)
    return context.workbench


def _read(request: Request) -> dict[str, str]:
    given = dict(request.query_params)
    if len(given) > _MOST or any(len(value) > _LONGEST for value in given.values()):
        raise ApiError("api.too_many_parameters", "malformed", 422, most=_MOST, longest=_LONGEST)
    return given
