"""Who may see and change what, on a server with users.

In:   a Person, or nobody; ids of recordings, runs, searches and jobs, as anybody may write them.
Out:  yes or no; where it is no, the same error as for what is not there.

Something is private (its owner's), shared with the team (everybody who signed in) or public (whoever has the
link; the team lists it, too). Only its owner and admins change it. Ids that are made of others obey them: a
difference is as private as its two recordings, a probe as its run, an example as its atlas. Without users
everything is allowed.
"""

from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeVar

from glassformer.api.examples import read_example_id
from glassformer.api.index import Reader
from glassformer.api.jobs import Job, JobRequest, Workbench
from glassformer.api.library import Library
from glassformer.api.owners import PUBLIC, Owners, Ownership
from glassformer.api.people import Person
from glassformer.api.probes import read_id
from glassformer.api.roles import Role
from glassformer.api.runs import RunEntry, Runs
from glassformer.api.searches import Searches
from glassformer.errors import ApiError

Run = TypeVar("Run", bound=RunEntry)

OF_RUN = "run:"  # before the name of a training run whose network is used as a model
SEPARATOR = "__"  # between the name of a person and that of a run


def check_storage(library: Library, owner: str | None, most: int | None, more: int = 0) -> None:
    """ApiError where somebody's recordings take more disk than they may, or would with so many bytes."""
    if most is None or owner is None:
        return
    used = library.bytes_of(owner)
    if used + more > most or used >= most:
        sizes: dict[str, Any] = {"used": used / 1e6, "most": most / 1e6}
        if more and used < most:
            raise ApiError("api.storage_left", "storage_full", 413, **sizes, more=more / 1e6)
        raise ApiError("api.storage_full", status=413, **sizes)


