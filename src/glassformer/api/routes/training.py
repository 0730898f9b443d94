"""Training from the page, where the server allows it: start, stop, resume, fork and remove runs.

In:   recipes from anybody who may use the server. They reach no file outside the data folder, no plug-in and
      no command; what is refused starts nothing and writes nothing.
Out:  JSON. Curves and events of the runs are at /api/runs.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from glassformer.api.encodings import NO_STORE
from glassformer.api.limits import find_client
from glassformer.api.responses import AppContext, Context, respond
from glassformer.api.training import (
    CheckedRecipe,
    CheckRequest,
    DataFiles,
    ForkRequest,
    RecipeSchema,
    ResumeRequest,
    RunRecipe,
    ShippedRecipe,
    StartRequest,
    Trainer,
    Training,
    TrainingOverview,
)
from glassformer.errors import ApiError
from glassformer.messages import message

router = APIRouter(prefix="/api/training", tags=["training"])

RunId = Annotated[str, Path(max_length=255, description="the name of a run")]


@router.get("", response_model=TrainingOverview)
async def read_training(request: Request, context: Context) -> Response:
    """Whether this server trains, and what it trains now."""
    trainer = context.trainer

    def make() -> TrainingOverview:
        if trainer is None or not context.access.may("runner"):
            return TrainingOverview(allowed=False, why_not=message("api.no_training"), most=0, runs=())
        return TrainingOverview(
            allowed=True,
            why_not=None,
            most=trainer.most,
            runs=tuple(each for each in trainer.trainings() if context.access.sees_run(each.id)),
        )

    return await respond(request, context, make, keep=NO_STORE)


@router.get("/schema", response_model=RecipeSchema)
async def read_schema(request: Request, context: Context) -> Response:
    """Every setting of a recipe, for forms."""
    trainer = _require(context)
    return await respond(request, context, trainer.schema, keep=NO_STORE)


@router.get("/recipes", response_model=list[ShippedRecipe])
async def list_recipes(request: Request, context: Context) -> Response:
    """Recipes to begin with."""
    trainer = _require(context)
    return await respond(request, context, trainer.recipes, keep=NO_STORE)


@router.get("/data", response_model=DataFiles)
async def list_data(
    request: Request, context: Context, search: Annotated[str, Query(max_length=200)] = ""
) -> Response:
    """Files of the data folder whose path has a text in it."""
    trainer = _require(context)
    return await respond(request, context, lambda: trainer.data(search), keep=NO_STORE)


@router.post("/check", response_model=CheckedRecipe)
async def check_recipe(request: Request, context: Context, recipe: CheckRequest) -> CheckedRecipe:
    """What is wrong with a recipe, what it would take, and its text; nothing is started."""
    trainer = _require(context)
    return await context.threads.run(request, lambda: trainer.check(recipe))


@router.post("", status_code=202, response_model=Training)
async def start_training(request: Request, context: Context, start: StartRequest) -> Training:
    """Begin a new run."""
    trainer = _require(context)
    named = start.model_copy(update={"name": context.access.name_run(start.name)})
    return await _begin(request, context, lambda: trainer.start(named), named.name)


@router.get("/{id}/recipe", response_model=RunRecipe)
async def read_recipe(request: Request, context: Context, id: RunId) -> Response:
    """The settings of a run, and the steps that it can be forked at."""
    trainer = _require(context)

    def make() -> RunRecipe:
        with _hiding_others(context):
            return trainer.recipe_of(id)

    return await respond(request, context, make, keep=NO_STORE)


@router.post("/{id}/stop", status_code=202, response_model=Training)
async def stop_training(request: Request, context: Context, id: RunId) -> Training:
    """Let a run end its step, write a checkpoint and stop."""
    trainer = _require(context)

    def work() -> Training:
        with _hiding_others(context):
            return trainer.stop(id)

    return await context.threads.run(request, work)


@router.post("/{id}/resume", status_code=202, response_model=Training)
async def resume_training(request: Request, context: Context, id: RunId, resume: ResumeRequest) -> Training:
    """Continue a run from its newest checkpoint."""
    trainer = _require(context)
    return await _begin(request, context, lambda: trainer.resume(id, resume))


@router.post("/{id}/fork", status_code=202, response_model=Training)
async def fork_training(request: Request, context: Context, id: RunId, fork: ForkRequest) -> Training:
    """Begin a new run at a checkpoint of another one, with other settings of training."""
    trainer = _require(context)
    named = fork.model_copy(update={"name": context.access.name_run(fork.name)})
    return await _begin(request, context, lambda: trainer.fork(id, named), named.name)


@router.delete("/{id}", status_code=204)
async def remove_run(request: Request, context: Context, id: RunId) -> None:
    """Delete a run that is not trained, with all its checkpoints."""
    trainer = _require(context)

    def work() -> None:
        with _hiding_others(context):
            trainer.remove(id)
        if context.access.owners is not None:
            context.access.owners.remove("run", id)

    await context.threads.run(request, work)


async def _begin(
    request: Request, context: AppContext, begin: Callable[[], Training], new: str | None = None
) -> Training:
    """Begin training for a client that does not have its share of processes yet; `new` names a new run."""
    trainer = _require(context)
    clients: dict[str, str] = request.app.state.trainings
    starting: dict[object, str] = request.app.state.starting
    share, client = context.settings.share(trainer.most), find_client(request)
    before = set(clients)
    trainings = await context.threads.run(request, trainer.trainings)
    for id in before - {each.id for each in trainings if each.state not in ("ended", "failed")}:
        clients.pop(id, None)
    if [*clients.values(), *starting.values()].count(client) >= share:
        raise ApiError("api.too_many_trainings", "busy", 429, count=share)
    place, began = object(), threading.Event()
    starting[place] = client

    def work() -> Training:
        began.set()
        try:
            with _hiding_others(context), _owning(context, new):
                training = begin()
            clients[training.id] = client  # here: a client that has left meanwhile has this run all the same
            return training
        finally:
            starting.pop(place, None)

    try:
        return await context.threads.run(request, work)
    finally:
        if not began.is_set():
            starting.pop(place, None)


@contextmanager
def _owning(context: AppContext, new: str | None) -> Iterator[None]:
    """The new run is this person's before it is there; nobody's where it was not started.

    Two of the same name begin one after the other: what fails must not give away what has begun.
    """
    owners, owner = context.access.owners, context.access.owner
    if owners is None or owner is None or new is None:
        yield
        return
    with owners.holding(new):
        claimed = owners.claim("run", new, owner)
        if not claimed and owners.find("run", new).owner not in (None, owner):
            raise ApiError("workbench.training.name_taken", "name", 409, name=new)
        try:
            yield
        except BaseException:
            if claimed:
                owners.remove("run", new)
            raise


@contextmanager
def _hiding_others(context: AppContext) -> Iterator[None]:
    """On a server with users, errors do not name the runs of others."""
    try:
        yield
    except ApiError as error:
        hidden = {"workbench.training.no_run": "api.no_run", "workbench.training.busy": "api.trains_enough"}
        code = hidden.get(error.message.code) if context.access.limited else None
        if code is None:
            raise
        given = error.message.parameters
        raise ApiError(
            code, error.code, error.status, id=given.get("id", ""), most=given.get("most", 0)
        ) from None


def _require(context: AppContext) -> Trainer:
    if context.trainer is None:
        raise ApiError("api.no_training", status=409)
    return context.trainer
