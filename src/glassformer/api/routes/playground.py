"""The playground: its topics, what comes of one set of parameters, and topics that tell each step.

In:   the name of a topic; its parameters are the other words of the address.
Out:  topics and plays as JSON; a job for what is told step by step. Without a workbench, the defaults as they
      ship, and for anything else a sentence.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from glassformer.api.jobs import Job, Playground
from glassformer.api.responses import NO_STORE, REVALIDATE, AppContext, Context, respond
from glassformer.errors import ApiError
from glassformer.lessons.schema import Topic, TopicResult, read_defaults

router = APIRouter(prefix="/api", tags=["playground"])

TopicName = Annotated[str, Path(max_length=80)]

_MOST = 20  # parameters
_LONGEST = 1000  # characters of one


@router.get("/playground", response_model=list[Topic])
async def list_topics(request: Request, context: Context) -> Response:
    """Every topic with its words and parameters."""
    bench = context.workbench
    return await respond(
        request,
        context,
        lambda: list(bench.topics() if isinstance(bench, Playground) else read_defaults().topics),
        keep=REVALIDATE,
    )


@router.get("/playground/{topic}", response_model=TopicResult)
async def play_topic(request: Request, context: Context, topic: TopicName) -> Response:
    """What comes of it. Other words in the address are its parameters, as width=6; the rest are defaults.

    Without any the answer was computed before, and ships: it is there at once, also where nothing can be
    computed. Name a parameter, and it is computed here.
    """
    given = _read(request)
    if not given and topic in read_defaults().results:
        return await respond(request, context, lambda: read_defaults().results[topic], keep=REVALIDATE)
    playground = _require(context)
    return await respond(request, context, lambda: playground.play(topic, given), keep=NO_STORE, slow=True)


@router.post("/playground/{topic}", status_code=202, response_model=Job)
async def start_topic(request: Request, context: Context, topic: TopicName) -> Job:
    """Run it as a job that tells each step, heard from /api/jobs/{id}/events; `done` carries the play."""
    return _require(context).start_play(topic, _read(request))


def _require(context: AppContext) -> Playground:
    if not isinstance(context.workbench, Playground):
        raise ApiError("api.no_workbench", status=409, why=context.why_no_workbench)
    return context.workbench


def _read(request: Request) -> dict[str, str]:
    given = dict(request.query_params)
    if len(given) > _MOST or any(len(value) > _LONGEST for value in given.values()):
        raise ApiError("api.too_many_parameters", "malformed", 422, most=_MOST, longest=_LONGEST)
    return given
