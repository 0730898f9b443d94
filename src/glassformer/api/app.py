"""The application: routes, access control and limits.

In:   a Library, a Workbench or none, Settings.
Out:  an ASGI application that uvicorn, or a test, can run.
"""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Depends, FastAPI

from glassformer import __version__
from glassformer.api import errors, openapi
from glassformer.api.access import Access
from glassformer.api.atlases import Atlases
from glassformer.api.identity import Forwarded, Identity
from glassformer.api.jobs import Workbench
from glassformer.api.library import Library
from glassformer.api.limits import BodyLimit, ClientCounts, ResponseCache, ThreadPools
from glassformer.api.logs import Observer
from glassformer.api.observation import Counters
from glassformer.api.owners import Owners
from glassformer.api.people import People
from glassformer.api.responses import AppContext
from glassformer.api.routes import (
    about,
    atlases,
    effects,
    inputs,
    jobs,
    maps,
    media,
    messages,
    operations,
    playground,
    recordings,
    runs,
    searches,
    session,
    states,
    static,
    training,
    walks,
)
from glassformer.api.routes import scores as measures
from glassformer.api.rules import authorise
from glassformer.api.runs import Runs
from glassformer.api.searches import Searches
from glassformer.api.security import Guard
from glassformer.api.settings import Settings
from glassformer.api.shortcuts import Shortcuts
from glassformer.api.training import Trainer

GROUPS = (
    operations, session, about, messages, recordings, maps, media, states, measures, walks, inputs, jobs,
    effects, playground, runs, searches, atlases, training, static,
)  # fmt: skip


def create_app(
    library: Library,
    workbench: Workbench | None = None,
    settings: Settings | None = None,
    threads: ThreadPools | None = None,
    trainer: Trainer | None = None,
    people: People | None = None,
) -> FastAPI:
    """The server for some recordings; with a workbench it runs models, with a trainer it trains.

    `threads` may be shared. With `people` it has users, and everything an owner.

    >>> library = gf.Library()
    >>> app = gf.create_app(library)  # for uvicorn, or any other ASGI server
    >>> library.close()
    """
    chosen = Settings() if settings is None else settings
    folders = (chosen.runs, *([] if chosen.shipped_runs is None else [chosen.shipped_runs]))
    library.runs = tuple(folder.absolute() for folder in folders)  # others are looked for in the library's
    known_runs, searches_there = Runs(chosen.runs, chosen.shipped_runs), Searches(chosen.runs)
    owners = None if people is None else Owners(chosen.runs)
    identity = None if people is None else Identity(people, chosen, library.kept_folder)
    atlases_there = Atlases(chosen.atlases.absolute(), chosen.shipped_atlases)
    library.atlases = atlases_there.folders
    context = AppContext(
        library,
        workbench,
        chosen,
        threads or ThreadPools(chosen),
        ResponseCache(chosen.cache_bytes),
        known_runs,
        searches_there,
        Access(library, known_runs, searches_there, owners),
        atlases_there,
        trainer,
    )

    @asynccontextmanager
    async def live(_: FastAPI) -> AsyncIterator[None]:
        yield
        context.threads.close()
        if workbench is not None:
            workbench.close()
        if owners is not None:
            owners.close()

    app = FastAPI(
        title="Glassformer",
        version=__version__,
        description="Recordings of Transformers, tile by tile.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=live,
        responses=errors.ERROR_RESPONSES,
        redirect_slashes=False,
        dependencies=[Depends(authorise)],
    )
    app.state.context = context
    app.state.identity = identity
    app.state.listeners = ClientCounts(chosen.listeners, chosen.share(chosen.listeners))
    app.state.uploads = ClientCounts(chosen.uploads, chosen.share(chosen.uploads))
    app.state.jobs = {}  # ids of jobs, and the client of each
    app.state.submitting = ClientCounts(chosen.waiting, chosen.waiting)  # requests that are becoming jobs
    app.state.trainings = {}  # names of runs that are trained, and the client of each
    app.state.starting = {}  # runs that are being started, which count from the request on: their clients
    app.state.warm = False  # whether the worker process was started in advance
    app.state.closing = threading.Event()  # set when the server is about to stop: event streams end
    app.state.counters = Counters(
        context, {"event_streams": app.state.listeners, "uploads": app.state.uploads}
    )
    errors.install(app, (library.folder, *library.runs, *library.atlases, *chosen.hidden))
    openapi.install(app)
    for group in GROUPS:
        app.include_router(group.router)
    app.add_middleware(BodyLimit, settings=chosen)
    app.add_middleware(Shortcuts, context=context)
    app.add_middleware(Guard, settings=chosen, identity=identity)
    app.add_middleware(Observer, counters=app.state.counters)
    if chosen.proxies:
        app.add_middleware(Forwarded, trusted_hosts=list(chosen.proxies))
    return app
