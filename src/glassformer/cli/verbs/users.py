"""`glassformer users`: who may use a server of `glassformer serve --users FILE`, and as what."""

import getpass
import sys
from pathlib import Path

from glassformer.api.roles import ROLES
from glassformer.cli.output import count_columns, has_colour
from glassformer.cli.parser import Arguments, Parser
from glassformer.errors import InputError
from glassformer.messages import message

POSITION = 175
EXAMPLES = (
    "glassformer users add alice --role admin",
    "glassformer users add build-server --role runner --no-password",
    "glassformer users token build-server",
    "glassformer users role alice runner",
    "glassformer users passwd alice",
    "glassformer users remove alice",
)
FILE = Path("users.json")


def add_arguments(parser: Parser) -> None:
    """What to do with whom, and the file."""
    words = "list | add NAME | passwd NAME | token NAME | role NAME ROLE | remove NAME"
    parser.add_argument("words", metavar=words, nargs="*")
    parser.add_argument("--file", metavar="FILE", type=Path, default=FILE)
    parser.add_argument("--role", choices=ROLES, default="viewer")
    parser.add_argument("--no-password", action="store_true")
    parser.add_argument("--same-person", action="store_true")
    parser.add_argument("--revoke", action="store_true")


def run(arguments: Arguments) -> None:
    """List people, or change one. Hashes are never printed; a token is, once."""
    path = Path(arguments.file).expanduser()
    match arguments.words:
        case [] | ["list"]:
            _list(path)
        case ["add", name]:
            _add(path, name, arguments)
        case ["passwd", name]:
            _set_password(path, name)
        case ["token", name]:
            _make_token(path, name, revoke=arguments.revoke)
        case ["role", name, role]:
            _set_role(path, name, role)
        case ["remove", name]:
            _remove(path, name)
        case _:
            raise InputError("cli.users.words", words=" ".join(arguments.words))


def _list(path: Path) -> None:
    from glassformer.api.people import read_people
    from glassformer.render.terminal.tables import draw_table

    people = read_people(path)
    if not people:
        print(message("cli.users.nobody", path=str(path)))
        return
    headers = ("name", "role", "password", "tokens")
    rows = [tuple(str(message(f"cli.users.columns.{name}")) for name in headers)]
    rows += [
        (each.name, each.role, "–" if each.password is None else "✓", str(len(each.tokens)))
        for each in people
    ]
    print(draw_table(rows, right={3}, columns=count_columns(), colour=has_colour()))


def _add(path: Path, name: str, arguments: Arguments) -> None:
    from glassformer.api.people import (
        Person,
        add_person,
        change_people,
        find_removed,
        hash_password,
        read_people,
    )

    add_person({each.name: each for each in read_people(path)} if path.exists() else {}, name, "viewer")
    former = find_removed(path, name) if path.exists() else None
    if former is not None and not arguments.same_person:
        raise InputError("api.people.removed", name=former)
    name = former or name  # what is theirs is kept under the name as it was written
    kept = None if arguments.no_password else hash_password(_ask_password())  # once the name is possible

    def change(people: dict[str, Person]) -> None:
        add_person(people, name, arguments.role)
        people[name] = people[name].model_copy(update={"password": kept})

    change_people(path, change, create=True, same_person=arguments.same_person)
    print(message("cli.users.added", name=name, role=arguments.role, path=str(path)))


def _set_password(path: Path, name: str) -> None:
    from glassformer.api.people import Person, change_people, hash_password, read_people, require_person

    require_person({each.name: each for each in read_people(path)}, name)
    kept = hash_password(_ask_password())

    def change(people: dict[str, Person]) -> None:
        person = require_person(people, name)
        people[person.name] = person.model_copy(update={"password": kept})

    change_people(path, change)
    print(message("cli.users.changed", name=name))


def _make_token(path: Path, name: str, *, revoke: bool) -> None:
    from glassformer.api.people import (
        MOST_TOKENS,
        Person,
        change_people,
        hash_token,
        make_token,
        require_person,
    )

    token = make_token()

    def change(people: dict[str, Person]) -> None:
        person = require_person(people, name)
        before = () if revoke else person.tokens
        if len(before) >= MOST_TOKENS:
            raise InputError("cli.users.too_many_tokens", name=name, most=MOST_TOKENS)
        people[person.name] = person.model_copy(update={"tokens": (*before, hash_token(token))})

    change_people(path, change)
    print(message("cli.users.token", name=name), file=sys.stderr)
    print(token)


def _set_role(path: Path, name: str, role: str) -> None:
    from glassformer.api.people import Person, change_people, require_person
    from glassformer.registry import suggestion

    if role not in ROLES:
        raise InputError("cli.users.no_role", role=role, suggestion=suggestion(role, ROLES))

    def change(people: dict[str, Person]) -> None:
        person = require_person(people, name)
        people[person.name] = person.model_copy(update={"role": role})

    change_people(path, change)
    print(message("cli.users.role", name=name, role=role))


def _remove(path: Path, name: str) -> None:
    from glassformer.api.people import Person, change_people, require_person

    def change(people: dict[str, Person]) -> None:
        del people[require_person(people, name).name]

    change_people(path, change)
    print(message("cli.users.removed", name=name))


def _ask_password() -> str:
    """From a terminal twice, unseen; otherwise the first line of stdin."""
    from glassformer.api.people import LONGEST_PASSWORD, SHORTEST_PASSWORD

    if sys.stdin.isatty():
        password = getpass.getpass(f"{message('cli.users.ask')} ")
        if getpass.getpass(f"{message('cli.users.ask_again')} ") != password:
            raise InputError("cli.users.differ")
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise InputError(
            "cli.users.wrong_length", count=len(password), least=SHORTEST_PASSWORD, most=LONGEST_PASSWORD
        )
    return password
