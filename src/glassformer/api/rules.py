"""What each route needs, on a server with users: a role, and the right to what its address names.

In:   a request that was routed.
Out:  nothing; or an error, the same for what is not there and what is not this person's.

Every route has a line here. One that has none answers nobody, and fails tests/api/test_rules.py. Lists, and
ids in bodies (parents, models), are the business of the routes themselves, by `context.access`.
"""

from typing import Literal, NamedTuple

from fastapi import Request

from glassformer.api.responses import AppContext, Context
from glassformer.api.roles import Role
from glassformer.errors import ApiError

Subject = Literal["recording", "run", "search", "job", "training", "atlas"]


class Rule(NamedTuple):
    """What a route needs."""

    role: Role | None  # None: visitors may come, too
    subject: Subject | None = None  # what {id} in its address names
    change: bool = False  # whether the subject must be this person's own


_OPEN = Rule(None)
_READ = Rule(None, "recording")
_READ_RUN = Rule(None, "run")
_READ_ATLAS = Rule(None, "atlas")
_RUN = Rule("runner")

RULES: dict[tuple[str, str], Rule] = {
    # the page, its texts, and probes of balancers
    ("GET", "/{path:path}"): _OPEN,
    ("HEAD", "/{path:path}"): _OPEN,
    ("GET", "/sign-in"): _OPEN,
    ("POST", "/sign-in"): _OPEN,
    ("GET", "/sign-in.css"): _OPEN,
    ("GET", "/healthz"): _OPEN,
    ("GET", "/readyz"): _OPEN,
    ("GET", "/metrics"): Rule("admin"),
    ("GET", "/api/about"): _OPEN,
    ("GET", "/api/docs"): _OPEN,
    ("GET", "/api/languages"): _OPEN,
    ("GET", "/api/messages/{language}"): _OPEN,
    ("GET", "/api/metrics"): _OPEN,
    ("GET", "/api/session"): _OPEN,
    ("DELETE", "/api/session"): _OPEN,
    # recordings
    ("GET", "/api/recordings"): _OPEN,  # lists what this person may see
    ("POST", "/api/recordings"): _RUN,
    ("GET", "/api/recordings/{id}"): _READ,
    ("DELETE", "/api/recordings/{id}"): Rule("runner", "recording", change=True),
    ("PUT", "/api/recordings/{id}/visibility"): Rule("runner", "recording", change=True),
    ("GET", "/api/recordings/{id}/tokens/{side}"): _READ,
    ("GET", "/api/recordings/{id}/picture"): _READ,
    ("GET", "/api/recordings/{id}/sound"): _READ,
    ("GET", "/api/recordings/{id}/bundle"): _READ,
    ("GET", "/api/recordings/{id}/branches"): _READ,
    ("PUT", "/api/recordings/{id}/branch"): Rule("runner", "recording", change=True),
    ("GET", "/api/recordings/{id}/thumbnails"): _READ,
    ("GET", "/api/recordings/{id}/maps/{place}/weights"): _READ,
    ("GET", "/api/recordings/{id}/maps/{place}/scores"): _READ,
    ("GET", "/api/recordings/{id}/maps/{place}/tiles/{head}/{level}/{row}/{column}"): _READ,
    ("GET", "/api/recordings/{id}/maps/{place}/statistics"): _READ,
    ("GET", "/api/recordings/{id}/maps/{place}/vectors/{what}"): _READ,
    ("GET", "/api/recordings/{id}/average"): _READ,
    ("GET", "/api/recordings/{id}/hidden/{stack}/activations"): _READ,
    ("GET", "/api/recordings/{id}/hidden/{stack}/{layer}"): _READ,
    ("GET", "/api/recordings/{id}/distribution"): _READ,
    ("GET", "/api/recordings/{id}/scores/{metric}"): _READ,
    ("GET", "/api/recordings/{id}/flow"): _READ,
    ("GET", "/api/recordings/{id}/walk"): _READ,
    ("GET", "/api/recordings/{id}/trace/{name:path}"): _READ,
    ("GET", "/api/recordings/{id}/cell/{step}"): _READ,
    # models and jobs
    ("GET", "/api/models"): _OPEN,  # visitors get none
    ("GET", "/api/presets"): _OPEN,
    ("GET", "/api/jobs"): _OPEN,  # lists this person's
    ("POST", "/api/inputs"): _RUN,
    ("POST", "/api/jobs"): _RUN,
    ("GET", "/api/jobs/{id}"): Rule("viewer", "job"),
    ("DELETE", "/api/jobs/{id}"): Rule("viewer", "job"),
    ("GET", "/api/jobs/{id}/events"): Rule("viewer", "job"),
    ("POST", "/api/effects"): _RUN,
    ("POST", "/api/patching"): _RUN,
    ("GET", "/api/playground"): _OPEN,
    ("GET", "/api/playground/{topic}"): _OPEN,  # what has to be computed is for runners
    ("POST", "/api/playground/{topic}"): _RUN,
    # training runs and searches
    ("GET", "/api/runs"): _OPEN,  # lists what this person may see
    ("GET", "/api/runs/{id}"): _READ_RUN,
    ("GET", "/api/runs/{id}/series"): _READ_RUN,
    ("GET", "/api/runs/{id}/heads"): _READ_RUN,
    ("GET", "/api/runs/{id}/probes"): _READ_RUN,
    ("GET", "/api/runs/{id}/samples"): _READ_RUN,
    ("GET", "/api/runs/{id}/events"): _READ_RUN,
    ("PUT", "/api/runs/{id}/visibility"): Rule("runner", "run", change=True),
    ("GET", "/api/searches"): _OPEN,  # lists what this person may see
    ("GET", "/api/searches/{id}"): Rule(None, "search"),
    ("PUT", "/api/searches/{id}/visibility"): Rule("runner", "search", change=True),
    ("GET", "/api/atlases"): _OPEN,  # lists what this person may see
    ("GET", "/api/atlases/{id}"): _READ_ATLAS,
    ("GET", "/api/atlases/{id}/heads"): _READ_ATLAS,
    ("GET", "/api/atlases/{id}/beside/{other}"): _READ_ATLAS,  # the route checks the other one
    ("PUT", "/api/atlases/{id}/visibility"): Rule("runner", "atlas", change=True),
    ("GET", "/api/training"): _OPEN,  # lists what this person may see
    ("GET", "/api/training/schema"): _RUN,
    ("GET", "/api/training/recipes"): _RUN,
    ("GET", "/api/training/data"): _RUN,
    ("POST", "/api/training/check"): _RUN,
    ("POST", "/api/training"): _RUN,
    ("GET", "/api/training/{id}/recipe"): Rule("runner", "training"),
    ("POST", "/api/training/{id}/stop"): Rule("runner", "training", change=True),
    ("POST", "/api/training/{id}/resume"): Rule("runner", "training", change=True),
    ("POST", "/api/training/{id}/fork"): Rule("runner", "training"),
    ("DELETE", "/api/training/{id}"): Rule("runner", "training", change=True),
}


async def authorise(request: Request, context: Context) -> None:
    """Refuse a request that its sender may not make; on a server without users, none."""
    if not context.access.limited:
        return
    rule = RULES.get((request.method, request.scope["route"].path))
    if rule is None:
        raise ApiError("api.no_such_address", status=404)
    if rule.role is not None:
        context.access.require(rule.role)
    if rule.subject is not None:
        _require(context, rule, request.path_params["id"])


def _require(context: AppContext, rule: Rule, id: str) -> None:
    access = context.access
    match rule.subject:
        case "recording":
            access.require_recording(id, change=rule.change)
        case "search":
            access.require_search(id, change=rule.change)
        case "run" | "training":
            access.require_run(id, change=rule.change)
        case "atlas":
            access.require_atlas(id, change=rule.change)
        case "job" if context.workbench is not None:
            access.require_job(context.workbench, id)
