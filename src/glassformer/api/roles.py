"""What people of a server may do, and where a request notes whose it is. Nothing heavy is imported here."""

from typing import Literal

Role = Literal["viewer", "runner", "admin"]
ROLES: tuple[Role, ...] = ("viewer", "runner", "admin")  # each may do what those before it may
PERSON = "glassformer.person"  # in the scope of a request: who sends it; None: a visitor
AGAIN = "glassformer.again"  # in the scope: a function that finds out once more who sends it