@dataclass(frozen=True, slots=True)
class Access:
    """What one person, or a visitor who has not signed in, may do."""

    library: Library
    runs: Runs
    searches: Searches
    owners: Owners | None  # None: this server has no users, and everybody may do everything
    person: Person | None = None

    def of(self, person: Person | None) -> "Access":
        """The same for somebody else."""
        return replace(self, person=person)

    @property
    def limited(self) -> bool:
        """Whether this server has users."""
        return self.owners is not None

    @property
    def owner(self) -> str | None:
        """Whose is what is made now."""
        return None if self.person is None else self.person.name

    @property
    def reader(self) -> Reader | None:
        """Whose list of recordings is wanted; None: all of them."""
        return None if not self.limited or self.may("admin") else Reader(self.owner)

    def may(self, role: Role) -> bool:
        """Whether this is allowed to somebody with this role."""
        return not self.limited or (self.person is not None and self.person.may(role))

    def require(self, role: Role) -> None:
        """ApiError for somebody with less than this role."""
        if self.may(role):
            return
        if self.person is None:
            raise ApiError("api.not_signed_in", status=401)
        raise ApiError("api.role_needed", status=403, role=role, own=self.person.role)

    def require_users(self) -> Owners:
        """The owners of runs; ApiError on a server without users."""
        if self.owners is None:
            raise ApiError("api.no_users", status=409)
        return self.owners

    def check_storage(self, most: int | None, more: int = 0) -> None:
        """ApiError where somebody's recordings take more disk than they may, or would with so many bytes."""
        check_storage(self.library, self.owner, most, more)

    # Recordings

    def sees(self, id: str) -> bool:
        """Whether a recording can be read; of a difference, both."""
        return all(self._allows(whose, change=False) for whose in self._find_recordings(id))

    def require_recording(self, id: str, *, change: bool = False) -> None:
        """ApiError where there is no such recording for this person."""
        whose = self._find_recordings(id)
        if not all(self._allows(each, change=False) for each in whose):
            raise ApiError("api.no_recording_for_you", "no_recording", 404, id=id[:80])
        if not all(self._allows(each, change=change) for each in whose):
            self._refuse()

    def _find_recordings(self, id: str) -> list[Ownership | None]:
        if not self.limited:
            return []
        return [self._find_recording(each) for each in self.library.split(id) or (id,)]

    def _find_recording(self, id: str) -> Ownership | None:
        if parts := read_id(id):
            return self._find_run(parts[0])
        if example := read_example_id(id):
            return self._find_atlas(example[0])
        return self.library.ownership(id)

    # Atlases

    def sees_atlas(self, id: str) -> bool:
        """Whether an atlas can be read."""
        return not self.limited or self._allows(self._find_atlas(id), change=False)

    def lists_atlas(self, id: str) -> bool:
        """Whether an atlas is in this person's list; visitors get what ships."""
        return self.sees_atlas(id) if self._is_somebody else self.library.ships_atlas(id)

    def require_atlas(self, id: str, *, change: bool = False) -> None:
        """ApiError where there is no such atlas for this person."""
        if not self.sees_atlas(id):
            raise ApiError("api.no_atlas", status=404, id=id[:80])
        if change and self.limited and not self._allows(self._find_atlas(id), change=True):
            self._refuse()

    def _find_atlas(self, id: str) -> Ownership | None:
        if self.owners is None or self.library.ships_atlas(id):
            return PUBLIC
        return self.owners.find("atlas", id) if self.library.has_atlas(id) else None

    # Runs and searches

    def sees_run(self, id: str) -> bool:
        """Whether a training run can be read."""
        return not self.limited or self._allows(self._find_run(id), change=False)

    def sees_search(self, id: str) -> bool:
        """Whether a search can be read."""
        return not self.limited or self._allows(self._find_search(id), change=False)

    def lists_run(self, id: str) -> bool:
        """Whether a run is in this person's list: visitors get what ships, and what they have a link to."""
        return self.sees_run(id) if self._is_somebody else bool(self.runs.is_shipped(id))

    def lists_search(self, id: str) -> bool:
        """Whether a search is in this person's list."""
        return self.sees_search(id) if self._is_somebody else bool(self.searches.is_shipped(id))

    @property
    def _is_somebody(self) -> bool:
        return not self.limited or self.person is not None

    def require_run(self, id: str, *, change: bool = False) -> None:
        """ApiError where there is no such run for this person."""
        if not self.sees_run(id):
            raise ApiError("api.no_run_for_you", "no_run", 404, id=id[:80])
        if change and self.limited and not self._allows(self._find_run(id), change=True):
            self._refuse()

    def require_search(self, id: str, *, change: bool = False) -> None:
        """ApiError where there is no such search for this person."""
        if not self.sees_search(id):
            raise ApiError("api.no_search", status=404, id=id[:80])
        if change and self.limited and not self._allows(self._find_search(id), change=True):
            self._refuse()

    def describe_run(self, entry: Run) -> Run:
        """The same with its owner, for those who may know: not for visitors."""
        whose = self._find_run(entry.id) if self.limited and self.person is not None else None
        if whose is None:
            return entry
        return entry.model_copy(update={"owner": whose.owner, "visibility": whose.visibility})

    def name_run(self, name: str) -> str:
        """The name of a new run: with that of its owner in front, it is nobody else's.

        Otherwise a name that is taken would tell what others have.
        """
        if not self.limited or self.owner is None:
            return name
        prefix = self.owner.replace("@", "_at_").replace("+", "_") + SEPARATOR
        return name if name.startswith(prefix) else prefix + name

    def _find_run(self, id: str) -> Ownership | None:
        shipped = self.runs.is_shipped(id)
        if shipped or self.owners is None:
            return PUBLIC
        return None if shipped is None and not self._starts(id) else self.owners.find("run", id)

    def _starts(self, id: str) -> bool:
        """Whether a run is being started, and has no folder yet: it has an owner already."""
        return self.owners is not None and self.owners.find("run", id).owner is not None

    def _find_search(self, id: str) -> Ownership | None:
        shipped = self.searches.is_shipped(id)
        if shipped or self.owners is None:
            return PUBLIC
        return None if shipped is None else self.owners.find("search", id)

    # Jobs

    def sees_job(self, job: Job) -> bool:
        """Whether a job is one's own."""
        return not self.limited or self._allows(Ownership(job.owner), change=True)

    def require_job(self, workbench: Workbench, id: str) -> None:
        """ApiError where there is no such job for this person."""
        if self.limited and not self.sees_job(workbench.job(id)):
            raise ApiError("workbench.no_job", code="no_job", status=404)

    def check_request(self, request: JobRequest) -> None:
        """ApiError for a request that leads to what this person cannot read."""
        if not self.limited:
            return
        for recording in filter(None, (request.parent, request.media_of)):
            self.require_recording(recording)
        if request.model.startswith(OF_RUN) and not self.sees_run(name := request.model.removeprefix(OF_RUN)):
            raise ApiError("workbench.no_run_model", code="no_model", status=404, name=name)

    # Decisions

    def _allows(self, whose: Ownership | None, *, change: bool) -> bool:
        """Whether this person may read something, or change it; None: it is not there."""
        if whose is None:
            return False
        if self.person is None:
            return whose.visibility == "public" and not change
        mine = whose.owner == self.person.name or self.person.role == "admin"
        return mine or (whose.visibility != "private" and not change)

    def _refuse(self) -> NoReturn:
        """ApiError for what can be read, and is another's."""
        raise ApiError("api.not_yours", status=403)
